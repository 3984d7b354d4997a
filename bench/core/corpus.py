"""A suite file, from text to a frozen `Suite`: every fault is a CorpusError with file, line, column, key and remedy.

Structure is checked by the JSON Schema (`bench.core.schema`), once per content; what a schema cannot say is checked here,
every time. Defaults are filled in, so that an explicit default and an omitted one are the same suite. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.core import corpus_arms, corpus_task, lock, model_id, names, nearest, schema, yamlmap
from bench.core.names import shown
from bench.core.numbers import plain_numbers
from bench.core.overrides import override as override
from bench.core.suite import FREE_ENGINES, Arm, Limits, Mirror, Suite, Task
from bench.core.yamlmap import Node, place
from bench.errors import CorpusError

RESERVED = ("arms",)
"""Names of suites whose file would be another one."""
IMPLEMENTATION_GATE: Mapping[str, Any] = {
    "policy": "reference",
    "metric": "cost_usd",
    "min_runs": 3,
    "min_improvement_pct": 5,
    "max_task_regression_pct": 20,
    "max_failed_task_regression_pct": 100,
    "min_gated_task_ratio": 0.5,
    "max_attempt_difference": 1,
    "acknowledge": [],
}
REVIEW_GATE: Mapping[str, Any] = {
    "policy": "reference",
    "metric": "review_weighted_f1",
    "min_runs": 3,
    "min_improvement": 0.01,
    "max_attempt_difference": 1,
    "acknowledge": [],
}
"""Thresholds of the promotion gates (spec 2.7 and 2.8, readings 14), and the ids of alarms that somebody looked at."""
GATES = {"implementation": IMPLEMENTATION_GATE, "paired": IMPLEMENTATION_GATE, "review": REVIEW_GATE}


def parse_suite(text: str, *, path: str, arms_text: str | None, arms_path: str, validated: bool = False) -> Suite:
    """The suite that `text` says; `path` and `arms_path` name the files in errors, the stem of `path` is the suite's name.

    With `validated` the caller vouches that both texts passed before, and the schema (about 0.1 s) is not consulted.
    Raises CorpusError and nothing else for any text.
    """
    document = yamlmap.load(text, path)
    if not validated:
        schema.check(document, "suite", path)
    _check_name(document, path)
    known = corpus_arms.library(arms_text, arms_path, validated=validated)
    arms = corpus_arms.build(document.value["arms"], path, known, arms_path)
    nodes = document.value["tasks"].value
    tasks = tuple(corpus_task.build(node, path) for node in nodes)
    names.distinct((task.id, place(path, node.value["id"].at)) for task, node in zip(tasks, nodes, strict=True))
    suite = _suite(document, path, arms, tasks)
    _check_fit(suite, document, path)
    return suite


def _check_name(document: Node, path: str) -> None:
    node = document.value["suite"]
    name = names.check(node.value, place(path, node.at))
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    if name in RESERVED or name.endswith(".json"):
        raise CorpusError(
            f"suite: {shown(name)} cannot name a suite", where=place(path, node.at), remedy="choose another name"
        )
    if name != stem:
        raise CorpusError(
            f"suite: the name {shown(name)} is not that of the file",
            where=place(path, node.at),
            remedy=f"write suite: {stem}, or rename the file",
        )


def _suite(document: Node, path: str, arms: tuple[Arm, ...], tasks: tuple[Task, ...]) -> Suite:
    def said(key: str, default: Any) -> Any:
        node = document.get(key)
        return default if node is None else node.value

    profile = said("profile", "implementation")
    model = document.get("model")
    paid = [arm for arm in arms if arm.engine not in FREE_ENGINES]
    workers = said("workers", None)
    return Suite(
        name=document.value["suite"].value,
        arms=arms,
        tasks=tasks,
        default=said("default", False),
        profile=profile,
        model=model_id.check(model.value, place(path, model.at)) if model else None,
        effort=said("effort", None),
        runs=int(said("runs", 3)),
        workers=None if workers is None else int(workers),
        retries=int(said("retries", 1)),
        graph=said("graph", "none"),
        limits=_limits(document.get("limits")),
        promotion=_promotion(document.get("promotion"), profile, path, mixed={a.reviews for a in paid} == {True, False}),
        env_aliases={key: node.value for key, node in said("env_aliases", {}).items()},
        mirrors=tuple(_mirror(node, path) for node in said("mirrors", ())),
    )


def _mirror(node: Node, path: str) -> Mirror:
    """A directory of the working tree, relative to the workspace, or one with the skills that it carries."""
    if not isinstance(node.value, dict):
        return Mirror(names.check_path(node.value, place(path, node.at)))
    folder, skills = node.value["dir"], node.get("skills")
    carried = frozenset(item.value for item in skills.value) if skills else None
    return Mirror(names.check_path(folder.value, place(path, folder.at)), carried)


def _limits(node: Node | None) -> Limits:
    given: dict[str, Any] = {key: plain_numbers(item.value) for key, item in node.value.items()} if node else {}
    return Limits(**given)


def _promotion(node: Node | None, profile: str, path: str, *, mixed: bool) -> dict[str, Any]:
    """Thresholds of the profile's gate, and those that are said of the other one where some arms review and some work."""
    gate = GATES[profile]
    found = dict(gate)
    known = {*IMPLEMENTATION_GATE, *REVIEW_GATE} if mixed else set(gate)
    for key, item in node.value.items() if node else ():
        if key not in known:
            raise CorpusError(
                f"promotion.{key}: the gate of the profile {profile!r} has no such threshold",
                where=place(path, node.key_at(key) if node else item.at),
                remedy=f"known: {', '.join(sorted(known))}",
            )
        found[key] = plain_numbers(item.plain())
    return found


