"""The commands beside `run`: clean and restore, gc, verify, plan, why, init, the lock; each on the real `doit`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import keys, records
from bench.effects import lock
from bench.effects.journal import Journal
from bench.effects.store import open_store
from tests.make import workspaces
from tests.make.workspaces import Bench

CELL = "cell:tiny/add/gold/0"
CELL_PATH = "artifacts/cells/tiny/add/gold/0.json"
SESSION_PATH = "artifacts/sessions/tiny/add/gold/0.json"


def paid(bench: Bench, path: str, dollars: float, **more: bool) -> None:
    """Have a session's evidence cost something: in record, store and journal alike, as if it were bought."""
    record = records.parse(bench.path(path).read_bytes(), path)
    bought = records.sealed(replace(record, body=dict(record.body) | {"spent_usd": dollars} | more))
    enter(bench, path, bought)
    assert bench.doit().code == 0


def enter(bench: Bench, path: str, record: records.Record) -> None:
    """Put a record on disk, in the store and in the journal, as if it had been made."""
    bench.path(path).write_bytes(record.to_bytes())
    open_store(bench.path("artifacts/store")).put_record(record)
    facts = {"kind": record.kind, "name": record.name, "key": record.key, "content": record.content, "seal": record.seal}
    Journal(bench.path("artifacts/journal.jsonl")).write("built", **facts)


def test_clean_and_restore_are_a_round_trip(workspace: Bench):
    before = workspace.records()
    dry = workspace.doit("clean", CELL, "--dry-run")
    assert (dry.code, dry.stdout) == (0, f"would revoke {CELL}\n1 record, paid $0.00\n")
    assert workspace.records() == before
    cleaned = workspace.doit("clean", CELL)
    assert cleaned.code == 0
    assert cleaned.stdout.startswith(f"revoked {CELL}\n")
    assert CELL_PATH not in workspace.records()
    assert workspace.moving()[CELL] == "build", "revoked evidence is not found in the store either"
    restored = workspace.doit("restore", CELL)
    assert (restored.code, restored.stdout) == (0, f"restored {CELL}\n1 record restored\n")
    assert workspace.records() == before
    assert workspace.moving() == {}
    assert workspace.doit("verify").code == 0
    assert workspace.doit("restore", CELL).stdout == "0 records restored\n"


def test_what_is_made_again_after_clean_is_displaced_by_restore_and_nothing_is_lost(workspace: Bench):
    before = workspace.records()
    assert workspace.doit("clean", "session:tiny/add/nop/0").code == 0
    assert workspace.doit().did["session:tiny/add/nop/0"] == "measured"
    path = "artifacts/sessions/tiny/add/nop/0.json"
    again = workspace.records()[path]
    assert workspace.doit("restore").stdout == "0 records restored\n", "unasked, nothing takes the place of what is there"
    assert workspace.doit("restore", "session:tiny/add/nop/0").code == 0
    assert workspace.records()[path] == before[path]
    assert again in [found.read_bytes() for found in workspace.path("artifacts/revoked").rglob("*.revoked-*")]
    assert workspace.doit("restore", "session:tiny/add/nop/0").code == 0
    assert workspace.records()[path] == again
    assert workspace.doit("verify").code == 0


def test_clean_downstream_and_by_kind(workspace: Bench):
    dry = workspace.doit("clean", "--downstream", "--dry-run", "oracle:add").stdout.splitlines()
    after = {CELL, "cell:tiny/add/nop/0", "aggregate:tiny/add", "aggregate:tiny", "health:tiny", "report:tiny"}
    assert {line.removeprefix("would revoke ") for line in dry[:-1]} == {"oracle:add", "expected:add"} | after
    kind = workspace.doit("clean", "cell", "-n").stdout.splitlines()
    assert {line.removeprefix("would revoke ") for line in kind[:-1]} == {CELL, "cell:tiny/add/nop/0"}
    everything = workspace.doit("clean", "-n").stdout.splitlines()
    assert len(everything) == 15


