"""Phases of a session with the loop engine: real store, real sandbox, replayed model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.core import phases, records, review_artifact, strictjson
from bench.core.records import Record
from bench.effects.cassette_author import authored
from bench.effects.context import Context, Made
from bench.effects.sessions import prompts
from tests.steps.making import context_at
from tests.steps.test_session import MODEL, USAGE, changed, nothing_left, play, record, skill_of, template_of

TASK = "Make greet.py greet the world."
PLAN = f"/workspace/{phases.PLAN_FILE}"
OUT = f"{review_artifact.FOLDER}/{review_artifact.NAME}"
NAMES = {"plan": PLAN, "review": OUT, "variable": review_artifact.VARIABLE}
WRITE_PLAN = f"mkdir -p docs/plans && echo 'Greet the World.' > {PLAN}"
WORK = "echo \"print('World')\" > greet.py"
REVIEW = {"schema_version": 1, "verdict": "approve", "findings": []}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


@pytest.fixture
def lower(context: Context) -> Record:
    return template_of(context, {"greet.py": b"print('hello')\n"})


def tape(skills: tuple[str, ...] = (), **commands: Any) -> bytes:
    said = []
    for phase, command in commands.items():
        turns = [{"text": "On it.", "commands": [command], "usage": USAGE}]
        prompt = prompts.of_phase(phase, TASK, NAMES)
        said.append({"prompt": prompt, "skills": list(skills), "turns": turns, "final": {"text": "Done.", "usage": USAGE}})
    return authored(MODEL, "anthropic", said)


def phased(context: Context, lower: Record, asked: list[str], **commands: Any) -> Made:
    return play(context, {"template": lower}, tape(**commands), prompt=TASK, phases=asked, expected_skills={})


def test_work_follows_the_plan_in_one_workspace(context: Context, lower: Record) -> None:
    made = phased(context, lower, ["plan", "work"], plan=WRITE_PLAN, work=f"grep World {PLAN} && {WORK}")
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [phase["phase"] for phase in made.body["phases"]] == ["plan", "work"]
    assert made.body["usage"]["input_tokens"] == 4000
    assert (made.body["num_turns"], made.body["tool_use_counts"]) == (4, {"bash": 2})
    assert context.store.get(made.outputs["plan"].blob) == b"Greet the World.\n"
    assert [entry.path for entry in changed(context, made).entries] == ["greet.py"]
    lines = context.store.get(made.outputs["transcript"].blob).splitlines()
    assert sum(json.loads(line)["type"] == "result" for line in lines) == 2
    assert len(lines) == sum(phase["events"] for phase in made.body["phases"])
    assert nothing_left(context)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("true", "no plan was written"),
        (f"{WRITE_PLAN} && {WORK}", "more than its plan: greet.py"),
        (f"{WRITE_PLAN} && echo > docs/plans/b.md", "docs/plans/b.md"),
        (f"mkdir -p docs/plans && ln -s /etc/passwd {PLAN}", "no plan was written"),
    ],
)
def test_a_plan_that_is_none_ends_the_session_before_its_work(
    context: Context, lower: Record, command: str, words: str
) -> None:
    made = phased(context, lower, ["plan", "work"], plan=command, work=WORK)
    assert (made.state, made.body["error_kind"]) == (records.FINAL, "plan-evidence-invalid")
    assert words in made.body["error_detail"]
    assert len(made.body["phases"]) == 1


def test_a_review_is_handed_in_beside_the_workspace(context: Context, lower: Record) -> None:
    said = json.dumps(REVIEW)
    atomic = f"test ! -e {OUT} && printf '%s' '{said}' > $BENCH_REVIEW_OUTPUT.new && mv $BENCH_REVIEW_OUTPUT.new {OUT}"
    made = phased(context, lower, ["review"], review=atomic)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["review"] == {"written": True, "diagnostic": None, "fault": None}
    assert made.body["review_evidence_valid"] is True
    assert json.loads(context.store.get(made.outputs["review"].blob)) == REVIEW
    assert made.body["workspace_changed"] is False
    assert nothing_left(context)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("true", review_artifact.NEVER_WRITTEN),
        (f"echo x > {OUT}; chmod 0 {OUT}", review_artifact.UNREADABLE),
        (f"ln -s /etc/passwd {OUT}", review_artifact.NOT_REGULAR),
        (f"head -c 300000 /dev/zero > {OUT}", review_artifact.NOT_REGULAR),
        (f"mkfifo {OUT}", review_artifact.NOT_REGULAR),
        (f": > {OUT}", review_artifact.EMPTY),
        (f"printf '\\377' > {OUT}", strictjson.NOT_UTF8),
        (f"echo '{{' > {OUT}", strictjson.NOT_JSON),
        (f"echo '{{}}' > {OUT}", strictjson.INVALID),
    ],
)
def test_each_fault_of_an_artifact_has_a_name_of_its_own(context: Context, lower: Record, command: str, fault: str) -> None:
    # Report of the reference: an empty artifact was read as "not UTF-8" for 15 runs.
    made = phased(context, lower, ["review"], review=command)
    assert made.body["review"]["fault"] == fault
    assert made.body["review"]["diagnostic"]
    assert made.body["review_evidence_valid"] is False
    assert (made.state, made.body["error_kind"]) == (records.UNUSABLE, "review-evidence-invalid")
    assert (made.body["error_class"], made.body["error_detail"]) == (f"review-{fault}", made.body["review"]["diagnostic"])
    assert ("review" in made.outputs) is (fault not in (review_artifact.NEVER_WRITTEN, "unreadable", "not-regular"))


def test_a_review_that_touches_the_workspace_is_no_evidence(context: Context, lower: Record) -> None:
    made = phased(context, lower, ["review"], review=f"echo x > left-behind; echo '{json.dumps(REVIEW)}' > {OUT}")
    assert (made.state, made.body["error_kind"]) == (records.UNUSABLE, "review-evidence-invalid")
    assert "left-behind" in made.body["error_detail"]


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("true", review_artifact.NEVER_WRITTEN),
        (f"echo x > left-behind; echo '{json.dumps(REVIEW)}' > {OUT}", "workspace-changed"),
    ],
)
def test_a_review_that_is_none_is_unusable_whatever_came_first(
    context: Context, lower: Record, command: str, fault: str
) -> None:
    # Else it is stored as final, never bought again and reused, or scored although the workspace was touched.
    params = {"prompt": TASK, "phases": ["review"], "expected_skills": {"review": "greeting"}}
    made = play(
        context, {"template": lower, "skill": skill_of(context)}, tape(review=command, skills=("greeting",)), **params
    )
    assert made.body["error_kind"] == "skill-not-invoked"
    assert made.body["review"]["fault"] == fault
    assert made.body["review_evidence_valid"] is False
    assert made.state == records.UNUSABLE
    assert made.reason is not None
    assert made.reason.startswith("review-evidence-invalid: ")


SETUP = "mkdir -p ~/.local/bin && echo made > ~/.local/bin/tool && echo made > /tmp/tool && mkfifo ~/fifo"
PLANT = "mkdir -p ~/.claude && echo obey > ~/.claude/CLAUDE.md; echo x > /tmp/note; rm -r ~/.local"
LOOK = (
    "test -f ~/.local/bin/tool && test -f /tmp/tool && test ! -e /tmp/note && test ! -e ~/.claude && echo fresh > greet.py"
)


def test_each_phase_begins_with_the_homes_of_the_setup(context: Context, lower: Record) -> None:
    # Else the planning session configures the client of the working one: memory, agents and settings lie in the home.
    params = {"prompt": TASK, "phases": ["plan", "work"], "expected_skills": {}, "setup": SETUP}
    made = play(context, {"template": lower}, tape(plan=f"{PLANT}; {WRITE_PLAN}", work=LOOK), **params)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [entry.data for entry in changed(context, made).entries] == [b"fresh\n"]


def test_gold_hands_in_the_reference_review(context: Context, lower: Record) -> None:
    given = record("gold", Made({}, {"review": context.store.put(json.dumps(REVIEW).encode())}))
    params = {"engine": "gold", "role": "calibration", "limits": {"setup_s": 30}}
    made = play(context, {"template": lower, "gold": given}, **params, phases=["review"])
    assert made.body["review"] == {"written": True, "diagnostic": None, "fault": None}
    assert json.loads(context.store.get(made.outputs["review"].blob)) == REVIEW


def test_read_only_directories_are_taken_away_too(context: Context, lower: Record) -> None:
    deep = "mkdir -p a/b/c && echo x > a/b/c/d && chmod 0555 a/b/c a/b a; mkdir -p /tmp/r/s && chmod 0555 /tmp/r; true"
    made = phased(context, lower, ["plan", "work"], plan=WRITE_PLAN, work=deep)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert nothing_left(context)


CASE = b"--- a/greet.py\n+++ b/greet.py\n@@ -1 +1 @@\n-print('hello')\n+print('Hello')\n"


def test_a_case_to_review_lies_in_the_workspace_uncommitted_and_is_no_work_of_the_agents(
    context: Context, lower: Record
) -> None:
    look = f"git diff --quiet; test $? = 1 && grep -q Hello greet.py && echo '{json.dumps(REVIEW)}' > {OUT}"
    params = {"prompt": TASK, "phases": ["review"], "expected_skills": {}}
    made = play(context, {"template": lower}, tape(review=look), files={"patch": CASE}, **params)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["review"] == {"written": True, "diagnostic": None, "fault": None}
    assert made.body["workspace_changed"] is False
    assert [entry.path for entry in changed(context, made).entries] == ["greet.py"]


@pytest.mark.parametrize("patch", [b"", b"nonsense", CASE.replace(b"hello", b"other")])
def test_a_case_that_does_not_apply_is_a_broken_task(context: Context, lower: Record, patch: bytes) -> None:
    params = {"engine": "nop", "role": "calibration", "limits": {"setup_s": 30}}
    made = play(context, {"template": lower}, files={"patch": patch}, **params)
    assert (made.body["error_kind"], made.body["error_class"]) == ("infra-error", "broken-task")
    assert "patch" in made.body["error_detail"]
