"""Turns a `Spec` into the three orders of one run: for the launcher, for bubblewrap, for pid 1. Starts nothing.

A plan is plain data that `marshal` can carry: both scripts that read it are run by this very interpreter, and reading JSON
would cost them more than all else they import.
"""

from __future__ import annotations

import functools
import marshal
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from bench.effects import env
from bench.effects.removal import remove_tree
from bench.effects.sandbox import DEPENDENCIES, HOME, WORKSPACE, Bind, Spec, bwrap, interpreter, view
from bench.effects.sandbox.bwrap import Guards
from bench.effects.sandbox.layers import Layers
from bench.errors import StepFailed

PARTS = {"launcher": ("stage", "tree", "launcher"), "init": ("init",)}
BOOT = """import marshal, sys
with open(int(sys.argv.pop(1)), 'rb') as stream:
    parts = marshal.load(stream)
for name, code in parts:
    module = type(sys)(name)
    sys.modules[name] = module
    exec(code, module.__dict__)
module.main()
"""
"""How both scripts are started: compiled once per process of ours, and each part a module before the next imports it."""
STAGES = ("/mnt", "/media", "/srv")
"""Empty directories of every Linux system; the launcher's mounts hide one of them from itself alone."""
TMP = "/tmp"
Step = tuple[Any, ...]


@dataclass(slots=True)
class Draft:
    """The launcher's steps so far, in order, and what else it and the run need to know of them."""

    guards: Guards
    steps: list[Step] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    works: list[Path] = field(default_factory=list)
    """Working directories that overlays of this run need on the host; deleted after it."""
    places: dict[str, str] = field(default_factory=dict)
    """Writable places inside → their staged name."""
    shown: set[str] = field(default_factory=set)

    def _open(self, *paths: Path) -> list[str]:
        texts = [str(path) for path in paths]
        self.paths += [text for text in texts if text not in self.paths]
        return texts

    def show(self, staged: str, target: str, *, writable: bool = False) -> None:
        """Make something staged visible inside."""
        self.steps.append(("show", staged, target, not writable and self.guards.readonly_binds))
        self.shown.add(target)

    def readonly(self, name: str, source: Path, target: str) -> None:
        """A host directory, or one file of it, shown read-only.

        A socket cannot be reached through an overlay, so it and its directory are shown as they are, and their path shows
        in mountinfo: they belong below a neutral one.
        """
        source = _real(source, target)
        folder = source if source.is_dir() else source.parent
        staged = name if source.is_dir() else f"{name}/{source.name}"
        if source.is_socket():
            staged = name
            self.steps.append(("plain", name, *self._open(source)))
        elif self.guards.neutral_mounts and not _has_socket(source):
            self.steps.append(("overlay", name, self._open(folder), "", "", ""))
        else:
            self.steps.append(("plain", name, *self._open(folder)))
        self._parents(target, source.is_dir())
        self.show(staged, target)

    def devices(self) -> None:
        """The host's devices, to be used and not to be changed."""
        if self.guards.readonly_devices:
            self.steps += [("device", f"dev/{name}", *self._open(Path("/dev", name))) for name in bwrap.DEVICES]

    def writable(self, name: str, source: Path, target: str) -> None:
        """A host directory whose changes stay."""
        source = _real(source, target)
        [layer] = self._open(source.parent)
        work = source.parent / f".work-{source.name}"
        if self.guards.neutral_mounts and os.access(source.parent, os.W_OK):
            remove_tree(work)
            work.mkdir(mode=0o700)
            self.works.append(work)
            self.steps.append(("overlay", name, [], layer, source.name, work.name))
        else:
            self.steps.append(("plain", name, *self._open(source)))
        self._place(name, target)
        self.measured.append(f"in/{name}u/{source.name}" if self.works[-1:] == [work] else name)

    def memory(self, name: str, size: int, target: str) -> None:
        """A tmpfs of this run."""
        self.steps.append(("memory", name, size))
        self.memories.append(name)
        self._place(name, target)

    def layered(self, name: str, layers: Layers, target: str) -> None:
        """The workspace."""
        lower = self._open(*(_real(path, target) for path in layers.lower))
        if lower:
            [layer] = self._open(_real(layers.layer, target))
            self.steps.append(("overlay", name, lower, layer, "data", "work"))
            self.measured.append(f"in/{name}u/data")
        else:
            self.steps.append(("plain", name, *self._open(_real(layers.layer / "data", target))))
            self.measured.append(name)
        self._place(name, target)

    def _place(self, name: str, target: str) -> None:
        self._parents(target, True)
        self.show(name, target, writable=True)
        self.places[target] = name

    def _parents(self, target: str, directory: bool) -> None:
        # A directory that only contains a mount point can be renamed away with it: so each is a mount point itself.
        place = max((p for p in self.places if target.startswith(f"{p}/")), key=len, default=None)
        if place is None:
            return
        name, below = self.places[place], target[len(place) + 1 :]
        self.steps.append(("point", name, below, directory))
        for path in [str(p) for p in reversed(PurePosixPath(below).parents)][1:]:
            if self.guards.parents_mounted and f"{place}/{path}" not in self.shown:
                self.show(f"{name}/{path}", f"{place}/{path}", writable=True)


