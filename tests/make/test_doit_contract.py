"""What we rely on in doit 0.37, tried on doit itself: an upgrade that breaks it is told here, not by lost evidence."""

from __future__ import annotations

import importlib.metadata
import inspect
import threading
from collections.abc import Callable
from typing import Any

import pytest
from doit import doit_cmd
from doit.cmd_base import DoitCmdBase, NamespaceTaskLoader
from doit.control import TaskControl
from doit.dependency import Dependency, FileChangedChecker, JSONCodec
from doit.doit_cmd import DoitMain
from doit.exceptions import TaskFailed, UnmetDependency
from doit.runner import MThreadRunner
from doit.task import Stream, Task, dict_to_task


class Rows:
    """The backend protocol, in memory, with a log of the calls."""

    def __init__(self, name: str, codec: Any, module_name: str | None = None) -> None:
        self.name = name
        self.rows: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, ...]] = []

    def get(self, task: str, dependency: str) -> Any:
        return self.rows.get(task, {}).get(dependency)

    def set(self, task: str, dependency: str, value: Any) -> None:
        self.calls.append(("set", task, dependency))
        self.rows.setdefault(task, {})[dependency] = value

    def in_(self, task: str) -> bool:
        return task in self.rows

    def remove(self, task: str) -> None:
        self.calls.append(("remove", task))
        self.rows.pop(task, None)

    def remove_all(self) -> None:
        self.rows.clear()

    def dump(self) -> None:
        self.calls.append(("dump",))


class Checker(FileChangedChecker):
    """States from a dict, and a log of what is asked."""

    states: dict[str, str] = {}
    asked: list[tuple[str, str]] = []

    CheckerError = OSError

    def exists(self, path: str) -> bool:
        self.asked.append(("exists", path))
        return path in self.states

    def info(self, path: str) -> str:
        self.asked.append(("info", path))
        return self.states[path]

    def check_modified(self, path: str, info: str, state: Any) -> bool:
        return bool(info != state)

    def get_state(self, path: str, current: Any) -> str | None:
        return None if self.states[path] == current else self.states[path]


class Told:
    """The reporter protocol, with a log."""

    def __init__(self) -> None:
        self.failures: list[tuple[str, Any]] = []
        self.threads: set[str] = set()

    def initialize(self, tasks: Any, selected: Any) -> None: ...
    def get_status(self, task: Any) -> None: ...
    def execute_task(self, task: Any) -> None:
        self.threads.add(threading.current_thread().name)

    def add_success(self, task: Any) -> None: ...
    def skip_uptodate(self, task: Any) -> None: ...
    def skip_ignore(self, task: Any) -> None: ...
    def add_failure(self, task: Any, fail: Any) -> None:
        self.failures.append((task.name, fail))

    def cleanup_error(self, exception: Any) -> None: ...
    def runtime_error(self, msg: str) -> None: ...
    def teardown_task(self, task: Any) -> None: ...
    def complete_run(self) -> None: ...


@pytest.fixture
def manager() -> Dependency:
    Checker.states, Checker.asked = {}, []
    return Dependency(Rows, "rows", checker_cls=Checker, codec_cls=JSONCodec)


def task(name: str, does: Callable[[], Any], needs: tuple[str, ...] = (), makes: tuple[str, ...] = (), **more: Any) -> Task:
    return dict_to_task(
        {"name": name, "actions": [(does, [])], "file_dep": list(needs), "targets": list(makes), "io": {"capture": False}}
        | more
    )


def run(manager: Dependency, *tasks: Task, runner: type[MThreadRunner] = MThreadRunner) -> Told:
    told = Told()
    control = TaskControl(list(tasks))
    control.process(None)
    runner(manager, told, continue_=True, stream=Stream(0), num_process=2).run_all(control.task_dispatcher())
    return told


def makes(path: str, state: str = "s") -> Callable[[], bool]:
    def does() -> bool:
        Checker.states[path] = state
        return True

    return does


def test_the_version_is_the_pinned_one():
    assert importlib.metadata.version("doit").startswith("0.37")


def test_a_row_is_whole_when_deps_is_set_and_it_is_set_last(manager: Dependency):
    Checker.states = {"in": "1"}
    run(manager, task("a", makes("out"), ("in",), ("out",)))
    sets = [call[2] for call in manager.backend.calls if call[0] == "set"]
    assert sets[0] == "_values_:"
    assert sets.index("checker:") < sets.index("in") < sets.index("deps:") == len(sets) - 1
    assert manager.backend.calls[-1] == ("dump",)


