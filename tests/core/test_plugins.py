import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import plugins
from bench.errors import CorpusError

SKILL = b"---\nname: plan\ndescription: How to plan.\n---\nThink.\n"


def manifest(**said):
    return json.dumps({"name": "mine", "version": "1.2.0", **said}).encode()


FILES = {
    plugins.MANIFEST: manifest(),
    "skills/plan/SKILL.md": SKILL,
    "skills/README.md": b"",
    "scripts/a.sh": b"#!/bin/sh\n",
}


def refused(files, version="1.2.0", expects=()):
    with pytest.raises(CorpusError) as caught:
        plugins.check(files, version, expects)
    return str(caught.value)


def test_a_plugin_is_read():
    plugin = plugins.check(FILES, "1.2.0", ["plan", "mine:plan"])
    assert (plugin.name, plugin.version, plugin.left_out) == ("mine", "1.2.0", ())
    assert plugin.files == FILES
    assert [(skill.name, skill.description) for skill in plugin.skills] == [("plan", "How to plan.")]


def test_what_would_start_programs_is_taken_out_of_the_manifest_and_named():
    said = manifest(mcpServers={"x": {"command": "sh"}}, hooks="./hooks.json", keywords=["a"])
    files = FILES | {plugins.MANIFEST: said, ".claude-plugin/marketplace.json": b"{}"}
    plugin = plugins.check(files, "1.2.0", [])
    assert plugin.left_out == ("hooks", "mcpServers")
    assert set(plugin.files) == set(FILES)
    assert json.loads(plugin.files[plugins.MANIFEST]) == {"name": "mine", "version": "1.2.0", "keywords": ["a"]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({plugins.MANIFEST: None}, "is not there"),
        ({plugins.MANIFEST: b"{"}, "is not JSON"),
        ({plugins.MANIFEST: b"\xff"}, "is not JSON"),
        ({plugins.MANIFEST: b"[]"}, "is no JSON object"),
        ({plugins.MANIFEST: b'{"name": "mine", "version": NaN}'}, "is not JSON"),
        ({plugins.MANIFEST: b"[" * 100_000}, "is not JSON"),
        ({plugins.MANIFEST: b'{"name": "mine", "version": "1.2.0", "name": "yours"}'}, "name: stands there twice"),
        ({plugins.MANIFEST: b'{"name": "mine", "x": [{"a": 1, "a": 2}]}'}, "x[0].a: stands there twice"),
        ({plugins.MANIFEST: b'{"name": "mine", "x": 1e999}'}, "is not JSON"),
        ({plugins.MANIFEST: manifest(name="My plugin")}, "name 'My plugin'"),
        ({plugins.MANIFEST: manifest(name="../x")}, "name '../x'"),
        ({plugins.MANIFEST: manifest(version="1.2")}, "version '1.2' is not an exact version"),
        ({plugins.MANIFEST: manifest(version="1.3.0")}, "the manifest's version is '1.3.0', and not '1.2.0'"),
        ({plugins.MANIFEST: b'{"name": "mine"}'}, "the manifest's version is None"),
        ({plugins.MANIFEST: b" " * (plugins.MAX_MANIFEST + 1)}, "holds more than"),
        ({"skills/plan/SKILL.md": None}, "the plugin brings no skill"),
        ({"skills/plan/SKILL.md": b"no front matter"}, "has no YAML front matter"),
        ({"skills/" + "x" * 600: b""}, "is longer than 512 bytes"),
        ({"scripts/big": b"x" * (plugins.MAX_BYTES + 1)}, "bytes together"),
        ({"scripts/A.sh": b""}, "two paths clash"),
    ],
)
def test_what_is_refused(change, said):
    assert said in refused({path: data for path, data in (FILES | change).items() if data is not None})


def test_a_skill_that_the_arm_expects_has_to_be_there():
    assert "no skill 'mine:paln', which the arm expects; did you mean" in refused(FILES, expects=["mine:paln"])


@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.text(), st.lists, max_leaves=3).map(lambda v: json.dumps(v).encode())
)
def test_any_manifest_is_taken_or_refused(data):
    assert refused(FILES | {plugins.MANIFEST: data})
