"""What our commands share: one line per error, the exit codes of design section 7, the pipeline of the loaded dodo file.

doit imports a command before the dodo file, and so before the stamp can answer: commands import what is heavy when they run.
"""

from __future__ import annotations

import fnmatch
import getopt
import re
import sys
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from doit.cmd_base import Command, DoitCmdBase
from doit.cmdparse import CmdParseError
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask

from bench.errors import BenchError, Cancelled, UsageError

if TYPE_CHECKING:
    from bench.make.pipeline import Pipeline
    from bench.make.step import Step

_NO_DODO = re.compile(r"Could not find dodo file '(.+?)'\.")
_NO_OPTION = re.compile(r"Error parsing [\w-]+: option (-.+?)(?: \(parsing options|$)", re.S)
_NO_VALUE = re.compile(r"Error parsing parameter '([\w-]+)' <class '(?:int|float)'>.*: ('.*')\s*$", re.S)


class Guarded(Command):
    """Errors become one line and an exit code; a traceback is printed only with BENCH_DEBUG=1."""

    def parse_execute(self, in_args: list[str]) -> int:
        """Run the command. Options may stand after steps too."""
        try:
            code = int(super().parse_execute(self._permuted(in_args)) or 0)
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
        except BenchError as error:
            return _said(str(error), error.exit_code)
        except (CmdParseError, InvalidCommand, InvalidDodoFile, InvalidTask) as error:
            return _said(_reworded(str(error)), UsageError.exit_code)
        except BrokenPipeError:
            from bench.effects import console

            console.hush(sys.stdout)  # `doit list | head`
            return 0
        except KeyboardInterrupt:
            return _said("interrupted", Cancelled.exit_code)

    def _permuted(self, in_args: list[str]) -> list[str]:
        # doit's parser stops at the first word that is no option; people write `doit clean STEP --dry-run`.
        try:
            options, words = getopt.gnu_getopt(in_args, self.cmdparser.get_short(), self.cmdparser.get_long())
        except getopt.GetoptError:
            return in_args
        flat = [part for name, value in options for part in ((name, value) if _takes_value(self, name) else (name,))]
        return [*flat, *words]


def _takes_value(command: Command, name: str) -> bool:
    for option in command.cmdparser.options:
        if name in (f"-{option.short}", f"--{option.long}"):
            return option.type is not bool
    return False


class StepCommand(Guarded, DoitCmdBase):
    """A command that works on declared steps."""

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline that the dodo file made. Raises UsageError for a foreign dodo file."""
        found: Pipeline | None = self.loader.namespace.get("PIPELINE")
        if found is None:
            raise UsageError("this dodo.py declares no PIPELINE", remedy="make a workspace with `doit init DIR`")
        return found

    def refuse_words(self) -> None:
        """For a command on the whole workspace. Raises UsageError for a step, which it would otherwise not heed."""
        if not self.sel_default_tasks:
            raise UsageError(f"{self.name} is about the whole workspace and takes no step", remedy=f"doit help {self.name}")

    def steps(self) -> dict[str, Step]:
        """Declared steps by doit name, in the order of declaration."""
        return {step.id: step for step in self.pipeline.workspace.steps.values()}

    def selected(self, words: Iterable[str]) -> list[str]:
        """Names of the tasks that words (names, patterns, targets) select. Raises UsageError for one that selects none."""
        from bench.core import nearest
        from bench.effects import console

        tasks = {task.name: task for task in self.task_list}
        targets = {target: task.name for task in self.task_list for target in task.targets}
        chosen: list[str] = []
        for word in words:
            if word in tasks:
                chosen.append(word)
            elif word in targets:
                chosen.append(targets[word])
            elif "*" in word or "?" in word:
                matched = [name for name in tasks if fnmatch.fnmatchcase(name, word)]
                if not matched:
                    raise UsageError(f"the pattern {word!r} matches no step", remedy="see `doit list --all`")
                chosen += matched
            else:
                near = nearest.nearest(word, tasks)
                raise UsageError(
                    f"no step {console.visible(word)!r}", remedy=f"did you mean {near}?" if near else "see `doit list --all`"
                )
        return chosen

    def spread(self, names: Iterable[str]) -> list[str]:
        """Names of the steps that tasks stand for: a step for itself, a kind for its steps, a suite for all it needs."""
        steps = self.steps()
        spread: dict[str, None] = {}
        for name in names:
            if name in steps:
                spread[name] = None
            elif name in {step.kind for step in steps.values()}:
                spread |= dict.fromkeys(step.id for step in steps.values() if step.kind == name)
            else:
                spread |= dict.fromkeys(step.id for step in self.closure([name]))
        return list(spread)

    def closure(self, names: Iterable[str]) -> list[Step]:
        """The steps behind tasks, with all that they need, in the order in which they would be made."""
        tasks = {task.name: task for task in self.task_list}
        targets = {target: task.name for task in self.task_list for target in task.targets}
        steps = self.steps()
        ordered: dict[str, None] = {}
        pending = [(name, False) for name in reversed(list(names))]
        while pending:
            name, ready = pending.pop()
            if name in ordered:
                continue
            if ready:
                ordered[name] = None
                continue
            pending.append((name, True))
            task = tasks[name]
            needs = [*task.task_dep, *(targets[dep] for dep in sorted(task.file_dep) if dep in targets)]
            pending += [(need, False) for need in reversed(needs) if need not in ordered]
        return [steps[name] for name in ordered if name in steps]


def _reworded(text: str) -> str:
    """doit's own errors in the form of ours; those of other kinds as they are."""
    if no_file := _NO_DODO.match(text):
        return f"{no_file[1]}: no such file; run doit in a workspace, or make one with `python -m bench init DIR`"
    if unknown := _NO_OPTION.search(text):
        return f"command line: option {unknown[1]}; see `doit help`"
    if unfit := _NO_VALUE.match(text):
        return f"command line: --{unfit[1]}: not a number: {unfit[2]}"
    return text


def _said(text: str, code: int) -> int:
    from bench.effects import console, env

    if env.debug():
        traceback.print_exc()
    console.say_err("error: " + " ".join(text.split()))
    return code


def option(name: str, kind: type, default: Any, text: str, short: str = "") -> dict[str, Any]:
    """One command-line option in doit's form."""
    return {"name": name.replace("-", "_"), "short": short, "long": name, "type": kind, "default": default, "help": text}
