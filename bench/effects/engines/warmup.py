"""Gets the model library ready before a session's time begins: import, and one answer of each format from a tiny cassette.

Otherwise the first session of a process would pay seconds that the others do not, and its arm would look slower. It is
done once per process, in a thread that nobody has to wait for: a cancelled session leaves at once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from bench.effects import cassettes, llm
from bench.effects.cassette_author import authored
from bench.errors import Cancelled, MissingPart

_USAGE = {"input_tokens": 1, "output_tokens": 1}
_SCRIPT: Mapping[str, Any] = {"prompt": "ready?", "turns": [], "final": {"text": "ready", "usage": _USAGE}}
_done = threading.Event()
_guard = threading.Lock()
_threads: list[threading.Thread] = []


def ready(cancel: threading.Event) -> None:
    """Wait until the library is ready. Raises Cancelled, or MissingPart when it cannot be loaded."""
    with _guard:
        if not _done.is_set() and not any(thread.is_alive() for thread in _threads):
            _threads.append(threading.Thread(target=_load, daemon=True, name="model library"))
            _threads[-1].start()
    while not _done.wait(0.05):
        if cancel.is_set():
            raise Cancelled("the session was cancelled")
        if not any(thread.is_alive() for thread in _threads) and not _done.is_set():
            raise MissingPart("the model library litellm cannot be loaded", remedy="install assay-bench again")


def _load() -> None:
    for form in cassettes.FORMATS:
        tape = cassettes.parse(authored("openai/warm-up", form, [_SCRIPT]), "warm-up")
        key = llm.open_player(cassettes.Player(tape, skills={}, run=0))
        try:
            llm.complete(llm.Call("replay/warm-up", [{"role": "user", "content": "ready?"}], [], seconds=60, key=key))
        finally:
            llm.close_player(key)
    _done.set()
