"""The journal: appended to, torn lines skipped, attempts and seals counted since the last revocation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.journal import Journal

KEY = "b3:" + "1" * 64


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


def built(journal: Journal, seal: str = "s1", key: str = KEY) -> None:
    journal.write("built", kind="session", name="x", key=key, content="c", seal=seal)


def test_an_absent_journal_knows_nothing(journal: Journal):
    assert list(journal.events()) == []
    assert journal.attempts(KEY) == 0
    assert "s1" not in journal.seals(KEY)


def test_what_was_built_is_known_to_this_and_to_the_next_process(journal: Journal):
    assert journal.attempts(KEY) == 0
    built(journal)
    for reader in (journal, Journal(journal.path)):
        assert "s1" in reader.seals(KEY)
        assert "s2" not in reader.seals(KEY)
        assert not reader.seals("b3:" + "2" * 64)
        assert reader.attempts(KEY) == 1


def test_a_restored_record_is_known_and_is_no_attempt(journal: Journal):
    journal.write("restored", kind="session", name="y", key=KEY, content="c", seal="s1")
    assert "s1" in journal.seals(KEY)
    assert journal.attempts(KEY) == 0


def test_revocation_takes_back_trust_and_the_count_of_attempts(journal: Journal):
    built(journal, "s1")
    built(journal, "s2")
    journal.write("revoked", kind="session", name="x", key=KEY)
    assert "s1" not in journal.seals(KEY)
    assert journal.attempts(KEY) == 0
    built(journal, "s3")
    assert journal.attempts(KEY) == 1


def test_an_event_has_the_time_and_is_one_line(journal: Journal):
    journal.write("built", name="two\nlines", key=KEY)
    assert len(journal.path.read_bytes().splitlines()) == 1
    (event,) = journal.events()
    assert event["at"].endswith("Z")
    assert event["name"] == "two\nlines"


@given(st.integers(1, 200), st.integers(0, 5))
def test_a_torn_line_costs_that_line_alone(tmp_path_factory: pytest.TempPathFactory, cut: int, after: int):
    journal = Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")
    built(journal, "s1")
    whole = len(journal.path.read_bytes())
    built(journal, "s2")
    data = journal.path.read_bytes()
    journal.path.write_bytes(data[: max(whole, len(data) - cut)])
    later = Journal(journal.path)
    for number in range(after):
        built(later, f"later{number}")
    again = Journal(journal.path)
    assert "s1" in again.seals(KEY)
    assert all(f"later{number}" in again.seals(KEY) for number in range(after))
    assert "s2" not in again.seals(KEY) or cut == 1


@pytest.mark.parametrize(
    "line",
    [b"", b"null", b"7", b"[]", b'{"key": 3}', b'{"key": "k"}', b'{"event": []}', b'{"event": "built", "key": []}', b"\xff"],
)
def test_foreign_lines_are_passed_over(journal: Journal, line: bytes):
    journal.path.write_bytes(line + b"\n")
    built(journal)
    assert Journal(journal.path).attempts(KEY) == 1


def test_tries_count_what_was_revoked_too_and_not_what_is_too_old(journal: Journal):
    built(journal, "s1")
    journal.write("revoked", kind="session", name="x", key=KEY)
    built(journal, "s2")
    journal.write("built", kind="session", name="x", key=KEY, content="c", seal="s3", charged=False)
    journal.write("built", kind="session", name="y", key="other", content="c", seal="s4")
    assert journal.tries(KEY, "") == 2
    assert journal.tries(KEY, "2999-01-01T00:00:00Z") == 0


def test_what_a_cell_said_before_is_what_its_first_making_noted(journal: Journal):
    other = "b3:" + "2" * 64
    journal.write("built", kind="cell", name="x", key=KEY, content="c", seal="s")
    journal.write("built", kind="cell", name="x", key=other, content="d", seal="t", regraded={"resolved": [False, True]})
    journal.write("built", kind="cell", name="x", key=KEY, content="c", seal="s", regraded={"resolved": [True, False]})
    for reader in (journal, Journal(journal.path)):
        assert reader.regraded(KEY) is None
        assert reader.regraded(other) == {"resolved": [False, True]}
        assert reader.regraded("b3:" + "3" * 64) is None


def test_files_that_were_laid_out_are_known(journal: Journal):
    journal.write("laid", kind="report", name="x", files=["b3:a", "b3:b"])
    for reader in (journal, Journal(journal.path)):
        assert reader.laid("b3:a")
        assert not reader.laid("b3:c")
