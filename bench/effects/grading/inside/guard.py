"""Inside, beside the launcher: notices when graded code touches the runner that grades it.

`watch()` is called before anything of the workspace can be imported. It remembers the very objects that make up the runner
and installs an audit hook, which cannot be taken out again. Nothing is prevented here: traces are reported, the harness
decides. Everything lives in closures and refers to nothing by a name that other code could rebind.
"""

import builtins
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

PACKAGES = ("_pytest", "pytest", "pluggy", "unittest")
HOT: tuple[str, ...] = ("_pytest.runner", "_pytest.python", "_pytest.reports", "_pytest.main", "_pytest.unittest")
HOT += ("_pytest.outcomes",)
HOT += ("pluggy._hooks", "pluggy._callers", "pluggy._manager", "pluggy._result", "unittest.case", "builtins")
EVENTS = {
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.settrace",
    "sys.setprofile",
    "sys.addaudithook",
    "ctypes.addressof",
    "ctypes.cdata",
    "ctypes.string_at",
    "code.__new__",
}
FILES = {"open", "os.listdir", "os.scandir"}
PROC = ("/proc/", "/dev/fd")
PARTS = ("/fd", "/mem", "/maps", "/environ", "/task", "/root", "/cwd")

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


def ears(probes: set[str], grave: set[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """The audit hook: it only writes down."""
    events, files, proc, parts = frozenset(EVENTS), frozenset(FILES), PROC, PARTS

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in events:
            probes.add(event)
        elif event in files:
            path = arguments[0]
            if type(path) is bytes:
                path = path.decode("utf-8", "replace")
            if type(path) is str and path.startswith(proc) and any(part in path for part in parts):
                probes.add(f"{event} of process internals")
        elif event == "object.__setattr__" and arguments[1] == "__code__":
            grave.add("the code of a function")

    return hook


def watch() -> tuple[Callable[[bool], set[str]], set[str]]:
    """`(replaced, probes)`: `replaced(whole)` names what is no longer the object that it was; `probes` fills by itself."""
    ours = [(n, m) for n, m in list(sys.modules.items()) if n.split(".")[0] in PACKAGES and isinstance(m, types.ModuleType)]
    everything = list(marks([*ours, ("builtins", builtins)]))
    hot = [mark for mark in everything if mark[0].startswith(HOT)]
    known = [(name, vars(module), frozenset(vars(module))) for name, module in ours if name in HOT]
    behind, missing, probes, grave = functions, object(), set[str](), set[str]()

    def replaced(whole: bool) -> set[str]:
        found = set(grave)
        for name, space, key, value, code in everything if whole else hot:
            now = space.get(key, missing)
            if now is not value or (code is not None and behind(now).__code__ is not code):
                found.add(name)
        for name, space, before in known if whole else ():
            found |= {f"{name}.{key}" for key in set(space) - before if behind(space[key]) is not None}
        return found

    sys.addaudithook(ears(probes, grave))
    return replaced, probes