def _real(path: Path, target: str) -> Path:
    # Links of the host are followed here: the launcher mounts what it is given.
    try:
        return path.resolve(strict=True)
    except OSError:
        raise StepFailed(f"what is to be mounted at {target} is not there", where=path.name) from None


def _has_socket(source: Path) -> bool:
    if not source.is_dir():
        return False
    with os.scandir(source) as items:
        odd = [
            i for i in items if not (i.is_file(follow_symlinks=False) or i.is_dir(follow_symlinks=False) or i.is_symlink())
        ]
    return any(Path(item.path).is_socket() for item in odd)


def _system(draft: Draft) -> None:
    draft.steps += [("file", f"etc/{name}", data) for name, data in view.etc_files().items()]
    draft.steps += [("folder", f"etc/{name}") for name in view.etc_folders()]
    draft.steps += [("folder", f"etc/{name}") for name in ("ssl/certs", "pki/tls")]
    links = [
        ("etc/ssl/cert.pem", "certs/ca-certificates.crt"),
        ("etc/pki/tls/certs", "../../ssl/certs"),
        ("root/var/tmp", "/tmp"),
    ]
    draft.steps += [("folder", f"root/{name}") for name in ("proc", "dev", "run", "var")]
    draft.steps += [
        ("link", path, text) for path, text in [*links, *((f"root{p}", text) for p, text in view.system_links())]
    ]
    for index, folder in enumerate(view.system_folders()):
        draft.readonly(f"s{index}", Path(folder), folder)
    # The loader's cache may say that an interpreter in /usr/local has its library there.
    draft.steps.append(("file", "nothing", b""))
    draft.steps += [("folder", "local"), ("link", "local/lib", f"{interpreter.PREFIX}/lib")]
    for path in view.masked() if draft.guards.masked else ():
        draft.show("local" if path == "/usr/local" else "empty", path)
    draft.devices()
    draft.steps.append(("memory", "shm", bwrap.SHARED_MEMORY_BYTES))
    draft.show("etc", "/etc")
    for index, name in enumerate(view.etc_folders()):
        draft.readonly(f"e{index}", Path("/etc", name), f"/etc/{name}")
    bundle = view.certificates()
    if bundle:
        draft.steps.append(("file", f"etc{view.CERTIFICATES_INSIDE.removeprefix('/etc')}", b""))
        draft.readonly("ca", bundle, view.CERTIFICATES_INSIDE)
    draft.readonly("py", interpreter.neutral(), interpreter.PREFIX)


