from __future__ import annotations

from pathlib import Path

import pytest

from bench.core import digest
from bench.effects import engines, sandbox
from bench.effects.context import Context, Made
from bench.errors import CorpusError, MissingPart, StepFailed
from bench.steps import runtime
from tests.steps.making import context_at, job_of


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def make(context: Context, engine: str, protocol: int, sandbox: int = sandbox.PROTOCOL) -> Made:
    return runtime.make(job_of("runtime", context, {"engine": engine, "protocol": protocol, "sandbox": sandbox}), context)


@pytest.mark.parametrize("engine", ["nop", "gold", "loop"])
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
    with pytest.raises(CorpusError, match=r"no engine 'nope'.*known: claude, gold, loop, nop"):
        make(context, "nope", 1)


@pytest.mark.slow
def test_an_installed_client_is_recorded_with_version_and_digest_and_keyed_on_it(context: Context) -> None:
    engine = engines.create("claude")
    params = {"engine": "claude", "protocol": engine.protocol, "sandbox": sandbox.PROTOCOL, **engine.identity()}
    made = runtime.make(job_of("runtime", context, params), context)
    assert made.body["digest"] == params["binary"]
    assert made.body["version"].count(".") == 2
    with pytest.raises(StepFailed, match="binary b3:0"):
        runtime.make(job_of("runtime", context, params | {"binary": "b3:0"}), context)


def test_an_absent_client_is_refused_when_it_is_needed(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CLAUDE", "/nowhere/claude")
    engine = engines.create("claude")
    assert engine.identity() == {"missing": "there is no Claude Code"}
    params = {"engine": "claude", "protocol": engine.protocol, "sandbox": sandbox.PROTOCOL, **engine.identity()}
    with pytest.raises(MissingPart, match=r"there is no Claude Code.*BENCH_CLAUDE"):
        runtime.make(job_of("runtime", context, params), context)
