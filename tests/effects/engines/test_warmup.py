"""The model library is made ready once, and nobody who was cancelled waits for it."""

from __future__ import annotations

import sys
import threading

from bench.effects import llm
from bench.effects.engines import warmup


def test_the_model_library_is_loaded_and_no_replay_is_left() -> None:
    for _ in range(2):
        warmup.ready(threading.Event())
    assert "litellm" in sys.modules
    assert not llm.open_replays()
