"""Step `skill`: an arm's skills, its overlay laid over them, as one sealed tree `<skill>/SKILL.md …`.

params {skills: [name], overlay: bool} · files {"<skill>/…", "overlay/<skill>/…"} → body {skills: [{name, description,
files}], digest}, outputs {tree}. It reads no directory: the files were listed and sealed before.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.core import skills
from bench.effects import trees
from bench.effects.context import Context, Job, Made
from bench.effects.trees import Entry
from bench.errors import CorpusError

KIND = "skill"


def make(job: Job, context: Context) -> Made:
    """Check, lay over, describe, pack."""
    names = list(job.params["skills"])
    if not names or len(set(names)) != len(names):
        raise CorpusError("an arm's skills are none or named twice", where=job.name)
    files = {role: context.store.get(blob.blob) for role, blob in job.files.items()}
    base = {role: data for role, data in files.items() if not role.startswith(f"{skills.OVERLAY}/")}
    for role in base:
        if role.partition("/")[0] not in names:
            raise CorpusError("is not inside a skill of this arm", where=role)
    for name in names:
        skills.check_skill(name, _below(base, name))
    overlay = _below(files, skills.OVERLAY)
    if bool(job.params["overlay"]) != bool(overlay):
        raise CorpusError(
            "the overlay is empty" if job.params["overlay"] else "files of an overlay without one", where=job.name
        )
    merged = skills.lay_over(base, skills.check_overlay(overlay, names)) if overlay else base
    described = [_listed(name, _below(merged, name)) for name in sorted(names)]
    # Modes are not part of the listed files: what a script is, its first two bytes say.
    entries = [Entry(p, "100755" if data.startswith(b"#!") else "100644", data) for p, data in merged.items()]
    packed = context.store.put(trees.pack(entries))
    return Made(body={"skills": described, "digest": trees.tree_digest(entries)}, outputs={"tree": packed})


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    return {path.removeprefix(f"{folder}/"): data for path, data in files.items() if path.startswith(f"{folder}/")}


def _listed(name: str, files: Mapping[str, bytes]) -> dict[str, object]:
    skills.check_skill(name, files)
    said = skills.describe(name, files[skills.MANIFEST])
    return {"name": said.name, "description": said.description, "files": sorted(files)}
