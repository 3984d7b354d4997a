"""claude-code 17248, 39700, 1920 and 93911: an answer that breaks off, never comes, or whose cost is lost with the session.

A torn answer is a failure of the model's service: retried, counted, then unusable with its class. What was used before it
stays known, and the session's totals are those of its journal of calls.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.effects.engines import Work
from tests.effects.engines.modelserver import ok, openai, serve
from tests.effects.engines.test_loop import LIMITS, play


@contextmanager
def torn(head: bytes) -> Iterator[str]:
    """A server that sends `head` to everyone and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    stop = threading.Event()

    def answer() -> None:
        while not stop.is_set():
            try:
                client, _where = listener.accept()
            except TimeoutError:
                continue
            with client:
                client.settimeout(5)
                client.recv(1 << 16)
                client.sendall(head)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        stop.set()
        thread.join()
        listener.close()


def asked(url: str, **limits: float) -> Work:
    params = {"base_url": url, "backoff_s": 0.01, "retries": 1}
    return Work("Do it.", "openai/gpt-4o-mini", None, 0, LIMITS | limits, params=params)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", "key-for-this-test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n" + b'{"choices": [{"mess'],
    ids=["nothing", "mid-line"],
)
def test_an_answer_that_breaks_off_is_a_failure_that_is_counted(tmp_path: Path, head: bytes) -> None:
    with torn(head) as url:
        outcome = play(asked(url), tmp_path)
    assert (outcome.error_kind, outcome.error_class) == ("session-error", "model-error")
    assert [call["status"] for call in outcome.calls] == ["failed", "failed"]
    assert all(json.loads(line) for line in outcome.transcript.splitlines())


def test_a_session_out_of_time_has_used_what_its_calls_say(tmp_path: Path) -> None:
    with serve(ok(openai("One.", "true")), ok(openai("Two.", "sleep 60"))) as server:
        outcome = play(asked(server.url + "/v1", session_s=4), tmp_path)
    assert outcome.error_class == "session-timeout"
    assert outcome.usage is not None
    for field, total in outcome.usage.items():
        assert total == sum(call["usage"][field] for call in outcome.calls)
    assert outcome.usage["output_tokens"] == 10
    assert outcome.spent_usd == pytest.approx(sum(call["dollars"] for call in outcome.calls))
