import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import corpus
from bench.core.suite import Limits
from bench.errors import CorpusError
from tests.core import suites

EXAMPLE = """\
suite: demo
default: true
profile: implementation
model: replay/demo
effort: null
runs: 3
workers: 2
retries: 1
graph: codeanalyzer
limits: {session_s: 600, setup_s: 120, verify_s: 120, oracle_s: 120, outage: 5, budget_usd: 5.0, max_age_days: 90}
promotion: {metric: cost_usd, min_runs: 3, min_improvement_pct: 5.0}
arms: [nop, gold, baseline, incumbent, candidate]
tasks:
  - id: parse-duration
    class: investigation-bug
    source: {dir: repos/clockwork}
    prompt: Mend it.
    setup: "true"
    verify: python -m pytest -q
    dependencies: {pip: [pytest==9.0.3]}
    oracle: {pytest: {paths: [t.py], pythonpath: [src]}, files: [{source: parse-duration/t.py, target: t.py}]}
    gold: parse-duration/gold.patch
    expensive: false
"""


def refused(data, **more):
    with pytest.raises(CorpusError) as caught:
        suites.parse_text(data, **more) if isinstance(data, str) else suites.parse(data, **more)
    return str(caught.value)


def test_the_example_of_the_specification_is_read():
    suite = suites.parse_text(EXAMPLE)
    assert (suite.name, suite.default, suite.runs, suite.workers, suite.graph) == ("demo", True, 3, 2, "codeanalyzer")
    assert suite.limits == Limits(budget_usd=5)
    assert [arm.name for arm in suite.arms] == ["nop", "gold", "baseline", "incumbent", "candidate"]
    task = suite.tasks[0]
    assert (task.id, task.cls, dict(task.source)) == ("parse-duration", "investigation-bug", {"dir": "repos/clockwork"})
    assert task.gold is not None
    assert task.gold.patch == "parse-duration/gold.patch"


def test_explicit_defaults_are_the_same_as_omitted_ones():
    explicit = {
        "default": False,
        "profile": "implementation",
        "model": None,
        "effort": None,
        "runs": 3,
        "workers": None,
        "retries": 1,
        "graph": "none",
        "limits": {
            "session_s": 600.0,
            "setup_s": 120,
            "verify_s": 120.0,
            "oracle_s": 120,
            "graph_s": 600,
            "turns": 60,
            "tokens": None,
            "outage": 5,
            "budget_usd": None,
            "expected_usd": None,
            "max_age_days": 90,
        },
        "promotion": {
            "policy": "reference",
            "metric": "cost_usd",
            "min_runs": 3,
            "min_improvement_pct": 5.0,
            "max_task_regression_pct": 20.0,
            "max_failed_task_regression_pct": 100,
            "min_gated_task_ratio": 0.5,
            "max_attempt_difference": 1,
        },
        "env_aliases": {},
    }
    left_out = suites.parse(suites.SUITE)
    written_out = suites.parse(suites.SUITE | explicit)
    assert repr(written_out) == repr(left_out)


def test_every_limit_of_the_type_is_a_key_of_the_file():
    from bench import schemas

    assert set(schemas.load("suite")["properties"]["limits"]["properties"]) == set(Limits.__dataclass_fields__)


def test_the_schema_knows_the_same_words_as_the_code():
    from bench import schemas
    from bench.core import suite as types

    said = schemas.load("suite")["properties"]
    arm = schemas.load("arms")["$defs"]["arm"]["properties"]
    assert set(said["profile"]["enum"]) > set(types.SUPPORTED_PROFILES)
    assert tuple(v for v in said["effort"]["enum"] if v) == types.EFFORTS
    assert sorted(arm["engine"]["enum"]) == sorted(types.ENGINES)
    assert tuple(arm["role"]["enum"]) == types.ROLES
    assert set(said["promotion"]["properties"]) == set(corpus.IMPLEMENTATION_GATE) | set(corpus.REVIEW_GATE)


