from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.effects.cassette_author import authored
from bench.effects.engines import Outcome
from bench.effects.sessions.account import Account, Phase
from bench.effects.store.local import LocalStore

USAGE = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 4}
GATEWAY = {"usage": USAGE, "cli_usage": USAGE, "cost_usd": 0.5, "cli_cost_usd": 0.4, "foreign_calls": 1, "apart": 0.01}


def outcome(**more: Any) -> Outcome:
    return Outcome(b'{"type":"result"}\n', **({"usage": USAGE, "turns": 2} | more))


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account(LocalStore(tmp_path), "overlay", "2026-01-01T00:00:00Z")


def body(account: Account) -> dict[str, Any]:
    return account.body({"engine": "claude", "model": "m"})


def test_figures_of_the_phases_add_up(account: Account) -> None:
    told = GATEWAY | {"refused": [{"why": "budget"}]}
    account.played(Phase("plan", None, outcome(tool_counts={"Bash": 1}, calls=({"status": "ok"},), gateway=told), 1.04))
    account.played(Phase("work", None, outcome(tool_counts={"Bash": 2, "Read": 1}, calls=({"status": "failed"},)), 2.0))
    said = body(account)
    assert said["usage"] == {name: 2 * n for name, n in USAGE.items()}
    assert (said["num_turns"], said["duration_s"], said["tool_use_counts"]) == (4, 3.0, {"Bash": 3, "Read": 1})
    assert said["calls"] == {"ok": 1, "failed": 1}
    assert (said["gateway"]["cost_usd"], said["gateway"]["foreign_calls"], said["gateway"]["apart"]) == (0.5, 1, 0.01)
    assert account.store.get(account.outputs["transcript"].blob).count(b"\n") == 2
    assert len(account.store.get(account.outputs["calls"].blob).splitlines()) == 2


def test_one_unknown_figure_makes_the_total_unknown(account: Account) -> None:
    account.played(Phase("plan", None, outcome(usage=None, gateway=GATEWAY | {"refused": [], "cost_usd": None}), 1.0))
    account.played(Phase("work", None, outcome(gateway=GATEWAY | {"refused": []}), 1.0))
    said = body(account)
    assert (said["usage"], said["gateway"]["cost_usd"], said["gateway"]["cli_cost_usd"]) == (None, None, 0.8)
    assert said["gateway"]["usage"] == {name: 2 * n for name, n in USAGE.items()}


def test_recordings_that_make_no_cassette_together_cost_no_session(account: Account) -> None:
    scripts = [{"prompt": "p", "final": {"text": "Done.", "usage": {"input_tokens": 1, "output_tokens": 1}}}]
    for model in ("anthropic/claude-sonnet-4-5", "anthropic/claude-opus-4-6"):
        account.played(Phase("work", None, outcome(recording=authored(model, "anthropic", scripts)), 1.0))
    assert "recording" not in account.outputs
    assert body(account)["error_kind"] is None
    assert "recordings of one model are needed" in body(account)["evidence_diagnostics"][0]


def test_a_session_that_never_began_has_no_figures(account: Account) -> None:
    account.fail("infra-error", "setup-failed", "why")
    said = body(account)
    assert (said["usage"], said["num_turns"], said["transcript_missing"], said["gateway"]) == (None, 0, True, None)
    assert "review" not in said


@pytest.mark.parametrize(
    ("plan", "work", "used", "kind"),
    [
        (True, True, True, None),
        (True, False, False, "skill-not-invoked"),
        (False, True, False, "skill-not-invoked"),
        (None, True, None, "evidence-unverified"),
    ],
)
def test_every_expected_skill_must_be_shown(
    account: Account, plan: bool | None, work: bool | None, used: bool | None, kind: str | None
) -> None:
    """Failure mode 16: plan and work counted as done although the work skill was never run."""
    # PR 2431 of the reference: a workflow passed without running its work skill.
    account.played(Phase("plan", "p", outcome(skill_used=plan), 1.0))
    account.played(Phase("work", "w", outcome(skill_used=work), 1.0))
    assert (body(account)["skill_invoked"], account.kind) == (used, kind)


def test_the_first_cause_stays(account: Account) -> None:
    account.played(Phase("plan", "p", outcome(error_kind="session-error", error_class="model-error", skill_used=False), 1.0))
    account.fail("review-evidence-invalid", "workspace-changed", "later")
    assert (account.kind, account.cls) == ("session-error", "model-error")
    assert body(account)["evidence_diagnostics"] == ["review-evidence-invalid: later"]


def test_recordings_become_one_cassette(account: Account) -> None:
    for phase in ("plan", "work"):
        told = [{"prompt": phase, "turns": [], "final": {"text": "x", "usage": {"input_tokens": 1, "output_tokens": 1}}}]
        tape = authored("anthropic/claude-sonnet-4-5", "anthropic", told)
        account.played(Phase(phase, None, outcome(recording=tape), 1.0))
    kept = json.loads(account.store.get(account.outputs["recording"].blob))
    assert len(kept["conversations"]) == 2