def test_evidence_that_suites_share_is_revoked_for_both(workspace: Bench):
    workspaces.write(workspace.root, "other", default=False)
    assert workspace.doit("suite:other").code == 0
    done = workspace.doit("clean", CELL)
    assert "revoked cell:other/add/gold/0" in done.stdout
    assert workspace.doit("verify").code == 0


def test_what_cost_money_asks_first(workspace: Bench):
    paid(workspace, SESSION_PATH, 12.5)
    before = workspace.records()
    refused = workspace.doit("clean", "session")
    assert refused.code == 2
    assert "revoke 2 records that cost $12.50?" in refused.stderr
    assert "say --yes" in refused.stderr
    assert workspace.records() == before
    assert "paid $12.50" in workspace.doit("clean", "session", "--dry-run").stdout
    done = workspace.doit("clean", "session", "--yes")
    assert done.code == 0
    assert "2 records revoked, paid $12.50" in done.stdout
    assert [event["spent_usd"] for event in workspace.journal() if event["event"] == "revoked"] == [0.0, 12.5]
    assert workspace.doit("restore", "session").code == 0
    assert workspace.records() == before


def test_what_cost_nobody_knows_how_much_asks_first_too(workspace: Bench):
    paid(workspace, SESSION_PATH, 0.0, spent_exact=False)
    refused = workspace.doit("clean", "session")
    assert refused.code == 2
    assert "revoke 2 records that cost at least $0.00?" in refused.stderr


def test_what_was_bought_while_clean_asked_is_not_revoked_by_the_answer(workspace: Bench):
    paid(workspace, SESSION_PATH, 12.5)
    ours, theirs = os.openpty()
    words = [*workspaces.COMMAND, "clean", "session"]
    asking = subprocess.Popen(
        words, cwd=workspace.root, env=workspace.environment(), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert asking.stdout is not None
    assert asking.stdout.read(len("revoke")) == b"revoke"
    paid(workspace, SESSION_PATH.replace("gold", "nop"), 30.0)
    before = workspace.records()
    os.write(ours, b"y\n")
    _, said = asking.communicate(timeout=60)
    assert (asking.returncode, b"$30.00 more" in said) == (2, True), said
    assert workspace.records() == before


@pytest.mark.parametrize(
    "words", [("clean", "nonsense"), ("restore", "cell:x/*"), ("why", "x"), ("why", "cell:x/*"), ("plan", "x"), ("gc",)]
)
def test_commands_refuse_what_is_not_there(workspace: Bench, words: tuple[str, ...]):
    done = workspace.doit(*words)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1


def age(path: Path, days: int) -> None:
    before = path.lstat().st_mtime - days * 86_400
    os.utime(path, (before, before), follow_symlinks=False)


def test_gc_deletes_what_nothing_refers_to_and_is_old(workspace: Bench):
    before = workspace.records()
    stray = workspace.path("artifacts/store/blobs/00") / ("0" * 62)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"x" * 100)
    half = workspace.path("artifacts/cells/.new-abc")
    half.write_bytes(b"half")
    young = workspace.path("artifacts/store/blobs/00") / ("1" * 62)
    young.write_bytes(b"x")
    for path in workspace.path("artifacts").rglob("*"):
        if path != young:
            age(path, 40)
    dry = workspace.doit("gc", "--older-than", "30", "--dry-run")
    assert dry.code == 0
    listed = {line.removeprefix("would delete ") for line in dry.stdout.splitlines()}
    assert {path.relative_to(workspace.root).as_posix() for path in (stray, half)} <= listed
    assert stray.exists()
    assert workspace.doit("gc", "--older-than", "30").code == 0
    assert (stray.exists(), half.exists(), young.exists()) == (False, False, True)
    assert workspace.records() == before
    young.unlink()
    assert workspace.doit("verify").code == 0
    assert workspace.moving() == {}


