"""Small workspaces on which the real `doit` runs: one shell file as source, oracles as shell commands, no dependencies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench
from bench.core import corpus
from bench.core.suite import Suite
from bench.effects.cassette_author import authored
from bench.layout import FOLDERS

CODE = Path(bench.__file__).resolve().parent.parent
"""The tree that holds the `bench` under test: the children import the same one."""

KEYS = "_API_KEY"
"""How the variables end that hold a provider's key."""
COMMAND = (sys.executable, "-m", "doit")

ARMS = [
    {"name": "nop", "role": "calibration", "engine": "nop"},
    {"name": "gold", "role": "calibration", "engine": "gold"},
]
LIMITS = {"session_s": 60, "setup_s": 30, "verify_s": 30, "oracle_s": 30, "outage": 5, "budget_usd": 5, "max_age_days": 90}
SOURCE = "echo $(($1 - $2))\n"
CHECK = 'test "$(sh ./adder.sh 2 3)" = 5\n'
GOLD = "--- a/adder.sh\n+++ b/adder.sh\n@@ -1 +1 @@\n-echo $(($1 - $2))\n+echo $(($1 + $2))\n"


@dataclass(frozen=True)
class Done:
    """How a `doit` ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def did(self) -> dict[str, str]:
        """Step → what its line says was done: built, measured, restored, unusable, not_run."""
        words = [line.split(maxsplit=2) for line in self.stdout.splitlines()]
        verbs = {"built", "measured", "restored", "unusable", "not_run", "refused", "cancelled"}
        return {parts[1]: parts[0] for parts in words if len(parts) > 1 and parts[0] in verbs and ":" in parts[1]}


class Bench:
    """A workspace and the commands that are run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def environment(self, **more: str) -> dict[str, str]:
        """This process's environment, pointed at the code under test; without the keys of whoever runs the tests."""
        mine = ("BENCH_DEBUG", "CI")
        kept = {k: v for k, v in os.environ.items() if k not in mine and not k.startswith("PYTEST") and not k.endswith(KEYS)}
        return kept | {"PYTHONPATH": str(CODE)} | more

    def doit(
        self, *words: str, env: dict[str, str] | None = None, prefix: tuple[str, ...] = (), seconds: float = 300
    ) -> Done:
        """Run `doit` to its end, which must come within so many seconds."""
        done = subprocess.run(
            [*prefix, *COMMAND, *words],
            cwd=self.root,
            env=self.environment(**(env or {})),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def start(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start `doit` in a session of its own; its output goes to files below logs-of-test/."""
        place = self.root.parent / "logs-of-test"
        place.mkdir(exist_ok=True)
        with (place / "stdout").open("wb") as out, (place / "stderr").open("wb") as err:
            return subprocess.Popen(
                [*COMMAND, *words],
                cwd=self.root,
                env=self.environment(**(env or {})),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def plan(self, *words: str) -> dict[str, str]:
        """Step → action of `doit plan --json`."""
        done = self.doit("plan", "--json", *words)
        assert done.code == 0, done.stderr
        return {row["step"]: row["action"] for row in json.loads(done.stdout)["steps"]}

    def moving(self, *words: str) -> dict[str, str]:
        """What `plan` says of steps that are not up to date."""
        return {step: action for step, action in self.plan(*words).items() if action != "current"}

    def path(self, relative: str) -> Path:
        """A file of the workspace."""
        return self.root / relative

    def record(self, relative: str) -> dict[str, Any]:
        """A record as plain JSON."""
        found: dict[str, Any] = json.loads(self.path(relative).read_bytes())
        return found

    def records(self) -> dict[str, bytes]:
        """Path → bytes of every record and report, the store and logs left out."""
        folders = [self.root / "artifacts" / folder for folder in set(FOLDERS.values())]
        paths = sorted(path for folder in folders for path in folder.rglob("*.json"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def edit(self, relative: str, old: str, new: str) -> None:
        """Replace a text in a file; it must be there."""
        text = self.path(relative).read_text()
        assert old in text, f"{old!r} is not in {relative}"
        self.path(relative).write_text(text.replace(old, new))

    def journal(self) -> list[dict[str, Any]]:
        """The journal's events."""
        return [json.loads(line) for line in self.path("artifacts/journal.jsonl").read_bytes().splitlines()]


def write(root: Path, name: str = "tiny", **changes: Any) -> Path:
    """A workspace with one suite of that name; `changes` are laid over the suite. A second call adds a suite."""
    task = {
        "id": "add",
        "class": "trivial",
        "source": {"dir": "repos/adder"},
        "prompt": "Mend the adder.",
        "verify": "test -f adder.sh",
        "oracle": {
            "command": 'sh "$BENCH_ORACLE_ROOT/check.sh"',
            "files": [{"source": "add/check.sh", "target": "check.sh"}],
        },
        "gold": "add/gold.patch",
    }
    suite = {"suite": name, "default": True, "profile": "implementation", "runs": 1, "workers": 2, "graph": "none"}
    suite |= {"limits": LIMITS, "arms": ARMS, "tasks": [task]} | changes
    put(root, f"corpus/{name}.yaml", json.dumps(suite, indent=1, ensure_ascii=False))
    put(root, "corpus/repos/adder/adder.sh", SOURCE)
    put(root, "oracles/add/check.sh", CHECK)
    put(root, "oracles/add/gold.patch", GOLD)
    shutil.copy(CODE / "dodo.py", root / "dodo.py")
    return root


def put(root: Path, relative: str, text: str) -> Path:
    """Write a file with its folders."""
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tiny(root: Path) -> Path:
    """One task, arms nop and gold."""
    return write(root)


def many(root: Path, arms: int = 10) -> Path:
    """Ten independent cells: A/A arms that change nothing, told apart by their replica."""
    return write(root, arms=[ARMS[0] | {"name": f"nop{n}", "replica": n} for n in range(arms)])


SKILL = "---\nname: mend\ndescription: How to mend an adder.\n---\nLook, then change.\n"
USAGE = {"input_tokens": 1000, "output_tokens": 100}
MODEL = "anthropic/claude-sonnet-4-5"


def promoted(root: Path) -> Path:
    """A git repository with a candidate that resolves what its incumbent does not, and a mirror of the skill."""
    arms = [
        *ARMS,
        {"name": "incumbent", "role": "incumbent", "engine": "loop", "skills": ["skills/mend"], "expects": "mend"},
        {"name": "candidate", "role": "candidate", "of": "incumbent", "overlay": "candidates/mend"},
    ]
    write(root, model="replay/tiny", runs=3, arms=arms, mirrors=["plugin/skills"])
    better = SKILL.replace("Look, then change.", "Look, change, then check.")
    put(root, "corpus/candidates/mend/mend/SKILL.md", better)
    for home in ("corpus/skills", "plugin/skills"):
        put(root, f"{home}/mend/SKILL.md", SKILL)
    put(root, ".gitignore", "artifacts/\n")
    said = [_mending(SKILL, "true"), _mending(better, "sed -i 's/- /+ /' adder.sh")]
    (root / "corpus/cassettes").mkdir()
    (root / "corpus/cassettes/tiny.json").write_bytes(authored("anthropic/claude-sonnet-4-5", "anthropic", said))
    prices = {"anthropic/claude-sonnet-4-5": {"input": 3, "cache_creation": 3.75, "cache_read": 0.3, "output": 15}}
    put(root, "corpus/prices.json", json.dumps({"schema": 1, "source": "made up", "date": "2026-01-01", "models": prices}))
    commit(root)
    return root


def _mending(skill: str, command: str) -> dict[str, Any]:
    commands = ["cat /opt/skills/mend/SKILL.md", command]
    turns = [{"text": "So.", "commands": [one], "usage": USAGE} for one in commands]
    talk = {"prompt": "Mend the adder.", "skills": ["mend"], "offer": {"mend": skill}, "turns": turns}
    return talk | {"final": {"text": "Done.", "usage": USAGE}}


def talk(*commands: str, take: int = 0, usage: dict[str, int] | None = None) -> dict[str, Any]:
    """A conversation of Claude Code about the task: each command in its Bash, then the end; every answer costs `usage`."""
    cost = usage or USAGE
    calls = [{"tool": "Bash", "input": {"command": command, "description": "work"}} for command in commands]
    turns = [{"text": "So.", "calls": [call], "usage": cost} for call in calls]
    return {"prompt": "Mend the adder.", "take": take, "turns": turns, "final": {"text": "Done.", "usage": cost}}


def client(root: Path) -> Path:
    """One session of the real client on a cassette: it mends the adder."""
    write(root, model="replay/tiny", arms=[{"name": "agent", "role": "incumbent", "engine": "claude"}])
    (root / "corpus/cassettes").mkdir()
    said = [talk("sed -i 's/- /+ /' adder.sh")]
    (root / "corpus/cassettes/tiny.json").write_bytes(authored(MODEL, "anthropic", said))
    return root


def commit(root: Path) -> None:
    """Commit all that is there."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def shipped(root: Path) -> Path:
    """What is shipped: dodo file, corpus, oracles."""
    for folder in ("corpus", "oracles"):
        shutil.copytree(CODE / folder, root / folder)
    shutil.copy2(CODE / "dodo.py", root)
    return root


def shipped_suite(name: str) -> Suite:
    """A suite of the shipped corpus, parsed."""
    home = CODE / "corpus"
    arms = (home / "arms.yaml").read_text("utf-8")
    text = (home / f"{name}.yaml").read_text("utf-8")
    return corpus.parse_suite(text, path=f"corpus/{name}.yaml", arms_text=arms, arms_path="corpus/arms.yaml")


def copied(built: Path, target: Path) -> Path:
    """A copy at another place, modes and times kept."""
    shutil.copytree(built, target, symlinks=True)
    return target
