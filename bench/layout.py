"""Every path of a workspace, and nothing but paths: no other module spells `artifacts/`, `corpus/` or `oracles/`.

    dodo.py
    corpus/<suite>.yaml  <suite>.lock.json  arms.yaml  prices.json  skills/  candidates/  cassettes/  repos/
    oracles/<task>/…
    artifacts/
      templates|graphs|assets|oracles|golds|expected|skills|runtime|preflight/<name>.json
      sessions|cells/<suite>/<task>/<arm>/<run>.json
      canaries/<suite>/<candidate>/<arm>.json
      aggregates/<suite>.json  aggregates/<suite>/<part>.json
      health/<suite>.json
      promotions/<suite>/<candidate>.json
      reports/<suite>.json  reports/<suite>/{index.html, report.md, results.jsonl, promotion.json, cells/…}
      store/blobs/<aa>/<rest>  store/keys/<aa>/<rest>  store/trees/<digest>/
      revoked/  journal.jsonl  logs/  tmp/  .doit.db  .lock  .stamp  .stamp.named

Record paths are relative to the workspace and always spelled by `record`, since doit compares them as strings.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CORPUS = "corpus"
ORACLES = "oracles"
ARTIFACTS = "artifacts"
RECOVERY = ".assay-recovery.json"
"""At the top of the working tree while an apply is going on, or was interrupted."""

FOLDERS = {
    "template": "templates",
    "graph": "graphs",
    "assets": "assets",
    "oracle": "oracles",
    "gold": "golds",
    "expected": "expected",
    "skill": "skills",
    "runtime": "runtime",
    "preflight": "preflight",
    "session": "sessions",
    "canary": "canaries",
    "cell": "cells",
    "aggregate": "aggregates",
    "health": "health",
    "promotion": "promotions",
    "report": "reports",
}
"""Step kind → folder below artifacts/."""


def record(kind: str, name: str) -> str:
    """The target of a step, relative to the workspace, with forward slashes."""
    return f"{ARTIFACTS}/{FOLDERS[kind]}/{name}.json"


def step_of(path: str) -> tuple[str, str] | None:
    """`(kind, name)` of a record path, or None for any other path."""
    parts = path.split("/", 2)
    if len(parts) != 3 or parts[0] != ARTIFACTS or not parts[2].endswith(".json"):
        return None
    for kind, folder in FOLDERS.items():
        if folder == parts[1]:
            return kind, parts[2][: -len(".json")]
    return None


def step_id(path: str) -> str:
    """doit's name for the step whose record this is. Raises KeyError for any other path."""
    found = step_of(path)
    if found is None:
        raise KeyError(path)
    return ":".join(found)


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of the workspace at `root`."""

    root: Path

    @property
    def corpus(self) -> Path:
        """Suites, arms, skills, cassettes and small sources."""
        return self.root / CORPUS

    @property
    def oracles(self) -> Path:
        """Hidden files: no agent ever sees this directory."""
        return self.root / ORACLES

    @property
    def artifacts(self) -> Path:
        """Everything generated."""
        return self.root / ARTIFACTS

    @property
    def store(self) -> Path:
        """Blobs, keys and expanded trees."""
        return self.artifacts / "store"

    @property
    def revoked(self) -> Path:
        """What `clean` took out of use, until `restore` or `gc`."""
        return self.artifacts / "revoked"

    @property
    def journal(self) -> Path:
        """Append-only log of what was built, restored, revoked and paid."""
        return self.artifacts / "journal.jsonl"

    @property
    def database(self) -> Path:
        """doit's states and our digest index: a cache, safe to delete."""
        return self.artifacts / ".doit.db"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.artifacts / ".lock"

    @property
    def stamp(self) -> Path:
        """Stat keys of the last complete green run of the default suites."""
        return self.artifacts / ".stamp"

    @property
    def named_stamp(self) -> Path:
        """Stat keys of the last complete green run of steps that were named."""
        return self.artifacts / ".stamp.named"

    @property
    def logs(self) -> Path:
        """One log per step, for people; never evidence."""
        return self.artifacts / "logs"

    @property
    def tmp(self) -> Path:
        """Layers and half-written files of running steps; emptied by the next run."""
        return self.artifacts / "tmp"

    def suite_lock(self, name: str) -> Path:
        """What `doit relock` resolved for a suite."""
        return self.corpus / f"{name}.lock.json"

    def report_folder(self, suite: str) -> Path:
        """Where a suite's report is laid out for reading."""
        return self.artifacts / FOLDERS["report"] / suite