def test_gc_keeps_revoked_evidence_until_it_is_old_itself(workspace: Bench):
    before = workspace.records()
    assert workspace.doit("clean", CELL).code == 0
    for path in workspace.path("artifacts/store").rglob("*"):
        age(path, 40)
    assert workspace.doit("gc", "--older-than", "30").code == 0
    assert workspace.doit("restore", CELL).code == 0
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0
    assert workspace.doit("clean", CELL).code == 0
    for path in workspace.path("artifacts/revoked").rglob("*"):
        age(path, 40)
    assert workspace.doit("gc", "--older-than", "30").code == 0
    assert workspace.doit("restore", CELL).stdout == "0 records restored\n"
    assert workspace.doit().code == 0
    assert workspace.records() == before


@pytest.mark.parametrize("age_given", ["", "x", "-1", "nan"])
def test_gc_needs_an_age(workspace: Bench, age_given: str):
    done = workspace.doit("gc", f"--older-than={age_given}")
    assert done.code == 2
    assert "doit gc --older-than 30" in done.stderr


def test_verify_names_each_kind_of_fault(workspace: Bench):
    good = workspace.doit("verify")
    assert good.code == 0
    assert good.stdout.startswith("14 records, ")
    record = records.parse(workspace.path(CELL_PATH).read_bytes(), "x")
    wrong = records.sealed(replace(record, params=dict(record.params) | {"verify": "true"}))
    workspace.path(CELL_PATH).write_bytes(wrong.to_bytes())
    session = records.parse(workspace.path(SESSION_PATH).read_bytes(), "x")
    for stamp, fault in (("2999-01-01T00:00:00Z", "lies in the future"), ("yesterday", "is no time")):
        future = records.sealed(replace(session, body=dict(session.body) | {"measured_at": stamp}))
        workspace.path(SESSION_PATH).write_bytes(future.to_bytes())
        done = workspace.doit("verify")
        assert done.code == 1
        assert f"session:tiny/add/gold/0: measured_at {stamp!r}" in done.stderr or fault in done.stderr
    assert "cell:tiny/add/gold/0: its key does not follow from its own params and inputs" in done.stderr
    assert "cell:tiny/add/gold/0: differs from what the store holds for its key" in done.stderr
    assert done.stdout.endswith(": 4 faults\n")
    assert "Traceback" not in done.stderr


def test_verify_holds_with_evidence_from_before_a_protocol_was_raised(workspace: Bench):
    """A suite that is gone leaves records which no run makes anew."""
    path = next(path for path in workspace.records() if path.startswith("artifacts/templates/"))
    record = records.parse(workspace.path(path).read_bytes(), path)
    raw = {role.removeprefix("file:"): blob for role, blob in record.inputs.items()}
    signed = keys.signature(record.kind, 1, record.params, list(raw), None)
    older = records.sealed(replace(record, key=keys.key(signed, {}, raw)))
    assert older.key != record.key
    enter(workspace, path, older)
    done = workspace.doit("verify")
    assert done.code == 0, done.stderr


PRICES = """{"schema": 1, "source": "a list", "date": "2026-01-01", "note": "none",
 "models": {"openai/gpt-5": {"input": 1, "cache_creation": 1, "cache_read": 1, "output": 1}}}"""


def test_plan_says_what_and_why_and_writes_nothing(workspace: Bench):
    workspace.edit("oracles/add/check.sh", "= 5", "-eq 5")
    before = {path: path.stat().st_mtime_ns for path in workspace.path("artifacts").rglob("*")}
    text = workspace.doit("plan")
    assert text.code == 0
    assert "build    oracle:add  file:check.sh b3:" in text.stdout
    assert "expected cost: $0.00" in text.stdout
    assert "session:" not in text.stdout
    assert "session:tiny/add/nop/0" in workspace.doit("plan", "--all").stdout
    document = json.loads(workspace.doit("plan", "--json", CELL).stdout)
    assert document["total"] == {"counts": {"build": 3, "current": 4}, "unknown_cost": 0, "usd": 0}
    assert {"step", "action", "why", "usd"} == set(document["steps"][0])
    assert {path: path.stat().st_mtime_ns for path in workspace.path("artifacts").rglob("*")} == before


