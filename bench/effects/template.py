"""Templates: a source's files made fit for an agent, and the git repository that goes with them.

What may not reach an agent is taken out and named: git's own folders, the harness, prebuilt indexes, bytecode. Files by
which a source could steer an indexer are emptied. The `.git` is rebuilt at each expansion around one parentless commit with
a detached HEAD and nothing else in it (packs are not reproducible, so it is no part of the digest), and proved. An
expanded template is shared and never written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.core.records import Record
from bench.effects import files, git, trees
from bench.effects.sources import rules
from bench.effects.store import Store
from bench.effects.trees import Entry
from bench.errors import IntegrityError, SourceError, StepFailed

INDEXES = frozenset({".gitnexus", ".codeanalyzer"})
"""Folders in which the indexers keep what they built, trusting it when they find it."""
CACHE = "__pycache__"
"""What an interpreter left behind, in some releases too: no source, tied to one version, and trusted by its time stamp."""
STEERING = frozenset({".gitnexusignore", ".gitnexusrc"})
"""Files with which a source could hide parts of itself from an indexer."""
VARIANT = ".git-1"
"""Part of an expanded template's directory name; raise it with the way in which `.git` is made."""
IMPORT_S = 600.0

_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tautocrlf = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = Developer
\temail = developer@invalid
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
# checkStat, trustctime: owner, inode and ctime look different through an overlay and a user namespace, which would have
# git read every file again. Nothing may run in the background of a session, hence gc and maintenance.
_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding\n"
# These come before the source's own .gitattributes: its files are compared byte for byte, and no filter is ever asked for.
_REF = "refs/heads/import"
_MAY_HOLD = frozenset({"HEAD", "config", "index", "info", "objects", "refs"})


@dataclass(frozen=True, slots=True)
class Sanitised:
    """Files fit for an agent. `removed` and `neutralised` are sorted paths; a folder taken out whole ends in a slash."""

    entries: list[Entry]
    removed: list[str]
    neutralised: list[str]


def sanitise(entries: Iterable[Entry], harness: Callable[[list[str]], dict[str, str]]) -> Sanitised:
    """Take out and neutralise, then check what is left.

    `harness` is given all paths and returns {path: what to name as removed} for those that belong to a harness.
    Raises SourceError naming a path that may not be in a template, or when nothing is left.
    """
    found = list(entries)
    hidden = harness([entry.path for entry in found])
    kept, removed, neutralised = [], set(), []
    for entry in found:
        named = hidden.get(entry.path) or _not_for_agents(entry.path)
        if named:
            removed.add(named)
        elif entry.path.rpartition("/")[2].lower() in STEERING and entry.data:
            neutralised.append(entry.path)
            kept.append(replace(entry, mode=git.REGULAR, data=b""))
        else:
            kept.append(entry)
    if not kept:
        raise SourceError("the source holds no files that an agent may see")
    rules.check(kept)
    rules.check_size(len(kept), sum(len(entry.data) for entry in kept))
    return Sanitised(kept, sorted(removed), sorted(neutralised))


def _not_for_agents(path: str) -> str | None:
    parts = path.split("/")
    for depth, part in enumerate(parts, 1):
        if part.lower() == ".git" or part.lower() in INDEXES or part == CACHE:
            return "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
    return None


def materialise(store: Store, record: Record) -> Path:
    """The expanded tree of a template record, with its `.git`: made once per content, shared, only to be read.

    Raises IntegrityError when the rebuilt commit is not the recorded one.
    """
    return expand(store, record.outputs["tree"].blob, str(record.body["commit"]))


def expand(store: Store, blob: str, commit: str) -> Path:
    """The same from the packed tree's digest and the commit that it must give."""

    def finish(root: Path, entries: list[Entry]) -> None:
        rebuild(root, entries, commit)
        prove(root, commit)

    target = trees.expand(store, blob, finish, variant=VARIANT)
    head = files.read_regular(target / ".git" / "HEAD", limit=256).decode("ascii", "replace").strip()
    if head != commit:
        raise IntegrityError(f"holds commit {head}, not {commit}", where=target.name, remedy="delete that folder")
    return target


def rebuild(root: Path, entries: Iterable[Entry], commit: str) -> None:
    """Make `root/.git` with the one commit that holds exactly `entries`, HEAD detached at it, and an index that is clean.

    Raises IntegrityError when git arrives at another commit than `commit`.
    """
    git.output(["init", "--quiet", "--template=", "."], cwd=root)
    stream = b"".join(git.import_stream(entries, _REF))
    git.output(["fast-import", "--quiet", "--force", "--date-format=raw"], cwd=root, stdin=stream, seconds=IMPORT_S)
    made = git.output(["rev-parse", "--verify", _REF], cwd=root).decode().strip()
    if made != commit:
        raise IntegrityError(f"the files give commit {made}, not {commit}", where="template", remedy="run doit again")
    git.output(["update-ref", "--no-deref", "HEAD", made], cwd=root)
    git.output(["update-ref", "-d", _REF], cwd=root)
    home = root / ".git"
    for name in home.iterdir():
        if name.name not in _MAY_HOLD:
            files.remove_tree(name)
    (home / "config").write_text(_CONFIG)
    (home / "info").mkdir(exist_ok=True)
    (home / "info" / "attributes").write_text(_ATTRIBUTES)
    git.output(["read-tree", "HEAD"], cwd=root)
    git.output(["update-index", "--refresh", "--really-refresh"], cwd=root, seconds=IMPORT_S)


def prove(root: Path, commit: str) -> None:
    """Raise StepFailed unless the repository at `root` holds one parentless commit, its files, and nothing else."""
    home = root / ".git"
    for what, arguments, expected in (
        ("commits", ["rev-list", "--all", "--parents"], commit),
        ("HEAD", ["rev-parse", "HEAD"], commit),
        ("refs", ["for-each-ref"], ""),
        ("remotes", ["remote"], ""),
        ("stashes", ["stash", "list"], ""),
        ("worktrees", ["worktree", "list", "--porcelain"], None),
        ("unreachable objects", ["fsck", "--full", "--strict", "--unreachable", "--no-dangling", "--no-progress"], ""),
        ("changes", ["status", "--porcelain", "--untracked-files=all"], ""),
    ):
        said = git.output(arguments, cwd=root, seconds=IMPORT_S).decode("utf-8", "replace").strip()
        fits = said.count("worktree ") == 1 if expected is None else said == expected
        if not fits:
            raise StepFailed(f"the template is not clean ({what}): {' '.join(said.split())[:200]}")
    odd = sorted({item.name for item in home.iterdir()} - _MAY_HOLD)
    odd += [f"objects/info/{name}" for name in ("alternates", "http-alternates") if (home / "objects/info" / name).exists()]
    if odd:
        raise StepFailed(f"the template's .git holds {', '.join(odd)}")
