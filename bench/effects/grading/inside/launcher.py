"""Inside: runs the hidden tests with a runner that was loaded before any of the graded code, and has it watched.

stdin holds JSON {nonce, guard, keeper, root, ini, paths, pythonpath, args, workspace}. Until pytest and all that it uses
are loaded, nothing of the workspace is on the import path. Outcomes go to the keeper (`keeper.py`), which alone can write
the report; the guard (`guard.py`) sees what is done to the runner. No secret is in a global name, in an environment variable
or in a frame of the running stack, and every function used after the first test was looked up before it.
"""

import fcntl
import importlib
import json
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from typing import Any

EARLY = "ast asyncio bdb cmd code codeop contextlib copy dataclasses datetime difflib doctest fnmatch functools"
EARLY += (
    " gc getpass glob inspect io itertools linecache locale logging math operator pathlib pdb pickle platform pprint random"
)
EARLY += (
    " re shlex shutil signal stat string struct subprocess tempfile textwrap threading time timeit tokenize traceback typing"
)
EARLY += " unittest unittest.case unittest.mock uuid warnings weakref xml.etree.ElementTree zipfile zlib"
NO_RUNNER = 97
HOOKS = "collection_modifyitems pyfunc_call pycollect_makeitem report_teststatus runtest_call runtest_logreport"
HOOKS += " runtest_makereport runtest_protocol runtest_setup runtest_teardown runtestloop sessionfinish"


def code_of(function: Any) -> Any:
    """The code object behind a test or a hook, through methods, partials and wrappers, or None."""
    for _ in range(20):
        function = getattr(function, "__func__", function)
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    code = getattr(function, "__code__", None)
    return code if type(code) is types.CodeType else None


def plugin(pytest: Any, tell: Callable[[tuple[Any, ...]], None], senders: dict[str, Any]) -> Any:
    """The one plugin of ours: it looks, and tells the keeper in plain values. Enters into `senders` who says what."""
    code, own, names, known = code_of, frozenset({"runtest", "setup", "ihook"}), HOOKS.split(), id
    part = getattr(sys.modules.get("_pytest.subtests"), "SubtestReport", ())

    class Recorder:
        def pytest_collection_finish(self, session: Any) -> None:
            tell(("collected", [(known(item), code(getattr(item, "function", None))) for item in session.items]))

        def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
            test = str(item.nodeid)
            tell(("start", known(item), test))
            result = yield
            tell(("stop", known(item), test))
            return result

        def pytest_runtest_call(self, item: Any) -> Iterator[None]:
            tell(("body", known(item), code(getattr(item, "function", None)), not own & set(vars(item))))
            return (yield)

        def pytest_runtest_logreport(self, report: Any) -> Iterator[None]:
            if isinstance(report, part):  # sent from within a test; its own report follows
                tell(("part", str(report.nodeid), str(report.outcome)))
            else:
                tell(("phase", str(report.nodeid), str(report.when), str(report.outcome), hasattr(report, "wasxfail")))
            return (yield)

        def pytest_sessionfinish(self, session: Any) -> None:
            hooks = [(name, getattr(session.config.hook, f"pytest_{name}")) for name in names]
            tell(("hooks", [(name, code(impl.function)) for name, hook in hooks for impl in hook.get_hookimpls()]))

    last, first = {"trylast": True}, {"wrapper": True, "tryfirst": True}
    kinds = {"collected": ("collection_finish", last), "start": ("runtest_protocol", first)}
    kinds |= {"body": ("runtest_call", first), "phase": ("runtest_logreport", first), "hooks": ("sessionfinish", last)}
    for kind, (name, how) in kinds.items():
        method = getattr(Recorder, f"pytest_{name}")
        pytest.hookimpl(**how)(method)
        senders[kind] = method.__code__
    senders["stop"], senders["part"] = senders["start"], None
    return Recorder()


def load_runner() -> Any:
    """pytest with all its own plugins, and whatever of the standard library they use later."""
    sys.dont_write_bytecode = True
    for name in EARLY.split():
        importlib.import_module(name)
    try:
        pytest = importlib.import_module("pytest")
        config = importlib.import_module("_pytest.config")
    except ImportError as error:
        sys.stderr.write(f"the dependencies hold no usable pytest: {error}\n")
        os._exit(NO_RUNNER)
    for name in config.default_plugins:
        importlib.import_module(f"_pytest.{name}")
    return pytest


def ours(name: str, text: str) -> Any:
    """A module of ours that came as text; it is entered nowhere."""
    module = types.ModuleType(name)
    exec(compile(text, name, "exec"), vars(module))
    return module


def recorder(asked: dict[str, Any], channel: int, pytest: Any, launch: Any) -> tuple[Any, Callable[[tuple[Any, ...]], None]]:
    """Our plugin, and the way to tell the keeper the end. Whatever is of use to a forger stays inside the keeper."""
    guard, keeper = (ours(name, asked.pop(name)) for name in ("guard", "keeper"))
    runner = [m for n, m in list(sys.modules.items()) if n.split(".")[0] in ("_pytest", "pytest", "pluggy", "contextlib")]
    senders, protected = {"end": launch}, list[Any]()
    told = keeper.Told(senders, keeper.genuine(keeper.homes(runner), launch), (*sys.path, asked["root"]))
    kept = keeper.keep(asked.pop("nonce"), channel, guard.watch(channel, protected), told)
    next(kept)
    protected.append(kept)
    return plugin(pytest, kept.send, senders), kept.send


def prepare(asked: dict[str, Any]) -> list[str]:
    """Put the code under test first on the path, for this process and the ones that tests start; give pytest's arguments."""
    paths = [os.path.normpath(os.path.join(asked["workspace"], p)) for p in asked["pythonpath"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    sys.path[:0] = paths
    sys.argv = ["pytest"]
    os.chdir(asked["workspace"])
    root = asked["root"]
    ini = asked["ini"] or empty_settings()
    fixed = ["-c", ini, f"--rootdir={root}", f"--confcutdir={root}", "-p", "no:cacheprovider", "--import-mode=prepend"]
    quiet = ["-q", "--tb=no", "--show-capture=no", "--no-header", "--color=no"]
    return [*fixed, *quiet, *asked["args"], *(f"{root}/{path}" for path in asked["paths"])]


def empty_settings() -> str:
    """Settings of our own where the oracle brings none, so that no file of the workspace is looked for."""
    place = os.path.join(tempfile.mkdtemp(), "pytest.ini")
    with open(place, "w") as out:
        out.write("[pytest]\n")
    return place


def main() -> None:
    asked = json.load(sys.stdin.buffer)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    given = int(os.environ.pop("ASSAY_CHANNEL"))
    channel = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, 300)
    os.close(given)
    pytest = load_runner()
    recording, tell = recorder(asked, channel, pytest, main.__code__)
    run, arguments = pytest.main, prepare(asked)
    del asked, pytest
    tell(("end", int(run(arguments, plugins=[recording]))))


if __name__ == "__main__":
    main()
