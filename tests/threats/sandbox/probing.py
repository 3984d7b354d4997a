"""Makes a hostile agent's attempts inside the sandbox, then again where the guard is missing, and tells what came of each.

A table of attempts is a dict from the name of an agent's function to an `Attempt`. Each attempt has two tests: refused with
all guards, and successful without its own, so that none passes for being blunt. Attempts of one table that want the same
surroundings are made in one run.
"""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from bench.effects.sandbox import Finished, Limits, Spec, bwrap, execution, plan, seccomp
from bench.effects.sandbox.bwrap import ALL, Guards

Found = TypeVar("Found")
AGENTS = Path(__file__).with_name("agents")


class Elsewhere(Enum):
    """Surroundings without the guard, where leaving out one of `Guards` does not show it."""

    BARE = "no sandbox at all; only for attempts that do no harm there"
    TERMINAL = "no sandbox, and a terminal that controls the harness"
    PLAIN = "bubblewrap as it is often used: the host's files, user 0 with all capabilities, bubblewrap's own pid 1"
    OUTSIDE = "our init as an ordinary process of the host, not as pid 1 of a namespace"
    OPENED = "the sandbox with all guards, but the directory of the oracle is named among what it shows"


BARE, TERMINAL, PLAIN = Elsewhere.BARE, Elsewhere.TERMINAL, Elsewhere.PLAIN
OUTSIDE, OPENED = Elsewhere.OUTSIDE, Elsewhere.OPENED
Place = Guards | Elsewhere
ROOT = os.getuid() == 0


def as_root(*places: Place) -> tuple[Place, ...]:
    """Only where the tests run as root: an ordinary user may not do it on the bare host either."""
    return places if ROOT else ()


@dataclass(frozen=True)
class Attempt:
    """How an attempt fails, and where it was seen to succeed."""

    fails_with: str
    without: tuple[Place, ...] = ()
    kernel: bool = False
    """A machine may refuse it itself (a setting, a part that its kernel lacks): then it must fail on the bare host too."""
    not_shown: str = ""
    """Why it is seen to succeed nowhere (for an ordinary user: nowhere)."""


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


def script(agents: Iterable[str]) -> str:
    """The text of agents, with the part that all share as a module that they can import where nothing of ours is."""
    common, *own = ((AGENTS / f"{name}.py").read_text() for name in ("common", *agents))
    name = "tests.threats.sandbox.agents.common"
    shared = f"import sys\nshared = type(sys)({name!r})\nsys.modules[{name!r}] = shared\nexec({common!r}, shared.__dict__)\n"
    return shared + "".join(f"exec(compile({text!r}, 'agent.py', 'exec'))\n" for text in own) + "shared.main(globals())\n"


@dataclass
class Probe:
    """The attempts of some agents, made at most once in each of their surroundings."""

    agents: tuple[str, ...]
    attempts: Mapping[str, Attempt]
    facts: Mapping[str, Any]
    cwd: Path
    """A directory of the host, for attempts that are made there."""
    spec: Spec = field(default_factory=lambda: Spec((), limits=Limits(seconds=120)))
    opened: Spec | None = None
    bare_facts: Mapping[str, Any] = field(default_factory=dict)
    """What differs on the bare host."""
    _done: dict[Place, dict[str, Outcome]] = field(default_factory=dict)

    def outcome(self, name: str, place: Place = ALL) -> Outcome:
        """Of one attempt, made there together with all that are to be made there."""
        if name not in self._done.setdefault(place, {}):
            names = [n for n, a in self.attempts.items() if place == ALL or place in a.without]
            # Those that end the run, or come from what failed elsewhere, are made by themselves.
            self._done[place] |= self.made(place, names if name in names and place is not OUTSIDE else [name])
        return self._done[place][name]

    def made(self, place: Place, names: list[str]) -> dict[str, Outcome]:
        """What came of these attempts there."""
        given: dict[str, Any] = {"numbers": numbers(), "only": names, **self.facts}
        if isinstance(place, Guards):
            return self._inside(given, self.spec, place)
        if place is OPENED:
            assert self.opened is not None, "the table names no such Spec"
            return self._inside(given, self.opened, ALL)
        if place is PLAIN:
            covered = plan.stage_for(Path(sys.executable))
            return self._run([*plain(covered), *self._program()], given | {"apart": True, "covered": covered})
        given |= {"scratch": str(self.cwd), **self.bare_facts}
        if place is OUTSIDE:
            return outside(self._program(), given)
        return in_a_terminal(self._program(), given) if place is TERMINAL else self._run(self._program(), given)

    def _program(self) -> list[str]:
        return [sys.executable, "-I", "-B", "-c", script(self.agents)]

    def _inside(self, given: Mapping[str, Any], spec: Spec, guards: Guards) -> dict[str, Outcome]:
        argv = ("python3", "-B", "-c", script(self.agents))
        done: Finished = execution.execute(replace(spec, argv=argv, stdin=json.dumps(given).encode()), None, None, guards)
        return outcomes(done.stdout, done.stderr)

    def _run(self, argv: list[str], given: Mapping[str, Any]) -> dict[str, Outcome]:
        held = os.open(self.cwd, os.O_RDONLY)
        try:
            return on_the_host(argv, given, [held])
        finally:
            os.close(held)

    def refused(self, name: str) -> None:
        """Assert that an attempt gains nothing inside, and fails for the reason that its guard gives."""
        outcome = self.outcome(name)
        assert not outcome.gained, outcome.said
        assert self.attempts[name].fails_with in outcome.said, outcome.said

    def succeeds(self, name: str) -> None:
        """Assert that the same attempt gains something wherever its guard is missing."""
        attempt = self.attempts[name]
        for place in attempt.without:
            outcome = self.outcome(name, place)
            if attempt.kernel and not outcome.gained:
                assert not self.outcome(name, BARE).gained, "only the sandbox refuses it, and without this guard too"
            else:
                assert outcome.gained, f"{place}: {outcome.said}"


