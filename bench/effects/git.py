"""Git as a carrier of bytes: started with our own configuration alone, and the ids of objects computed without it.

No hook, filter, template, alias or setting of the machine or the user is in force, and nothing is ever checked out: files
are read as objects, so that attributes, line endings and missing smudge programs cannot change a byte. Git is run in
directories of our own making, and in the working tree of the person who runs us; never where an agent could have written,
since a repository's own configuration can name programs (core.fsmonitor and more).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.effects import env, proc
from bench.effects.trees import Entry
from bench.errors import StepFailed

GIT_S = 60.0
"""Bound of one local command in seconds (the reference's figure)."""
FETCH_S = 600.0
"""Bound of one fetch in seconds (the reference's figure)."""

IDENTITY = "Assay <assay@invalid> 946684800 +0000"
"""Author and committer of every template: fixed, at 2000-01-01T00:00:00Z."""
MESSAGE = "Snapshot\n"
LINK, EXECUTABLE, REGULAR, FOLDER = "120000", "100755", "100644", "40000"
APPLY = ("apply", "--whitespace=nowarn", "-")
"""Arguments that lay a patch from standard input over the files of the working directory, uncommitted."""
_FORCED = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat")
_CERTIFICATES = ("GIT_SSL_CAINFO", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def environment() -> dict[str, str]:
    """What git gets beside `env.for_tools`: our configuration file, no prompts, no replaced or lazily fetched objects."""
    fixed = {
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DEFAULT_HASH": "sha1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    }
    bundle = next((value for name in _CERTIFICATES if (value := env.get(name))), None)
    return fixed | ({"GIT_SSL_CAINFO": bundle} if bundle else {})


def run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes = b"",
    seconds: float = GIT_S,
    cancel: threading.Event | None = None,
    variables: Mapping[str, str] | None = None,
) -> proc.Done:
    """Run `git ARGUMENTS`, whatever its exit status; `variables` come on top of `environment`.

    Raises MissingPart, StepFailed on time-out, Cancelled.
    """
    extra = environment() | dict(variables or {})
    return proc.run(["git", *_FORCED, *arguments], cwd=cwd, extra_env=extra, stdin=stdin, seconds=seconds, cancel=cancel)


def output(arguments: Sequence[str], *, cwd: Path, stdin: bytes = b"", seconds: float = GIT_S) -> bytes:
    """Standard output of a git command that must succeed. Raises StepFailed with git's last words."""
    done = run(arguments, cwd=cwd, stdin=stdin, seconds=seconds)
    if done.exit != 0:
        raise StepFailed(f"git {arguments[0]} failed: {done.tail()}")
    return done.stdout


def object_id(kind: str, data: bytes) -> bytes:
    """The 20 bytes of a git object's SHA-1 name; `kind` is blob, tree or commit."""
    # SHA-1 because it is git's name for the object; identity in records rests on BLAKE3.
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(data)) + data, usedforsecurity=False).digest()


def commit_text(tree: str) -> bytes:
    """The parentless commit of a tree, given the tree's hex id."""
    return f"tree {tree}\nauthor {IDENTITY}\ncommitter {IDENTITY}\n\n{MESSAGE}".encode()


def commit_of(entries: Iterable[Entry]) -> str:
    """Hex id of the parentless commit with exactly these files, computed without git."""
    root: dict[bytes, Any] = {}
    for entry in entries:
        *folders, name = os.fsencode(entry.path).split(b"/")
        node = root
        for folder in folders:
            node = node.setdefault(folder, {})
        node[name] = (entry.mode, object_id("blob", entry.data))
    return object_id("commit", commit_text(_tree(root).hex())).hex()


def _tree(node: Mapping[bytes, Any]) -> bytes:
    rows = []
    for name, item in node.items():
        if isinstance(item, dict):
            # git sorts a folder as though its name ended in a slash
            rows.append((name + b"/", FOLDER, name, _tree(item)))
        else:
            rows.append((name, item[0], name, item[1]))
    return object_id("tree", b"".join(b"%s %s\0%s" % (mode.encode(), name, oid) for _, mode, name, oid in sorted(rows)))


def import_stream(entries: Iterable[Entry], ref: str) -> Iterator[bytes]:
    """The input of `git fast-import` that makes the commit of `commit_of` and points `ref` at it."""
    message = MESSAGE.encode()
    yield b"feature done\ncommit %s\n" % ref.encode()
    yield f"author {IDENTITY}\ncommitter {IDENTITY}\ndata {len(message)}\n".encode() + message + b"\n"
    for entry in entries:
        yield b"M %s inline %s\ndata %d\n" % (entry.mode.encode(), _quoted(entry.path), len(entry.data))
        yield entry.data
        yield b"\n"
    yield b"done\n"


def _quoted(path: str) -> bytes:
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + raw + b'"'
