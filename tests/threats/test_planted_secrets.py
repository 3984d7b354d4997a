"""Secrets and names are planted all around a whole suite; none is in what the suite keeps, nor in what its sandboxes show.

Keys of providers and of others, a user with a home and settings, the paths of this machine, and the keys that the running
gateway makes for itself. Setup, agent and verifier look at everything that they can read, and hand in what they found.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.effects import changes
from bench.effects.engines.claude import command
from tests.make import clients, workspaces
from tests.make.workspaces import Bench, talk

pytestmark = pytest.mark.slow
USER = "plantedperson"
KEYS = {
    "BENCH_ANTHROPIC_API_KEY": "sk-ant-plantedours-0123456789abcdef",
    "ANTHROPIC_API_KEY": "sk-ant-plantedtheirs-0123456789abcdef",
    "GITNEXUS_BENCH_OPENAI_API_KEY": "sk-plantedalias-0123456789abcdef",
    "OPENROUTER_API_KEY": "sk-or-v1-plantedrouter-0123456789abcdef",
    "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat-plantedlogin-0123456789abcdef",
    "GITHUB_TOKEN": "ghp_plantedforge0123456789abcdef0123",
    "DATABASE_URL": "postgres://plantedperson:plantedpassword@db.invalid/x",
    "PLAIN_WORDS": "planted-without-a-telling-name",
}
LOOK = r"""
D=found/$0; mkdir -p $D
env > $D/env
for p in /proc/[0-9]*; do
  for part in environ cmdline comm mountinfo mounts cgroup maps status; do cat $p/$part; echo; done
  ls -l $p $p/fd $p/cwd $p/root $p/exe $p/task; cat $p/net/unix
done 2>/dev/null | tr '\0' '\n' > $D/processes
{ id; hostname; uname -a; cd /proc; cat sys/kernel/hostname version cmdline keys key-users; cd -; } > $D/machine 2>&1
find /etc ~ /run /tmp /var /home /root /workspace -xdev -type f -size -512k ! -path '*/found/*' -print -exec cat {} + \
  > $D/files 2>&1
find / -xdev ! -path '/proc/*' ! -path '/usr/*' ! -path '*/found/*' -printf '%p %l %u %g\n' > $D/names 2>&1
python3 -I -c '
import os, sys
needles = [word[::-1].encode() for word in sys.argv[1:]]
for top in ("/opt", "/run", "/home", "/etc", "/tmp", "/var", "/root", "/srv", "/mnt", "/media"):
    for folder, _below, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            for needle in needles:
                if needle in data: print("SEEN", path, needle[::-1].decode())
