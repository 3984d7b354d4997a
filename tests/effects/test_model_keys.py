"""Keys of providers, as people and CIs set them."""

from __future__ import annotations

import pytest

from bench.effects import model_keys


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "BENCH_OPENAI_API_KEY", "GITNEXUS_BENCH_OPENAI_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_our_key_comes_before_the_providers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_keys.key_of("openai") is None
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    assert model_keys.key_of("openai") == "theirs"
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", "ours")
    assert model_keys.key_of("openai") == "ours"


def test_a_blank_key_hides_no_other_and_a_line_end_is_no_part_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", " ")
    monkeypatch.setenv("OPENAI_API_KEY", "theirs\n")
    assert model_keys.key_of("openai") == "theirs"


def test_a_provider_that_needs_none_may_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_keys.key_of("ollama") is None
    monkeypatch.setenv("OLLAMA_API_KEY", "own")
    assert model_keys.key_of("ollama") == "own"
