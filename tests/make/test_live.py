"""Models that cannot be asked, as a user meets them: one line, exit 2 or 3, and nothing was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.effects.engines.modelserver import ok, openai, serve
from tests.make import workspaces
from tests.make.workspaces import LIMITS, Bench

pytestmark = pytest.mark.slow
OPENAI = {"BENCH_OPENAI_API_KEY": "sk-planted-0123456789abcdef"}
ANTHROPIC = {"BENCH_ANTHROPIC_API_KEY": "sk-ant-planted-0123456789"}
NONE = {
    f"{prefix}{name}_API_KEY": ""
    for prefix in ("", "BENCH_", "GITNEXUS_BENCH_")
    for name in ("OPENAI", "ANTHROPIC", "GEMINI")
} | dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"), "")


def suite(root: Path, name: str = "tiny", *, engine: str = "loop", model: str | None = None, **params: Any) -> Bench:
    agent = {"name": "agent", "role": "incumbent", "engine": engine, "params": params}
    changes = {"arms": [workspaces.ARMS[0], agent], "model": model, "limits": LIMITS | {"budget_usd": None}}
    return Bench(workspaces.write(root, name, **changes))


@pytest.mark.parametrize(
    ("engine", "words", "env", "code", "said"),
    [
        ("claude", ["model=claude-sonnet-4-5"], {}, 3, "no key for Anthropic; set BENCH_ANTHROPIC_API_KEY"),
        ("claude", ["model=claude-sonnet-4-5"], OPENAI, 3, "the key that is set is OpenAI's, and this model is Anthropic's"),
        ("loop", ["model=openai/gpt-5"], ANTHROPIC, 3, "the key that is set is Anthropic's, and this model is OpenAI's"),
        (
            "claude",
            ["model=claude-sonnet-4-5"],
            {"ANTHROPIC_API_KEY": "sk-proj-of-the-other"},
            3,
            "the key given for Anthropic looks like one of OpenAI's",
        ),
        (
            "loop",
            ["model=openai/gpt-5"],
            {"GITNEXUS_BENCH_OPENAI_API_KEY": "sk-ant-of-the-other"},
            3,
            "the key given for OpenAI looks like one of Anthropic's",
        ),
        ("claude", ["model=bedrock/x"], OPENAI, 3, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("claude", ["model=openai/own", "base_url=http://127.0.0.1:9/v1"], {}, 3, "no key for OpenAI"),
        (
            "claude",
            ["model=claude-x", "provider=openai"],
            OPENAI,
            2,
            "is Anthropic's; use provider=auto, or a model of OpenAI",
        ),
        ("loop", ["model=gpt-5", "provider=anthropic"], ANTHROPIC, 2, "is OpenAI's"),
        ("claude", ["model=claude-sonnet-latest"], ANTHROPIC, 2, "names another model tomorrow; pin a version"),
        ("claude", ["model=openrouter/auto"], ANTHROPIC, 2, "names another model tomorrow"),
    ],
)
def test_it_is_refused_with_the_remedy(
    tmp_path: Path, engine: str, words: list[str], env: dict[str, str], code: int, said: str
):
    bench = suite(tmp_path, engine=engine)
    done = bench.doit(*words, env=NONE | env)
    assert done.code == code, done.stdout + done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert bench.records() == {}


def test_of_two_families_the_one_without_a_key_is_named(tmp_path: Path):
    suite(tmp_path, model="claude-sonnet-4-5", engine="claude")
    bench = suite(tmp_path, "other", model="openai/gpt-5")
    done = bench.doit(env=NONE | OPENAI)
    assert done.code == 3
    assert "models of anthropic and openai are asked for, and there is no key for Anthropic" in done.stderr
    assert bench.records() == {}


def test_an_arms_own_address_is_checked_too(tmp_path: Path):
    done = suite(tmp_path, model="ollama_chat/qwen3", base_url="127.0.0.1:11434").doit(env=NONE)
    assert done.code == 2
    assert "is not an http or https address" in done.stderr


def test_where_a_model_is_served_is_part_of_the_key(tmp_path: Path):
    with serve(ok(openai("done"))) as server:
        bench = suite(tmp_path, model="own-model")
        words = ("provider=openai", f"base_url={server.url}/v1")
        done = bench.doit(*words, env=NONE | OPENAI)
        assert done.code == 0, done.stderr
        assert "directional only: agent: the model is free, or has no row in corpus/prices.json" in done.stdout
        record = bench.record("artifacts/sessions/tiny/add/agent/0.json")
        assert record["params"]["engine_params"] == {"provider": "openai", "base_url": f"{server.url}/v1"}
        assert server.asked[0]["model"] == "own-model"
        assert bench.moving(*words) == {}
        assert "session:tiny/add/agent/0" in bench.moving(words[0], "base_url=http://127.0.0.1:9/v1")
