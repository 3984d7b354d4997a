"""What relative paths and trees of files in a corpus may be: one rule for oracles, skills, overlays, plugins and mounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bench.errors import CorpusError


def check_paths(paths: Iterable[str], where: str, limit: int = 240) -> None:
    """Refuse a path that has a `fault`, and two that `clash`. Raises CorpusError."""
    given = list(paths)
    for path in given:
        wrong = fault(path, limit)
        if wrong:
            raise CorpusError(f"the path {path!r} {wrong}", where=where)
    pair = clash(given)
    if pair:
        raise CorpusError(f"two paths clash: {pair[0]} and {pair[1]}", where=where)


def check_sizes(files: Mapping[str, bytes], where: str, *, total: int, count: int = 0, each: int = 0) -> None:
    """Refuse files beyond so many bytes together, so many files, or so many bytes each (0: no limit). Raises CorpusError."""
    if count and len(files) > count:
        raise CorpusError(f"has {len(files)} files, the limit is {count}", where=where)
    for path, data in files.items():
        if each and len(data) > each:
            raise CorpusError(f"{path} holds {len(data)} bytes, the limit is {each}", where=where)
    whole = sum(len(data) for data in files.values())
    if whole > total:
        raise CorpusError(f"its files hold {whole} bytes together, the limit is {total}", where=where)


def fault(path: str, limit: int = 240) -> str | None:
    """Why `path` cannot stand in a corpus, or None. `limit` is in bytes of UTF-8 (240 for oracles, 512 for overlays)."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if not path:
        return "is empty"
    if size > limit:
        return f"is longer than {limit} bytes"
    if "\\" in path or any(ord(c) < 32 or ord(c) == 127 for c in path):
        return "holds a backslash or a control character"
    if path.startswith("/"):
        return "is absolute"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "holds an empty part, . or .."
    if any(part.casefold() == ".git" for part in parts):
        return "lies in .git"
    return None


def clash(paths: list[str]) -> tuple[str, str] | None:
    """Two of the paths that cannot stand side by side: equal after case folding, or one a directory of the other."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        folded = path.casefold()
        if folded in seen:
            return seen[folded], path
        seen[folded] = path
    for folded, path in seen.items():
        parent = folded
        while "/" in parent:
            parent = parent.rpartition("/")[0]
            if parent in seen:
                return seen[parent], path
    return None