def test_a_review_suite_has_the_gate_of_reviews():
    suite = suites.parse(suites.suite(profile="review"))
    assert suite.promotion["metric"] == "review_weighted_f1"
    assert "min_improvement_pct" not in suite.promotion


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("runs: 3", "runs: 0", "corpus/demo.yaml:6:7: runs: must be at least 1, not 0"),
        ("runs: 3", "rums: 3", "corpus/demo.yaml:6:1: rums: unknown key; did you mean 'runs'?"),
        (
            "  - id: parse-duration\n",
            "  - class: x\n",
            "corpus/demo.yaml:15:5: the key 'class' stands twice (first at line 14)",
        ),
        ("  - id: parse-duration\n    class", "  - class", "corpus/demo.yaml:14:5: tasks[0]: the key 'id' is missing"),
        ("session_s: 600", "session_s: '600'", "corpus/demo.yaml:10:21: limits.session_s: must be a number, not '600'"),
        ("session_s: 600", "session_s: 0", "corpus/demo.yaml:10:21: limits.session_s: must be more than 0, not 0"),
        (
            "codeanalyzer",
            "codeanalyser",
            "corpus/demo.yaml:9:8: graph: must not be 'codeanalyser'; did you mean 'codeanalyzer'?",
        ),
        ("replay/demo", "x/latest", "corpus/demo.yaml:4:8: model: 'x/latest' names another model tomorrow; pin a version"),
        ("effort: null", "effort: hgih", "corpus/demo.yaml:5:9: effort: must not be 'hgih'; did you mean 'high'?"),
        (
            "incumbent, candidate]",
            "incumbant]",
            "arms: there is no arm 'incumbant' in corpus/arms.yaml; did you mean 'incumbent'?",
        ),
        ("metric: cost_usd", "metric: cost", "promotion.metric: must not be 'cost'"),
        (
            "metric: cost_usd",
            "min_improvement: 0.5",
            "corpus/demo.yaml:11:13: promotion.min_improvement: the gate of the profile",
        ),
        ("metric: cost_usd", "metric: review_weighted_f1", "is not a metric of the profile 'implementation'"),
        ("    gold: parse-duration/gold.patch\n", "", "corpus/demo.yaml:14:5: the task 'parse-duration' has no gold"),
        ("parse-duration\n", "Parse/duration\n", "corpus/demo.yaml:14:9: the name 'Parse/duration' contains '/'"),
        ("suite: demo", "suite: dem", "corpus/demo.yaml:1:8: suite: the name 'dem' is not that of the file"),
        ("default: true", "default: 1", "corpus/demo.yaml:2:10: default: must be true or false, not 1"),
        ("tasks:", "tasks: []\nx-tasks:", "corpus/demo.yaml:13:8: tasks: must have at least one entry, not 0"),
        ("graph: codeanalyzer", "env_aliases: {BENCH_ORACLE_ROT: X}", "did you mean 'BENCH_ORACLE_ROOT'?"),
    ],
)
def test_a_fault_is_named_with_file_line_column_and_key(old, new, said):
    assert old in EXAMPLE
    assert said in refused(EXAMPLE.replace(old, new, 1))


@pytest.mark.parametrize("key", ["suite", "arms", "tasks"])
def test_required_keys(key):
    assert f"the key {key!r} is missing" in refused(suites.suite(**{key: None}))


def test_task_ids_are_unique_even_where_case_is_ignored():
    again = [suites.TASK, suites.task(id="Parse-Duration")]
    assert "in case alone" in refused(suites.suite(tasks=again))


def test_an_arm_with_graph_needs_a_graph():
    arms = [{"name": "a", "role": "comparator", "engine": "loop", "graph": True}]
    assert "the suite has none; write graph: codeanalyzer" in refused(suites.suite(arms=arms))
    assert suites.parse(suites.suite(arms=arms, graph="codeanalyzer")).arms[0].graph


