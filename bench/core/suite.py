"""What a suite file says, after parsing: frozen values with every default filled in. `bench.core.corpus` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INCUMBENT, CANDIDATE, COMPARATOR, CALIBRATION = "incumbent", "candidate", "comparator", "calibration"
ROLES = (INCUMBENT, CANDIDATE, COMPARATOR, CALIBRATION)
PAID_ENGINES = frozenset({"loop", "claude"})
FREE_ENGINES = frozenset({"nop", "gold"})
ENGINES = tuple(sorted(PAID_ENGINES | FREE_ENGINES))
SUPPORTED_PROFILES = ("implementation", "review")
"""Profiles that this release can run; others are read, so that one corpus serves several releases."""
PHASES = (("work",), ("plan", "work"), ("review",))
"""The sessions of an arm, in their order: what each is asked for."""
REVIEW_LABELS = "review-labels.json"
"""Target of the one oracle file that makes a task a review task."""
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a suite. Seconds, dollars, days; `None` = no bound."""

    session_s: float = 600
    setup_s: float = 120
    verify_s: float = 120
    oracle_s: float = 120
    graph_s: float = 600
    turns: int = 60
    tokens: int | None = None
    outage: int = 5
    budget_usd: float | None = None
    """What the sessions of one run may spend together."""
    expected_usd: float | None = None
    """What a session is taken to cost as long as its arm has no finished one."""
    max_age_days: int = 90


@dataclass(frozen=True, slots=True)
class Arm:
    """A way of running a task."""

    name: str
    role: str
    engine: str
    skills: tuple[str, ...] = ()
    """Skill directories, relative to corpus/."""
    overlay: str | None = None
    """Directory of Markdown files relative to corpus/, laid over the skills of the arm."""
    of: str | None = None
    """A candidate's incumbent arm."""
    phases: tuple[str, ...] = ("work",)
    """One of PHASES."""
    expects: Mapping[str, str] = field(default_factory=dict)
    """Phase → name of the skill whose use that phase's transcript must show."""
    graph: bool = False
    """Whether the agent is given the graph and its tools."""
    skill_tool: bool = True
    """Whether the agent may load skills at all (engine claude); false = the Skill tool is disallowed."""
    takes_plugin: bool = False
    """Whether the arm runs with a plugin; which one, the arm or the command line says."""
    plugin: str | None = None
    """The plugin's directory, relative to corpus/ or absolute; set with `plugin_version` or not at all."""
    plugin_version: str | None = None
    replica: int | None = None
    """Tells A/A arms apart, which would otherwise be one piece of evidence."""
    only: frozenset[str] | None = None
    """Ids of the tasks that the arm runs; None = all of the suite. A candidate runs those of its incumbent."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Engine settings that reach the result."""

    @property
    def reviews(self) -> bool:
        """Whether the arm's result is a review, and no change of the workspace."""
        return self.phases[-1] == "review"

    def runs(self, task: str) -> bool:
        """Whether the arm runs the task of that id."""
        return self.only is None or task in self.only


@dataclass(frozen=True, slots=True)
class OracleFile:
    """`source` below oracles/ (or inside the sdist `sdist`, `sha256`), shown to the oracle as `target`."""

    source: str
    target: str
    sdist: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Oracle:
    """Hidden grader. Exactly one of `command` and `pytest` is set; neither where only `labels` grade."""

    files: tuple[OracleFile, ...]
    command: str | None = None
    report: str = "exit"
    """exit | pytest: how a command's verdict is read."""
    paths: tuple[str, ...] = ()
    """pytest form: oracle targets to run."""
    pythonpath: tuple[str, ...] = ()
    """pytest form: workspace directories put first for the code under test."""
    args: tuple[str, ...] = ()
    pytest: bool = False
    labels: bool = False
    """Whether the one file is `review-labels.json`: then the task is a review, scored against it."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The reference solution: a patch under oracles/ (of a review task: a review-output.json), or the difference to a later
    release."""

    patch: str | None = None
    sdist: str | None = None
    sha256: str | None = None
    exclude: tuple[str, ...] = ()
    """Glob patterns (fnmatch on relative paths) left out of the difference: its tests, its packaging files."""


@dataclass(frozen=True, slots=True)
class Task:
    """A benchmark problem."""

    id: str
    cls: str
    source: Mapping[str, Any]
    """One of {dir}, {git, ref}, {sdist, sha256}; paths relative to corpus/ or absolute."""
    prompt: str
    verify: str
    setup: str | None = None
    patch: str | None = None
    """Relative to corpus/: a change that is laid over the source before anything runs there (a case to review)."""
    dependencies: tuple[str, ...] = ()
    """pip requirements."""
    sandbox_copy: tuple[str, ...] = ()
    sandbox_dependencies: tuple[tuple[str, str], ...] = ()
    oracle: Oracle | None = None
    gold: Gold | None = None
    expensive: bool = False

    @property
    def review(self) -> bool:
        """Whether a review is asked for."""
        return self.oracle is not None and self.oracle.labels


@dataclass(frozen=True, slots=True)
class Mirror:
    """A directory, relative to the working tree, that holds `<skill>/…` as well; `skills` None = all of them."""

    folder: str
    skills: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """A corpus file: tasks × arms × runs."""

    name: str
    arms: tuple[Arm, ...]
    tasks: tuple[Task, ...]
    """All tasks of the file, expensive ones too; `bench.core.matrix` selects."""
    default: bool = False
    profile: str = "implementation"
    model: str | None = None
    effort: str | None = None
    runs: int = 3
    workers: int | None = None
    retries: int = 1
    graph: str = "none"
    limits: Limits = field(default_factory=Limits)
    promotion: Mapping[str, Any] = field(default_factory=dict)
    env_aliases: Mapping[str, str] = field(default_factory=dict)
    """Our variable name → the name that commands of this suite also get."""
    mirrors: tuple[Mirror, ...] = ()
    """Where `doit apply` puts a promoted skill besides its own directory."""
    expensive: bool = False
    """Whether the expensive tasks are selected too; only the command line sets it."""
    sandbox: str | None = None
    """None = the sandbox; else unsafe-host, which only the command line sets."""

    def arm(self, name: str) -> Arm:
        """The arm of that name (KeyError when there is none)."""
        return {a.name: a for a in self.arms}[name]
