"""What tests of whole runs with the real client share: cassettes of a test's own, records, the processes of a run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.effects import clock
from bench.effects.cassette_author import authored
from bench.effects.store import open_store
from bench.layout import Layout
from tests.make import workspaces
from tests.make.workspaces import Bench


def play(bench: Bench, *talks: Mapping[str, Any], **suite: Any) -> Bench:
    """Give a workspace these conversations, lay `suite` over its suite, and take the sessions of before away."""
    shutil.rmtree(bench.path("artifacts/sessions"))
    place = bench.path("corpus/cassettes/tiny.json")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(authored(workspaces.MODEL, "anthropic", talks))
    return change(bench, **suite)


def change(bench: Bench, **suite: Any) -> Bench:
    """Lay `suite` over the workspace's suite."""
    path = bench.path("corpus/tiny.yaml")
    path.write_text(json.dumps(json.loads(path.read_text()) | suite, indent=1))
    return bench


def sessions(bench: Bench, arm: str = "agent") -> dict[str, dict[str, Any]]:
    """Run → record of an arm's sessions."""
    folder = bench.path(f"artifacts/sessions/tiny/add/{arm}")
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def output(bench: Bench, record: Mapping[str, Any], role: str) -> bytes:
    """An output of a record."""
    return open_store(Layout(bench.root).store).get(record["outputs"][role]["blob"])


@dataclass(frozen=True)
class Process:
    """One process of this machine."""

    pid: int
    parent: int
    since: int
    words: tuple[str, ...]

    @property
    def alive(self) -> bool:
        """Whether it still runs, and not another one of its number."""
        found = look(self.pid)
        return found is not None and found.since == self.since


def look(pid: int) -> Process | None:
    """A living process, or None."""
    with suppress(OSError):
        state, parent, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
        if state not in "ZX":
            return Process(pid, int(parent), int(rest[17]), tuple(words))
    return None


def descendants(pid: int) -> list[Process]:
    """All processes that come from one, itself left out."""
    found = [process for place in Path("/proc").glob("[0-9]*") if (process := look(int(place.name)))]
    known = {pid}
    while more := {process.pid for process in found if process.parent in known} - known:
        known |= more
    return [process for process in found if process.pid in known - {pid}]


def wait(what: Callable[[], object], seconds: float = 120.0) -> bool:
    """Whether something comes true in time."""
    deadline = clock.monotonic() + seconds
    while not what():
        if clock.monotonic() > deadline:
            return False
        clock.sleep(0.02)
    return True


def told(text: bytes | str, needles: Sequence[str]) -> list[str]:
    """Those needles that occur."""
    data = text if isinstance(text, bytes) else text.encode()
    return [needle for needle in needles if needle.encode() in data]


def word(text: str, name: str) -> bool:
    """Whether a name stands in a text as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
