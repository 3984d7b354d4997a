"""Runs a hostile agent inside the sandbox, or without one of its guards, or bare, and tells what each attempt gained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.effects.sandbox import Finished, Limits, Spec, execution, seccomp
from bench.effects.sandbox.bwrap import ALL, Guards

AGENTS = Path(__file__).with_name("agents")
BARE = None
"""Instead of guards: no sandbox at all. Only for attempts that do no harm."""


@dataclass(frozen=True)
class Attempt:
    """How an attempt fails, and the guards without which it was seen to succeed (none named: not practicable)."""

    fails_with: str
    without: tuple[Guards | None, ...] = ()
    kernel: bool = False
    """A kernel may refuse it by a setting of its own; then it must fail without any sandbox as well (and does no harm)."""


@dataclass(frozen=True)
class Outcome:
    """Whether an attempt gained anything, and what it said."""

    gained: bool
    said: str


def numbers() -> dict[str, int]:
    """System call numbers of this machine."""
    column = list(seccomp.AUDIT).index(os.uname().machine)
    table = {name: pair[column] for name, pair in {**seccomp.REFUSED, **seccomp.SPECIAL}.items()}
    return {name: number for name, number in table.items() if number is not None}


def script(agent: str) -> str:
    """The text of an agent, with the part that all share as a module that it can import where nothing of ours is."""
    common, own = ((AGENTS / f"{name}.py").read_text() for name in ("common", agent))
    name = "tests.threats.sandbox.agents.common"
    shared = f"import sys\nshared = type(sys)({name!r})\nsys.modules[{name!r}] = shared\nexec({common!r}, shared.__dict__)\n"
    return f"{shared}exec(compile({own!r}, 'agent.py', 'exec'))\nshared.main(dict(globals()))\n"


def inside(
    agent: str, facts: Mapping[str, Any], *, only: Iterable[str] = (), guards: Guards = ALL, spec: Spec | None = None
) -> tuple[dict[str, Outcome], Finished]:
    """What an agent gained in a sandbox with these guards."""
    given = json.dumps({"numbers": numbers(), "only": sorted(only), **facts})
    base = spec or Spec((), limits=Limits(seconds=300))
    made = replace(base, argv=("python3", "-B", "-c", script(agent)), stdin=given.encode())
    done = execution.execute(made, None, None, guards)
    return _outcomes(done.stdout, done.stderr), done


def bare(agent: str, facts: Mapping[str, Any], only: Iterable[str], cwd: Path) -> dict[str, Outcome]:
    """What an agent gained with no sandbox around it."""
    given = json.dumps({"numbers": numbers(), "only": sorted(only), **facts})
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", script(agent)],
        input=given.encode(),
        capture_output=True,
        cwd=cwd,
        check=False,
    )
    return _outcomes(done.stdout, done.stderr)


def _outcomes(stdout: bytes, stderr: bytes) -> dict[str, Outcome]:
    assert stdout.strip(), stderr.decode("utf-8", "replace")
    return {name: Outcome(*answer) for name, answer in json.loads(stdout.splitlines()[-1]).items()}


class Probe:
    """One agent's attempts, made at most once for each set of guards."""

    def __init__(
        self, agent: str, facts: Mapping[str, Any], attempts: Mapping[str, Attempt], cwd: Path, spec: Spec | None = None
    ) -> None:
        self.agent, self.facts, self.attempts, self.cwd, self.spec = agent, facts, attempts, cwd, spec
        self._done: dict[Guards | None, dict[str, Outcome]] = {}

    def outcome(self, name: str, guards: Guards | None = ALL) -> Outcome:
        """Of one attempt, with these guards."""
        if guards not in self._done:
            only = [
                n for n, a in self.attempts.items() if guards == ALL or guards in a.without or (guards is BARE and a.kernel)
            ]
            if guards is BARE:
                self._done[guards] = bare(self.agent, self.facts, only, self.cwd)
            else:
                self._done[guards], _finished = inside(self.agent, self.facts, only=only, guards=guards, spec=self.spec)
        return self._done[guards][name]

    def fails(self, name: str) -> None:
        """Assert that an attempt gains nothing inside, and fails for the reason that its guard gives."""
        outcome = self.outcome(name)
        assert not outcome.gained, outcome.said
        assert self.attempts[name].fails_with in outcome.said, outcome.said

    def succeeds_without(self, name: str, index: int) -> None:
        """Assert that the same attempt gains something where its guard is left out."""
        outcome = self.outcome(name, self.attempts[name].without[index])
        if self.attempts[name].kernel and not outcome.gained:
            outcome = self.outcome(name, BARE)
            assert not outcome.gained, "only the sandbox refuses it, and without this guard too"
        else:
            assert outcome.gained, outcome.said


def unguarded(attempts: Mapping[str, Attempt]) -> list[tuple[str, int]]:
    """Every attempt with each of the guards that are left out for it: parameters of a test."""
    return [(name, index) for name, attempt in attempts.items() for index in range(len(attempt.without))]
