from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from bench.core import digest, records
from bench.core.records import Record
from bench.effects import registry
from bench.effects.context import Context, Made
from bench.errors import BenchError, CorpusError
from bench.steps import oracle
from tests.steps.making import context_at, job_of

HIDDEN = b"def test_it():\n    assert True\n"
PYTEST = {"pytest": True, "paths": ["test_hidden.py"], "pythonpath": ["src"]}
RELEASE = {
    "tests/test_one.py": b"one",
    "tests/data/two.json": b"{}",
    "tests.py": b"beside",
    "PKG-INFO": b"Metadata-Version: 2.1\nName: odds\nVersion: 2.0\n",
}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def sdist(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, data in files.items():
            info = tarfile.TarInfo(f"odds-2.0/{path}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for path, text in (links or {}).items():
            info = tarfile.TarInfo(f"odds-2.0/{path}")
            info.type, info.linkname = tarfile.SYMTYPE, text
            tar.addfile(info)
    return gzip.compress(out.getvalue(), mtime=0)


def released(context: Context, data: bytes) -> str:
    """Enter an sdist where the registry keeps what it once downloaded; its sha256."""
    sha256 = hashlib.sha256(data).hexdigest()
    outputs = {"file": context.store.put(data)}
    entry = Record("download", sha256, registry.key(sha256), {}, {}, records.FINAL, None, outputs, {})
    context.store.put_record(records.sealed(entry))
    return sha256


def make(context: Context, said: dict[str, object], files: list[dict[str, str]], blobs: dict[str, bytes]) -> Made:
    return oracle.make(job_of("oracle", context, {"oracle": said, "files": files}, blobs), context)


def test_hidden_files_are_sealed_in_the_store(context: Context) -> None:
    made = make(context, PYTEST, [{"target": "test_hidden.py"}], {"test_hidden.py": HIDDEN})
    assert made.body["files"] == [{"target": "test_hidden.py", "digest": digest.of_bytes(HIDDEN), "bytes": len(HIDDEN)}]
    assert context.store.get(made.outputs["file/test_hidden.py"].blob) == HIDDEN
    assert (made.body["pytest"], made.body["command"], made.body["pythonpath"]) == (True, None, ["src"])
    assert digest.is_digest(made.body["command_digest"])
    assert digest.is_digest(made.body["manifest_digest"])
    assert HIDDEN.decode() not in digest.canonical(made.body).decode()


def test_the_digests_follow_what_is_graded_and_nothing_else(context: Context, tmp_path: Path) -> None:
    files = [{"target": "test_hidden.py"}, {"target": "data.json"}]
    blobs = {"test_hidden.py": HIDDEN, "data.json": b"{}"}
    one = make(context, PYTEST, files, blobs).body
    again = make(context_at(tmp_path / "elsewhere"), PYTEST | {"args": []}, files[::-1], blobs).body
    assert digest.canonical(one) == digest.canonical(again)
    changed = make(context, PYTEST, files, blobs | {"data.json": b"[]"}).body
    assert changed["command_digest"] == one["command_digest"]
    assert changed["manifest_digest"] != one["manifest_digest"]
    other = make(context, PYTEST | {"args": ["-x"]}, files, blobs).body
    assert other["command_digest"] != one["command_digest"]
    assert other["manifest_digest"] == one["manifest_digest"]


def test_a_command_grades_too(context: Context) -> None:
    made = make(context, {"command": "sh check.sh", "report": "exit"}, [{"target": "check.sh"}], {"check.sh": b"true\n"})
    assert (made.body["command"], made.body["report"], made.body["pytest"]) == ("sh check.sh", "exit", False)


def test_files_of_a_pinned_sdist_need_no_copy_here(context: Context) -> None:
    pin = {"sdist": "odds==2.0", "sha256": released(context, sdist(RELEASE))}
    files = [
        pin | {"path": "tests", "target": "tests"},
        pin | {"path": "tests.py", "target": "one.py"},
        {"target": "conf.py"},
    ]
    made = make(context, {"pytest": True, "paths": ["tests"]}, files, {"conf.py": b""})
    targets = ["conf.py", "one.py", "tests/data/two.json", "tests/test_one.py"]
    assert [entry["target"] for entry in made.body["files"]] == targets
    assert context.store.get(made.outputs["file/tests/data/two.json"].blob) == b"{}"
    assert "sdist" not in digest.canonical(made.body).decode()


def test_a_release_s_file_is_the_same_evidence_as_a_copy_of_it(context: Context) -> None:
    pin = {"sdist": "odds==2.0", "sha256": released(context, sdist(RELEASE))}
    said = {"pytest": True, "paths": ["test_one.py"]}
    borne = make(context, said, [pin | {"path": "tests/test_one.py", "target": "test_one.py"}], {})
    copied = make(context, said, [{"target": "test_one.py"}], {"test_one.py": b"one"})
    assert borne.body == copied.body
    assert borne.outputs == copied.outputs


@pytest.mark.parametrize("path", ["nothing", "test", "tests/test_one", "../x", "odds-2.0/tests"])
def test_a_path_that_the_release_lacks_is_refused(context: Context, path: str) -> None:
    pin = {"sdist": "odds==2.0", "sha256": released(context, sdist(RELEASE)), "path": path, "target": "tests"}
    with pytest.raises(CorpusError, match="holds no"):
        make(context, {"command": "true"}, [pin], {})


def test_a_link_among_a_release_s_tests_is_refused(context: Context) -> None:
    data = sdist(RELEASE, {"tests/link.py": "test_one.py"})
    pin = {"sdist": "odds==2.0", "sha256": released(context, data), "path": "tests", "target": "tests"}
    with pytest.raises(BenchError, match="link"):
        make(context, {"command": "true"}, [pin], {})


@pytest.mark.parametrize(
    "pin", [{"sdist": "odds", "sha256": "0" * 64}, {"sdist": "odds==2.0"}, {"sdist": "odds==2.0", "sha256": "x"}]
)
def test_an_sdist_that_is_not_pinned_is_refused(context: Context, pin: dict[str, str]) -> None:
    with pytest.raises(CorpusError):
        make(context, {"command": "true"}, [pin | {"path": "tests", "target": "tests"}], {})


@pytest.mark.parametrize(
    ("said", "files", "blobs", "why"),
    [
        (PYTEST, [{"target": "test_hidden.py"}], {}, "was not read"),
        (PYTEST, [{"target": "test_hidden.py"}] * 2, {"test_hidden.py": HIDDEN}, "two files have the target"),
        (PYTEST, [], {}, "has no files"),
        (PYTEST, [{"target": "test_other.py"}], {"test_other.py": HIDDEN}, "none of the oracle's files"),
        ({"command": "true"}, [{"target": "../x"}], {"../x": b""}, "holds an empty part"),
        ({}, [{"target": "x"}], {"x": b""}, "exactly one of command and pytest"),
    ],
)
def test_what_breaks_a_rule_is_refused(
    context: Context, said: dict[str, object], files: list[dict[str, str]], blobs: dict[str, bytes], why: str
) -> None:
    with pytest.raises(CorpusError, match=why):
        make(context, said, files, blobs)


def test_two_directories_of_a_release_may_not_meet(context: Context) -> None:
    pin = {"sdist": "odds==2.0", "sha256": released(context, sdist(RELEASE))}
    files = [pin | {"path": "tests", "target": "t"}, pin | {"path": "tests/test_one.py", "target": "t/test_one.py"}]
    with pytest.raises(CorpusError, match="two files have the target"):
        make(context, {"command": "true"}, files, {})
