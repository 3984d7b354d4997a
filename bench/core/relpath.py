"""What a relative path in a corpus may be: one rule for oracle targets, skill files, overlays and mounts."""

from __future__ import annotations


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
