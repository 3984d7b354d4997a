"""The proxy as a process: one per run, on a loopback port, in a directory of its own, dead when we are.

Its environment is made from nothing, its standard input is /dev/null, its output goes to a file and never to a pipe. It is
stopped by closing the pipe that its supervisor reads; it answers nobody but holders of a key minted here.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.effects import clock, env, redact
from bench.effects.gateway import keys
from bench.errors import Cancelled, EnvironmentRefused, MissingPart

PROGRAM = "litellm"
POLL_S = 0.1
START_S = 180.0
STOP_S = 15.0
TAIL_BYTES = 1000
REQUEST_S = 1800
"""The longest that one model call may take."""
_REACH = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_LOOPBACK = "127.0.0.1"


class Proxy:
    """A running proxy. Attributes: `port`, `secret` (signs minted keys), `root` (0700), `usage` (file of usage lines)."""

    def __init__(
        self, provider_keys: Mapping[str, str], cancel: threading.Event | None = None, program: str | None = None
    ) -> None:
        """Starts it and waits until it answers. `provider_keys`: variables that it is given; `program`: the console script.

        Raises MissingPart where LiteLLM's proxy is not installed, EnvironmentRefused where it ends early or never answers,
        Cancelled when `cancel` is set.
        """
        program = program or _program()
        self.secret = keys.master()
        self.port = _free_port()
        self.root = Path(_short_place()) / f"gw-{secrets.token_hex(4)}"
        self.usage = self.root / "proxy" / "usage.jsonl"
        self.log = self.root / "proxy" / "log"
        self._keys = dict(provider_keys)
        secret = [*redact.known_secrets(), *redact.known_secrets(provider_keys), self.secret]
        self._redactor = redact.Redactor(secret)  # a region or an address among them is none
        self._said: list[dict[str, Any]] = []
        self._heard = threading.Condition()
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py")), str(self.root)],
            env={"PATH": os.defpath},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True, name="gateway supervisor").start()
        try:
            self._await("directory", START_S, cancel)
            self._furnish(program)
            self._ready(cancel)
        except BaseException:
            self.close()
            raise

    def _furnish(self, program: str) -> None:
        home = self.usage.parent
        home.mkdir(mode=0o700)
        shutil.copyfile(Path(__file__).with_name("plugin.py"), home / "assay_gateway.py")
        config = home / "config.yaml"
        handle = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(_config(), file)  # JSON is YAML
        asked = {
            "argv": [program, "--config", str(config), "--host", _LOOPBACK, "--port", str(self.port)],
            "env": self._environment(home),
            "cwd": str(home),
            "log": str(self.log),
        }
        assert self._supervisor.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._supervisor.stdin.write(json.dumps(asked).encode() + b"\n")
            self._supervisor.stdin.flush()

    def _environment(self, home: Path) -> dict[str, str]:
        reach = {name: value for name in _REACH if (value := env.get(name))}
        ways = {
            name: value for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy") if (value := env.get(name))
        }
        around = ",".join(filter(None, [env.get("no_proxy") or env.get("NO_PROXY"), _LOOPBACK, "localhost"]))
        return {
            "PATH": os.defpath,
            **reach,
            **ways,
            "no_proxy": around,
            "NO_PROXY": around,
            "HOME": str(home),
            "TMPDIR": str(home),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_MASTER_KEY": self.secret,
            "ASSAY_USAGE": str(self.usage),
            **self._keys,
        }

    def _listen(self) -> None:
        assert self._supervisor.stdout is not None
        with self._supervisor.stdout as stream:
            for line in stream:
                with self._heard:
                    self._said.append(json.loads(line))
                    self._heard.notify_all()
        with self._heard:
            self._said.append({"gone": True})
            self._heard.notify_all()

    def _fact(self, name: str) -> Any:
        return next((said[name] for said in self._said if name in said), None)

    def _await(self, name: str, seconds: float, cancel: threading.Event | None) -> Any:
        deadline = clock.monotonic() + seconds
        with self._heard:
            while self._fact(name) is None:
                if cancel is not None and cancel.is_set():
                    raise Cancelled("the model gateway was not waited for")
                if self._fact("gone") or clock.monotonic() > deadline:
                    raise EnvironmentRefused(
                        "the gateway's supervisor did not start", remedy=f"see that there is room in {_short_place()}"
                    )
                self._heard.wait(POLL_S)
            return self._fact(name)

    def _ready(self, cancel: threading.Event | None) -> None:
        self._await("pid", START_S, cancel)
        limit = _start_limit()
        deadline = clock.monotonic() + limit
        while True:
            if cancel is not None and cancel.is_set():
                raise Cancelled("the model gateway was not waited for")
            alive = _answers(self.port)
            if not self.running:
                raise self._refusal(f"the model proxy ended early (exit {self._fact('exit')})")
            if alive:
                return
            if clock.monotonic() > deadline:
                raise self._refusal(f"the model proxy did not answer within {limit:g} s")
            clock.sleep(POLL_S)

    @property
    def running(self) -> bool:
        """Whether the proxy has not ended."""
        with self._heard:
            return self._fact("exit") is None and not self._fact("gone")

    @property
    def pid(self) -> int:
        """Of the proxy, the leader of its process group."""
        return int(self._fact("pid"))

    def _refusal(self, what: str) -> EnvironmentRefused:
        return EnvironmentRefused(
            f"{what}: {self.tail()}", remedy="install the extra `gateway`, or set BENCH_GATEWAY_START_S"
        )

    def tail(self) -> str:
        """The end of the proxy's log, at most TAIL_BYTES, without secrets and paths of this machine."""
        try:
            data = self.log.read_bytes()[-4 * TAIL_BYTES :]
        except OSError:
            return "it wrote no log"
        hidden = redact.Redactor(paths=redact.host_paths(self.root)).text(
            self._redactor.text(data.decode("utf-8", "replace"))
        )
        return " ".join(hidden.encode()[-TAIL_BYTES:].decode("utf-8", "ignore").split())

    def close(self) -> None:
        """Ends it and everything that it left. Safe to call twice."""
        if self._supervisor.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._supervisor.stdin.close()
        try:
            self._supervisor.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def _config() -> dict[str, Any]:
    """One entry for every model: which it is, the plugin decides per session."""
    return {
        "model_list": [{"model_name": "*", "litellm_params": {"model": "*"}}],
        "litellm_settings": {
            "callbacks": ["assay_gateway.hooks"],
            "request_timeout": REQUEST_S,
            "num_retries": 0,
            "telemetry": False,
            "turn_off_message_logging": False,
        },
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "general_settings": {
            "master_key": "os.environ/LITELLM_MASTER_KEY",
            "custom_auth": "assay_gateway.authenticate",
            "disable_spend_logs": True,
        },
    }


def _program() -> str:
    beside = Path(sys.executable).with_name(PROGRAM)
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    if found is None:
        raise MissingPart(f"no program {PROGRAM!r}", remedy="pip install 'assay-bench[gateway]'")
    return found


def _start_limit() -> float:
    text = env.get("BENCH_GATEWAY_START_S")
    if text is None:
        return START_S
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not (math.isfinite(limit) and limit > 0):
        raise EnvironmentRefused(f"BENCH_GATEWAY_START_S: {text[:40]!r} is no time", remedy="give seconds above 0")
    return limit


def _short_place() -> str:
    """Where a socket's path stays below 100 bytes and names neither project nor user."""
    return "/tmp" if os.access("/tmp", os.W_OK | os.X_OK) else tempfile.gettempdir()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(_LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/health/liveliness")
        return 200 <= connection.getresponse().status < 300
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
