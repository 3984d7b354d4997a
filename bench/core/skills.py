"""Agent Skills: the front matter of SKILL.md, and the rules of an overlay that is laid over skill directories.

Limits of an overlay and of one skill are those of the reference (spec 2.9): 4 MiB, paths of 512 bytes; an overlay has at
most 64 files and 256 directory entries, a skill with its scripts and assets 256 files. Pure: it is given the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.core import relpath, yamlmap
from bench.errors import CorpusError

MANIFEST = "SKILL.md"
OVERLAY = "overlay"
PLUGIN = "plugin"
"""Roles of files beside `<skill>/…`; no skill is called that."""
INSTALLED = ".claude/skills/"
"""Prefix that an overlay of the reference carries; ours may leave it out."""
MAX_BYTES = 4 << 20
MAX_PATH = 512
MAX_OVERLAY_FILES = 64
MAX_OVERLAY_ENTRIES = 256
MAX_SKILL_FILES = 256
MAX_FRONT_MATTER = 16 << 10
MAX_NAME, MAX_DESCRIPTION = 64, 1024
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Described:
    """What the front matter says; the only part of a skill that stands in the system prompt."""

    name: str
    description: str


def parted(text: str) -> tuple[str | None, str]:
    """Front matter and body of a SKILL.md; None and the whole text where it has no front matter."""
    found = _FRONT.match(text)
    return (None, text) if found is None else (found[1], text[found.end() :])


def describe(skill: str, manifest: bytes) -> Described:
    """Read the front matter of `<skill>/SKILL.md`. Raises CorpusError naming the file and what is wrong."""
    where = f"{skill}/{MANIFEST}"
    try:
        text = manifest.decode()
    except UnicodeDecodeError:
        raise CorpusError("is not UTF-8", where=where) from None
    front, _body = parted(text)
    if front is None:
        remedy = "start it with ---, name: and description:, ---"
        raise CorpusError("has no YAML front matter", where=where, remedy=remedy)
    if len(front) > MAX_FRONT_MATTER:
        raise CorpusError(f"its front matter is longer than {MAX_FRONT_MATTER} characters", where=where)
    said = yamlmap.load("\n" + front, where).plain()  # the line of dashes is the file's first
    if not isinstance(said, dict):
        raise CorpusError("its front matter is no mapping", where=where)
    return _described(skill, said, where)


def _described(skill: str, said: dict[str, object], where: str) -> Described:
    name, description = said.get("name"), said.get("description")
    if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name):
        what = f"name {name!r} is not lower-case words joined by hyphens, of at most {MAX_NAME} characters"
        raise CorpusError(what, where=where)
    if name != skill:
        raise CorpusError(f"name {name!r} is not that of its directory", where=where, remedy=f"call it {skill}")
    if not isinstance(description, str) or not description.strip():
        raise CorpusError("description is missing or blank", where=where)
    if len(description) > MAX_DESCRIPTION:
        raise CorpusError(f"description is longer than {MAX_DESCRIPTION} characters", where=where)
    return Described(name, " ".join(description.split()))


def check_skill(skill: str, files: Mapping[str, bytes]) -> None:
    """Refuse a skill, {path below it: bytes}, that is too large, misnamed or without SKILL.md."""
    if skill in (OVERLAY, PLUGIN) or len(skill) > MAX_NAME or not _NAME.fullmatch(skill):
        what = "is not a name of a skill: lower-case words joined by hyphens"
        raise CorpusError(what, where=f"skill {skill}", remedy="rename the directory")
    if MANIFEST not in files:
        raise CorpusError(f"has no {MANIFEST}", where=f"skill {skill}")
    _check_tree(f"skill {skill}", files, MAX_SKILL_FILES)


def check_overlay(files: Mapping[str, bytes], skills: Sequence[str]) -> dict[str, bytes]:
    """The overlay as {`<skill>/…`: bytes}. Raises CorpusError for what is not Markdown inside one of the arm's skills."""
    if not files:
        raise CorpusError("is empty", where=OVERLAY)
    _check_tree(OVERLAY, files, MAX_OVERLAY_FILES)
    folders = {path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)}
    if len(files) + len(folders) > MAX_OVERLAY_ENTRIES:
        raise CorpusError(f"has more than {MAX_OVERLAY_ENTRIES} directory entries", where=OVERLAY)
    placed = {}
    for path, data in files.items():
        place = path.removeprefix(INSTALLED)
        skill, _, inner = place.partition("/")
        if not inner or skill not in skills:
            known = ", ".join(sorted(skills)) or "none"
            raise CorpusError("is not inside a skill of this arm", where=f"{OVERLAY}/{path}", remedy=f"its skills: {known}")
        if not inner.lower().endswith(".md"):
            raise CorpusError("is not Markdown", where=f"{OVERLAY}/{path}", remedy="an overlay holds .md files alone")
        if place in placed:
            raise CorpusError(f"stands twice, with and without {INSTALLED}", where=f"{OVERLAY}/{place}")
        placed[place] = data
    return placed


def merged(names: Sequence[str], base: Mapping[str, bytes], overlay: Mapping[str, bytes]) -> dict[str, bytes]:
    """The skills of an arm, {`<skill>/…`: bytes}, with an overlay, if there is one, over them. Raises CorpusError."""
    for path in base:
        if path.partition("/")[0] not in names:
            raise CorpusError("is not inside a skill of this arm", where=path)
    for name in names:
        check_skill(name, below(base, name))
    return lay_over(base, check_overlay(overlay, names)) if overlay else dict(base)


def described(name: str, files: Mapping[str, bytes]) -> Described:
    """What the skill `name` of these, {`<skill>/…`: bytes}, says of itself. Raises CorpusError for one that is none."""
    own = below(files, name)
    check_skill(name, own)
    return describe(name, own[MANIFEST])


def below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files of a folder, by their paths in it."""
    return {path.removeprefix(f"{folder}/"): data for path, data in files.items() if path.startswith(f"{folder}/")}


def lay_over(base: Mapping[str, bytes], overlay: Mapping[str, bytes]) -> dict[str, bytes]:
    """`base` with the overlay's files in place of its own. Raises CorpusError when that changes not one byte."""
    if all(base.get(path) == data for path, data in overlay.items()):
        raise CorpusError("is byte-identical to the incumbent", where=OVERLAY, remedy="change a file, or drop the arm")
    merged = dict(base) | dict(overlay)
    relpath.check_paths(merged, OVERLAY, MAX_PATH)
    return merged


def _check_tree(where: str, files: Mapping[str, bytes], count: int) -> None:
    relpath.check_sizes(files, where, total=MAX_BYTES, count=count)
    relpath.check_paths(files, where, MAX_PATH)
