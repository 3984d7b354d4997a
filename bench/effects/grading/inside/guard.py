"""Inside, beside the launcher: notices when graded code touches the runner that grades it.

`watch` is called before anything of the workspace can be imported. It remembers the very objects that make up the runner,
and installs an audit hook, which cannot be taken out again and which writes what it sees to the channel at once, so that
nothing can take that back. It judges nothing: whether a trace matters is `bench.core.verdict`'s to say.
"""

import builtins
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

PACKAGES = ("_pytest", "pytest", "pluggy", "unittest")
HOT: tuple[str, ...] = ("_pytest.runner", "_pytest.python", "_pytest.reports", "_pytest.main", "_pytest.unittest")
HOT += ("_pytest.outcomes", "pluggy.", "unittest.case", "builtins")
EVENTS = {
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.settrace",
    "sys.setprofile",
    "sys.monitoring.register_callback",
    "sys.addaudithook",
    "ctypes.addressof",
    "ctypes.cdata",
    "ctypes.string_at",
    "code.__new__",
}
FILES = {"open", "os.listdir", "os.scandir"}
PROC = ("/proc/", "/dev/fd")
PARTS = ("/fd", "/mem", "/maps", "/environ", "/task", "/root", "/cwd")

TOUCHED = 98
"""Status of a process that ended because its recorder was touched."""

Mark = tuple[str, Any, str, Any, Any]
"""(name for a report, the namespace that holds it, the key in it, the object, its code)."""


def functions(value: Any) -> Any:
    """The plain function behind a method, property or descriptor, or None."""
    for attribute in ("__func__", "fget", "func"):
        inner = getattr(value, attribute, None) if not isinstance(value, types.FunctionType) else None
        if isinstance(inner, types.FunctionType):
            return inner
    return value if isinstance(value, types.FunctionType) else None


def marks_of(name: str, space: Any) -> Iterator[Mark]:
    for key, value in list(space.items()):
        inner = functions(value)
        if inner is not None:
            yield f"{name}.{key}", space, key, value, inner.__code__
        elif isinstance(value, types.BuiltinFunctionType | type):
            yield f"{name}.{key}", space, key, value, None


def marks(modules: list[tuple[str, Any]]) -> Iterator[Mark]:
    seen: set[int] = set()
    for name, module in modules:
        yield from marks_of(name, vars(module))
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == name and id(value) not in seen:
                seen.add(id(value))
                yield from marks_of(f"{name}.{key}", vars(value))


def tongue(channel: int) -> Callable[[str], None]:
    """Says each thing once, as a line of its own before the report. A channel that is not what it was ends the process."""
    write, stat, leave, seen = os.write, os.fstat, os._exit, set[str]()
    first = stat(channel)
    mark = (first.st_dev, first.st_ino)

    def say(what: str) -> None:
        if what in seen:
            return
        seen.add(what)
        try:
            now = stat(channel)
            if (now.st_dev, now.st_ino) == mark:
                write(channel, b"!" + what.encode().hex().encode() + b"\n")
                return
        except OSError:
            pass
        leave(TOUCHED)

    return say


def ears(say: Callable[[str], None], protected: list[Any]) -> Callable[[str, tuple[Any, ...]], None]:
    """The audit hook. `protected` are generators into which nobody may look: the process ends before anything is seen."""
    events, files, proc, parts, leave = frozenset(EVENTS), frozenset(FILES), PROC, PARTS, os._exit

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in events:
            say(event)
        elif event in files:
            path = arguments[0]
            if type(path) is bytes:
                path = path.decode("utf-8", "replace")
            if type(path) is str and path.startswith(proc) and any(part in path for part in parts):
                say(f"{event} of process internals")
        elif event == "object.__setattr__" and arguments[1] == "__code__":
            say("function.__code__")
        elif event == "object.__getattr__" and any(arguments[0] is one for one in protected):
            leave(TOUCHED)

    return hook


def watch(channel: int, protected: list[Any]) -> Callable[[bool], set[str]]:
    """`replaced(whole)`, which names what is no longer the object that it was."""
    ours = [(n, m) for n, m in list(sys.modules.items()) if n.split(".")[0] in PACKAGES and isinstance(m, types.ModuleType)]
    everything = list(marks([*ours, ("builtins", builtins)]))
    hot = [mark for mark in everything if mark[0].startswith(HOT)]
    known = [(name, vars(module), frozenset(vars(module))) for name, module in ours if name.startswith(HOT)]
    behind, missing, function = functions, object(), types.FunctionType

    def replaced(whole: bool) -> set[str]:
        found = set()
        for name, space, key, value, code in everything if whole else hot:
            now = space.get(key, missing)
            # Nothing is asked of an object that is not the one it was: it would answer with code of its own.
            if now is not value or (code is not None and behind(now).__code__ is not code):
                found.add(name)
        for name, space, before in known if whole else ():
            found |= {f"{name}.{key}" for key in set(space) - before if type(space[key]) is function}
        return found

    sys.addaudithook(ears(tongue(channel), protected))
    return replaced
