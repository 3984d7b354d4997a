"""What an arm may combine, through the parser: phases, engines, expected skills, plugins, variants of the library."""

import pytest

from bench.core import corpus
from bench.core.matrix import check_ready
from bench.errors import CorpusError, UsageError
from tests.core import suites

CLAUDE = {"name": "x", "role": "incumbent", "engine": "claude"}
TWO = {**CLAUDE, "phases": ["plan", "work"], "skills": ["skills/a", "skills/b"], "expects": {"plan": "a", "work": "b"}}
PLUGIN = {"plugin": {"dir": "plugins/p", "version": "1.2.3"}}
LABELS = suites.task(id="look", oracle={"labels": "look/labels.json"})


def parse(*arms, tasks=(suites.TASK,), library=suites.ARMS):
    return suites.parse(suites.suite(arms=["nop", *arms], tasks=list(tasks)), library)


def refused(*arms, **more):
    with pytest.raises(CorpusError) as caught:
        parse(*arms, **more)
    return str(caught.value)


def test_an_expected_skill_is_named_per_phase_or_for_the_last_one():
    assert parse(TWO).arm("x").expects == {"plan": "a", "work": "b"}
    assert parse(TWO | {"expects": "b"}).arm("x").expects == {"work": "b"}
    assert parse({**CLAUDE, "skills": ["skills/a"], "expects": "a"}).arm("x").phases == ("work",)


def test_a_candidate_takes_over_phases_plugin_and_tools():
    base = TWO | PLUGIN
    arm = parse(base, {"name": "c", "role": "candidate", "of": "x", "overlay": "candidates/o"}).arm("c")
    assert (arm.phases, arm.plugin, arm.plugin_version, arm.expects) == (
        ("plan", "work"),
        "plugins/p",
        "1.2.3",
        {"plan": "a", "work": "b"},
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"phases": ["work", "plan"]}, "one of [work], [plan, work], [review]"),
        ({"phases": ["plan"]}, "one of [work]"),
        ({"phases": ["wrok"]}, "must not be 'wrok'; did you mean 'work'?"),
        ({"phases": []}, "at least one entry"),
        ({"engine": "loop", "skill_tool": False}, "skill_tool: the arm 'x' has the engine 'loop'"),
        ({"engine": "loop", **PLUGIN}, "plugin: the arm 'x' has the engine 'loop'"),
        ({"skills": ["skills/a"], "skill_tool": False}, "no tool to load them with"),
        ({**PLUGIN, "skill_tool": False}, "no tool to load them with"),
        ({"expects": "a"}, "has no skill 'a'"),
        ({"skills": ["skills/a"], "expects": {"plan": "a"}}, "has no phase 'plan'; its phases: work"),
        ({"skills": ["skills/a"], "expects": {"plam": "a"}}, "did you mean 'plan'?"),
        ({"expects": {}}, "at least 1 keys"),
        ({"plugin": {"dir": "p"}}, "'dir' needs 'version' beside it"),
        ({"plugin": {"version": "1.0.0"}}, "'version' needs 'dir' beside it"),
        ({"plugin": {"dir": "p", "version": "1.0"}}, "'1.0' is not an exact version"),
        ({"plugin": {"dir": "p", "version": "^1.0.0"}}, "is not an exact version"),
        ({"plugin": {"dir": "-p", "version": "1.0.0"}}, "plugin.dir: '-p' is not a path"),
        ({"plugin": "p"}, "must be a mapping"),
    ],
)
def test_combinations_that_cannot_run_are_refused(change, said):
    assert said in refused(CLAUDE | change)


def test_free_engines_have_no_plugin():
    assert "uses no skills" in refused({"name": "g", "role": "calibration", "engine": "gold", "plugin": {}})


def test_an_arm_of_the_library_is_used_with_other_settings():
    suite = parse({"use": "baseline", "name": "second", "replica": 1}, {"use": "baseline", "only": [suites.TASK["id"]]})
    assert [(arm.name, arm.engine, arm.replica) for arm in suite.arms[1:]] == [
        ("second", "loop", 1),
        ("baseline", "loop", None),
    ]
    assert suite.arm("baseline").only == frozenset({suites.TASK["id"]})
    assert "there is no arm 'baselin' in corpus/arms.yaml; did you mean 'baseline'?" in refused({"use": "baselin"})
    assert "unknown key; did you mean 'role'?" in refused({"use": "baseline", "rol": "incumbent"})
    library = {"arms": [*suites.ARMS["arms"], {"use": "nop"}]}
    assert "arms[5].use: unknown key" in refused("baseline", library=library)