def test_plan_names_models_whose_cells_will_have_no_price(workspace: Bench):
    arms = [{"name": "mine", "role": "incumbent", "engine": "loop"}]
    told = "openai/unheard-of has no row in corpus/prices.json"
    for model, expected in (("openai/unheard-of", True), ("openai/gpt-5", False)):
        workspaces.write(workspace.root, "priced", arms=arms, model=model, default=False)
        workspaces.put(workspace.root, "corpus/prices.json", PRICES)
        planned = workspace.doit("plan", "suite:priced")
        assert (planned.code, told in planned.stdout) == (0, expected), planned.stderr
        document = json.loads(workspace.doit("plan", "--json", "suite:priced").stdout)
        assert document["unpriced"] == ["openai/unheard-of"] * expected


@pytest.mark.parametrize("name", ["index.html", "results.jsonl"])
def test_plan_names_a_report_whose_file_was_deleted(workspace: Bench, name: str):
    assert workspace.moving() == {}
    workspace.path(f"artifacts/reports/tiny/{name}").unlink()
    assert workspace.moving() == {"report:tiny": "reuse"}
    assert workspace.doit().code == 0
    assert workspace.moving() == {}


def test_why_names_the_input_with_its_old_digest_and_its_new(workspace: Bench):
    assert f"{CELL}: up to date" in workspace.doit("why", CELL).stdout
    old = workspace.record("artifacts/oracles/add.json")["inputs"]["file:check.sh"]
    workspace.edit("oracles/add/check.sh", "= 5", "-eq 5")
    done = workspace.doit("why", "oracle:add")
    assert done.code == 0
    assert f"oracle:add: build: file:check.sh {old[:11]} → b3:" in done.stdout
    workspace.edit("corpus/tiny.yaml", "test -f adder.sh", "test -e adder.sh")
    assert "param verify: 'test -f adder.sh' → 'test -e adder.sh'" in workspace.doit("why", CELL).stdout


def test_plan_says_measure_of_sessions_and_names_steps_shortly(workspace: Bench):
    workspace.edit("corpus/repos/adder/adder.sh", "$1 - $2", "$1 * $2")
    lines = workspace.doit("plan").stdout.splitlines()
    assert "measure  session:tiny/add/nop/0  after template:adder" in lines
    assert "build    cell:tiny/add/nop/0  after session:tiny/add/nop/0" in lines


def test_why_of_a_group_or_of_nothing_names_the_steps_at_the_root(workspace: Bench):
    assert workspace.doit("why").stdout == "suite:tiny: up to date, and all that it needs (14 steps)\n"
    workspace.edit("oracles/add/check.sh", "= 5", "-eq 5")
    for words in ((), ("suite:tiny",), ("oracle",)):
        (line,) = workspace.doit("why", *words).stdout.splitlines()
        assert line.startswith("oracle:add: build: file:check.sh b3:")


def test_evidence_beyond_the_age_limit_is_planned_anew_with_its_date(workspace: Bench):
    workspace.edit("corpus/tiny.yaml", '"max_age_days": 90', '"max_age_days": 1')
    record = records.parse(workspace.path(SESSION_PATH).read_bytes(), "x")
    assert workspace.moving() == {}
    old = records.sealed(replace(record, body=dict(record.body) | {"measured_at": "2020-01-01T00:00:00Z"}))
    workspace.path(SESSION_PATH).write_bytes(old.to_bytes())
    open_store(workspace.path("artifacts/store")).put_record(old)
    facts = {"kind": old.kind, "name": old.name, "key": old.key, "content": old.content, "seal": old.seal}
    Journal(workspace.path("artifacts/journal.jsonl")).write("built", **facts)
    done = workspace.doit("why", "session:tiny/add/gold/0")
    assert "measured at 2020-01-01T00:00:00Z, outside the age limit of 1 days" in done.stdout
    run = workspace.doit()
    assert run.did["session:tiny/add/gold/0"] == "measured"


