"""What was asked of tools is found in any engine's transcript."""

from __future__ import annotations

import json

from bench.core import asked


def events(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_commands_are_found_in_any_engines_events() -> None:
    transcript = events(
        {"type": "tool_use", "name": "bash", "input": {"command": "git log --all"}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": {"command": "ls"}}]}},
        {"tool_calls": [{"id": "x", "function": {"name": "bash", "arguments": '{"command": "git reflog"}'}}]},
        {"type": "tool_result", "content": "git fsck is only mentioned here"},
    )
    found = asked.commands(b"torn line\n" + transcript + b'{"half')
    assert {"git log --all", "ls", "git reflog"} <= set(found)
    assert not any("fsck" in command for command in found)


def test_deep_or_hostile_events_do_not_crash() -> None:
    deep = '{"type":"tool_use","input":' + "[" * 5000 + "]" * 5000 + "}"
    assert asked.commands(deep.encode() + b"\n[1]\nnull\n\xff\n") == []
