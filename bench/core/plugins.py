"""A plugin's files, given as bytes: the manifest, what of it may be mounted, the skills that it brings.

The mounted manifest says what the plugin is called, and nothing that would start a program or read a file beside the
snapshot: hooks, servers, agents and commands are taken out and named. Limits: 32 MiB, paths of 512 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.core import digest, nearest, relpath, semver, skills, strictjson
from bench.core.skills import Described
from bench.core.strictjson import Refused
from bench.errors import CorpusError

FOLDER = ".claude-plugin/"
MANIFEST = f"{FOLDER}plugin.json"
SKILLS = "skills/"
MAX_BYTES = 32 << 20
MAX_MANIFEST = 256 << 10
MAX_SKILLS = 256
ACTIVE = ("hooks", "mcpServers", "lspServers", "agents", "commands", "outputStyles", "monitors", "channels", "settings")
"""Keys of a manifest that do more than describe."""
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Plugin:
    """`files` is what is mounted: {path: bytes}. `left_out`: keys of the manifest that are not."""

    name: str
    version: str
    files: Mapping[str, bytes]
    skills: tuple[Described, ...]
    left_out: tuple[str, ...]


def check(files: Mapping[str, bytes], version: str, expects: Sequence[str]) -> Plugin:
    """Read a plugin of exactly this version that has the skills which an arm expects. Raises CorpusError."""
    relpath.check_sizes(files, "plugin", total=MAX_BYTES)
    relpath.check_paths(files, "plugin", skills.MAX_PATH)
    manifest = _manifest(files)
    said = manifest.get("version")
    if said != version:
        raise CorpusError(
            f"the manifest's version is {said!r}, and not {version!r}",
            where=MANIFEST,
            remedy="give the version of the plugin that you mean" if isinstance(said, str) else "name a version in it",
        )
    described = _skills(files)
    names = [skill.name for skill in described]
    for skill in expects:
        bare = skill.rpartition(":")[2]
        if bare not in names:
            raise CorpusError(
                f"the plugin has no skill {skill!r}, which the arm expects",
                where=SKILLS,
                remedy=nearest.remedy(bare, names),
            )
    left_out = tuple(sorted(key for key in manifest if key in ACTIVE))
    kept = {key: value for key, value in manifest.items() if key not in ACTIVE}
    # Other manifests (of a marketplace) describe where plugins come from, and are no part of what runs.
    mounted = {path: data for path, data in files.items() if not path.startswith(FOLDER)}
    mounted[MANIFEST] = digest.canonical(kept) + b"\n" if left_out else files[MANIFEST]
    return Plugin(manifest["name"], version, mounted, described, left_out)


def _manifest(files: Mapping[str, bytes]) -> dict[str, Any]:
    data = files.get(MANIFEST)
    if data is None:
        raise CorpusError("is not there", where=MANIFEST)
    if len(data) > MAX_MANIFEST:
        raise CorpusError(f"holds more than {MAX_MANIFEST} bytes", where=MANIFEST)
    try:
        manifest = strictjson.read(data)
        strictjson.whole(manifest)
        digest.canonical(manifest)
    except (Refused, ValueError, RecursionError) as error:
        raise CorpusError(f"is not JSON ({error})", where=MANIFEST) from None
    if not isinstance(manifest, dict):
        raise CorpusError("is no JSON object", where=MANIFEST)
    name, version = manifest.get("name"), manifest.get("version")
    if not isinstance(name, str) or len(name) > skills.MAX_NAME or not _NAME.fullmatch(name):
        raise CorpusError(f"name {name!r} is not lower-case words joined by hyphens", where=MANIFEST)
    if version is not None and not (isinstance(version, str) and semver.exact(version)):
        raise CorpusError(f"version {version!r} is not an exact version", where=MANIFEST)
    return manifest


def _skills(files: Mapping[str, bytes]) -> tuple[Described, ...]:
    folders = sorted({path.split("/")[1] for path in files if path.startswith(SKILLS) and path.count("/") >= 2})
    found = [f for f in folders if f"{SKILLS}{f}/{skills.MANIFEST}" in files]
    if not found:
        raise CorpusError("the plugin brings no skill", where=SKILLS, remedy=f"add {SKILLS}NAME/{skills.MANIFEST}")
    if len(found) > MAX_SKILLS:
        raise CorpusError(f"{len(found)} skills, the limit is {MAX_SKILLS}", where=SKILLS)
    return tuple(skills.describe(folder, files[f"{SKILLS}{folder}/{skills.MANIFEST}"]) for folder in found)
