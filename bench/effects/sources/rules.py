"""What a tree of a source may hold. A breach is refused by name of the path; nothing is repaired in silence.

Refused: names that are not UTF-8 or not plain relative paths, paths that become one on a disk that ignores case or
Unicode form, links that leave the tree, LFS pointers in place of the files they stand for.
"""

from __future__ import annotations

import itertools
import os
import unicodedata
from collections.abc import Mapping, Sequence

from bench.effects import console
from bench.effects.trees import MAX_BYTES, MAX_ENTRIES, Entry
from bench.errors import SourceError

LINK = "120000"
MAX_PATH = 4095
"""Bytes of a path: Linux PATH_MAX less its NUL."""
MAX_NAME = 255
"""Bytes of one component: NAME_MAX of the usual file systems."""
MAX_HOPS = 40
"""Links followed in one path before Linux gives up (ELOOP): a loop leads nowhere, so it does not leave the tree."""
LFS_BYTES = 1024
"""No LFS pointer is longer."""
_LFS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")


def check(entries: Sequence[Entry]) -> None:
    """Raise SourceError, naming the path, for the first breach of the rules."""
    links = {entry.path: os.fsdecode(entry.data) for entry in entries if entry.mode == LINK}
    seen: dict[str, tuple[str, bool]] = {}
    for entry in entries:
        check_name(entry.path)
        _check_clash(entry.path, seen)
        if entry.mode == LINK:
            _check_link(entry, links)
        elif is_lfs_pointer(entry.data):
            raise SourceError(
                "is a Git LFS pointer, not the file itself",
                where=shown(entry.path),
                remedy="fetch the real files (git lfs pull) and use a dir source",
            )


def check_size(count: int, total: int) -> None:
    """Raise SourceError when a tree is beyond what this project carries."""
    if count > MAX_ENTRIES or total > MAX_BYTES:
        raise SourceError(f"the source is larger than {MAX_ENTRIES} files or {MAX_BYTES} bytes")


def check_name(path: str) -> None:
    """Raise SourceError unless `path` is a relative UTF-8 path of ordinary components."""
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        raise SourceError("the name is not valid UTF-8", where=shown(path), remedy="rename it in the source") from None
    parts = raw.split(b"/")
    if any(part in (b"", b".", b"..") or b"\0" in part for part in parts):
        raise SourceError("is not a plain relative path", where=shown(path))
    if len(raw) > MAX_PATH or any(len(part) > MAX_NAME for part in parts):
        raise SourceError(f"the name is longer than {MAX_NAME} bytes, or its path than {MAX_PATH}", where=shown(path))


def is_lfs_pointer(data: bytes) -> bool:
    """Whether these bytes are a Git LFS pointer file."""
    return len(data) <= LFS_BYTES and data.startswith(_LFS) and b"\noid " in data


def shown(path: str) -> str:
    """A path for people: bytes that are not UTF-8, and control characters, as escapes."""
    return console.visible(os.fsencode(path).decode("utf-8", "backslashreplace"))


def _check_clash(path: str, seen: dict[str, tuple[str, bool]]) -> None:
    # Folders count too: A/x and a/y share one folder where case is ignored.
    for prefix in itertools.accumulate(path.split("/"), "{}/{}".format):
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", prefix).casefold())
        is_file = prefix == path
        if folded not in seen:
            seen[folded] = (prefix, is_file)
            continue
        first, was_file = seen[folded]
        if first != prefix:
            raise SourceError(f"clashes with {shown(first)} where case or Unicode form is ignored", where=shown(prefix))
        if is_file or was_file:
            raise SourceError("occurs twice, or as a file and as a folder", where=shown(prefix))


def _check_link(entry: Entry, links: Mapping[str, str]) -> None:
    target = os.fsdecode(entry.data)
    if not target or "\0" in target:
        raise SourceError("is a symbolic link to nothing", where=shown(entry.path))
    try:
        target.encode()
    except UnicodeEncodeError:
        raise SourceError("the link's target is not valid UTF-8", where=shown(entry.path)) from None
    if _leaves(entry.path, links):
        raise SourceError(f"is a symbolic link out of the tree, to {shown(target)}", where=shown(entry.path))


def _leaves(path: str, links: Mapping[str, str]) -> bool:
    """Whether following the link at `path` ever steps above the root, or into its `.git`; other links are followed too."""
    at = path.split("/")[:-1]
    pending = [path.rpartition("/")[2]]
    hops = 0
    while pending:
        part = pending.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return True
            at.pop()
            continue
        at.append(part)
        target = links.get("/".join(at))
        if target is None:
            if at[0].lower() == ".git":
                return True
            continue
        hops += 1
        if target.startswith("/"):
            return True
        if hops > MAX_HOPS:
            return False
        at.pop()
        pending = target.split("/") + pending
    return False
