"""Runs `replace_all` in children in which someone else's hand, or a failing disk, comes in at a chosen moment. A program.

    python -m tests.effects.swap.meddler FOLDER < scenes.json > results.json

Scenes: [what, moment, n]. `moment` is "before" (the n-th file is about to be looked at and exchanged) or "at" (all looks are
done, the system call comes next). Nothing of the code under test is replaced: a profile hook acts, then the code goes on.
Each runs on a tree of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import struct
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from bench.effects.swap import exchange, recovery, replacing
from bench.errors import BenchError
from tests.effects.swap.stepper import FILES, grow

MOMENTS = {"before": replacing._swap.__code__, "at": exchange.exchange.__code__}
EIO = 5


def refuse(answer: int) -> None:
    """Every renameat2 of this process answers this error from now on: a real refusal by the kernel (seccomp)."""
    number = {"x86_64": 316, "aarch64": 276}[os.uname().machine]
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | answer), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, program, 0, 0) == 0


def meddle(root: Path, what: str, number: int) -> None:
    """One thing that someone else does to the n-th file, or to the first, which is exchanged by then."""
    file, first = root / FILES[number - 1], root / FILES[0]
    if what == "edit":
        file.write_bytes(b"mine")
    elif what == "replace":
        (root / "draft").write_bytes(b"mine")
        (root / "draft").replace(file)
    elif what == "delete":
        file.unlink()
    elif what == "move":
        file.parent.rename(root / "away")
        shutil.copytree(root / "away", file.parent)
    elif what == "edit done":
        first.write_bytes(b"mine")
    elif what == "fail":
        raise OSError(EIO, "injected")
    elif what == "edit done, fail":
        first.write_bytes(b"mine")
        raise OSError(EIO, "injected")
    elif what == "fail for good":
        refuse(EIO)
    else:
        raise ValueError(what)


def play(root: Path, what: str, moment: str, number: int) -> dict[str, Any]:
    """What a run with one such scene says, and what it leaves."""
    left = number

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        if event == "call" and frame.f_code is MOMENTS[moment]:
            left -= 1
            if left == 0:
                sys.setprofile(None)
                meddle(root, what, number)

    root.mkdir()
    wanted = grow(root)
    said = None
    sys.setprofile(profile)
    try:
        replacing.replace_all(root, wanted, {})
    except (BenchError, OSError) as error:
        said = str(error)
    finally:
        sys.setprofile(None)
    stuck = root / recovery.NAME
    others = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    return {
        "said": said,
        "files": {path: (root / path).read_text().split()[0] if (root / path).exists() else None for path in FILES},
        "others": {path: (root / path).read_text() for path in sorted(others) if path not in (*FILES, recovery.NAME)},
        "recovery": json.loads(stuck.read_bytes()) if stuck.exists() else None,
    }


def main() -> None:
    """Play every scene in a child of its own."""
    home = Path(sys.argv[1])
    results = []
    for at, scene in enumerate(json.load(sys.stdin)):
        out, into = os.pipe()
        if os.fork() == 0:
            try:
                os.write(into, json.dumps(play(home / str(at), *scene)).encode())
                os._exit(0)
            finally:
                os._exit(1)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            results.append(json.loads(pipe.read()))
        os.wait()
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