def test_a_second_doit_is_refused_and_named_and_can_wait(workspace: Bench):
    path = workspace.path("artifacts/.lock")
    with lock.held(path):
        for words in (("-n", "1"), ("clean", CELL), ("restore", CELL), ("gc", "--older-than", "1")):
            refused = workspace.doit(*words)
            assert refused.code == 3
            assert f"another doit writes here (pid {os.getpid()}, since 2" in refused.stderr
        for words in (("plan",), ("why", CELL), ("list",), ("verify",)):
            assert workspace.doit(*words).code == 0
        for words in (("--wait", "cell:tiny/nope"), ("--wait", "-n", "0"), ("--wait", "run=1")):
            assert workspace.doit(*words).code == 2, "a wrong command line is not waited for"
        waiting = workspace.start("--wait", "-n", "1")
    assert waiting.wait(60) == 0


def test_init_makes_a_workspace_that_runs(tmp_path: Path):
    target = tmp_path / "new" / "ws"
    bench = Bench(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "bench", "init", str(target)],
        env=bench.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = Bench(target)
    assert {path.name for path in target.iterdir()} == {"dodo.py", "corpus", "oracles", "artifacts", ".gitignore"}
    assert not list(target.rglob("__pycache__"))
    ran = made.doit("template", "oracle")
    assert ran.code == 0, ran.stderr
    assert "template:clockwork" in ran.did
    again = bench.doit("init", str(target))
    assert again.code == 2
    assert "is not empty" in again.stderr
    other = bench.doit("init", str(tmp_path / "other"))
    assert other.code == 0
    assert bench.doit("init").code == 2
    below_a_file = bench.doit("init", str(target / "dodo.py" / "x"))
    assert (below_a_file.code, below_a_file.stdout) == (2, "")
    assert below_a_file.stderr == f"error: {target}/dodo.py/x: not a directory; name a new directory\n"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (('"suite": "tiny"', '"suite": "tiny", "suite": "tiny"'), "corpus/tiny.yaml:2:"),
        (('"runs": 1', '"runs": 1, "runz": 2'), "did you mean 'runs'?"),
        (('"runs": 1', '"runs": "many"'), "corpus/tiny.yaml:"),
        (('"suite": "tiny"', '"suite": "other"'), "or rename the file"),
        (('"source": "add/check.sh"', '"source": "add/absent.sh"'), "oracles/add/absent.sh: no such file"),
        (('"dir": "repos/adder"', '"dir": "repos/absent"'), "repos/absent"),
        (('"gold": "add/gold.patch"', '"gold": "../dodo.py"'), "corpus/tiny.yaml:"),
    ],
)
def test_a_fault_of_the_corpus_is_one_line_and_exit_2_before_anything_runs(
    workspace: Bench, edit: tuple[str, str], expected: str
):
    workspace.edit("corpus/tiny.yaml", *edit)
    before = workspace.path("artifacts/journal.jsonl").read_bytes()
    done = workspace.doit()
    assert done.code == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert expected in done.stderr
    assert workspace.path("artifacts/journal.jsonl").read_bytes() == before


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_an_oracle_that_is_no_file_is_refused_and_never_opened(workspace: Bench, kind: str):
    path = workspace.path("oracles/add/check.sh")
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    else:
        path.mkdir()
    done = workspace.doit()
    assert done.code == 2
    assert "oracles/add/check.sh: is not a regular file" in done.stderr


def test_debug_shows_the_traceback(workspace: Bench):
    assert "Traceback" in workspace.doit("nonsense", env={"BENCH_DEBUG": "1"}).stderr
