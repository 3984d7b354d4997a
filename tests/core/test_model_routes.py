"""Whose model an id is, and which key it takes."""

from __future__ import annotations

import pytest

from bench.core import model_routes
from bench.errors import CorpusError, MissingPart


@pytest.mark.parametrize(
    ("model", "provider", "route"),
    [
        ("claude-sonnet-4-5", "anthropic", "anthropic/claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5", "anthropic", "anthropic/claude-sonnet-4-5"),
        ("gpt-5.1", "openai", "openai/gpt-5.1"),
        ("chatgpt-4o", "openai", "openai/chatgpt-4o"),
        ("o3-mini", "openai", "openai/o3-mini"),
        ("openai/o3", "openai", "openai/o3"),
        ("openrouter/meta/llama-4:free", "openrouter", "openrouter/meta/llama-4:free"),
        ("ollama_chat/qwen3", "ollama_chat", "ollama_chat/qwen3"),
        ("replay/demo", "replay", "replay/demo"),
    ],
)
def test_the_id_says_it(model: str, provider: str, route: str):
    assert model_routes.provider_of(model) == provider
    assert model_routes.route(model) == route


def test_a_provider_can_be_insisted_on():
    assert model_routes.route("own-model", "openai") == "openai/own-model"
    assert model_routes.route("claude-x", "anthropic") == "anthropic/claude-x"
    assert model_routes.provider_of("replay/demo", "openai") == "replay"
    assert model_routes.bare("openrouter/meta/llama-4:free") == "meta/llama-4:free"
    assert model_routes.bare("claude-x") == "claude-x"


@pytest.mark.parametrize(
    ("model", "wanted", "told"),
    [
        ("mistral-large", "auto", "does not say whose"),
        ("claude-sonnet-latest", "auto", "another model tomorrow"),
        ("openrouter/auto", "auto", "another model tomorrow"),
        ("claude-sonnet-4-5", "openai", "is Anthropic's"),
        ("gpt-5.1", "anthropic", "is OpenAI's"),
        ("openrouter/x", "openai", "is openrouter's"),
        ("gpt-5.1", "azure", "unknown provider"),
    ],
)
def test_what_is_refused_is_told(model: str, wanted: str, told: str):
    with pytest.raises(CorpusError, match=told):
        model_routes.provider_of(model, wanted)


def test_the_first_key_that_is_set_is_enough():
    for name in model_routes.KEYS["anthropic"]:
        model_routes.check_keys(["claude-x"], {name})
    model_routes.check_keys(["replay/demo", "ollama_chat/qwen3"], set())
    model_routes.check_keys(["gemini/g-2"], {"GEMINI_API_KEY"})


@pytest.mark.parametrize(
    ("models", "present", "told"),
    [
        (["claude-x"], [], "no key for Anthropic; set BENCH_ANTHROPIC_API_KEY"),
        (["claude-x"], ["OPENAI_API_KEY"], "the key that is set is OpenAI's, and this model is Anthropic's"),
        (["gpt-5.1"], ["BENCH_ANTHROPIC_API_KEY"], "the key that is set is Anthropic's, and this model is OpenAI's"),
        (
            ["gpt-5.1", "claude-x"],
            ["OPENAI_API_KEY"],
            "anthropic and openai are asked for, and there is no key for Anthropic",
        ),
        (["gemini/g-2"], ["OPENAI_API_KEY"], "set GEMINI_API_KEY"),
        (["openrouter/m"], [], "no key for openrouter; set OPENROUTER_API_KEY"),
        (["bedrock/m"], ["AWS_ACCESS_KEY_ID"], "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; docs/gateway.md has other"),
        (["azure/m"], ["AZURE_API_KEY", "AZURE_API_VERSION"], "set AZURE_API_KEY and AZURE_API_BASE"),
        (["vertex_ai/m"], ["GOOGLE_APPLICATION_CREDENTIALS"], "set VERTEXAI_PROJECT and VERTEXAI_LOCATION"),
    ],
)
def test_a_missing_key_is_named_with_what_to_set(models: list[str], present: list[str], told: str):
    with pytest.raises(MissingPart) as refused:
        model_routes.check_keys(models, present)
    assert told in str(refused.value)
    assert refused.value.exit_code == 3


@pytest.mark.parametrize(
    ("model", "present"),
    [
        ("bedrock/m", {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}),
        ("bedrock/m", {"AWS_BEARER_TOKEN_BEDROCK"}),
        ("vertex_ai/m", {"VERTEXAI_PROJECT", "VERTEXAI_LOCATION"}),
        ("azure/m", {"AZURE_AD_TOKEN", "AZURE_API_BASE"}),
        ("together_ai/m", {"TOGETHERAI_API_KEY"}),
        ("huggingface/m", {"HF_TOKEN"}),
    ],
)
def test_a_provider_opens_by_any_of_its_ways(model: str, present: set[str]):
    model_routes.check_keys([model], present)


def test_only_what_holds_a_key_is_one():
    assert model_routes.key_names("bedrock") == model_routes.key_names("vertex_ai") == ()
    assert model_routes.key_names("azure") == ("AZURE_API_KEY",)


def test_a_key_of_another_provider_is_seen_by_its_form():
    model_routes.check_key("anthropic", "sk-ant-api03-x")
    model_routes.check_key("openai", "sk-proj-x")
    model_routes.check_key("anthropic", "my-gateway-token")
    model_routes.check_key("anthropic", "sk-own", own_address=True)
    model_routes.check_key("openrouter", "sk-or-1")
    for provider, key in (("openai", "sk-ant-x"), ("anthropic", "sk-proj-x")):
        with pytest.raises(MissingPart, match="looks like one of"):
            model_routes.check_key(provider, key)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.0.0.1:11434", None),
        ("https://gateway.example/v1", None),
        ("http://[::1]:8000/v1", None),
        ("127.0.0.1:11434", "not an http"),
        ("http://", "not an http"),
        ("http://x:port", "is no address"),
        ("http://[x", "is no address"),
        ("http://x/ y", "not an http"),
        ("http://key@x", "credentials"),
        ("http://x/?a=1", "query"),
        ("http://x/#", "fragment"),
    ],
)
def test_an_address_is_one_of_a_server(address: str, told: str | None):
    fault = model_routes.address_fault(address)
    assert (fault is None) == (told is None)
    assert told is None or told in str(fault)


def test_a_route_that_reaches_no_result_is_no_setting():
    said = {"provider": "auto", "base_url": None, "retries": 1}
    assert model_routes.settings(said, "gpt-5") == {"retries": 1}
    given = {"provider": "openai", "base_url": "http://x"}
    assert model_routes.settings(given, "gpt-5") == given
    assert model_routes.settings(given, "replay/demo") == {}