print("looked for", len(needles))
' NEEDLES > $D/everything 2>&1
true
"""


@dataclass(frozen=True)
class Ran:
    """A suite that was run among the planted."""

    bench: Bench
    printed: str
    secrets: list[str]
    """What may be nowhere."""
    places: list[str]
    """Paths and names of this machine that no evidence may hold."""


def planted(root: Path) -> tuple[dict[str, str], list[str]]:
    """Environment of a user with settings of its own, and what is secret in them."""
    home = root / USER
    secret = "planted-in-a-file-0123456789"
    for name in (".netrc", ".claude.json", ".claude/settings.json", ".claude/CLAUDE.md", ".claude/.credentials.json"):
        workspaces.put(home, name, json.dumps({"env": {"LEAKED": secret}, "apiKeyHelper": f"echo {secret}"}))
    env = {**KEYS, "HOME": str(home), "USER": USER, "LOGNAME": USER}
    return env, [*KEYS.values(), secret]


def gateway_secrets(child: subprocess.Popen[bytes]) -> set[str]:
    """The keys in the environment of the proxy that a run has started."""
    found = set()
    for process in clients.descendants(child.pid):
        with suppress(OSError):
            text = Path(f"/proc/{process.pid}/environ").read_bytes().decode("utf-8", "replace")
            found |= set(re.findall(r"LITELLM_MASTER_KEY=([^\0]+)", text))
    return found


@pytest.fixture(scope="module")
def ran(built: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    root = tmp_path_factory.mktemp("planted")
    bench = Bench(workspaces.copied(built("client"), root / "ws"))
    env, secrets = planted(root)
    places = [str(root), str(workspaces.CODE), sys.prefix, USER]
    look = LOOK.replace("NEEDLES", " ".join(word[::-1].replace("$", "") for word in [*secrets, *places]))
    looking = 'bash -c "$(cat look.sh)"'
    workspaces.put(bench.root, "corpus/repos/adder/look.sh", look)
    task = json.loads(bench.path("corpus/tiny.yaml").read_text())["tasks"][0]
    task |= {"setup": f"{looking} setup", "verify": f"{looking} verify; cat found/*/env; test -f adder.sh"}
    clients.play(bench, talk(f"{looking} agent", "cat found/agent/env found/agent/everything"), tasks=[task])
    clients.change(bench, arms=[workspaces.ARMS[0], {"name": "agent", "role": "incumbent", "engine": "claude"}])
    child = bench.start("-n", "1", env=env)
    made: set[str] = set()
    assert clients.wait(lambda: made.update(gateway_secrets(child)) or child.poll() is not None, 300)
    printed = "".join((root / "logs-of-test" / name).read_text() for name in ("stdout", "stderr"))
    assert child.returncode == 0, printed
    assert made
    return Ran(bench, printed, [*secrets, *made], places)


def handed_in(ran: Ran) -> dict[str, bytes]:
    """What setup and agent found, by file."""
    record = clients.sessions(ran.bench)["0"]
    packed = changes.unpack(clients.output(ran.bench, record, "changes"))
    return {entry.path: entry.data for entry in packed.entries if entry.path.startswith("found/")}


def test_nothing_inside_shows_a_key_a_path_or_a_name(ran: Ran):
    found = handed_in(ran)
    names = ("env", "everything", "files", "machine", "names", "processes")
    assert set(found) == {f"found/{who}/{name}" for who in ("setup", "agent") for name in names}
    for path, data in found.items():
        assert clients.told(data, [*ran.secrets, *ran.places]) == [], path
        assert re.findall(rb"(?<![\w-])sk-[\w-]{8,}|Bearer .{0,20}", data) == [], path
        if path.endswith("/everything"):
            assert data == b"looked for %d\n" % (len(KEYS) + 1 + len(ran.places))
        if path.endswith("/machine"):
            assert socket.gethostname() not in data.decode().split()
    assert b"/opt/claude/claude" in found["found/agent/processes"]
    assert command.DUMMY.encode() in found["found/agent/processes"], "the key that is worth nothing is what there is to see"
    variables = {line.partition(b"=")[0] for line in found["found/agent/env"].splitlines()}
    assert not [name for name in variables if re.search(rb"KEY|TOKEN|SECRET|PASSW", name)]


def test_nothing_that_is_kept_or_printed_tells_a_key(ran: Ran):
    kept = [path for path in ran.bench.path("artifacts").rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} >= {".json", ".jsonl", ".html", ".md", ".log"}
    for path in kept:
        data = path.read_bytes()
        assert clients.told(data, ran.secrets) == [], path
        assert re.findall(rb"sk-(?:door|eyJ)[\w-]*", data) == [], path
    assert clients.told(ran.printed, ran.secrets) == []


def test_no_evidence_names_this_machine(ran: Ran):
    # What begins with a dot is this checkout's own book-keeping (doit's database, the stamp), and no evidence.
    kept = [path for path in ran.bench.path("artifacts").rglob("*") if path.is_file() and path.name[0] != "."]
    assert kept
    for path in kept:
        assert clients.told(path.read_bytes(), ran.places) == [], path
    for path, data in ran.bench.records().items():
        record: dict[str, Any] = json.loads(data)
        assert not clients.word(json.dumps(record["body"]), socket.gethostname()), path
