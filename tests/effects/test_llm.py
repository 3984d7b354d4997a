"""The model library: late, silent, and asked through one function."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from bench.effects import llm
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


def test_our_key_comes_before_the_providers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.delenv("BENCH_OPENAI_API_KEY", raising=False)
    assert llm.key_of("openai") == "theirs"
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", "ours")
    assert llm.key_of("openai") == "ours"


class Told:
    """Usage as LiteLLM gives it."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__ |= {"prompt_tokens": 0, "completion_tokens": 0} | fields


def test_usage_is_four_disjoint_counts() -> None:
    told = Told(prompt_tokens=15, completion_tokens=2, cache_read_input_tokens=7, cache_creation_input_tokens=3)
    assert llm.usage_of(told) == {
        "input_tokens": 5,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 7,
        "output_tokens": 2,
    }


@pytest.mark.parametrize("told", [None, Told(), Told(prompt_tokens=5, cache_read_input_tokens=9)])
def test_usage_that_is_unknown_or_impossible_is_none(told: Any) -> None:
    assert llm.usage_of(told) is None
