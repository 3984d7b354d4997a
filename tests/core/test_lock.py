import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import lock
from bench.errors import CorpusError
from tests.core.suites import HEX

PATH = "corpus/demo.lock.json"
ENTRY = {
    "name": "pytest",
    "version": "9.0.3",
    "filename": "pytest-9.0.3-py3-none-any.whl",
    "sha256": HEX,
    "tree": "b3:" + HEX,
}
GIT = {"git": "https://example.org/some/tool.git", "ref": "v1.2"}
RAW = {
    "schema": 1,
    "sources": {lock.source_id(GIT): {"commit": "ab" * 20}, "click-8.1.7": {"sha256": HEX}},
    "dependencies": {"pytest-9.0.3": [ENTRY]},
}


def parse(raw):
    return lock.parse(raw if isinstance(raw, str) else json.dumps(raw), PATH)


def test_a_lock_reads_what_it_wrote():
    read = parse(RAW)
    data = lock.dump(read)
    assert parse(data.decode()) == read
    assert json.loads(data) == RAW
    assert data.endswith(b"}\n")


def test_what_is_locked_is_found():
    read = parse(RAW)
    assert read.source(GIT) == GIT | {"commit": "ab" * 20}
    assert read.source({"sdist": "click==8.1.7"}) == {"sdist": "click==8.1.7", "sha256": HEX}
    assert read.requirements(["pytest==9.0.3"]) == (ENTRY,)
    assert read.requirements([]) == ()


def test_what_pins_itself_needs_no_entry():
    empty = lock.Lock(PATH)
    assert empty.source({"dir": "repos/x"}) == {"dir": "repos/x"}
    assert empty.source({"sdist": "a==1", "sha256": HEX}) == {"sdist": "a==1", "sha256": HEX}
    full = {"git": "x", "ref": "AB" * 20}
    assert empty.source(full) == full | {"commit": "ab" * 20}
    assert not lock.needs_entry(full)
    assert lock.needs_entry(GIT)


def test_what_is_missing_names_the_remedy():
    with pytest.raises(
        CorpusError, match=r"^corpus/demo\.lock\.json: the source 'tool-v1\.2-.*' is not in the lock; run doit relock demo$"
    ):
        lock.Lock(PATH).source(GIT)
    with pytest.raises(CorpusError, match=r"the requirements 'pytest-9\.0\.3' is not in the lock; run doit relock demo"):
        lock.Lock(PATH).requirements(["pytest==9.0.3"])


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"dir": "repos/clockwork"}, "clockwork"),
        ({"sdist": "click==8.1.7"}, "click-8.1.7"),
        ({"sdist": "Zope.Interface==5.0"}, "zope-interface-5.0"),
    ],
)
def test_short_names(source, name):
    assert lock.source_id(source) == name


def test_names_of_sources_that_could_clash_differ():
    made = [{"dir": d} for d in ("repos/x", "other/x", "/x", "repos/a/x", "repos/x y")]
    made += [
        {"git": g, "ref": r} for g in ("a/x", "b/x.git", "https://example.org/x/") for r in ("v1", "v/1", "HEAD", "ab" * 20)
    ]
    found = [lock.source_id(source) for source in made]
    assert len(set(found)) == len(made)
    assert all("/" not in name and len(name) < 120 for name in found)
    assert found[5].startswith("x-v1-")


def test_names_of_requirement_sets():
    assert lock.requirements_id(["pytest==9.0.3"]) == "pytest-9.0.3"
    one, two = lock.requirements_id(["b==1", "a>=2"]), lock.requirements_id(["a >= 2", "b==1", "b==1"])
    assert one == two
    assert one.startswith("a-and-1-more-")
    assert lock.requirements_id(["a>=2"]) != lock.requirements_id(["a>=3"])
    assert lock.requirements_id(["a[x]==1"]) != lock.requirements_id(["a==1"])
    assert lock.requirements_id([]) == "none"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("", "1:1: not JSON: Expecting value; run doit relock demo"),
        ("{", "1:2: not JSON: "),
        ("<<<<<<< ours\n{}", "1:1: not JSON: "),
        ("null", "1:1: must be a mapping, not null"),
        ("[" * 100_000, PATH),
        (RAW | {"schema": 2}, "schema: must not be 2"),
        (RAW | {"schema": True}, "schema: must"),
        (RAW | {"extra": 1}, "extra: unknown key"),
        ({"schema": 1, "sources": {}}, "the key 'dependencies' is missing"),
        (RAW | {"sources": {"a": {}}}, "sources.a: must have at least 1 keys"),
        (RAW | {"sources": {"a": {"commit": "abc"}}}, "sources.a.commit: must be a full commit id"),
        (RAW | {"sources": {"a": {"commit": "ab" * 20 + "\n"}}}, "must be a full commit id"),
        (RAW | {"sources": {"a": {"sha256": HEX.upper()}}}, "lower-case"),
        (RAW | {"dependencies": {"a": [ENTRY | {"tree": HEX}]}}, "dependencies.a[0].tree: must be a digest"),
        (RAW | {"dependencies": {"a": [{}]}}, "is missing"),
        ('{"schema": 1, "sources": {}, "sources": {}, "dependencies": {}}', "stands twice"),
    ],
)
def test_faults_are_named(raw, said):
    with pytest.raises(CorpusError) as caught:
        parse(raw)
    assert str(caught.value).startswith(PATH)
    assert said in str(caught.value)


def test_no_lock_at_all_is_said_so():
    absent = lock.Lock(PATH, absent=True)
    with pytest.raises(
        CorpusError,
        match=r"there is no lock file yet, and the requirements 'pytest-9\.0\.3' needs one; run doit relock demo",
    ):
        absent.requirements(["pytest==9.0.3"])


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    with pytest.raises(CorpusError):
        lock.parse(text, PATH)
