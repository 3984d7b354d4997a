"""From what a session asks for to what the proxy is told."""

from __future__ import annotations

import pytest

from bench.effects import cassette_author, redact
from bench.effects.gateway import Ask, routes
from bench.errors import CorpusError, MissingPart

FINAL = {"text": "Done.", "usage": {"input_tokens": 1, "output_tokens": 1}}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for stem in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        for name in (stem, f"BENCH_{stem}", f"GITNEXUS_BENCH_{stem}"):
            monkeypatch.delenv(name, raising=False)


def test_a_live_model_needs_its_key(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(MissingPart, match="set BENCH_ANTHROPIC_API_KEY"):
        routes.route(Ask("s", "claude-sonnet-4-5"))
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", "sk-proj-1")
    with pytest.raises(MissingPart, match="the key that is set is OpenAI's"):
        routes.route(Ask("s", "claude-sonnet-4-5"))
    monkeypatch.setenv("BENCH_ANTHROPIC_API_KEY", "sk-proj-1")
    with pytest.raises(MissingPart, match="looks like one of OpenAI's"):
        routes.route(Ask("s", "claude-sonnet-4-5"))
    assert routes.route(Ask("s", "claude-sonnet-4-5", base_url="http://own")).signed["api_base"] == "http://own"
    monkeypatch.setenv("BENCH_ANTHROPIC_API_KEY", "sk-ant-1")
    found = routes.route(Ask("s", "claude-sonnet-4-5"))
    assert (found.model, found.signed, found.player) == ("claude-sonnet-4-5", {"model": "anthropic/claude-sonnet-4-5"}, None)


def test_other_providers_drop_what_they_have_no_word_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-1")
    assert routes.route(Ask("s", "gpt-5.1")).signed == {"model": "openai/gpt-5.1", "drop": True}
    assert routes.route(Ask("s", "ollama_chat/qwen3", base_url="http://x:1")).model == "qwen3"


@pytest.mark.parametrize(("form", "served"), [("anthropic", "anthropic/m"), ("openai", "hosted_vllm/m")])
def test_a_cassette_is_priced_as_what_was_recorded(form: str, served: str):
    data = cassette_author.authored("openrouter/p/m", form, [{"prompt": "do it", "final": FINAL}])
    found = routes.route(Ask("s", "replay/demo", cassette=data))
    assert (found.model, found.signed["model"], found.signed["priced_as"]) == ("m", served, "openrouter/p/m")
    assert found.player is not None


def test_a_cassette_must_be_one():
    with pytest.raises(CorpusError, match="no such cassette"):
        routes.route(Ask("s", "replay/demo"))
    with pytest.raises(CorpusError, match="not JSON"):
        routes.route(Ask("s", "replay/demo", cassette=b"x", cassette_name="demo.json"))


def test_blank_keys_are_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    assert "GEMINI_API_KEY" not in routes.provider_keys()


def test_the_proxy_gets_the_key_that_counts_without_its_line_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BENCH_ANTHROPIC_API_KEY", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1\n")
    monkeypatch.setenv("GEMINI_API_KEY", "g-1\n")
    found = routes.provider_keys()
    assert (found["ANTHROPIC_API_KEY"], found["GEMINI_API_KEY"]) == ("sk-ant-1", "g-1")
    monkeypatch.setenv("BENCH_ANTHROPIC_API_KEY", " ")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-proj-1")
    with pytest.raises(MissingPart, match="looks like one of OpenAI's"):
        routes.route(Ask("s", "claude-sonnet-4-5"))


def test_a_model_of_a_cloud_is_opened_by_that_clouds_variables(monkeypatch: pytest.MonkeyPatch):
    cloud = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "k-planted-0123", "AWS_REGION": "eu-central-1"}
    cloud |= {"VERTEXAI_PROJECT": "p", "VERTEXAI_LOCATION": "l", "AZURE_API_VERSION": "2024-10-21"}
    for name, value in cloud.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_UNHEARD_OF", "planted")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "planted")
    for model in ("bedrock/anthropic.claude-sonnet-4-5-v1:0", "vertex_ai/claude-sonnet-4-5"):
        assert routes.route(Ask("s", model)).signed["model"] == model
    found = routes.provider_keys()
    assert {name: found.get(name) for name in cloud} == cloud
    assert not {"AWS_UNHEARD_OF", "AZURE_STORAGE_KEY"} & set(found)
    assert redact.known_secrets({name: found[name] for name in cloud}) == ["k-planted-0123"]
