import pytest

from bench.core.suite import Arm
from bench.errors import CorpusError
from tests.core import suites

LOOP = {"role": "comparator", "engine": "loop"}
INCUMBENT = {
    "name": "inc",
    "role": "incumbent",
    "engine": "loop",
    "skills": ["skills/a"],
    "expects": "a",
    "params": {"t": 1.0},
}


def parse(*arms, library=suites.ARMS, **more):
    return suites.parse(suites.suite(arms=list(arms), **more), library).arms


def refused(*arms, library=suites.ARMS):
    with pytest.raises(CorpusError) as caught:
        parse(*arms, library=library)
    return str(caught.value)


def test_arms_by_name_and_written_out_in_the_order_of_the_suite():
    arms = parse("baseline", {"name": "x", **LOOP, "replica": 2}, "nop")
    assert arms == (
        Arm("baseline", "comparator", "loop"),
        Arm("x", "comparator", "loop", replica=2),
        Arm("nop", "calibration", "nop"),
    )


def test_a_candidate_takes_over_what_it_does_not_say():
    arm = parse(INCUMBENT, {"name": "c", "role": "candidate", "of": "inc", "overlay": "candidates/a"})[1]
    assert arm == Arm(
        "c",
        "candidate",
        "loop",
        skills=("skills/a",),
        overlay="candidates/a",
        of="inc",
        expects={"work": "a"},
        params={"t": 1},
    )
    other = parse(INCUMBENT, {"name": "c", "role": "candidate", "of": "inc", "skills": ["skills/b"], "expects": "b"})[1]
    assert (other.skills, other.expects, other.params) == (("skills/b",), {"work": "b"}, {"t": 1})


CHANGED = {"name": "c", "role": "candidate", "of": "inc", "overlay": "candidates/a"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("params", {"t": 0.5}),
        ("params", {"t": 1, "max_tokens": 9}),
        ("engine", "claude"),
        ("skills", ["skills/a", "skills/b"]),
        ("phases", ["plan", "work"]),
        ("expects", "b"),
        ("graph", True),
    ],
)
def test_a_candidate_with_an_overlay_differs_in_nothing_else(key, value):
    """The decision credits the overlay, and the overlay alone is applied."""
    said = refused(INCUMBENT, CHANGED | {key: value})
    assert f"{key}: the candidate 'c' has an overlay, and may differ from its incumbent in nothing else" in said
    assert f"take {key} out" in said
    changed = refused(INCUMBENT, {"use": "c", key: value}, library={"arms": [INCUMBENT, CHANGED]})
    assert f"{key}: the candidate" in changed


def test_a_plugin_is_no_part_of_an_overlay_either():
    client = INCUMBENT | {"engine": "claude", "params": {}}
    said = refused(client, CHANGED | {"plugin": {"dir": "plugins/p", "version": "1.0.0"}})
    assert "plugin: the candidate 'c' has an overlay" in said


def test_what_a_candidate_with_an_overlay_repeats_of_its_incumbent_changes_nothing():
    plain = parse(INCUMBENT, CHANGED)
    assert parse(INCUMBENT, CHANGED | {"params": {"t": 1}, "engine": "loop", "phases": ["work"], "graph": False}) == plain
    assert parse(INCUMBENT, CHANGED | {"replica": 1})[1].replica == 1


def test_an_arm_may_run_only_some_tasks_and_its_candidate_runs_the_same():
    ids = [suites.TASK["id"]]
    arms = parse(
        "nop", INCUMBENT | {"only": ids}, {"name": "c", "role": "candidate", "of": "inc", "overlay": "candidates/a"}
    )
    assert [arm.only for arm in arms] == [None, frozenset(ids), frozenset(ids)]
    assert [arm.runs("any") for arm in arms] == [True, False, False]
    assert all(arm.runs(ids[0]) for arm in arms)
    said = refused("nop", INCUMBENT, {"name": "c", "role": "candidate", "of": "inc", "only": ids})
    assert "only: a candidate runs the tasks of its incumbent; remove it" in said


@pytest.mark.parametrize("only", [[], [""], ["a", "a"], "a", None, [3]])
def test_a_list_of_tasks_that_is_none_is_refused(only):
    refused("nop", {"name": "x", **LOOP, "only": only})


def test_a_candidate_needs_an_incumbent_of_this_suite():
    assert "has no 'of'; name its incumbent arm" in refused(INCUMBENT, {"name": "c", "role": "candidate", "engine": "loop"})
    assert "no incumbent arm 'incc'; did you mean 'inc'?" in refused(
        INCUMBENT, {"name": "c", "role": "candidate", "engine": "loop", "of": "incc"}
    )
    assert "no incumbent arm 'baseline'" in refused(
        "baseline", {"name": "c", "role": "candidate", "engine": "loop", "of": "baseline"}
    )
    assert "no incumbent arm 'incumbent'" in refused("candidate")


def test_only_a_candidate_has_an_incumbent():
    assert "of: a comparator has no incumbent" in refused(INCUMBENT, {"name": "x", **LOOP, "of": "inc"})


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ({"name": "x", "role": "incumbnt", "engine": "loop"}, "did you mean 'incumbent'?"),
        ({"name": "x", "role": "comparator", "engine": "lop"}, "did you mean 'loop'?"),
        ({"name": "x", "role": "comparator"}, "the key 'engine' is missing; known: claude, gold, loop, nop"),
        ({"name": "x", "role": "calibration", "engine": "loop"}, "use nop or gold"),
        ({"name": "x", "role": "comparator", "engine": "nop", "skills": ["skills/a"]}, "uses no skills"),
        ({"name": "x", **LOOP, "expects": "a"}, "has no skill 'a'; there is none"),
        ({"name": "x", **LOOP, "skills": ["skills/hunt"], "expects": "hunter"}, "did you mean 'hunt'?"),
        ({"name": "x", **LOOP, "skills": ["../a"]}, "the path '../a'"),
        ({"name": "x", **LOOP, "overlay": "/a"}, "the path '/a'"),
        ({"name": "x", **LOOP, "overlay": "a"}, "no skills to lay it over"),
        ({"name": "x", **LOOP, "skills": ["a/x", "b/X"]}, "have the same name"),
        ({"name": "a/b", **LOOP}, "the name 'a/b'"),
        ({"name": "x", **LOOP, "params": {"a": "x" * 20000}}, "larger than 16384 bytes"),
        ({"name": "x", **LOOP, "replica": 1.5}, "must be a whole number"),
        ({"name": "x", **LOOP, "skils": []}, "did you mean 'skills'?"),
        ({**LOOP}, "the key 'name' is missing"),
        (3, "must be text or a mapping"),
    ],
)
def test_arms_that_are_refused(arm, said):
    assert said in refused(arm)


def test_names_are_unique():
    assert "used twice" in refused("nop", "nop")
    assert "in case alone" in refused("nop", {"name": "Nop", **LOOP})
    assert "used twice" in refused("nop", library={"arms": [suites.ARMS["arms"][0]] * 2})


def test_without_a_library_every_arm_is_written_out():
    assert "there is no arm 'nop': corpus/arms.yaml is missing or names none; write" in refused("nop", library=None)
    assert len(parse({"name": "x", **LOOP}, library=None)) == 1


def test_a_fault_in_the_library_names_the_library():
    assert refused("nop", library="arms: 3").startswith("corpus/arms.yaml:1:7: arms: must be a list")


def test_the_library_may_hold_arms_that_no_suite_uses():
    assert len(parse("nop", library={"arms": [*suites.ARMS["arms"], {"name": "x", "role": "candidate", "of": "gone"}]})) == 1
