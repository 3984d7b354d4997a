"""Twenty sessions of the real client at once, one proxy: each is billed its own calls and keeps its own words.

Every take is billed with numbers that no other has, powers of two among them, so that a call in a wrong session shows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.make import clients, workspaces
from tests.make.workspaces import Bench, talk

pytestmark = pytest.mark.slow
SESSIONS = 20
CALLS = 3


def bill(take: int) -> dict[str, int]:
    """Of one call of a take."""
    return {
        "input_tokens": 1 << take,
        "cache_creation_input_tokens": 1000 + take,
        "cache_read_input_tokens": 7 * take,
        "output_tokens": 100 + take,
    }


def test_twenty_sessions_on_two_processors_finish_each_with_its_own_usage(built: Callable[[str], Path], tmp_path: Path):
    bench = Bench(workspaces.copied(built("client"), tmp_path / "ws"))
    said = [talk(f"echo said-{n}-end > said", "sleep 0.2; cat said", take=n, usage=bill(n)) for n in range(SESSIONS)]
    clients.play(bench, *said, runs=SESSIONS)
    done = bench.doit("-n", "4")
    assert done.code == 0, done.stderr
    found = clients.sessions(bench)
    assert {record["state"] for record in found.values()} == {"final"}
    assert set(found) == {str(n) for n in range(SESSIONS)}
    for n in range(SESSIONS):
        body = found[str(n)]["body"]
        wanted = {name: CALLS * count for name, count in bill(n).items()}
        assert body["usage"] == body["gateway"]["usage"] == body["gateway"]["cli_usage"] == wanted, n
        assert (body["calls"], body["gateway"]["foreign_calls"]) == ({"ok": CALLS, "failed": 0}, 0)
        transcript = clients.output(bench, found[str(n)], "transcript").decode()
        assert {k for k in range(SESSIONS) if f"said-{k}-end" in transcript} == {n}
        assert f"said-{n}-end".encode() in clients.output(bench, found[str(n)], "changes")
