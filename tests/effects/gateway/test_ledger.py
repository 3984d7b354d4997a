"""Usage lines as they are written, also while they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.effects.gateway import ledger
from bench.effects.gateway.ledger import Ledger

USAGE = {
    "prompt_tokens": 19,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 5, "cache_creation_tokens": 3},
}


def line(call: str = "0", status: str = "ok", session: str = "s", **more: Any) -> dict[str, Any]:
    made = {"status": status, "session_id": session, "call": call, "native_usage": USAGE, "list_price_usd": 0.5}
    return made | {"upstream_id": f"{session}{call}"} | more


def write(path: Path, *lines: dict[str, Any], rest: str = "") -> None:
    with path.open("a") as file:
        file.write("".join(json.dumps(one) + "\n" for one in lines) + rest)


def test_a_torn_line_is_read_when_it_is_whole(tmp_path: Path):
    path = tmp_path / "usage"
    found = Ledger(path)
    assert found.lines("s") == []
    text = json.dumps(line("1"))
    write(path, {"session_id": "t"}, rest="{torn by a full disk}\n")
    write(path, line("0"), rest=text[:20])
    assert [one["call"] for one in found.lines("s")] == ["0"]
    write(path, rest=text[20:] + "\n")
    assert [one["call"] for one in found.wait("s", ["0", "1"], 5)] == ["0", "1"]


def test_sessions_and_hooks_are_told_apart(tmp_path: Path):
    path = tmp_path / "usage"
    write(path, line("0"), line("0"), line("0", session="t"), {"status": "unreadable"})
    found = Ledger(path)
    assert len(found.lines("s")) == 1
    assert len(found.lines("t")) == 1
    found.forget("s")
    assert found.lines("s") == []


def test_a_line_that_does_not_come_is_not_waited_for_for_ever(tmp_path: Path):
    assert Ledger(tmp_path / "none").wait("s", ["0"], 0.05) == []


def test_entries_hold_four_counts_or_none():
    assert ledger.entry(line())["usage"] == {
        "input_tokens": 11,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 5,
        "output_tokens": 7,
    }
    failed = ledger.entry(line(status="failed", http_status=429, error_type="rate_limit_error", error_class="X"))
    assert (failed["usage"], failed["http_status"], failed["error"]) == (None, 429, "rate_limit_error")
    assert ledger.entry(line(native_usage=None))["usage"] is None
    odd = ledger.entry(line(native_usage=USAGE | {"prompt_tokens": 1}))
    assert odd["usage"] is None
    assert "-7 input_tokens" in odd["fault"]


def test_a_call_that_the_door_cut_is_no_whole_one_whatever_the_proxy_says():
    assert [ledger.entry(line(status=said), cut=True)["status"] for said in ("ok", "cut", "failed")] == [
        "cut",
        "cut",
        "failed",
    ]


@pytest.mark.parametrize(("status", "told"), [(None, "unaccounted"), (200, "unaccounted"), (400, "failed")])
def test_a_call_without_a_line_is_unknown_or_was_refused_on_its_way(status: int | None, told: str):
    assert ledger.lost("m", status)["status"] == told


def test_totals():
    entries = [ledger.entry(line()), ledger.entry(line("1", "failed")), ledger.entry(line("2", "cut"))]
    total = ledger.counted(entries)
    assert total is not None
    assert total["output_tokens"] == 14
    assert ledger.counted([*entries, ledger.lost("m", None)]) is None
    assert ledger.spent([line(), line("1", "failed", list_price_usd=None)]) == (0.5, True)
    assert ledger.spent([line(), line("1", list_price_usd=None)]) == (0.5, False)


def test_only_the_last_failure_is_an_outage():
    failed = line(
        "1", "failed", http_status=429, headers={"retry-after": "60"}, completed_at="2027-01-15T08:00:00.000+00:00"
    )
    assert ledger.outage([line(), failed]) == {"cls": "rate-limit", "status": 429, "resets_at": 1_800_000_060.0}
    assert ledger.outage([failed, line("2")]) is None
    assert ledger.outage([]) is None
