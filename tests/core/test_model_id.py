import pytest

from bench.core import model_id
from bench.errors import CorpusError


@pytest.mark.parametrize(
    "model", ["gpt-5", "anthropic/claude-sonnet-4-5", "replay/demo", "ollama/qwen:7b", "autopilot", "latest-1", "a@2"]
)
def test_an_id_that_names_one_model_passes(model):
    assert model_id.check(model, "here") == model


@pytest.mark.parametrize("model", ["auto", "latest", "gpt-latest", "x/auto", "x@latest", "x:LATEST", "openrouter/Auto"])
def test_an_id_that_moves_is_refused(model):
    with pytest.raises(CorpusError, match="pin a version"):
        model_id.check(model, "here")


@pytest.mark.parametrize("model", ["", "a b", "a\nb", "x" * 257, "replay/", "replay/../x", "replay/a/b"])
def test_what_is_no_id_is_refused(model):
    with pytest.raises(CorpusError):
        model_id.check(model, "here")


def test_the_cassette_behind_a_replay():
    assert model_id.cassette("replay/demo") == "demo"
    assert model_id.cassette("gpt-5") is None
    assert model_id.cassette(None) is None
