from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest
from bench.effects import engines, sandbox
from bench.effects.context import Context, Made
from bench.errors import CorpusError, StepFailed
from bench.steps import runtime
from tests.steps.making import context_at, job_of


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def make(context: Context, engine: str, protocol: int, sandbox: int = sandbox.PROTOCOL) -> Made:
    return runtime.make(job_of("runtime", context, {"engine": engine, "protocol": protocol, "sandbox": sandbox}), context)


@pytest.mark.parametrize("engine", sorted(engines.ENGINES))
def test_every_engine_has_a_runtime(context: Context, engine: str) -> None:
    protocol = engines.create(engine).protocol
    made = make(context, engine, protocol)
    assert (made.body["engine"], made.body["protocol"], made.body["sandbox"]) == (engine, protocol, sandbox.PROTOCOL)
    assert made.body["version"] == str(protocol)
    assert made.outputs == {}


def test_what_this_machine_has_is_noted_and_keys_nothing(context: Context) -> None:
    made = make(context, "nop", engines.create("nop").protocol)
    assert set(made.notes) == {"litellm", "bubblewrap", "kernel"}
    said = digest.canonical(made.body).decode()
    assert not [value for value in made.notes.values() if value and value in said]


def test_a_key_for_another_protocol_is_refused(context: Context) -> None:
    protocol = engines.create("nop").protocol
    with pytest.raises(StepFailed, match="engine protocol"):
        make(context, "nop", protocol + 1)
    with pytest.raises(StepFailed, match="sandbox protocol"):
        make(context, "nop", protocol, sandbox.PROTOCOL + 1)


def test_an_unknown_engine_is_refused_with_the_known_ones(context: Context) -> None:
    with pytest.raises(CorpusError, match=r"no engine 'nope'.*known: gold, loop, nop"):
        make(context, "nope", 1)
