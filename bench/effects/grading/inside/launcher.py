"""Inside: runs the hidden tests with a runner that was loaded before any of the graded code, and reports under a nonce.

stdin holds JSON {nonce, guard, root, ini, paths, pythonpath, args, workspace}. Until pytest and all that it uses are
loaded, nothing of the workspace is on the import path. The report is a chain of lines, sealed at the end with a digest
keyed by the nonce; then the process ends at once, so that nothing registered by graded code runs after it. No secret is
in a global name or in an environment variable, and every function used after the first test was looked up before it.
"""

import binascii
import fcntl
import hashlib
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
HOOKS: tuple[str, ...] = ("pytest_runtest_protocol", "pytest_runtestloop", "pytest_runtest_makereport")
HOOKS += ("pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown")
HOOKS += ("pytest_runtest_logreport", "pytest_pyfunc_call")
HOOKS += ("pytest_collection_modifyitems", "pytest_report_teststatus", "pytest_sessionfinish", "pytest_pycollect_makeitem")
NO_RUNNER = 97
HEADER = b"assay-report 1\n"


def code_of(function: Any) -> Any:
    """The code behind a test: through methods, partials and wrappers."""
    for _ in range(20):
        function = getattr(function, "__func__", function)
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    return getattr(function, "__code__", None)


def journal(nonce: str, channel: int) -> tuple[Callable[[bytes], None], Callable[[], None]]:
    """`(add, close)`: a chained list of lines, and its sealed end. The key itself is kept nowhere."""
    chain = hashlib.blake2b(key=binascii.unhexlify(nonce), digest_size=32)
    lines: list[bytes] = []
    push, update, seal, write = lines.append, chain.update, chain.hexdigest, os.write
    us, getpid, leave = os.getpid(), os.getpid, os._exit

    def add(line: bytes) -> None:
        push(line)
        update(line)

    def close() -> None:
        if getpid() != us:  # a test's forked child that ran on to the end
            leave(1)
        left = b"".join(lines) + b"S " + seal().encode() + b"\n"
        while left:
            left = left[write(channel, left) :]
        leave(0)

    add(HEADER)
    return add, close


def one_word(phases: dict[str, list[tuple[str, bool]]]) -> str:
    """What the (outcome, expected to fail) of the phases of one test amount to."""
    flat = [(when, *entry) for when in ("setup", "call", "teardown") for entry in phases.get(when, [])]
    for when, outcome, xfail in flat:
        if outcome == "failed":
            return "failed" if when == "call" else "error"
        if outcome == "skipped":
            return "xfailed" if xfail else "skipped"
    if any(xfail for _, _, xfail in flat):
        return "xpassed"
    return "passed" if "call" in phases and "teardown" in phases else "error"


class Notes:
    """What the plugins share: the item that runs now, its phases, all outcomes, and traces of tampering."""

    def __init__(self) -> None:
        self.item: Any = None
        self.phases: dict[str, list[tuple[str, bool]]] = {}
        self.outcomes: dict[str, str] = {}
        self.traces: set[str] = set()


def line(kind: bytes, text: str, more: bytes = b"", hexlify: Callable[[bytes], bytes] = binascii.hexlify) -> bytes:
    """One line of the report."""
    return kind + b" " + hexlify(text.encode("utf-8", "surrogateescape")) + more + b"\n"


def recorder(add: Callable[[bytes], None], hookimpl: Any, notes: Notes, replaced: Callable[[bool], set[str]]) -> Any:
    """The plugin that writes down outcomes. It believes only reports of the test that is running."""
    word, written, outcomes, traces = one_word, line, notes.outcomes, notes.traces

    class Recorder:
        def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
            notes.item, notes.phases = item, {}
            result = yield
            if notes.item is not item or item.nodeid in outcomes:
                traces.add("the order of tests")
            outcomes[item.nodeid] = word(notes.phases)
            add(written(b"T", item.nodeid, b" " + outcomes[item.nodeid].encode()))
            notes.item = None
            traces.update(replaced(False))
            return result

        def pytest_runtest_logreport(self, report: Any) -> None:
            if notes.item is None or report.nodeid != notes.item.nodeid:
                traces.add("a report out of turn")
                return
            notes.phases.setdefault(report.when, []).append((report.outcome, hasattr(report, "wasxfail")))

    hookimpl(wrapper=True, tryfirst=True)(Recorder.pytest_runtest_protocol)
    hookimpl(tryfirst=True)(Recorder.pytest_runtest_logreport)
    return Recorder()


def witness(hookimpl: Any, notes: Notes, may_hook: Callable[[Any], bool]) -> Any:
    """The plugin that sees whether each test's body is the collected one, and who else hooked into the run."""
    code, hooks, traces, codes = code_of, HOOKS, notes.traces, dict[str, Any]()

    class Witness:
        def pytest_collection_finish(self, session: Any) -> None:
            for item in session.items:
                codes[item.nodeid] = code(getattr(item, "function", None))

        def pytest_runtest_call(self, item: Any) -> Iterator[None]:
            if item is not notes.item or code(getattr(item, "function", None)) is not codes.get(item.nodeid):
                traces.add("the body of a test")
            return (yield)

        def pytest_sessionfinish(self, session: Any) -> None:
            for name in hooks:
                for impl in getattr(session.config.hook, name).get_hookimpls():
                    if not may_hook(impl.plugin) and not may_hook(code(impl.function)):
                        traces.add(f"hook {name}")

    hookimpl(trylast=True)(Witness.pytest_collection_finish)
    hookimpl(wrapper=True, tryfirst=True)(Witness.pytest_runtest_call)
    hookimpl(trylast=True)(Witness.pytest_sessionfinish)
    return Witness()


def load_runner(guard_text: str) -> tuple[Any, Any]:
    """pytest with all its own plugins, and the guard's eyes on them."""
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
    guard = types.ModuleType("guard")
    exec(compile(guard_text, "guard", "exec"), vars(guard))
    return pytest, guard.watch()


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
    pytest, (replaced, probes) = load_runner(asked.pop("guard"))
    homes, plugins = (*sys.path, asked["root"]), list[Any]()

    def may_hook(one: Any) -> bool:
        return any(one is plugin for plugin in plugins) or getattr(one, "co_filename", "").startswith(homes)

    add, close = journal(asked.pop("nonce"), channel)
    notes, run, write = Notes(), pytest.main, line
    plugins += [recorder(add, pytest.hookimpl, notes, replaced), witness(pytest.hookimpl, notes, may_hook)]
    arguments = prepare(asked)
    del asked, pytest
    status = int(run(arguments, plugins=list(plugins)))
    notes.traces.update(replaced(True))
    for kind, found in ((b"X", notes.traces), (b"P", probes)):
        for text in sorted(found):
            add(write(kind, text))
    add(b"E %d %d\n" % (status, len(notes.outcomes)))
    close()


if __name__ == "__main__":
    main()
