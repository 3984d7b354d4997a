"""The relay in the real sandbox, with small programs of ours in the client's place."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from bench.effects.engines.claude import command, engine
from bench.effects.gateway import SOCKET, Ask
from bench.effects.sandbox import PYTHON, Bind, Finished, Limits, Spec, runner
from tests.effects.engines.claude.scripted import KEY, ScriptedDoor, text, turns

CALL = """
import http.client, json
link = http.client.HTTPConnection("127.0.0.1", 8377)
link.request("HEAD", "/")
print(link.getresponse().status)
link = http.client.HTTPConnection("127.0.0.1", 8377)
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 200000}]}).encode()
link.request("POST", "/v1/messages", body, {"X-Api-Key": "mine", "Authorization": "Bearer mine", "x-assay-foreign": "0"})
print(link.getresponse().read().count(b"event: message_stop"))
"""


@pytest.fixture
def door() -> Iterator[ScriptedDoor]:
    made = ScriptedDoor(Ask("s", "m"), turns([text("Hello.")]), None)
    yield made
    made.close()


def relayed(door: ScriptedDoor, code: str, *, stdin: bytes = b"", linger: float = 60.0, seconds: float = 60.0) -> Finished:
    order = {
        "key": KEY,
        "socket": f"{engine.DOOR}/{SOCKET}",
        "port": command.PORT,
        "argv": [PYTHON, "-c", code],
        "linger_s": linger,
    }
    spec = Spec(
        (PYTHON, "-I", "-S", "-c", engine.relay()),
        stdin=json.dumps(order).encode() + b"\n" + stdin,
        readonly=(Bind(door.folder, engine.DOOR),),
        limits=Limits(seconds=seconds),
    )
    return runner.run(spec, cancel=threading.Event())


def test_the_clients_calls_get_the_doors_key_and_are_its_own(door: ScriptedDoor) -> None:
    done = relayed(door, CALL)
    assert (done.exit, done.stdout) == (0, b"200\n1\n"), done.stderr
    [(path, headers, body)] = door.server.seen
    assert (path, headers["x-api-key"], len(body["messages"][0]["content"])) == ("/v1/messages", KEY, 200000)
    assert not {"authorization", "x-assay-foreign"} & set(headers)
    assert door.close().foreign == 0


def test_a_child_of_the_client_is_not_the_client(door: ScriptedDoor) -> None:
    done = relayed(door, f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {CALL!r}]).returncode)")
    assert (done.exit, done.stdout) == (0, b"200\n0\n"), done.stderr
    [(_path, headers, _body)] = door.server.seen
    assert (headers.get("x-api-key"), headers["x-assay-foreign"]) == (None, "1")
    assert door.close().foreign == 1


def test_the_client_reads_its_input_and_its_status_is_passed_on(door: ScriptedDoor) -> None:
    done = relayed(door, "import sys; print(sys.stdin.read()); sys.stderr.write('bad'); sys.exit(7)", stdin=b"the prompt\n")
    assert (done.exit, done.stdout, done.stderr) == (7, b"the prompt\n\n", b"bad")
    assert relayed(door, "import os; os.kill(os.getpid(), 15)").exit == 128 + 15


def test_a_client_that_stays_after_its_result_is_ended_and_the_session_is_fine(door: ScriptedDoor) -> None:
    # claude-code 1920: the process never exits.
    done = relayed(door, 'print(\'{"type":"result"}\', flush=True); import time; time.sleep(600)', linger=0.5)
    assert (done.exit, done.limit, done.stdout) == (0, None, b'{"type":"result"}\n')


def test_what_only_looks_like_a_result_ends_nothing(door: ScriptedDoor) -> None:
    line = json.dumps({"type": "user", "x": {"type": "result"}}, separators=(",", ":"))
    done = relayed(door, f"print({line!r}, flush=True); import time; time.sleep(1); print('on')", linger=0.1)
    assert done.stdout.endswith(b"on\n")


@pytest.mark.parametrize("number", [0, 1])
def test_a_child_of_the_client_says_nothing_in_its_name(door: ScriptedDoor, number: int) -> None:
    speak = f"echo forged > /proc/$PPID/fd/{number} && echo said > /dev/stderr"
    done = relayed(door, f"import subprocess; subprocess.run(['sh', '-c', {speak!r}]); print('own')", stdin=b"the prompt")
    assert (done.exit, done.stdout) == (0, b"own\n"), done.stderr
    assert (b"said" in done.stderr) == (number == 0)  # what the client reads may be written to, and nobody hears it


def test_a_child_that_holds_the_pipe_does_not_keep_the_session(door: ScriptedDoor) -> None:
    done = relayed(door, "import subprocess; subprocess.Popen(['sleep', '600']); print('out')")
    assert (done.exit, done.limit, done.stdout) == (0, None, b"out\n")


def test_nobody_reads_the_key_from_the_relay(door: ScriptedDoor) -> None:
    look = "import os; p = os.getppid(); print(open(f'/proc/{p}/cmdline').read().count('%s')); open(f'/proc/{p}/mem', 'rb')"
    done = relayed(door, look % KEY)
    assert done.stdout == b"0\n"
    assert b"PermissionError" in done.stderr
    assert b"PermissionError" in relayed(door, "import os; open(f'/proc/{os.getppid()}/environ').read()").stderr
