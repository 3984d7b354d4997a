"""The stamp: what a run over untouched files would say, answered before anything heavy is imported.

It holds the paths of every file that the last complete green run depended on or made, of their folders, of our own code, of
the installed packages and programs, with one digest over their stat keys, the variables of the environment that were read,
what the command line was and what was answered, and the moment from which some evidence is too old. Inputs that were
touched, copied back or written anew may have other stat keys: each is then compared by kind, mode and content. Any other
difference, word or option falls through to the full check.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

NAME = "artifacts/.stamp"
NAMED = f"{NAME}.named"
"""Of the last run that named its steps."""
FORMAT = 3
MAX_MOVED = 1000
"""Inputs that are compared by content at most; beyond that the full check is as fast."""
WORKERS = frozenset(str(number) for number in range(1, 65))


def answer(dodo: str) -> None:
    """Answer and end the process when nothing that a green run of these words looked at has changed; else return."""
    words = _words(sys.argv[1:])
    root = str(Path(dodo).resolve().parent)
    for name in (NAME, NAMED) if words else (NAME,):
        said = None if words is None else _answered(root, name, " ".join(words))
        if said is not None:
            with contextlib.suppress(OSError):  # `doit | head`
                os.write(sys.stdout.fileno(), said.encode(sys.stdout.encoding, "backslashreplace"))
            raise SystemExit(0)


def _words(argv: list[str]) -> list[str] | None:
    """The steps that a `doit [run] [-n N] [STEP…]` names; None for a command line with anything else."""
    rest = argv[argv[:1] == ["run"] :]
    words = []
    while rest:
        word = rest.pop(0)
        if word == "-n" and rest and rest[0] in WORKERS:
            rest.pop(0)
        elif word.startswith("-") or "=" in word or " " in word:
            return None
        else:
            words.append(word)
    return words


def _answered(root: str, name: str, words: str) -> str | None:
    try:
        with open(f"{root}/{name}", "rb") as file:
            head, _, rest = file.read().partition(b"\n")
        said = json.loads(head)
        found: str = said["answers"][words]
        if said["format"] != FORMAT or said["python"] != sys.version or time.time() >= said["expires"]:
            return None
        if said["variables"] != _variables(said["variables"]):
            return None
        inputs, _, paths = rest.partition(b"\n")
        if said["digest"] != _digest(root, paths.decode().split("\n")) or not _same(root, json.loads(inputs)):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found


def leave(
    root: Path,
    paths: Iterable[str],
    inputs: Mapping[str, str],
    answers: Mapping[str, str],
    expires: float,
    variables: Iterable[str] = (),
) -> bytes:
    """The stamp's bytes. Paths are relative to the workspace or absolute; `expires` is in seconds of the epoch.

    `inputs`: path → content digest of files that may come back with other stat keys, "" for folders that may.
    """
    home = Path(__file__).resolve().parent.parent
    code = [
        str(path)
        for path in home.rglob("*")
        if path.suffix != ".pyc" and "/." not in path.relative_to(home).as_posix() and path.is_file()
    ]
    folders = {path.rsplit("/", 1)[0] for path in (*paths, *inputs) if "/" in path}
    packages = sysconfig.get_path("purelib")
    store = [f"artifacts/store/blobs/{aa:02x}" for aa in range(256)]
    every = sorted({*paths, *folders, *code, packages, "dodo.py", *store} - {*inputs})
    head = {"format": FORMAT, "python": sys.version, "expires": expires, "answers": dict(answers)}
    head["variables"] = _variables(variables)
    head["digest"] = _digest(str(root), every)
    told = [(path, _key(str(root), path), _shape(str(root), path), digest) for path, digest in sorted(inputs.items())]
    listed = [(path, key, shape, digest or _listing(str(root), path)) for path, key, shape, digest in told]
    return b"\n".join((json.dumps(head).encode(), json.dumps(listed).encode(), "\n".join(every).encode()))


def _variables(names: Iterable[str]) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in sorted(names)}


def _digest(root: str, paths: list[str]) -> str:
    return hashlib.blake2b(repr([_key(root, path) for path in paths]).encode()).hexdigest()


def _key(root: str, path: str) -> list[int]:
    # The four numbers that the digest index keeps too; an absent path is a fact like any other.
    try:
        s = os.stat(path if path[0] == "/" else f"{root}/{path}")
    except OSError:
        return [0, 0, 0, 0]
    return [s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns]


def _same(root: str, inputs: list[tuple[str, list[int], list[str], str]]) -> bool:
    moved = [(path, shape, digest) for path, key, shape, digest in inputs if _key(root, path) != key]
    return len(moved) <= MAX_MOVED and all(
        _shape(root, path) == shape and (_listing(root, path) or _content(root, path)) == digest
        for path, shape, digest in moved
    )


def _shape(root: str, path: str) -> list[str]:
    """Kind, mode and target of a link."""
    place = Path(root, path)
    try:
        mode = place.lstat().st_mode
        return [oct(mode), os.readlink(place) if mode & 0o170000 == 0o120000 else ""]
    except OSError:
        return []


def _listing(root: str, path: str) -> str:
    try:
        names = sorted(item.name for item in Path(root, path).iterdir())
    except OSError:
        return ""
    return hashlib.blake2b(repr(names).encode("utf-8", "surrogatepass")).hexdigest()


def _content(root: str, path: str) -> str:
    from blake3 import blake3

    return f"b3:{blake3(Path(root, path).read_bytes()).hexdigest()}"