def outcomes(stdout: bytes, stderr: bytes) -> dict[str, Outcome]:
    """What an agent printed."""
    assert stdout.strip(), stderr.decode("utf-8", "replace")
    return {name: Outcome(*answer) for name, answer in json.loads(stdout.splitlines()[-1]).items()}


def on_the_host(argv: list[str], given: Mapping[str, Any], inherited: list[int]) -> dict[str, Outcome]:
    """What an agent gained as an ordinary child that inherits some descriptors."""
    order = json.dumps(given).encode()
    done = subprocess.run(argv, input=order, capture_output=True, pass_fds=inherited, check=False, timeout=120)
    return outcomes(done.stdout, done.stderr)


def plain(covered: str) -> list[str]:
    """The command line of a sandbox as many harnesses make one; it covers one directory with a tmpfs."""
    program, _version = bwrap.program()
    options = ["--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL", "--bind", "/", "/"]
    options += ["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/usr", "/usr", "--tmpfs", covered, "--chdir", "/", "--"]
    return [str(program), *options]


def outside(argv: list[str], given: Mapping[str, Any]) -> dict[str, Outcome]:
    """An agent's attempts where our init is an ordinary process, with a status pipe as always."""
    order = plan.order(Spec(tuple(argv), cwd="/", env=dict(os.environ)), ALL, grouped=True)
    source, sink = os.pipe()
    with tempfile.TemporaryFile() as code, tempfile.TemporaryFile() as orders:
        for file, data in ((code, plan.code("init")), (orders, marshal.dumps(order))):
            file.write(data)
            file.seek(0)
        numbers_ = [code.fileno(), orders.fileno(), sink]
        try:
            return on_the_host([sys.executable, "-I", "-S", "-c", plan.BOOT, *map(str, numbers_), "-1"], given, numbers_)
        finally:
            os.close(source)
            os.close(sink)


LEADER = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0); "
LEADER += "os.execv(sys.argv[2], sys.argv[2:])"


def in_a_terminal(argv: list[str], given: Mapping[str, Any]) -> dict[str, Outcome]:
    """An agent's attempts as a harness in somebody's terminal would start it."""
    parent, terminal = os.openpty()
    try:
        return on_the_host([sys.executable, "-I", "-c", LEADER, str(terminal), *argv], given, [terminal])
    finally:
        os.close(parent)
        os.close(terminal)


def at_once(one: Callable[[str], Found], names: Iterable[str]) -> dict[str, Found]:
    """What comes of each, made all at the same time: for attempts that mostly wait."""
    named = list(names)
    with ThreadPoolExecutor(len(named)) as pool:
        return dict(zip(named, pool.map(one, named), strict=True))


def shown(attempts: Mapping[str, Attempt]) -> list[str]:
    """The attempts that are seen to succeed somewhere; for every other the table must say why not."""
    unexplained = [name for name, attempt in attempts.items() if not attempt.without and not attempt.not_shown]
    assert not unexplained, unexplained
    return [name for name, attempt in attempts.items() if attempt.without]
