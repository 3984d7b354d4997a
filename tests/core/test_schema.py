import json
import subprocess
import sys

import jsonschema
import pytest

from bench import schemas
from bench.core import schema, yamlmap
from bench.errors import CorpusError


def refused(text):
    with pytest.raises(CorpusError) as caught:
        schema.check(yamlmap.load(text, "f.yaml"), "arms", "f.yaml")
    return str(caught.value)


@pytest.mark.parametrize("name", schemas.names())
def test_every_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(schemas.load(name))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f.yaml:1:1: must be a mapping, not null"),
        ("arms: []", "f.yaml:1:7: arms: must have at least one entry, not 0"),
        (
            "arms: [{name: x, role: comparator, engin: loop}]",
            "f.yaml:1:36: arms[0].engin: unknown key; did you mean 'engine'?",
        ),
        ("arms: [{name: x}]", "f.yaml:1:8: arms[0]: the key 'role' is missing; add it"),
        ("arms: [{name: 3, role: comparator}]", "f.yaml:1:15: arms[0].name: must be text, not 3; put it in quotes"),
        ("arms: [{name: ' ', role: comparator}]", "f.yaml:1:15: arms[0].name: must not be blank; it is ' '"),
        (
            "arms: [{name: x, role: candidat}]",
            "f.yaml:1:24: arms[0].role: must not be 'candidat'; did you mean 'candidate'?",
        ),
        ("arms: [{name: x, role: comparator, replica: -1}]", "f.yaml:1:45: arms[0].replica: must be at least 0, not -1"),
        (
            "arms: [{name: x, role: comparator, replica: 0.5}]",
            "f.yaml:1:45: arms[0].replica: must be a whole number, not 0.5",
        ),
        ("arms: [{name: x, role: comparator, graph: 1}]", "f.yaml:1:43: arms[0].graph: must be true or false, not 1"),
        (
            "arms: [{name: x, role: comparator, skills: [a, a]}]",
            "f.yaml:1:44: arms[0].skills: has the same entry twice; remove one",
        ),
        ("arms: [{nam: x, role: comparator}]", "f.yaml:1:9: arms[0].nam: unknown key (and 1 more); did you mean 'name'?"),
        ("arms: [3]\nx: 1", "f.yaml:1:8: arms[0]: must be a mapping, not 3 (and 1 more)"),
        (
            "arms: [{name: x, role: comparator, engine: }]",
            "f.yaml:1:36: arms[0].engine: must not be null; known: claude, gold, loop, nop",
        ),
    ],
)
def test_the_first_fault_is_worded_with_place_key_and_remedy(text, said):
    assert refused(text) == said


def test_the_corpus_is_imported_without_the_validator():
    heavy = ("jsonschema", "referencing", "difflib", "litellm")
    code = f"import sys, json, bench.core.corpus; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