def test_exists_is_asked_of_targets_alone_and_decides(manager: Dependency):
    Checker.states = {"in": "1"}
    step = task("a", makes("out"), ("in",), ("out",))
    run(manager, step)
    Checker.asked = []
    assert manager.get_status(step, {}).status == "up-to-date"
    assert [path for what, path in Checker.asked if what == "exists"] == ["out"]
    del Checker.states["out"]
    assert manager.get_status(step, {}).status == "run"


def test_a_changed_input_runs_and_an_equal_one_does_not(manager: Dependency):
    Checker.states = {"in": "1"}
    step = task("a", makes("out"), ("in",), ("out",))
    run(manager, step)
    Checker.states["in"] = "2"
    assert manager.get_status(step, {}).status == "run"


def test_a_step_without_inputs_needs_a_true_uptodate_to_rest(manager: Dependency):
    for uptodate, status in (([], "run"), ([True], "up-to-date")):
        step = task("a", makes("out"), (), ("out",), uptodate=uptodate)
        run(manager, step)
        assert manager.get_status(step, {}).status == status
    Checker.states.clear()
    assert manager.get_status(step, {}).status == "run", "a missing target outweighs it"


def test_producers_come_before_consumers_and_early_cutoff_works(manager: Dependency):
    done: list[str] = []

    def does(name: str, target: str) -> Callable[[], bool]:
        def action() -> bool:
            done.append(name)
            Checker.states[target] = "same"
            return True

        return action

    Checker.states = {"in": "1"}

    def steps() -> list[Task]:
        return [task("b", does("b", "y"), ("x",), ("y",)), task("a", does("a", "x"), ("in",), ("x",))]

    run(manager, *steps())
    assert done == ["a", "b"]
    Checker.states["in"] = "2"
    run(manager, *steps())
    assert done == ["a", "b", "a"]


def test_a_false_action_saves_nothing_and_takes_its_dependents_along(manager: Dependency):
    Checker.states = {"in": "1"}
    told = run(manager, task("a", lambda: False, ("in",), ("x",)), task("b", makes("y"), ("x",), ("y",)))
    assert [(name, type(fail)) for name, fail in told.failures] == [("a", TaskFailed), ("b", UnmetDependency)]
    assert manager.backend.rows == {}


def test_actions_run_in_daemon_threads_and_more_than_one_at_a_time(manager: Dependency):
    meet = threading.Barrier(2, timeout=20)
    told = run(manager, *(task(f"t{n}", lambda: meet.wait() >= 0, (), (f"o{n}",)) for n in range(2)))
    assert told.failures == []
    assert len(told.threads) == 2
    assert MThreadRunner.DaemonThread(target=print).daemon


def test_a_runner_stops_handing_out_work_when_told(manager: Dependency):
    from bench.make.conduct import StoppableRunner

    done: list[int] = []

    class Stopped(StoppableRunner):
        stopped = staticmethod(lambda: len(done) >= 3)

    def action(number: int) -> Callable[[], bool]:
        return lambda: done.append(number) is None

    told = run(manager, *(task(f"t{n}", action(n)) for n in range(50)), runner=Stopped)
    assert told.failures == []
    assert 3 <= len(done) <= 5


def test_yield_order_is_start_order(manager: Dependency):
    done: list[int] = []

    def action(number: int) -> Callable[[], bool]:
        return lambda: done.append(number) is None

    class One(MThreadRunner):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more | {"num_process": 1})

    run(manager, *(task(f"t{n}", action(n)) for n in range(20)), runner=One)
    assert done == list(range(20))


def test_commands_come_from_entry_points_and_may_take_a_built_in_name():
    groups = importlib.metadata.entry_points(group="doit.COMMAND")
    ours = {entry.name for entry in groups if entry.value.startswith("bench.")}
    assert {
        "run",
        "plan",
        "why",
        "verify",
        "clean",
        "restore",
        "gc",
        "relock",
        "init",
        "list",
        "forget",
        "reset-dep",
    } <= ours
    commands = DoitMain(NamespaceTaskLoader()).get_cmds()
    assert commands.get_plugin("run").__module__ == "bench.make.commands.run"
    assert commands.get_plugin("clean").__module__ == "bench.make.commands.clean"


def test_the_attributes_that_our_commands_use_are_there():
    source = inspect.getsource(DoitCmdBase.execute)
    for name in (
        "self.loader.setup(params)",
        "self.sel_tasks",
        "self.sel_default_tasks",
        "self.task_list",
        "self.dep_manager",
    ):
        assert name in source
    assert doit_cmd.get_var is not None
    assert "_CMDLINE_VARS" in vars(doit_cmd)
    assert "_stop_running" in inspect.getsource(MThreadRunner.get_next_job)