def _check_fit(suite: Suite, document: Node, path: str) -> None:
    """What tasks, arms and settings of a suite must have in common."""
    if (suite.profile == "review") != (suite.promotion["metric"] == "review_weighted_f1"):
        node = document.value["promotion"]
        raise CorpusError(
            f"promotion.metric: {suite.promotion['metric']!r} is not a metric of the profile {suite.profile!r}",
            where=place(path, node.value["metric"].at),
            remedy=f"the default is {GATES[suite.profile]['metric']}",
        )
    for arm, node in zip(suite.arms, document.value["arms"].value, strict=True):
        if arm.graph and suite.graph == "none":
            raise CorpusError(
                f"the arm {shown(arm.name)} uses the graph, but the suite has none",
                where=place(path, node.at),
                remedy="write graph: codeanalyzer",
            )
    _check_only(suite, document, path)
    _check_reviews(suite, document, path)
    sources: dict[str, Mapping[str, Any]] = {}
    for task, node in zip(suite.tasks, document.value["tasks"].value, strict=True):
        if task.gold is None and any(arm.engine == "gold" and arm.runs(task.id) for arm in suite.arms):
            raise CorpusError(
                f"the task {shown(task.id)} has no gold, but the suite runs a gold arm",
                where=place(path, node.at),
                remedy="add gold: with the reference patch, or take the gold arm out",
            )
        name = lock.source_id(task.source).casefold()
        if sources.setdefault(name, task.source) != task.source:
            raise CorpusError(
                f"two sources would both be called {name!r}", where=place(path, node.at), remedy="rename one directory"
            )


def _check_only(suite: Suite, document: Node, path: str) -> None:
    """`only` names tasks of the suite, and leaves no task without an arm."""
    ids = dict.fromkeys(task.id for task in suite.tasks)
    for arm, node in zip(suite.arms, document.value["arms"].value, strict=True):
        for task in sorted(arm.only or ()):
            if task not in ids:
                raise CorpusError(
                    f"only: the arm {shown(arm.name)} runs the task {shown(task)}, which is not in the suite",
                    where=place(path, node.at),
                    remedy=nearest.remedy(task, ids),
                )
    for task, node in zip(ids, document.value["tasks"].value, strict=True):
        if not any(arm.runs(task) for arm in suite.arms):
            raise CorpusError(f"no arm runs the task {shown(task)}", where=place(path, node.at), remedy="add it to an only:")


def _check_reviews(suite: Suite, document: Node, path: str) -> None:
    """A task with labels asks for a review and for nothing else, so an arm fits the tasks that it runs, or is refused."""
    for arm, node in zip(suite.arms, document.value["arms"].value, strict=True):
        for task in suite.tasks if arm.engine not in FREE_ENGINES else ():
            if arm.runs(task.id) and arm.reviews != task.review:
                named, asked = shown(arm.name), shown(task.id)
                lacking = f"the arm {named} reviews, and the task {asked} has no review labels"
                raise CorpusError(
                    lacking if arm.reviews else f"the task {asked} asks for a review, and the arm {named} does not review",
                    where=place(path, node.at),
                    remedy="name the tasks of each arm with only:",
                )
