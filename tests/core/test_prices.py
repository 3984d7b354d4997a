import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.core import prices
from bench.errors import CorpusError

ROW = {"input": 3, "cache_creation": 3.75, "cache_read": 0.3, "output": 15}
RAW = {"schema": 1, "source": "a list", "date": "2026-01-31", "models": {"anthropic/x": ROW}}
PATH = "corpus/prices.json"


def parse(raw):
    return prices.parse(json.dumps(raw), PATH)


def test_rows_are_found_with_and_without_the_provider():
    table = parse(RAW)
    assert prices.row(table, "anthropic/x") == ROW
    assert prices.row(table, "x") == ROW
    assert prices.row(table, "openrouter/x") is None
    assert prices.row(table, None) is None


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([], "must be a mapping"),
        (RAW | {"schema": 2}, "schema: must not be 2"),
        (RAW | {"date": "yesterday"}, "must be a date"),
        (RAW | {"models": {"x": ROW | {"input": -1}}}, "models.x.input: must be at least 0, not -1"),
        (RAW | {"models": {"x": ROW | {"input": "3"}}}, "models.x.input: must be a number"),
        (RAW | {"models": {"x": {"input": 1}}}, "is missing"),
        (RAW | {"models": {"x": ROW | {"ouput": 3}}}, "did you mean 'output'?"),
        ({k: v for k, v in RAW.items() if k != "source"}, "the key 'source' is missing"),
    ],
)
def test_faults_are_named(raw, said):
    with pytest.raises(CorpusError) as caught:
        parse(raw)
    assert said in str(caught.value)


def test_a_table_that_has_passed_before_is_read_without_the_validator():
    path = Path(__file__).parents[2] / PATH
    code = f"import sys; from bench.core import prices; prices.parse(open({str(path)!r}).read(), 'x', validated=True)"
    code += "; print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    table = prices.parse(path.read_text("utf-8"), PATH)
    assert all(row["cache_read"] <= row["input"] < row["output"] for row in table.values())
