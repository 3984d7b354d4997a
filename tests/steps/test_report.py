"""The report step on a whole small suite: files, rows, links, and what is said when evidence is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from bench import schemas
from bench.core import digest
from bench.core.records import sealed
from bench.errors import IntegrityError
from bench.steps import aggregate, report
from tests.steps.evidence import ARMS, PARAMS, TASKS, Evidence


def test_a_suite_gives_every_file_and_every_row(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    made = evidence.reported(evidence.aggregated(("migrate-everything",)))
    rows = [json.loads(line) for line in evidence.text(made, "results.jsonl").splitlines()]
    assert len(rows) == made.body["planned"] == 4 * (2 + 9)
    validator = jsonschema.Draft202012Validator(schemas.load("results-row"))
    for row in rows:
        validator.validate(row)
    index = evidence.text(made, "index.html")
    linked = {unquote(name) for name in re.findall(r'href="(cells/[^"]+)"', index)}
    assert linked == {name for name in made.outputs if name.endswith(".html") and name != "index.html"}
    for row in rows:
        for artifact in row["transcript_artifacts"]:
            assert made.outputs[artifact["path"]].bytes == artifact["bytes"]
    assert "migrate-everything" in index
    assert "migrate-everything" in evidence.text(made, "report.md")


def test_a_plugins_rows_name_it_unless_the_session_ran_with_other_skills(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    plugin = {"name": "ce", "version": "1.2.3", "manifest_digest": digest.of_bytes(b"manifest")}
    skill = evidence.record("skill", "demo/baseline", {"skills": [], "plugin": plugin})
    other = sealed(replace(skill, body={"skills": [], "plugin": plugin | {"version": "2.0.0"}}))
    cell = evidence.cell("status-alias", "baseline", 0, **evidence.outcome("baseline", 0))
    session = evidence.store.find(cell.body["session_key"])
    assert session
    ran = sealed(replace(session, inputs={**session.inputs, "skill": skill.content}))
    evidence.store.put_record(ran)
    graded = sealed(replace(cell, inputs={**cell.inputs, "session": ran.content}))
    evidence.store.put_record(graded)
    evidence.cells["status-alias"]["baseline/0"] = graded
    aggregated = evidence.aggregated()
    versions = []
    for given in (skill, other):
        made = evidence.made(report, "demo", evidence.params, {"aggregate": aggregated, "skill/baseline": given})
        rows = [json.loads(line) for line in evidence.text(made, "results.jsonl").splitlines()]
        measured = next(row for row in rows if row["session_ids"])
        versions.append((measured["ce_plugin_version"], measured["ce_plugin_manifest_digest"]))
        assert {row["ce_plugin_version"] for row in rows if row["arm"] != "baseline"} == {None}
    assert versions == [("1.2.3", plugin["manifest_digest"]), (None, None)]


def test_the_tables_keep_the_order_of_the_suite_and_the_classes(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    made = evidence.reported(evidence.aggregated(classes=dict(reversed(TASKS.items()))))
    assert [arm["name"] for arm in made.body["arms"]] == [arm["name"] for arm in ARMS]
    report = evidence.text(made, "report.md")
    places = [report.index(f"| {cls} | {task} |") for task, cls in TASKS.items()]
    assert places == sorted(places)
    assert "against baseline" in report
    assert "- candidate is cheaper than baseline" in report


def test_the_same_evidence_gives_the_same_report(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        evidence = Evidence(tmp_path / name)
        evidence.fill()
        made.append(evidence.reported())
    assert made[0].content == made[1].content


def test_a_cell_page_has_transcript_patch_and_checks(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    page = evidence.text(evidence.reported(), "cells/parse-duration-candidate-1.html")
    for said in (
        "turn 1",
        "I will look at the parser first.",
        "sed -n 1,20p",
        "total = total * 60",
        "hidden oracle",
        "10 passed",
    ):
        assert said in page


def test_missing_cells_are_incomplete_in_every_form(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    del evidence.cells["list-filter"]["candidate/1"], evidence.cells["list-filter"]["candidate/2"]
    made = evidence.reported()
    assert made.body["summary"][0] == "demo: 42 of 44 cells measured (incomplete 42 of 44)"
    assert "42 of 44 planned cells were measured" in evidence.text(made, "index.html")
    assert "**Incomplete**: 42 of 44" in evidence.text(made, "report.md")
    assert "it did not run" in evidence.text(made, "cells/list-filter-candidate-2.html")


def test_replayed_runs_are_marked_with_list_price_and_nothing_spent(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    made = evidence.reported()
    assert "(list price, $0.00 spent)" in evidence.text(made, "report.md")
    assert "list price; $0.00 spent" in evidence.text(made, "index.html")
    assert "times are those of the replay" in evidence.text(made, "index.html")
    assert "and its time" not in evidence.text(made, "report.md")
    assert any("spent $0" in line for line in made.body["summary"])


def test_one_run_is_diagnostic_only(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path, params=PARAMS | {"runs": 1})
    evidence.fill()
    made = evidence.reported()
    assert "diagnostic only" in evidence.text(made, "report.md")
    assert "diagnostic only" in evidence.text(made, "index.html")


def test_a_broken_task_is_named(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    evidence.cell("list-filter", "nop", 0, resolved=True, oracle_passed=True, diff_files=0)
    made = evidence.reported()
    assert any(str(line).startswith("broken task list-filter: its oracle passes") for line in made.body["summary"])
    assert "list-filter: its oracle passes without any change" in evidence.text(made, "report.md")


def test_a_task_whose_calibration_failed_is_shown_as_not_measured(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    evidence.cell("list-filter", "gold", 0, state="unusable", resolved=False, error_kind="infra-error")
    made = evidence.reported()
    assert "list-filter (unmeasured)" in evidence.text(made, "report.md")
    assert 'class="tag bad">unmeasured</span><span class="sub">no valid cell of gold' in evidence.text(made, "index.html")


def test_evidence_that_the_store_no_longer_holds_leaves_a_page_that_says_so(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    whole = evidence.aggregated()
    evidence.store.drop_record(evidence.cells["list-filter"]["candidate/1"].body["session_key"])
    made = evidence.reported(whole)
    assert "No transcript is kept" in evidence.text(made, "cells/list-filter-candidate-1.html")


def test_sentences_stand_before_the_tables_of_the_statistics(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    made = evidence.reported()
    for name in ("index.html", "report.md"):
        text = evidence.text(made, name)
        heading = text.index("What the numbers can and cannot show")
        sentence = text.index("4 tasks can show nothing about other tasks")
        assert heading < sentence < text.lower().index("needed to see it")
    first = made.body["statistics"][0]
    assert (first["a"]["arm"], first["b"]["arm"]) == ("candidate", "incumbent")
    assert (
        made.body["summary"][-1]
        == "candidate against incumbent: Whether this gain holds on other tasks, 4 tasks cannot show."
    )


def test_sessions_bought_again_for_one_arm_alone_are_said(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    whole = evidence.aggregated()
    for run in range(3):
        key = evidence.cells["list-filter"][f"candidate/{run}"].body["session_key"]
        session = evidence.store.find(key)
        assert session is not None
        evidence.store.drop_record(key)
        evidence.store.put_record(sealed(replace(session, notes={"attempts": 2})))
    made = evidence.reported(whole)
    assert "sessions bought again differ: 3 of candidate, 0 of incumbent" in evidence.text(made, "report.md")


def test_a_damaged_patch_is_never_shown(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    whole = evidence.aggregated()
    blob = evidence.cells["list-filter"]["candidate/1"].outputs["patch"].blob
    path = evidence.store.root.joinpath("blobs", *digest.shard(blob))
    path.chmod(0o600)
    path.write_bytes(b"+forged\n")
    with pytest.raises(IntegrityError):
        evidence.reported(whole)


def test_the_health_record_changes_nothing_but_who_judged(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.fill()
    whole = evidence.aggregated()
    alone = evidence.reported(whole)
    both = evidence.made(report, "demo", evidence.params, {"aggregate": whole, "health": evidence.judged(whole)})
    assert both.content == alone.content


def test_a_suite_without_any_cell_still_has_a_report(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    made = evidence.reported(evidence.made(aggregate, "demo", {"parts": [], "skipped": ["slow"]}, {}))
    assert made.body["summary"][0] == "demo: 0 of 0 cells measured"
    assert "slow" in evidence.text(made, "index.html")
    assert evidence.text(made, "results.jsonl") == ""


def test_calibration_alone_has_a_report(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path, params=PARAMS | {"runs": 0})
    evidence.fill()
    made = evidence.reported()
    assert made.body["planned"] == 8 + 0
    assert "separates" in evidence.text(made, "index.html")
