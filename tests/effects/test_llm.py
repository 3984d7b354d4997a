"""The model library: late, silent, and asked through one function."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from bench.core.records import TOKENS
from bench.effects import llm
from bench.effects.engines import warmup
from bench.effects.gateway.usage import normalised
from bench.errors import MissingPart

TOOL: dict[str, Any] = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}
SILENT = """
import os, pathlib, sys
import bench.effects.engines.loop, bench.steps.session
assert "litellm" not in sys.modules, "imported before it was used"
pathlib.Path(".env").write_text("PLANTED_BY_ENV_FILE=1")
from bench.effects import llm
library = llm.library()
assert "PLANTED_BY_ENV_FILE" not in os.environ
assert library.telemetry is False and not library.success_callback and not library.callbacks
"""


@pytest.fixture(autouse=True)
def _ready() -> None:
    """Whole from its first import on: what it leaves for its first call warns, and pytest forgets that it is not to."""
    warmup.ready(threading.Event())


def test_it_is_imported_late_and_says_nothing(tmp_path: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SILENT],
        capture_output=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("model", "effect"),
    [
        ("openai/gpt-4o-mini", set()),
        ("openai/gpt-5", {"reasoning_effort"}),
        ("anthropic/claude-sonnet-4-5", {"thinking", "max_tokens"}),
    ],
)
def test_what_becomes_of_an_effort_is_known_before_asking(model: str, effect: set[str]) -> None:
    assert set(llm.effect_of(model, "reasoning_effort", "high", [TOOL])) == effect


@pytest.mark.parametrize(
    ("model", "provider"), [("replay/x", "replay"), ("openai/gpt-4o-mini", "openai"), ("claude-sonnet-4-5", "anthropic")]
)
def test_the_provider_of_a_model_is_known(model: str, provider: str) -> None:
    assert llm.provider_of(model) == provider


def test_a_model_of_no_known_provider_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(MissingPart, match=r"^nobody/x: LiteLLM knows no provider of this model; write it as "):
        llm.provider_of("nobody/x")


def usage(**fields: Any) -> Any:
    """Usage as LiteLLM gives it."""
    return llm.library().Usage(**fields)


@pytest.mark.parametrize(
    ("cached", "counts"),
    [
        ({"cache_read_input_tokens": 70, "cache_creation_input_tokens": 300}, (630, 300, 70, 2)),
        ({"prompt_tokens_details": {"cached_tokens": 70}}, (930, 0, 70, 2)),
        ({"prompt_tokens_details": {"cached_tokens": 70, "cache_creation_tokens": 300}}, (630, 300, 70, 2)),
        ({"prompt_tokens_details": {"cached_tokens": 70, "cache_write_tokens": 300}}, (630, 300, 70, 2)),
        ({}, (1000, 0, 0, 2)),
    ],
)
def test_usage_is_four_disjoint_counts_and_the_same_as_the_gateways(cached: dict[str, Any], counts: tuple[int, ...]) -> None:
    told = usage(prompt_tokens=1000, completion_tokens=2, **cached)
    assert llm.usage_of(told) == dict(zip(TOKENS, counts, strict=True)) == normalised(told.model_dump(), "chat")


@pytest.mark.parametrize("told", [None, {}, {"prompt_tokens": 5, "completion_tokens": 1, "cache_read_input_tokens": 9}])
def test_usage_that_is_unknown_or_impossible_is_none(told: Any) -> None:
    assert llm.usage_of(told if told is None else usage(**told)) is None