def test_the_tasks_of_an_arm_are_tasks_of_the_suite_and_every_task_has_an_arm():
    some = {"name": "some", "role": "comparator", "engine": "loop", "only": ["parse-duration"]}
    two = [suites.TASK, suites.task(id="zed", gold=None)]
    assert suites.parse(suites.suite(arms=["nop", some], tasks=two)).arm("some").only == {"parse-duration"}
    wrong = some | {"only": ["parse-durations"]}
    assert "runs the task 'parse-durations', which is not in the suite; did you mean 'parse-duration'?" in refused(
        suites.suite(arms=["nop", wrong], tasks=two)
    )
    assert "no arm runs the task 'zed'" in refused(suites.suite(arms=[some], tasks=two))


def test_only_the_tasks_that_a_gold_arm_runs_need_gold():
    gold = {"name": "gold", "role": "calibration", "engine": "gold", "only": ["parse-duration"]}
    with_gold = suites.task(gold="a/gold.patch")
    suites.parse(suites.suite(arms=["nop", gold], tasks=[with_gold, suites.task(id="zed")]))
    assert "'parse-duration' has no gold" in refused(suites.suite(arms=["nop", gold], tasks=[suites.TASK]))


def test_two_sources_may_not_share_a_name():
    tasks = [suites.TASK, suites.task(id="b", source={"dir": "repos/Clockwork"})]
    assert "two sources would both be called 'clockwork'" in refused(suites.suite(tasks=tasks))


@pytest.mark.parametrize("name", ["arms", "x.json"])
def test_a_suite_cannot_take_the_name_of_another_file(name):
    text = json.dumps(suites.suite(suite=name))
    assert "cannot name a suite" in refused(text, path=f"corpus/{name}.yaml")


def test_validated_texts_are_read_to_the_same_suite():
    text, arms = json.dumps(suites.SUITE), json.dumps(suites.ARMS)
    both = [
        corpus.parse_suite(text, path=suites.PATH, arms_text=arms, arms_path=suites.ARMS_PATH, validated=v)
        for v in (True, False)
    ]
    assert both[0] == both[1]


def test_tasks_of_the_reference_load_unchanged():
    text = EXAMPLE[: EXAMPLE.index("tasks:")].replace("arms: [nop, gold, ", "arms: [nop, ") + (
        "tasks:\n"
        "  - &base\n"
        "    id: trivial-status-json-alias\n"
        "    class: trivial\n"
        "    repo: ~/GitNexus\n"
        "    ref: c4ecf398c4ecf398c4ecf398c4ecf398c4ecf398\n"
        "    prompt: |\n      Add an alias.\n"
        "    verify: npm test\n"
        "    setup: npm run build\n"
        "    expensive: true\n"
        "    sandbox_copy: [a/b.json]\n"
        "    sandbox_dependencies:\n      - {source: node_modules, target: node_modules}\n"
        '    oracle:\n      command: npx vitest run --config "$GITNEXUS_BENCH_ORACLE_ROOT/vitest.config.mts"\n'
        "      files:\n        - {source: vitest.config.mts, target: vitest.config.mts}\n"
        "  - <<: *base\n    id: second\n"
    )
    first, second = suites.parse_text(text).tasks
    assert dict(first.source) == {"git": "~/GitNexus", "ref": "c4ecf398" * 5}
    assert first.sandbox_dependencies == (("node_modules", "node_modules"),)
    assert first.oracle is not None
    assert (first.oracle.report, first.oracle.pytest) == ("exit", False)
    assert second.id == "second"
    assert second.oracle == first.oracle


