"""The suite of free models that docs/gateway.md has for copying: it can run as it stands, hosted and local."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.make.workspaces import Bench

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gateway.md"
HOSTED = "openrouter/meta-llama/llama-3.3-70b-instruct:free"
LOCAL = ("model=ollama_chat/qwen3-coder", "base_url=http://127.0.0.1:11434")
NONE = {"OPENROUTER_API_KEY": "", "OLLAMA_API_KEY": ""}


@pytest.fixture
def free(shipped: Bench) -> Bench:
    """The shipped workspace with the page's suite in it; its task's dependencies are those that the demo has pinned."""
    (text,) = re.findall(r"```yaml\n(suite: free\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    shipped.path("corpus/free.yaml").write_text(text, "utf-8")
    shutil.copy(shipped.path("corpus/demo.lock.json"), shipped.path("corpus/free.lock.json"))
    return shipped


def test_it_plans_its_sessions_with_the_hosted_model_and_with_a_local_one(free: Bench):
    sessions = {f"session:free/ledger-rounding/{arm}/{run}" for arm in ("plain", "skilled") for run in range(3)}
    for words in ((), LOCAL):
        planned = free.plan("suite:free", *words)
        assert sessions <= set(planned), words
        assert {planned[step] for step in sessions} <= {"measure", "hold"}


def test_the_hosted_model_is_refused_without_its_key(free: Bench):
    refused = free.doit("suite:free", env=NONE)
    assert refused.code == 3
    assert refused.stderr.count("\n") == 1
    assert "no key for openrouter; set OPENROUTER_API_KEY" in refused.stderr
    assert HOSTED in refused.stderr