def test_a_task_with_labels_is_a_review_and_takes_the_arms_that_review():
    task = parse({**CLAUDE, "phases": ["review"]}, tasks=[LABELS]).tasks[0]
    assert task.review
    assert (task.oracle.labels, task.oracle.pytest, task.oracle.command) == (True, False, None)
    assert [(file.source, file.target) for file in task.oracle.files] == [("look/labels.json", "review-labels.json")]
    long = {"command": "true", "files": [{"source": "look/labels.json", "target": "review-labels.json"}]}
    assert parse(tasks=[suites.task(oracle=long)]).tasks[0].review
    assert not parse().tasks[0].review


def test_arms_and_tasks_that_do_not_fit_are_refused():
    review = {**CLAUDE, "phases": ["review"]}
    assert "the arm 'x' reviews, and the task 'parse-duration' has no review labels" in refused(review)
    assert "the task 'look' asks for a review, and the arm 'x' does not review" in refused(CLAUDE, tasks=[LABELS])
    both = [suites.TASK, LABELS]
    fitting = [review | {"only": ["look"]}, {**CLAUDE, "name": "y", "only": [suites.TASK["id"]]}]
    assert len(parse(*fitting, tasks=both).arms) == 3


@pytest.mark.parametrize(
    "oracle",
    [
        {"labels": "a.json", "files": [{"source": "a", "target": "b"}]},
        {"labels": "a.json", "command": "true"},
        {"labels": " "},
        {"labels": "../a.json"},
        {"command": "true"},
        {
            "command": "true",
            "files": [{"source": "a", "target": "review-labels.json"}, {"source": "b", "target": "b"}],
        },
        {"pytest": {"paths": ["review-labels.json"]}, "files": [{"source": "a", "target": "review-labels.json"}]},
    ],
)
def test_labels_stand_alone(oracle):
    refused(tasks=[suites.task(oracle=oracle)])


WANTING = {**CLAUDE, "plugin": {}, "expects": "p:a"}


def test_the_command_line_names_the_plugin_of_every_arm_that_takes_one():
    suite = parse({**CLAUDE, "name": "y"}, WANTING)
    with pytest.raises(CorpusError, match="the arm 'x' runs with a plugin"):
        check_ready(suite, suite.arms)
    check_ready(suites.parse(suites.suite(model="replay/x", arms=["nop", WANTING])), [suite.arm("nop")])
    for given, place in (("plugins/p", "../plugins/p"), ("/opt/p/", "/opt/p/"), ("~/p", "~/p"), ("corpus/p", "../corpus/p")):
        changed = corpus.override(suite, {"plugin_dir": given, "plugin_version": "1.0.0-rc.1+x", "model": "replay/x"})
        assert (changed.arm("x").plugin, changed.arm("x").plugin_version) == (place, "1.0.0-rc.1+x")
        assert changed.arm("y") == suite.arm("y")
        check_ready(changed, changed.arms)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"plugin_dir": "p"}, "plugin_dir=: needs plugin_version= beside it; give both, or neither"),
        ({"plugin_version": "1.0.0"}, "plugin_version=: needs plugin_dir= beside it"),
        ({"plugin_dir": "p", "plugin_version": "latest"}, "plugin_version=: not an exact version: 'latest'"),
        ({"plugin_dir": "", "plugin_version": "1.0.0"}, "plugin_dir=: '' is not a path"),
        ({"plugin_dir": "p" * 5000, "plugin_version": "1.0.0"}, "is longer than 4096 bytes"),
        ({"plugin_dir": "p", "plugin_version": "1.0.0", "arms": "nop"}, "no arm of the suite takes a plugin"),
        ({"plugin_dri": "p"}, "did you mean 'plugin_dir'?"),
    ],
)
def test_half_a_plugin_is_refused(given, said):
    with pytest.raises(UsageError) as caught:
        corpus.override(parse(WANTING), given)
    assert said in str(caught.value)