def test_the_shipped_corpus_is_read():
    root = Path(__file__).parents[2] / "corpus"
    arms = (root / "arms.yaml").read_text("utf-8")
    for path in [p for p in sorted(root.glob("*.yaml")) if p.name != "arms.yaml"]:
        suite = suites.parse_text(path.read_text("utf-8"), arms, path=f"corpus/{path.name}")
        assert suite.name == path.stem
    named = suites.parse_text(json.dumps(suites.suite(arms=["nop", "baseline_nomcp", "incumbent", "candidate"])), arms)
    assert named.arm("candidate").skills == named.arm("incumbent").skills


def shuffled(data, rng):
    if isinstance(data, dict):
        keys = list(data)
        rng.shuffle(keys)
        return {key: shuffled(data[key], rng) for key in keys}
    return [shuffled(item, rng) for item in data] if isinstance(data, list) else data


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(rng: random.Random):
    data = suites.suite(limits={"session_s": 5, "turns": 3}, tasks=[suites.task(oracle=suites.ORACLE, setup="x")])
    assert suites.parse(shuffled(data, rng)) == suites.parse(data)


VALUES = st.sampled_from(
    [None, True, 0, -1, 3, 0.5, "", " ", "x", "a/b", "../x", "\0", "x" * 9000, [], ["x"], [None], {}, {"x": 1}]
)


def places(data, at=()):
    yield at
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*at, key))


WHOLE = suites.suite(
    limits={"session_s": 5, "tokens": 7},
    promotion={"metric": "cost_usd"},
    model="replay/x",
    arms=[*suites.SUITE["arms"], {"name": "x", "role": "comparator", "engine": "loop", "params": {"a": [1]}, "replica": 1}],
    tasks=[
        suites.task(oracle=suites.ORACLE, gold={"sdist": "a==1", "sha256": suites.HEX, "exclude": ["tests/*"]}),
        suites.task(
            id="b",
            source={"git": "https://example.org/x.git", "ref": "v1"},
            dependencies={"pip": ["a==1"]},
            sandbox_copy=["a"],
            sandbox_dependencies=[{"source": "a", "target": "b"}],
            oracle={"command": "true", "files": [{"sdist": "a==1", "sha256": suites.HEX, "path": "t.py", "target": "t.py"}]},
            gold="b/gold.patch",
        ),
    ],
)


@settings(deadline=None)
@given(place=st.sampled_from(list(places(WHOLE))[1:]), value=VALUES, drop=st.booleans())
def test_a_suite_with_any_one_value_changed_is_read_or_refused(place, value, drop):
    data = copy.deepcopy(WHOLE)
    parent = data
    for part in place[:-1]:
        parent = parent[part]
    if drop:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    said = suites.fault(suites.parse, data)
    assert said is None or (said.startswith("corpus/") and "\n" not in said and len(said) < 600)


@settings(deadline=None)
@given(st.integers(0, len(EXAMPLE)), st.integers(0, 12), st.text(max_size=6))
def test_a_suite_file_with_any_passage_replaced_is_read_or_refused(start, length, text):
    said = suites.fault(suites.parse_text, EXAMPLE[:start] + text + EXAMPLE[start + length :])
    assert said is None or said.startswith("corpus/")


@settings(deadline=None)
@given(st.text(max_size=80))
def test_an_arms_file_of_any_text_is_read_or_refused(text):
    said = suites.fault(suites.parse, suites.SUITE, arms=text)
    assert said is None or said.startswith("corpus/")


def test_mirrors_are_directories_that_may_carry_only_some_skills():
    found = suites.parse(suites.suite(mirrors=["plugin/skills", {"dir": "other/skills", "skills": ["hunt"]}])).mirrors
    assert [(m.folder, m.skills) for m in found] == [("plugin/skills", None), ("other/skills", frozenset({"hunt"}))]
    for bad in ("../up", {"skills": ["hunt"]}, {"dir": "x", "also": 1}, 3):
        with pytest.raises(CorpusError, match=r"^corpus/demo\.yaml:"):
            suites.parse(suites.suite(mirrors=[bad]))
