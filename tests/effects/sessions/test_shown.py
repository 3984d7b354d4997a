from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.core.records import Record
from bench.effects import engines, graphtools
from bench.effects.context import Context, Made
from bench.effects.sessions import shown
from bench.effects.sessions.shown import Shown
from bench.steps import skill
from tests.steps.making import context_at, job_of
from tests.steps.test_session import SKILL, record


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


@pytest.fixture
def offered(context: Context) -> Record:
    job = job_of("skill", context, {"skills": ["greeting"], "overlay": False}, {"greeting/SKILL.md": SKILL.encode()})
    return record("skill", skill.make(job, context))


def of(engine: str, inputs: Mapping[str, Record], context: Context) -> Shown:
    return shown.of(inputs, engines.create(engine), context.store, context.scratch)


@pytest.mark.parametrize(("engine", "place"), [("loop", "/opt/skills"), ("claude", "/home/agent/.claude/skills")])
def test_skills_stand_where_the_engine_looks(engine: str, place: str, offered: Record, context: Context) -> None:
    found = of(engine, {"skill": offered}, context)
    [bind] = found.binds
    assert (bind.target, (bind.source / "greeting" / "SKILL.md").read_text()) == (place, SKILL)
    assert [(one.name, one.path) for one in found.skills] == [("greeting", f"{place}/greeting/SKILL.md")]


def test_a_client_without_skills_gets_an_empty_place_for_them(context: Context) -> None:
    [bind] = of("claude", {}, context).binds
    assert (bind.target, list(bind.source.iterdir())) == ("/home/agent/.claude/skills", [])
    assert of("loop", {}, context) == Shown()
    assert of("nop", {}, context) == Shown()


def test_calibration_is_shown_no_skill(offered: Record, context: Context) -> None:
    assert of("gold", {"skill": offered}, context) == Shown()


def test_the_graph_is_a_command_for_ours_and_a_server_for_a_client(context: Context) -> None:
    graph = record("graph", Made({}, {"graph": context.store.put(b"{}")}))
    ours, client = of("loop", {"graph": graph}, context), of("claude", {"graph": graph}, context)
    assert (ours.graph, client.graph) == (graphtools.GRAPH, graphtools.GRAPH)
    assert (ours.server, ours.env) == ((), graphtools.environment())
    assert client.server
    assert not client.env
