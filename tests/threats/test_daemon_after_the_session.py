"""stella 2131 and aws-blocks 183: an agent left a daemon that went on editing after its session; another made its own files
undeletable.

Every process of a session is dead before its changes are read, and its layers go whatever modes it left.
"""

from __future__ import annotations

import pytest

from bench.core import records
from bench.core.records import Record
from bench.effects.context import Context
from tests.steps.test_session import changed, context, lower, nothing_left, play, tape

__all__ = ["context", "lower"]


FORKING = """python3 - <<'END'
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1)
        open("late", "w")
END
echo early > early"""


@pytest.mark.parametrize(
    "daemon",
    [
        "(sleep 1; echo late > late) & echo early > early",
        "setsid nohup sh -c 'sleep 1; echo late > late' > /dev/null 2>&1 & disown; echo early > early",
        FORKING,
    ],
)
def test_a_daemon_changes_nothing_afterwards(context: Context, lower: Record, daemon: str) -> None:
    made = play(context, {"template": lower}, tape(daemon, "sleep 2; ls"))
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [e.path for e in changed(context, made).entries] == ["early"]


def test_layers_go_whatever_modes_were_left(context: Context, lower: Record) -> None:
    command = (
        "mkdir -p deep/er && echo x > deep/er/x && chmod 0 deep/er/x deep/er deep && mkdir ~/d /tmp/d && chmod 0 ~/d /tmp/d"
    )
    made = play(context, {"template": lower}, tape(command))
    assert made.state == records.FINAL
    assert nothing_left(context)
