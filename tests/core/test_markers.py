"""Harness markers: generated, specific, and found only where they stand alone."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import bench
from bench.core import markers
from bench.core.suite import Gold, Oracle, OracleFile, Suite, Task

FILES = (
    OracleFile("parse-duration/test_hidden.py", "test_hidden.py"),
    OracleFile("tests/test_public.py", "test_public.py", sdist="demo==1", sha256="0" * 64),
    OracleFile("t.py", "t.py"),
)
TASK = Task("parse-duration", "bug", {"dir": "x"}, "p", "v", oracle=Oracle(FILES), gold=Gold("parse-duration/gold.patch"))
ALIASES = {"BENCH_ORACLE_ROOT": "GITNEXUS_BENCH_ORACLE_ROOT", "BENCH_REVIEW_OUTPUT": "OUTPUT"}
SUITE = Suite("review", (), (TASK,), env_aliases=ALIASES)
FOUND = markers.markers([SUITE])


def test_generated_from_suites_layout_and_variables():
    assert FOUND == (
        "ASSAY_CHANNEL",
        "BENCH_ORACLE_REPORT",
        "BENCH_ORACLE_ROOT",
        "BENCH_REVIEW_OUTPUT",
        "GITNEXUS_BENCH_ORACLE_ROOT",
        "corpus/review.lock.json",
        "corpus/review.yaml",
        "oracles/parse-duration/gold.patch",
        "oracles/parse-duration/test_hidden.py",
        "oracles/t.py",
    )


def test_every_variable_that_sandbox_and_graders_give_is_listed():
    effects = Path(bench.__file__).parent / "effects"
    files = [*effects.glob("grading/**/*.py"), *effects.glob("sandbox/*.py")]
    given = {name for file in files for name in re.findall(r"[\"'](?:ASSAY|BENCH)_[A-Z_]+", file.read_text("utf-8"))}
    assert {name[1:] for name in given} <= set(markers.VARIABLES)


def test_independent_of_order_and_repetition():
    other = Suite("demo", (), (TASK,))
    assert markers.markers([SUITE, other, SUITE]) == markers.markers(iter([other, SUITE]))


def test_short_and_general_names_and_a_releases_own_paths_are_no_markers():
    assert not {"OUTPUT", "oracles/", "corpus/", "oracles/tests/test_public.py", "tests/test_public.py"} & set(FOUND)


def test_carries_only_whole_names():
    assert markers.carries('open("oracles/parse-duration/gold.patch")', FOUND) == "oracles/parse-duration/gold.patch"
    assert markers.carries("$BENCH_ORACLE_ROOT/x", FOUND) == "BENCH_ORACLE_ROOT"
    assert markers.carries("export GITNEXUS_BENCH_ORACLE_ROOT=1", FOUND) == "GITNEXUS_BENCH_ORACLE_ROOT"
    for innocent in ("", "MY_BENCH_ORACLE_ROOTS", "old_corpus/review.yaml", "corpus/review.yamlx", "oracles/parse-duration"):
        assert markers.carries(innocent, FOUND) is None
    assert markers.carries("xcorpus/review.yaml corpus/review.yaml", FOUND) == "corpus/review.yaml"


@given(st.text(), st.text(), st.sampled_from(FOUND))
def test_a_marker_between_spaces_is_always_found(before, after, marker):
    assert markers.carries(f"{before} {marker} {after}", FOUND) is not None


def test_a_workspace_inside_a_source_goes_whole():
    paths = [
        "README.md",
        "eval/corpus/review.yaml",
        "eval/corpus/cassettes/a.jsonl",
        "eval/oracles/other/notes.md",
        "eval/artifacts/store/blobs/aa/b",
        "eval/dodo.py",
        "oracles/price_feed.py",
        "corpus/words.txt",
        "docs/BENCH_ORACLE_ROOT.md",
    ]
    assert markers.harness_paths(paths, FOUND) == {
        "eval/corpus/review.yaml": "eval/corpus/",
        "eval/corpus/cassettes/a.jsonl": "eval/corpus/",
        "eval/oracles/other/notes.md": "eval/oracles/",
        "eval/artifacts/store/blobs/aa/b": "eval/artifacts/",
        "docs/BENCH_ORACLE_ROOT.md": "docs/BENCH_ORACLE_ROOT.md",
    }


def test_an_ordinary_project_loses_nothing():
    paths = ["oracles/feed.py", "corpus/a.yaml", "artifacts/x", "src/harness.py", "tests/oracle_test.py"]
    assert markers.harness_paths(paths, FOUND) == {}
    assert markers.harness_paths(paths, ()) == {}


def test_a_tasks_own_markers_name_no_suite_and_nothing_of_its_prompt():
    assert markers.of_task(TASK, ALIASES) == (
        "GITNEXUS_BENCH_ORACLE_ROOT",
        "oracles/parse-duration/gold.patch",
        "oracles/parse-duration/test_hidden.py",
        "oracles/t.py",
    )
    told = replace(TASK, prompt="Read oracles/t.py.")
    assert "oracles/t.py" not in markers.of_task(told, {})


def test_the_artifacts_other_name_is_no_marker_for_a_review():
    aliases = {"BENCH_REVIEW_OUTPUT": "GITNEXUS_REVIEW_OUTPUT"}
    assert "GITNEXUS_REVIEW_OUTPUT" in markers.of_task(TASK, aliases)
    labels = OracleFile("parse-duration/labels.json", "review-labels.json")
    review = replace(TASK, oracle=Oracle((labels,), labels=True))
    assert review.review
    assert markers.of_task(review, aliases) == ("oracles/parse-duration/gold.patch", "oracles/parse-duration/labels.json")


def test_what_is_spoken_stands_alone_and_any_suites_file_counts():
    text = "cat ../corpus/demo.yaml; sed -n 1p /x/corpus/my.suite.lock.json oracles/t.py"
    text += " my-corpus/a.yaml corpus/a.yamlx oracles/t.pyc"
    assert markers.spoken(text, FOUND) == {"corpus/demo.yaml", "corpus/my.suite.lock.json", "oracles/t.py"}
    assert markers.spoken("nothing", FOUND) == set()
