from __future__ import annotations

import json

import pytest

from bench.effects.engines.claude.progress import LONGEST, Progress, Stopped
from bench.effects.redact import Redactor


def said(*content: object, usage: dict[str, int] | None = None, call: str = "m1") -> bytes:
    message = {"id": call, "content": list(content), "usage": usage}
    return json.dumps({"type": "assistant", "message": message}, ensure_ascii=False).encode() + b"\n"


def test_previews_cannot_speak_to_a_ci_and_hold_no_secret() -> None:
    # 38 of the reference: a tool's output was parsed as annotations.
    log: list[str] = []
    progress = Progress(log.append, Redactor(["planted-secret-1"]), None)
    hostile = "::error file=a::x\n##[error]y\r\x1b]0;title\x07 planted-secret-1 \u2028::set-output name=a::b"
    data = said({"type": "text", "text": hostile}, {"type": "tool_use", "name": "Bash", "input": {"command": hostile}})
    for start in range(0, len(data), 7):
        progress("stdout", data[start : start + 7])
    progress("stderr", b"::error::not shown\n")
    assert len(log) == 2
    for line in log:
        assert len(line) <= 220
        assert not [part for part in ("::", "##[", "\n", "\r", "\x1b", "\u2028", "planted-secret-1") if part in line]
    assert bytes(progress.kept) == data


def test_lines_that_are_no_events_are_kept_and_not_shown() -> None:
    log: list[str] = []
    progress = Progress(log.append, Redactor(), None)
    data = b"not json\n[]\n" + b"x" * (LONGEST + 10) + b"\n" + b'{"type":"assistant","message":1}\n'
    progress("stdout", data)
    assert (log, bytes(progress.kept)) == ([], data)


def test_the_token_limit_counts_each_message_once() -> None:
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    progress = Progress(lambda line: None, Redactor(), 22)
    progress("stdout", said(usage=usage) + said(usage=usage))
    with pytest.raises(Stopped):
        progress("stdout", said(usage=usage, call="m2"))
    assert progress.kept.count(b"\n") == 3
