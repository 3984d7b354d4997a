"""Whether a promotion.json may be believed as it stands: form, counts, ranges, decisions that follow from its numbers.

Schema 6 is checked whole. Schema 5, the reference's older form, is readable and never good enough to apply, whatever number
is edited in. Nothing is promoted here, and nothing about the working tree or the present time is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.core import digest, gate, medians, promotion, schema_plain
from bench.core.calendar import later
from bench.core.gate_evidence import ABORTED, COMPLETE
from bench.core.numbers import number
from bench.core.records import NOT_RUN

HISTORICAL = 5
SHARES = (*medians.REVIEW_SHARES, medians.REVIEW_MINIMUM)
"""Figures that are shares, 0 to 1, where they are known."""
FLAGS = medians.REVIEW_ALL
TOO_DEEP = "is nested too deeply"

Document = Mapping[str, Any]


def version(document: Any) -> int | None:
    """The schema version that a document claims, or None where it is none."""
    claimed = document.get("schema_version") if isinstance(document, Mapping) else None
    return claimed if type(claimed) is int else None


def applicable(document: Any) -> list[str]:
    """Why a document cannot be applied, as far as it says itself; empty = it can. Expiry is asked by who has a clock."""
    claimed = version(document)
    if claimed != promotion.SCHEMA:
        told = "no promotion.json" if claimed is None else f"schema {claimed}, and only {promotion.SCHEMA} can be applied"
        return [f"NOT PROMOTED: this is {told}"]
    found = faults(document)
    if not found and document["decision"] != gate.PROMOTE:
        found = [f"NOT PROMOTED: the decision is {document['decision']}: {'; '.join(_reasons(document))}"]
    if not found and document["candidate_overlay"] is None:
        found = ["NOT PROMOTED: the candidate has no overlay, and nothing but an overlay can be applied"]
    return found


def _reasons(document: Document) -> list[str]:
    return [reason for one in document["decisions"] for reason in one["reasons"]]


def faults(document: Any) -> list[str]:
    """What does not hold in a document; empty = everything does. Schema 5 is checked for its form alone."""
    claimed = version(document)
    if claimed not in (HISTORICAL, promotion.SCHEMA):
        return [f"schema_version is {claimed!r}, and this version reads {HISTORICAL} and {promotion.SCHEMA}"]
    try:
        if claimed == HISTORICAL:
            return schema_plain.faults(document, "promotion-5")
        return _unwritable(document) or schema_plain.faults(document, "promotion") or _contents(document)
    except RecursionError:
        return [TOO_DEEP]


def _contents(document: Document) -> list[str]:
    try:
        found = [*_arms(document), *_sweep(document), *_times(document), *_sides(document)]
        return found or _computed(document)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        # The schema leaves thresholds and figures open; what is wrong in those shows when they are counted with.
        return [f"no decision follows from what it holds: {type(error).__name__} {error}"[:200]]


def _unwritable(document: Document) -> list[str]:
    """Python reads NaN, Infinity and half surrogates where JSON has none; no number is compared with those."""
    try:
        digest.canonical(_plain(document))
    except (TypeError, ValueError) as error:
        return [f"is not JSON: {error}"[:200]]
    return []


def _arms(document: Document) -> Iterator[str]:
    required = document["required_candidate_arms"]
    if len(set(required)) < len(required):
        yield "required_candidate_arms names an arm twice"
    if [one["candidate_arm"] for one in document["decisions"]] != required:
        yield "the decisions are not one per required arm, in their order"
    if sorted(document["policy"]) != sorted(required):
        yield "policy is not one per required arm"
    if document["candidate"] not in required:
        yield f"{document['candidate']} is not among the required arms"
    selected = [task["id"] for task in document["selected_tasks"]]
    if len(set(selected)) < len(selected):
        yield "selected_tasks names a task twice"
    if any(not task["candidate_arms"] or set(task["candidate_arms"]) - set(required) for task in document["selected_tasks"]):
        yield "selected_tasks has a task of no required arm"
    for one in document["decisions"]:
        asked = [task["id"] for task in document["selected_tasks"] if one["candidate_arm"] in task["candidate_arms"]]
        if [row["task"] for row in one["tasks"]] != asked:
            yield f"{one['candidate_arm']}: its tasks are not the selected ones"
        ungated = [row["task"] for row in one["tasks"] if not row["gated"]]
        if one["ungated_tasks"] != ungated:
            yield f"{one['candidate_arm']}: ungated_tasks is not the list of its ungated tasks"


def _sweep(document: Document) -> Iterator[str]:
    if document["evidence"]["overlay"] != (document["candidate_overlay"] is not None):
        yield "the evidence and the document do not agree on whether there is an overlay"


def _times(document: Document) -> Iterator[str]:
    facts = document["evidence"]
    if document["run_status"] != facts["run_status"] or facts["run_status"] not in (COMPLETE, ABORTED):
        yield "run_status is not what the evidence says"
    if document["generated_at"] != facts["newest_measured_at"]:
        yield "generated_at is not the newest measurement"
    oldest, days = facts["oldest_measured_at"], facts["max_age_days"]
    expires = later(oldest, days) if oldest else None
    if document["evidence_expires_at"] != expires or facts["evidence_expires_at"] != expires:
        yield "evidence_expires_at is not the oldest measurement and the age limit"
    runs = [run for _, side in _every_side(document) for run in side["evidence"] if run["valid"]]
    stamps = sorted(run["measured_at"] for run in runs if run["measured_at"])
    if stamps and (stamps[0] != oldest or stamps[-1] != document["generated_at"]):
        yield "the times of measurement do not fit generated_at and the expiry"


def _every_side(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in document["decisions"]:
        for row in one["tasks"]:
            for name in ("incumbent", "candidate"):
                if row[name] is not None:
                    yield f"{row['task']}/{row[name]['arm']}", row[name]


def _sides(document: Document) -> Iterator[str]:
    for where, side in _every_side(document):
        if side["runs"] != side["valid_runs"] + side["excluded_runs"]:
            yield f"{where}: runs is not valid and excluded runs together"
        if side["planned"] != side["runs"] + side["not_run"] or side["planned"] != len(side["evidence"]):
            yield f"{where}: planned is not the number of its runs"
        if side["resolved"] > side["valid_runs"]:
            yield f"{where}: more runs resolved than are valid"
        if not side["admissible"] <= side["fresh_attempts"] <= side["runs"] or side["resolved_fresh"] > side["resolved"]:
            yield f"{where}: more runs are fresh than there are"
        if side["valid_runs"] != sum(run["valid"] for run in side["evidence"]):
            yield f"{where}: valid_runs is not the number of its valid runs"
        if side["attempts"] != sum(run["attempts"] for run in side["evidence"] if run["state"] != NOT_RUN):
            yield f"{where}: attempts are not those of its runs"
        yield from _figures(where, side)
    for one in document["decisions"]:
        for row in one["tasks"]:
            yield from _owners(one, row)


def _figures(where: str, side: Mapping[str, Any]) -> Iterator[str]:
    for name in SHARES:
        value = side.get(name)
        if value is not None and not (number(value) is not None and 0 <= value <= 1):
            yield f"{where}: {name} is not a share"
    for name in FLAGS:
        if side.get(name) is not None and not isinstance(side[name], bool):
            yield f"{where}: {name} is not true, false or null"


def _owners(one: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[str]:
    for name, arm in (("incumbent", one["incumbent_arm"]), ("candidate", one["candidate_arm"])):
        side = row[name]
        if side is not None and (side["arm"] != arm or side["task"] != row["task"]):
            yield f"{row['task']}: its {name} is not {arm} on that task"


def _computed(document: Document) -> list[str]:
    again = promotion.recompute(document)
    if again["decision"] != document["decision"]:
        return [f"the decision {document['decision']} does not follow from the numbers: they give {again['decision']}"]
    for name in ("benchmark_model", "effort"):
        if again[name] != document[name]:
            return [f"{name} is not that of the runs"]
    for said, made in zip(document["decisions"], again["decisions"], strict=True):
        wrong = [name for name in made if not _same(said.get(name), made[name])]
        if wrong:
            return [f"{said['candidate_arm']}: {', '.join(sorted(wrong))} do not follow from the numbers"]
    return []


def _same(one: Any, other: Any) -> bool:
    return digest.canonical(_plain(one)) == digest.canonical(_plain(other))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value
