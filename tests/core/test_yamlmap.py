import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.core import yamlmap
from bench.errors import CorpusError
from tests.core.suites import fault

LOADERS = [yamlmap.LOADER, yaml.SafeLoader]

pytestmark = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)


def plain(text, loader):
    return yamlmap.load(text, "f.yaml", loader=loader).plain()


def refused(text, loader):
    with pytest.raises(CorpusError) as caught:
        yamlmap.load(text, "f.yaml", loader=loader)
    return str(caught.value)


def test_positions_are_those_of_keys_and_values(loader):
    node = yamlmap.load("a: 1\nbé:\n  - x\n  - {c: true}\n", "f.yaml", loader=loader)
    assert node.key_at("bé") == (2, 1)
    assert node.value["bé"].value[1].value["c"].at == (4, 9)
    assert node.find(["bé", 1]).key_at("c") == (4, 6)


def test_plain_values(loader):
    text = "{i: 12, f: 0.5, t: yes, n: null, e: , s: '12', d: 2024-01-01, x: 0x10, q: =, v: !!str 12}"
    expected = {
        "i": 12,
        "f": 0.5,
        "t": True,
        "n": None,
        "e": None,
        "s": "12",
        "d": "2024-01-01",
        "x": 16,
        "q": "=",
        "v": "12",
    }
    assert plain(text, loader) == expected


def test_anchors_and_merge_keys(loader):
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: *a, y: 9}\nd: {<<: [*a, *b]}\ne: {x: *a}\n"
    read = plain(text, loader)
    assert read["c"] == {"x": 1, "y": 9}
    assert read["d"] == {"x": 1, "y": 2, "z": 4}
    assert read["e"] == {"x": {"x": 1, "y": 2}}


def test_an_empty_file_is_null(loader):
    assert plain("", loader) is None
    assert plain("# nothing\n", loader) is None


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1", "stands twice (first at line 1)"),
        ("a: {<<: 3}", "1:5", "mapping or a list of mappings"),
        ("a: {<<: [3]}", "1:5", "mapping or a list of mappings"),
        ("a: &a {}\nb: {<<: *a, <<: *a}", "2:13", "stands twice"),
        ("1: x", "1:1", "is not text"),
        ("yes: x", "1:1", "put it in quotes"),
        ("? [a]\n: b", "1:3", "keys are text"),
        ("a: &k x\n*k : y", "2:1", "alias"),
        ("a: *b", "1:4", "alias without anchor"),
        ("a: &a [*a]", "1:8", "inside its own anchor"),
        ("--- 1\n--- 2", "2:1", "second document"),
        ("a: !!python/object/apply:os.system [x]", "1:4", "tag"),
        ("a: !x 1", "1:4", "tag"),
        ("a: !!set {x}", "1:4", "tag"),
        ("a: !!binary aGk=", "1:4", "tag"),
        ("a: !!int x", "1:4", "is not a number"),
        ("a: !!bool x", "1:4", "neither true nor false"),
        ("a: .nan", "1:4", "not finite"),
        ("a: .inf", "1:4", "not finite"),
        ("a: 1.0e+999", "1:4", "not finite"),
        ("a: 9223372036854775808", "1:4", "too large"),
        ("a: " + "9" * 5000, "1:4", "is not a number"),
        ("a: [1, 2", "", "not YAML"),
        ("a: 1\n b: 2", "2:", "not YAML"),
        ("a: 1\nb: \x01", "2:4", "is not allowed in YAML"),
        ("a: \ud800", "", "half a surrogate pair"),
        ("[" * 20_000, "", "nest"),
        ("- " * 20_000, "1:97", "nested deeper than 48"),
    ],
)
def test_what_is_refused_and_where(loader, text, where, what):
    said = refused(text, loader)
    assert said.startswith(f"f.yaml:{where}" if where else "f.yaml")
    assert what in said


def test_an_alias_bomb_is_refused_while_it_is_read(loader):
    lines = ["a0: &a0 [0,0,0,0,0,0,0,0,0,0]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 60)]
    assert "expands to more than" in refused("\n".join(lines), loader)


def test_a_bomb_of_merge_keys_is_refused(loader):
    wide = "{" + ", ".join(f"k{n}: 0" for n in range(1000)) + "}"
    lines = [f"a: &a {wide}", "b:"] + [f"- {{<<: [{','.join(['*a'] * 100)}]}}" for n in range(100)]
    assert "expands to more than" in refused("\n".join(lines), loader)


def test_a_large_file_is_refused_unread(loader):
    assert "the limit is" in refused("#" * (yamlmap.MAX_BYTES + 1), loader)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(st.characters(codec="ascii", min_codepoint=32), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(data=JSON)
def test_json_is_read_as_it_is(loader, data):
    assert plain(json.dumps(data), loader) == data


@settings(deadline=None)
@given(text=st.text(max_size=60) | st.text("ab: -[]{}&*!|>'\"#%@`?,\n<1.", max_size=60))
def test_any_text_is_read_or_refused(loader, text):
    said = fault(yamlmap.load, text, "f.yaml", loader=loader)
    assert said is None or said.startswith("f.yaml")
