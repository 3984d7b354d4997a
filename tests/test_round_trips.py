"""Every file that we read or write comes back as it went: written, read and written again it is the same file.

One entry per format; a schema that is added without one fails `test_every_format_has_a_round_trip`.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import schemas
from bench.core import corpus, digest, labels, lock, pdg, prices, promotion_check, review_artifact, rows, schema, yamlmap
from bench.core.lock import Lock
from bench.core.review_artifact import Review
from bench.effects import cassettes
from bench.effects.cassette_author import authored
from bench.effects.swap import places, recovery
from bench.effects.swap.recovery import Entry
from bench.steps.promotion import to_bytes
from tests.core import reviews
from tests.core.promotions import arms, document

GOLDEN = Path(__file__).parent / "golden"
NAMES = st.text(string.ascii_lowercase + string.digits + "-é☃", min_size=1, max_size=8)
HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
PRICES = st.integers(0, 10**6).map(lambda thousandths: thousandths / 1000) | st.integers(0, 1000)
"""Dollars per million tokens. Read as YAML, in which `1e-07` is a text: such a price is refused by name, not misread."""
TEXTS = st.text(max_size=12)
STAGED = st.integers(0, 99).map(lambda number: f".assay-{number:012x}-{number}")
Draw = Callable[[Any], Any]


def a_lock(draw: Draw) -> None:
    entries = st.fixed_dictionaries(
        {"name": NAMES, "version": NAMES, "filename": NAMES, "sha256": HEX, "tree": HEX.map(lambda h: digest.PREFIX + h)}
    )
    sources = draw(st.dictionaries(NAMES, st.fixed_dictionaries({"sha256": HEX}), max_size=3))
    pinned = draw(st.dictionaries(NAMES, st.lists(entries, max_size=2).map(tuple), max_size=3))
    made = Lock("corpus/x.lock.json", sources, pinned)
    data = lock.dump(made)
    assert lock.parse(data.decode(), made.path) == made
    assert lock.dump(lock.parse(data.decode(), made.path)) == data


def a_price_table(draw: Draw) -> None:
    table = draw(st.dictionaries(NAMES, st.fixed_dictionaries(dict.fromkeys(prices.KINDS, PRICES)), max_size=3))
    text = json.dumps({"schema": 1, "source": "made up", "date": "2026-01-31", "models": table}, ensure_ascii=False)
    assert prices.parse(text, "corpus/prices.json") == table


def a_cassette(draw: Draw) -> None:
    """As it is read, written again and played: by content, byte for byte."""
    prompts = draw(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3, unique_by=cassettes.prompt_digest))
    usage = {"input_tokens": draw(st.integers(0, 9)), "output_tokens": draw(st.integers(0, 9))}
    made = [{"prompt": prompt, "turns": [], "final": {"text": draw(TEXTS), "usage": usage}} for prompt in prompts]
    form = draw(st.sampled_from(sorted(cassettes.FORMATS)))
    data = authored("anthropic/claude-sonnet-4-5", form, made, effort=draw(st.sampled_from([None, "high"])))
    read = cassettes.parse(data, "x")
    said = {"schema": cassettes.SCHEMA, "model": read.model, "effort": read.effort, "format": read.format}
    assert digest.canonical(said | {"conversations": list(read.conversations)}) == data


def a_row(draw: Draw) -> None:
    row = draw(st.dictionaries(NAMES, st.none() | st.booleans() | st.integers() | TEXTS | st.lists(TEXTS), max_size=4))
    line = rows.line(row)
    assert json.loads(line) == row
    assert rows.line(json.loads(line)) == line


def a_promotion(draw: Draw) -> None:
    cost = draw(st.sampled_from([None, 0.0, 0.1, 0.94, 0.95, 1.0, 3.3333]))
    data = to_bytes(document(arms("a", [{}] * 3, [{"cost_usd": cost}] * 3)))
    assert to_bytes(json.loads(data)) == data
    assert promotion_check.faults(json.loads(data)) == []


def a_historical_promotion(_: Draw) -> None:
    old = json.loads((GOLDEN / "promotion-5.json").read_bytes())
    assert promotion_check.faults(old) == []
    assert promotion_check.faults(json.loads(to_bytes(old))) == []


def a_script(draw: Draw) -> None:
    """YAML as people write it, and the same as plain JSON with the keys in another order, are one script."""
    text = (Path(__file__).parents[1] / "corpus/cassettes/claude-demo.script.yaml").read_text("utf-8")
    said = yamlmap.load(text, "x").plain()
    again = yamlmap.load(json.dumps({key: said[key] for key in draw(st.permutations(list(said)))}), "x")
    schema.check(again, "script", "x")
    assert again.plain() == said


def a_suite(draw: Draw) -> None:
    """YAML as people write it, and the same as plain JSON with the keys in another order, are one suite."""
    text, library = ((GOLDEN / name).read_text("utf-8") for name in ("suite-1.yaml", "arms-1.yaml"))
    first, second = (yamlmap.load(one, "x").plain() for one in (text, library))
    keys = draw(st.permutations(list(first)))
    again = json.dumps({key: first[key] for key in keys}, ensure_ascii=draw(st.booleans()))
    read = [
        corpus.parse_suite(one, path="corpus/suite-1.yaml", arms_text=other, arms_path="corpus/arms.yaml")
        for one, other in ((text, library), (again, json.dumps(second)))
    ]
    assert read[0] == read[1]


def a_graph(draw: Draw) -> None:
    data = (GOLDEN / "graph-1.json").read_bytes()
    graph = json.loads(data)
    known = pdg.load(graph)
    turned = graph | {name: draw(st.permutations(graph[name])) for name in ("nodes", "edges")}
    assert digest.canonical(json.loads(digest.canonical(graph))) == digest.canonical(graph)
    again = pdg.load(json.loads(digest.canonical(turned)))
    assert again.names() == known.names()
    assert again.paths() == known.paths()


def a_review(draw: Draw) -> None:
    made = draw(reviews.findings())
    verdict = "request_changes" if any(finding.blocking for finding in made) else "comment"
    data = json.dumps({"schema_version": 1, "verdict": verdict, "findings": [asdict(finding) for finding in made]}).encode()
    assert review_artifact.parse(data) == Review(verdict, made)


def a_labels_file(draw: Draw) -> None:
    made = draw(reviews.true_labels())
    data = json.dumps({"schema_version": 1, "findings": [asdict(label) for label in made]}).encode()
    assert labels.parse(data, "x") == made


FORMATS: dict[str, Callable[[Draw], None]] = {
    "arms": a_suite,
    "cassette": a_cassette,
    "graph": a_graph,
    "lock": a_lock,
    "prices": a_price_table,
    "promotion": a_promotion,
    "promotion-5": a_historical_promotion,
    "results-row": a_row,
    "script": a_script,
    "suite": a_suite,
    "review-output": a_review,
    "review-labels": a_labels_file,
}


def test_every_format_has_a_round_trip() -> None:
    assert set(schemas.names()) <= set(FORMATS)


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_written_reads_back_as_it_was(name: str, data: st.DataObject) -> None:
    FORMATS[name](data.draw)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.builds(Entry, NAMES, STAGED, TEXTS, TEXTS), max_size=3),
    TEXTS,
)
def test_a_recovery_file_reads_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, files: list[Entry], note: str
) -> None:
    root = places.open_root(tmp_path_factory.mktemp("tree"))
    recovery.write(root, recovery.OPEN, files, {"note": note})
    assert recovery.read(root) == (recovery.OPEN, files, {"note": note})