def _places(draft: Draft, spec: Spec, layers: Layers | None) -> None:
    size = min(spec.limits.disk_bytes, spec.limits.memory_bytes // 2)
    for name, given, target in (("h", spec.home, HOME), ("t", spec.tmp, TMP)):
        if given is None:
            draft.memory(name, size, target)
        else:
            draft.writable(name, given, target)
    if layers is None:
        draft.show("empty", WORKSPACE)
    else:
        draft.layered("w", layers, WORKSPACE)


def _binds(draft: Draft, spec: Spec) -> None:
    for index, item in enumerate(spec.writable):
        _check(item)
        draft.writable(f"b{index}", item.source, item.target)
    if spec.dependencies is not None:
        draft.readonly("deps", spec.dependencies, DEPENDENCIES)
    else:
        draft.show("empty", DEPENDENCIES)
    for index, item in enumerate(spec.readonly):
        _check(item)
        draft.readonly(f"r{index}", item.source, item.target)


def _check(item: Bind) -> None:
    target = PurePosixPath(item.target)
    if target.root != "/" or ".." in target.parts or str(target) != item.target or len(target.parts) < 2:
        raise ValueError(f"a mount point is an absolute path in plain form, not {item.target!r}")


def fill(made: Draft, spec: Spec, layers: Layers | None) -> None:
    """Decide everything that is mounted for a run."""
    _system(made)
    _places(made, spec, layers)
    _binds(made, spec)


@functools.cache
def code(name: str) -> bytes:
    """A script of this folder with its parts, compiled: `[(module, code)]`, marshalled."""
    found = []
    for part in PARTS[name]:
        source = Path(__file__).with_name(f"{part}.py").read_bytes()
        compiled = compile(source, f"{part}.py", "exec", dont_inherit=True, optimize=2)
        found.append((f"bench.effects.sandbox.{part}", compiled))
    return marshal.dumps(found)


def stage_for(program: Path) -> str:
    """The directory that the launcher's mounts hide: one that exists and does not hold bubblewrap."""
    for name in STAGES:
        if Path(name).is_dir() and not str(program).startswith(f"{name}/"):
            return name
    return "/tmp" if not str(program).startswith("/tmp/") else "/var/tmp"


def order(spec: Spec, guards: Guards, grouped: bool) -> dict[str, Any]:
    """What pid 1 is told. `grouped`: a control group bounds memory and processes of the whole tree already."""
    limits = spec.limits
    bounds = [("file_bytes", limits.file_bytes), ("open_files", limits.open_files), ("core_bytes", 0)]
    if not grouped:
        bounds += [("processes", limits.processes + 1), ("data_bytes", limits.memory_bytes)]
    environment = {**view.ENVIRONMENT, **interpreter.environment(), **spec.env}
    if spec.channel:
        environment["ASSAY_CHANNEL"] = "3"
    removed = list(spec.workspace.remove) if spec.workspace else []
    return {
        "argv": list(spec.argv),
        "env": environment,
        "cwd": spec.cwd,
        "remove": removed,
        "root": WORKSPACE,
        "undumpable": guards.undumpable,
        "anybody": not guards.own_command,
        "close": guards.close_descriptors,
        "limits": bounds,
    }


def for_launcher(made: Draft, spec: Spec, layers: Layers | None, argv: Sequence[str], watch: bool) -> dict[str, Any]:
    """What the launcher is told. `watch`: no control group bounds memory and processes."""
    return {
        "parent": os.getpid(),
        "stage": stage_for(Path(argv[0])),
        "paths": made.paths,
        "steps": made.steps,
        "argv": list(argv),
        "environment": {} if made.guards.empty_environment else env.for_tools(),
        "own_keyring": made.guards.own_keyring,
        "layers": made.measured,
        "memories": made.memories,
        "baseline": layers.baseline if layers else 0,
        "disk": spec.limits.disk_bytes,
        "watch": watch,
        "processes": spec.limits.processes,
        "memory": spec.limits.memory_bytes,
    }
