"""The model library is made ready once, and nobody who was cancelled waits for it."""

from __future__ import annotations

import sys
import threading

from bench.effects.engines import warmup


def test_the_model_library_is_loaded() -> None:
    for _ in range(2):
        warmup.ready(threading.Event())
    assert "litellm" in sys.modules
