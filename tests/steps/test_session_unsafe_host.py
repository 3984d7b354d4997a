"""A review's session and its cell without a sandbox: a real store, real processes on the host, a replayed model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.core import records
from bench.core.overrides_sandbox import UNSAFE
from bench.core.records import Record
from bench.core.review_artifact import VARIABLE
from bench.effects.cassette_author import authored
from bench.effects.context import Context, Made
from bench.effects.sessions import prompts
from bench.steps import cell
from tests.core.reviews import label_file
from tests.steps import test_session
from tests.steps.grading_jobs import PRICES
from tests.steps.making import context_at, job_of
from tests.steps.test_session import MODEL, USAGE, changed, nothing_left, play, record, template_of
from tests.steps.test_session_phases import CASE, NAMES, OUT, REVIEW, TASK, tape

SAID = json.dumps(REVIEW)
HAND_IN = f"printf '%s' '{SAID}' > $BENCH_REVIEW_OUTPUT.new && mv $BENCH_REVIEW_OUTPUT.new {OUT}"

offered = test_session.offered


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


@pytest.fixture
def lower(context: Context) -> Record:
    return template_of(context, {"greet.py": b"print('hello')\n"})


def hosted(context: Context, lower: Record, command: str, **more: object) -> Made:
    params = {"prompt": TASK, "phases": ["review"], "expected_skills": {}, "sandbox": UNSAFE} | more
    return play(context, {"template": lower}, tape(review=command), files={"patch": CASE}, **params)


def said(context: Context, made: Made) -> str:
    return context.store.get(made.outputs["transcript"].blob).decode()


def test_a_review_on_the_host_is_like_one_in_the_sandbox(context: Context, lower: Record) -> None:
    look = "cd /workspace && git diff --quiet; test $? = 1 && grep -q Hello /workspace/greet.py && pwd && echo $" + VARIABLE
    made = hosted(context, lower, f"{look} && {HAND_IN}")
    assert (made.state, made.body["error_detail"], made.body["backing"]) == (records.FINAL, None, UNSAFE)
    assert made.body["review"] == {"written": True, "diagnostic": None, "fault": None}
    assert json.loads(context.store.get(made.outputs["review"].blob)) == REVIEW
    assert made.body["workspace_changed"] is False
    assert [entry.path for entry in changed(context, made).entries] == ["greet.py"]
    assert "/workspace\\n/review-output/review-output.json" in said(context, made)
    assert nothing_left(context)


def test_the_same_session_in_the_sandbox_hands_in_and_shows_the_same(context: Context, lower: Record) -> None:
    here = hosted(context, lower, f"pwd; ls -a; git status --short; {HAND_IN}")
    there = hosted(context, lower, f"pwd; ls -a; git status --short; {HAND_IN}", sandbox=None)
    assert there.body["backing"] != UNSAFE
    assert here.outputs == there.outputs


def test_no_path_of_the_host_is_in_the_evidence(context: Context, lower: Record) -> None:
    body = {**REVIEW, "summary": "see /workspace/greet.py"}
    made = hosted(context, lower, f"env; find /workspace /tmp ~ ; cat <<'E' > {OUT}\n{json.dumps(body)}\nE")
    handed = context.store.get(made.outputs["review"].blob).decode()
    for text in (said(context, made), handed, json.dumps(dict(made.body))):
        assert str(context.scratch) not in text
    assert "/workspace/greet.py" in handed


@pytest.mark.parametrize(
    "command",
    [
        "chmod -R u+w . && echo x > left-behind",
        "chmod u+w . .git .git/config && git config user.name x",
        "chmod u+w . && rm -f greet.py",
    ],
)
def test_a_clone_that_is_not_the_same_afterwards_is_no_evidence(context: Context, lower: Record, command: str) -> None:
    made = hosted(context, lower, f"{command}; {HAND_IN}")
    assert (made.state, made.body["error_kind"], made.body["error_class"]) == (
        records.UNUSABLE,
        "review-evidence-invalid",
        "workspace-changed",
    )
    assert nothing_left(context)


def test_what_an_agent_leaves_closed_is_taken_away(context: Context, lower: Record) -> None:
    deep = "mkdir -p /tmp/r/s ~/a/b && echo x > ~/a/b/c && chmod 0555 /tmp/r/s /tmp/r ~/a/b ~/a; setsid sleep 1000 &"
    made = hosted(context, lower, f"{deep} {HAND_IN}")
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert nothing_left(context)


def test_skills_are_copies_where_the_engine_names_them(context: Context, lower: Record, offered: Record) -> None:
    spoil = "chmod -R u+w /opt/skills; echo spoilt > /opt/skills/greeting/SKILL.md"
    turns = [{"text": "So.", "commands": [f"cat /opt/skills/greeting/SKILL.md && {HAND_IN}; {spoil}"], "usage": USAGE}]
    talk = {"prompt": prompts.of_phase("review", TASK, NAMES), "skills": ["greeting"], "turns": turns}
    cassette = authored(MODEL, "anthropic", [talk | {"final": {"text": "Done.", "usage": USAGE}}])
    params = {"prompt": TASK, "phases": ["review"], "expected_skills": {"review": "greeting"}, "sandbox": UNSAFE}
    made = play(context, {"template": lower, "skill": offered}, cassette, **params)
    assert (made.body["error_detail"], made.body["skill_invoked"]) == (None, True)
    kept = [path.read_text() for path in (context.store.root / "trees").rglob("SKILL.md")]
    assert kept
    assert "spoilt" not in "".join(kept)


def test_a_phase_that_may_write_and_a_task_with_files_of_its_own_are_refused(context: Context, lower: Record) -> None:
    made = play(
        context,
        {"template": lower},
        tape(review=HAND_IN),
        files={"patch": CASE, "copy/x": b"x"},
        prompt=TASK,
        phases=["review"],
        expected_skills={},
        sandbox=UNSAFE,
    )
    assert (made.state, made.body["error_class"]) == (records.UNUSABLE, "broken-task")
    assert "sandbox" in made.body["error_detail"]
    assert nothing_left(context)


VERIFY = 'grep -q Hello /workspace/greet.py greet.py && grep -q approve "$BENCH_REVIEW_OUTPUT" && cat /review-output/*'


@pytest.mark.parametrize(("verify", "passed"), [(VERIFY, True), ("false", False), ('test -s "$THEIRS"', True)])
def test_its_cell_is_graded_on_the_host_too(context: Context, lower: Record, verify: str, passed: bool) -> None:
    made = hosted(context, lower, HAND_IN)
    labels = context.store.put(label_file())
    oracle = record("oracle", Made({"files": [{"target": "review-labels.json"}]}, {"file/review-labels.json": labels}))
    inputs = {"session": record("session", made), "template": lower, "oracle": oracle}
    fixed = {"verify_s": 60, "oracle_s": 60, "prices": PRICES, "role": "incumbent"}
    aliases = {VARIABLE: "THEIRS"}
    graded = cell.make(job_of("cell", context, fixed | {"verify": verify, "aliases": aliases}, inputs=inputs), context)
    assert (graded.body["authored_tests_passed"], graded.body["backing"]) == (passed, UNSAFE), graded.body
    assert graded.body["resolved"] is passed
    assert nothing_left(context)
