"""promotion.json, schema 6: the decision on a candidate with every number that it rests on, in the reference's names.

A function of records alone (spec 1.5). `build` makes the document, `recompute` makes its decisions again from what stands in
it: both go through `decide`, so a document that was edited by hand no longer says what follows from it. Required arms are
those that share the candidate's overlay; all of them must promote. What identifies the evidence is in the document too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.core import gate, gate_evidence, gate_implementation, gate_review, gate_statistics
from bench.core.gate import Judged, Pair, Policy

SCHEMA = 6
ORIGIN = "manual-initial-overlay"
WARNING = "counted by the engine for its main loop only; what its helpers used is not in it"

Document = Mapping[str, Any]


def reviews(bound: Policy) -> bool:
    """Whether a policy is that of an arm that reviews: the metric says so, and only there it is that of reviews."""
    return bool(bound["metric"] == gate_review.METRIC)


def policy(thresholds: Mapping[str, Any]) -> dict[str, Any]:
    """The policy that a decision is bound to: the thresholds of the arm's gate, and its rule in words."""
    rule = gate_review.RULE if reviews(thresholds) else gate_implementation.RULE
    return dict(thresholds) | {"quality_rule": rule}


def decide(
    pairs: Sequence[Pair], facts: Mapping[str, Any], bound: Policy, statistics: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The computed part of one decision: decision, reasons, checks, tasks and the set's numbers."""
    judged: Judged = (gate_review if reviews(bound) else gate_implementation).judge(pairs, bound)
    checks = [*gate_evidence.checks(pairs, facts, bound), *judged.checks]
    checks = gate_statistics.held(checks, statistics, bound)
    return {
        "decision": gate.decision(checks),
        "reasons": gate.reasons(checks),
        "tasks": list(judged.tasks),
        "checks": [check.to_json() for check in checks],
        **judged.fields,
    }


def build(
    params: Mapping[str, Any],
    facts: Mapping[str, Any],
    pairs: Mapping[str, Sequence[Pair]],
    statistics: Mapping[str, Mapping[str, Any] | None],
    bound: Mapping[str, Any],
) -> dict[str, Any]:
    """The whole document.

    `params` are the step's (`bench.steps.promotion`), `pairs` and `statistics` come by candidate arm, `bound` are the
    fields that other records supply: selected_tasks, ce_plugin, candidate_overlay_digest, target_base_digests, inputs.
    Each arm is judged on its own tasks by its own gate: an overlay may touch skills that review and skills that work.
    """
    rules = {candidate: policy(params["thresholds"][candidate]) for _, candidate in params["pairs"]}
    decisions = []
    for incumbent, candidate in params["pairs"]:
        made = decide(pairs[candidate], facts, rules[candidate], statistics[candidate])
        said = {"candidate_arm": candidate, "incumbent_arm": incumbent, "statistics": statistics[candidate]}
        decisions.append(said | _named(pairs[candidate], facts, rules[candidate]) | made)
    return {
        "schema_version": SCHEMA,
        "suite": params["suite"],
        "profile": params["profile"],
        "candidate": params["candidate"],
        "decision": gate.together([made["decision"] for made in decisions]),
        "run_status": facts["run_status"],
        "generated_at": facts["newest_measured_at"],
        "evidence_expires_at": facts["evidence_expires_at"],
        **_asked([pair for found in pairs.values() for pair in found]),
        "proposer_model": None,
        "candidate_origin": ORIGIN,
        "candidate_overlay": params["overlay"],
        "required_candidate_arms": [candidate for _, candidate in params["pairs"]],
        "policy": rules,
        "decisions": decisions,
        "evidence": dict(facts),
        **bound,
    }


def recompute(document: Document) -> dict[str, Any]:
    """{decision, benchmark_model, effort, decisions: [{decision, metric, model, reasons, tasks, checks, …}]} as it follows
    from what the document holds.

    Raises KeyError, TypeError, ValueError or AttributeError for a document of another form: see `promotion_check`.
    """
    made, every = [], []
    facts = document["evidence"]
    for said in document["decisions"]:
        pairs = [Pair(row["task"], row["class"], row["incumbent"], row["candidate"]) for row in said["tasks"]]
        bound = document["policy"][said["candidate_arm"]]
        made.append(_named(pairs, facts, bound) | decide(pairs, facts, bound, said["statistics"]))
        every += pairs
    return {"decision": gate.together([one["decision"] for one in made]), "decisions": made} | _asked(every)


def _named(pairs: Sequence[Pair], facts: Mapping[str, Any], rules: Policy) -> dict[str, Any]:
    """What a decision is about."""
    found = {"metric": rules["metric"], "model": _one(pairs, "models")}
    return found if reviews(rules) else found | {"metric_warning": _warning(rules["metric"], facts)}


def _asked(pairs: Sequence[Pair]) -> dict[str, Any]:
    """What every session behind the document was asked of."""
    return {"benchmark_model": _one(pairs, "models"), "effort": _one(pairs, "efforts")}


def _one(pairs: Sequence[Pair], name: str) -> str | None:
    """The one value that all sides have, or None."""
    known = {value for pair in pairs for side in (pair.incumbent, pair.candidate) if side for value in side[name]}
    [value] = known if len(known) == 1 else {None}
    return value if isinstance(value, str) else None


def _warning(metric: str, facts: Mapping[str, Any]) -> str | None:
    own = facts.get(gate_implementation.MAIN_LOOP_ONLY.get(metric, ""))
    return WARNING if own else None
