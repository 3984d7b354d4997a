"""A review's cell, graded for real: the artifact in the frozen view, the labels from the store, the score in the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.core import digest, records
from bench.core.records import Blob, Record
from bench.effects.changes import Changes
from bench.effects.context import Made
from bench.errors import CorpusError
from bench.steps import cell, gold
from tests.core.reviews import artifact, label_file, raw, raw_label
from tests.steps.grading_jobs import PRICES, USAGE, Case, changed, record
from tests.steps.making import job_of

VERIFY = 'test -s "$BENCH_REVIEW_OUTPUT" && cat "$BENCH_REVIEW_OUTPUT" > /dev/null && ! touch /review-output/more'
LABELLED = {"labels": True}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    made = Case(tmp_path_factory.mktemp("case"))
    made.oracle = made.sealed(LABELLED, {"review-labels.json": label_file(raw_label(), raw_label(1, path="src/calc.py"))})
    return made


def session(case: Case, handed: bytes | None, **body: Any) -> Record:
    """A review session; its workspace holds what the setup changed."""
    outputs: dict[str, Blob] = {"changes": case.context.store.put(changed({"conftest.py": "x = 1\n"}).pack())}
    outputs["transcript"] = case.context.store.put(body.pop("transcript", b""))
    if handed is not None:
        outputs["review"] = case.context.store.put(handed)
    state = body.pop("state", records.FINAL)
    fields = {"error_kind": None, "usage": USAGE, "num_turns": 3, "duration_s": 4.5, "model": "m", "backing": "overlay"}
    said = {"review": {"written": handed is not None, "diagnostic": None}}
    return record("session", Made(fields | said | body, outputs, state), key="session-key")


def graded(case: Case, of: Record, **params: Any) -> Made:
    inputs = {"session": of, "template": case.template, "oracle": case.oracle}
    fixed = {"verify": VERIFY, "verify_s": 60, "oracle_s": 60, "prices": PRICES, "role": "candidate", "aliases": {}}
    return cell.make(job_of("cell", case.context, fixed | params, inputs=inputs), case.context)


RIGHT = artifact(raw(), raw(1, path="src/calc.py"))


def test_a_right_review_is_resolved_and_shows_its_matching(case: Case) -> None:
    made = graded(case, session(case, RIGHT))
    body = made.body
    assert (made.state, body["resolved"], body["authored_tests_passed"]) == ("final", True, True), body
    assert [pair["label"] for pair in body["review_score"]["matching"]["pairs"]] == ["L0", "L1"]
    assert body["review_true_positives"] == 2
    assert made.outputs.keys() == {"review"}
    assert case.context.store.get(made.outputs["review"].blob) == RIGHT
    # What the setup changed is the task, and no work of the session: no churn, and no alarm for the change under review.
    assert (body["churn_digest"], body["diff_files"], body["alarms"]) == (None, None, [])
    assert not list(case.context.scratch.iterdir())


def test_the_same_review_makes_the_same_cell_again(case: Case) -> None:
    first, second = (digest.canonical(graded(case, session(case, RIGHT)).body) for _ in range(2))
    assert first == second


def test_a_commands_own_name_for_the_artifact_works_too(case: Case) -> None:
    aliases = {"BENCH_REVIEW_OUTPUT": "THEIR_REVIEW_OUTPUT"}
    made = graded(case, session(case, RIGHT), verify='grep -q findings "$THEIR_REVIEW_OUTPUT"', aliases=aliases)
    assert made.body["authored_tests_passed"] is True


def test_a_review_never_written_is_no_evidence(case: Case) -> None:
    made = graded(case, session(case, None))
    assert (made.state, made.body["error_kind"]) == ("unusable", "review-evidence-invalid")
    assert made.body["error_detail"] == "review-output.json was never written"
    assert made.body["authored_tests_passed"] is False


def test_nop_fails_and_stays_evidence(case: Case) -> None:
    made = graded(case, session(case, None), role="calibration")
    assert (made.state, made.body["error_kind"], made.body["oracle_passed"]) == ("final", "no-work-produced", False)


def test_a_session_that_broke_off_is_carried_through(case: Case) -> None:
    broken = session(case, b"{", state="unusable", error_kind="session-error", error_class="session-timeout")
    body = graded(case, broken).body
    assert (body["error_kind"], body["review_evidence_valid"], body["review_score"]) == ("session-error", False, None)
    invalid = session(case, b"{", state="unusable", error_kind="review-evidence-invalid", error_class="review-not-json")
    body = graded(case, invalid).body
    assert (body["error_kind"], body["error_class"]) == ("review-evidence-invalid", "review-not-json")
    assert body["review_evidence_valid"] is False
    held = session(case, None, state="not_run", error_kind="cancelled")
    assert "review_evidence_valid" not in graded(case, held).body


def test_the_artifacts_variable_is_no_secret_and_the_labels_are(case: Case) -> None:
    def event(command: str) -> bytes:
        return json.dumps({"type": "tool_use", "input": {"command": command}}).encode()

    honest = graded(case, session(case, RIGHT, transcript=event('cat > "$BENCH_REVIEW_OUTPUT"')))
    assert honest.body["alarms"] == []
    looked = graded(case, session(case, RIGHT, transcript=event("find / -name review-labels.json")))
    assert [alarm["kind"] for alarm in looked.body["alarms"]] == ["oracle-name"]


def test_a_corrected_label_changes_the_score_and_no_session(case: Case) -> None:
    """Acceptance: a wrong label fixed under oracles/ re-grades every cell that it concerns, from the store alone."""
    before = graded(case, session(case, RIGHT)).body
    inputs = {"session": session(case, RIGHT), "template": case.template}
    inputs["oracle"] = case.sealed(LABELLED, {"review-labels.json": label_file(raw_label())})
    params = {"verify": VERIFY, "verify_s": 60, "oracle_s": 60, "prices": PRICES, "role": "candidate", "aliases": {}}
    after = cell.make(job_of("cell", case.context, params, inputs=inputs), case.context).body
    assert (before["review_false_positives"], after["review_false_positives"]) == (0, 1)
    assert before["session_key"] == after["session_key"]


def test_labels_are_read_when_they_are_sealed(case: Case) -> None:
    with pytest.raises(CorpusError, match=r"findings\[0\]\.severity"):
        case.sealed(LABELLED, {"review-labels.json": label_file(raw_label(severity="bad"))})


def test_a_reference_review_must_be_one(case: Case, tmp_path: Path) -> None:
    def made(data: bytes) -> Made:
        job = job_of("gold", case.context, {}, {"review": data}, {"template": case.template})
        return gold.make(job, case.context)

    found = made(RIGHT)
    assert found.body == {"verdict": "request_changes", "findings": 2}
    assert case.context.store.get(found.outputs["review"].blob) == RIGHT
    with pytest.raises(CorpusError, match="is empty"):
        made(b"")


def test_a_command_beside_labels_is_kept_and_not_run(case: Case) -> None:
    sealed = case.sealed({"command": "false"} | LABELLED, {"review-labels.json": label_file()})
    assert sealed.body["command"] == "false"


def test_no_changes_at_all_is_a_review_too(case: Case) -> None:
    outputs = {"changes": case.context.store.put(Changes().pack()), "review": case.context.store.put(RIGHT)}
    quiet = record("session", Made({"error_kind": None, "usage": USAGE}, outputs), key="session-key")
    assert graded(case, quiet).body["resolved"] is True
