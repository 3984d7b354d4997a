"""What every executor must do, whichever it is: run over the registry, on a step's real code."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.effects import executors
from bench.errors import CorpusError
from bench.steps import oracle
from tests.steps.making import context_at, job_of

STEP = "bench.steps.oracle"
PARAMS = {"oracle": {"command": "true"}, "files": [{"target": "check.sh"}]}


@pytest.mark.parametrize("name", sorted(executors.EXECUTORS))
def test_it_gives_what_the_step_makes_and_its_bytes_are_in_the_store(name: str, tmp_path: Path) -> None:
    context = context_at(tmp_path)
    job = job_of("oracle", context, PARAMS, {"check.sh": b"exit 0\n"})
    made = executors.create(name).execute(STEP, job, context)
    assert made == oracle.make(job, context)
    assert [context.store.get(blob.blob) for blob in made.outputs.values()] == [b"exit 0\n"]


@pytest.mark.parametrize("name", sorted(executors.EXECUTORS))
def test_what_the_step_refuses_comes_back_as_it_was_raised(name: str, tmp_path: Path) -> None:
    context = context_at(tmp_path)
    pinned = {"target": "t", "sdist": "demo==1", "sha256": "odd", "path": "t"}
    job = job_of("oracle", context, {"oracle": {"command": "true"}, "files": [pinned]})
    with pytest.raises(CorpusError):
        executors.create(name).execute(STEP, job, context)
