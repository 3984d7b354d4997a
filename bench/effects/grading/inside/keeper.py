"""Inside, beside the launcher: keeps the record of a hidden run where graded code does not reach it unnoticed, and sends it.

All state (the keyed chain, outcomes, traces) are locals of one suspended generator: no closure, attribute or frame of the
waiting stack leads to them, and looking into the generator or the garbage collector is seen by the guard's audit hook.
A message holds plain values only, and counts only if nothing but the runner's own code lies on the stack between its
sender and the launcher. This makes forging laborious and noisy; in one process it cannot be made impossible.
"""

import binascii
import gc
import hashlib
import os
import sys
import types
from collections.abc import Callable, Generator
from typing import Any

HEADER = b"assay-report 1\n"

Phases = dict[str, list[tuple[str, bool]]]
Keeper = Generator[None, tuple[Any, ...], None]


def one_word(phases: Phases) -> str:
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


def plain(value: Any) -> list[types.FunctionType]:
    """The functions behind a name: itself, a property's, a method's."""
    behind = (value, *(getattr(value, name, None) for name in ("fget", "fset", "__func__", "__wrapped__")))
    return [one for one in behind if isinstance(one, types.FunctionType)]


def homes(modules: list[types.ModuleType]) -> dict[int, int]:
    """id of each code object that these modules define, nested ones too → id of the globals that belong to it."""
    found: dict[int, int] = {}

    def enter(code: Any, space: int) -> None:
        found[id(code)] = space
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                enter(constant, space)

    for module in modules:
        for value in list(vars(module).values()):
            for one in list(vars(value).values()) if isinstance(value, type) else [value]:
                for function in plain(one):
                    enter(function.__code__, id(function.__globals__))
    return found


def genuine(known: dict[int, int], launcher: Any) -> Callable[[Any, Any], bool]:
    """A judge of stacks: from the frame of the right sender down to the launcher's there is only the runner."""
    launch, space_of = launcher, known.get

    def judge(frame: Any, sender: Any) -> bool:
        if frame.f_code is not sender:
            return False
        while frame.f_code is not launch:
            frame = frame.f_back
            if frame is None:
                return False
            if frame.f_code is not launch and space_of(id(frame.f_code)) != id(frame.f_globals):
                return False
        return True

    return judge


def sender(channel: int) -> Callable[[bytes], None]:
    """Writes the report and ends the process at once: nothing that graded code registered runs after it."""
    write, us, getpid, leave = os.write, os.getpid(), os.getpid, os._exit

    def send(left: bytes) -> None:
        if getpid() != us:  # a test's forked child that ran on to the end
            leave(1)
        while left:
            left = left[write(channel, left) :]
        leave(0)

    return send


def line(kind: bytes, text: str, more: bytes = b"", hexlify: Callable[[bytes], bytes] = binascii.hexlify) -> bytes:
    """One line of the report."""
    return kind + b" " + hexlify(text.encode("utf-8", "surrogateescape")) + more + b"\n"


class Told:
    """Whom the keeper believes: the code that may send each kind, the judge of stacks, and whose code may hook."""

    def __init__(self, senders: dict[str, Any], honest: Callable[[Any, Any], bool], places: tuple[str, ...]) -> None:
        self.senders, self.honest, self.places = senders, honest, places


class State:
    """What the keeper knows. Reachable only from its suspended frame."""

    def __init__(self, told: Told, replaced: Callable[[bool], set[str]]) -> None:
        self.told, self.replaced = told, replaced
        self.outcomes: dict[str, str] = {}
        self.bodies: dict[int, Any] = {}
        self.traces: set[str] = set()
        self.report = HEADER
        self.current: tuple[int, str] = (0, "")
        self.phases: Phases = {}


def collected(state: State, items: list[tuple[int, Any]]) -> None:
    state.bodies = dict(items)


def start(state: State, item: int, test: str) -> None:
    state.current, state.phases = (item, test), {}
    if item not in state.bodies:
        state.traces.add("the list of tests")


def body(state: State, item: int, code: Any, own: bool) -> None:
    if item != state.current[0] or code is not state.bodies.get(item) or not own:
        state.traces.add("the body of a test")


def phase(state: State, test: str, when: str, outcome: str, xfail: bool) -> None:
    if test != state.current[1]:
        state.traces.add("a report out of turn")
    else:
        state.phases.setdefault(when, []).append((outcome, xfail))


def part(state: State, test: str, outcome: str) -> None:
    """A part of the running test. Anybody may say so: it is heard only where it does harm."""
    if outcome == "failed" and test == state.current[1]:
        state.phases.setdefault("call", []).append((outcome, False))


def stop(state: State, item: int, test: str, word: Any = one_word, written: Any = line) -> None:
    if state.current != (item, test) or test in state.outcomes:
        state.traces.add("the order of tests")
    state.outcomes[test] = outcome = word(state.phases)
    state.report += written(b"T", test, b" " + outcome.encode())
    state.current = (0, "")
    state.traces |= state.replaced(False)


def hooks(state: State, codes: list[tuple[str, Any]]) -> None:
    ours = list(state.told.senders.values())
    for name, code in codes:
        if code is None or not (code.co_filename.startswith(state.told.places) or any(code is one for one in ours)):
            state.traces.add(f"hook {name}")


def end(state: State, status: int, written: Any = line) -> None:
    state.traces |= state.replaced(True)
    state.report += b"".join(written(b"X", text) for text in sorted(state.traces))
    state.report += b"E %d %d\n" % (status, len(state.outcomes))


def keep(nonce: str, channel: int, replaced: Callable[[bool], set[str]], told: Told) -> Keeper:
    """The keeper. It is sent (kind, what…): collected, start, body, phase, part, stop, hooks, and end, after which the
    process is gone."""
    chain, send = hashlib.blake2b(key=binascii.unhexlify(nonce), digest_size=32), sender(channel)
    state, frame, quiet, loud = State(told, replaced), sys._getframe, gc.disable, gc.enable
    handlers = {f.__name__: f for f in (collected, start, body, phase, part, stop, hooks, end)}
    del nonce, channel, replaced, told
    while True:
        message = yield
        quiet()  # a collection would run finalisers of graded code on top of this frame
        kind, *said = message
        if kind != "part" and not state.told.honest(frame(1), state.told.senders[kind]):
            state.traces.add("a message to the recorder")
        else:
            handlers[kind](state, *said)
            if kind == "end":
                chain.update(state.report)
                send(state.report + b"S " + chain.hexdigest().encode() + b"\n")
        del message, said
        loud()
