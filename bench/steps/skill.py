"""Step `skill`: an arm's skills, its overlay laid over them, as one sealed tree `<skill>/SKILL.md …`, and its plugin.

params {skills: [name], overlay: bool, plugin?: {version, expects: [skill]}} · files {"<skill>/…", "overlay/<skill>/…",
"plugin/…"} → body {skills: [{name, description, files}], digest, plugin?: {name, version, manifest_digest, files, bytes,
skills, left_out}}, outputs {tree?, plugin?}. It reads no directory: the files were listed and sealed before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import plugins, skills
from bench.effects import trees
from bench.effects.context import Context, Job, Made
from bench.effects.trees import Entry
from bench.errors import CorpusError

KIND = "skill"


def make(job: Job, context: Context) -> Made:
    """Check, lay over, describe, pack."""
    names = list(job.params["skills"])
    if len(set(names)) != len(names) or not (names or job.params.get("plugin")):
        raise CorpusError("an arm's skills are none or named twice", where=job.name)
    files = {role: context.store.get(blob.blob) for role, blob in job.files.items()}
    merged = _merged(job, names, files)
    body: dict[str, Any] = {"skills": [_listed(name, merged) for name in sorted(names)]}
    outputs = {}
    entries = _entries(merged)
    body["digest"] = trees.tree_digest(entries)
    if names:
        outputs["tree"] = context.store.put(trees.pack(entries))
    if job.params.get("plugin"):
        body["plugin"], plugin = _plugin(job, skills.below(files, skills.PLUGIN))
        outputs["plugin"] = context.store.put(trees.pack(plugin))
    return Made(body=body, outputs=outputs)


def _merged(job: Job, names: Sequence[str], files: Mapping[str, bytes]) -> dict[str, bytes]:
    beside = tuple(f"{role}/" for role in (skills.OVERLAY, skills.PLUGIN))
    base = {role: data for role, data in files.items() if not role.startswith(beside)}
    overlay = skills.below(files, skills.OVERLAY)
    if bool(job.params["overlay"]) != bool(overlay):
        raise CorpusError(
            "the overlay is empty" if job.params["overlay"] else "files of an overlay without one", where=job.name
        )
    return skills.merged(names, base, overlay)


def _plugin(job: Job, files: Mapping[str, bytes]) -> tuple[dict[str, Any], list[Entry]]:
    given = job.params["plugin"]
    own = set(job.params["skills"])
    plugin = plugins.check(files, given["version"], [skill for skill in given["expects"] if skill not in own])
    entries = _entries(plugin.files)
    body = {
        "name": plugin.name,
        "version": plugin.version,
        "manifest_digest": trees.tree_digest(entries),
        "files": len(entries),
        "bytes": sum(len(entry.data) for entry in entries),
        "skills": [{"name": skill.name, "description": skill.description} for skill in plugin.skills],
        "left_out": list(plugin.left_out),
    }
    return body, entries


def _entries(files: Mapping[str, bytes]) -> list[Entry]:
    # Modes are not part of the listed files: what a script is, its first two bytes say.
    return [Entry(path, "100755" if data.startswith(b"#!") else "100644", data) for path, data in files.items()]


def _listed(name: str, files: Mapping[str, bytes]) -> dict[str, object]:
    said = skills.described(name, files)
    return {"name": said.name, "description": said.description, "files": sorted(skills.below(files, name))}
