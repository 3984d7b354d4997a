"""doit looks at a target's existence alone: a hand-edited result stood for ever, and was aggregated.

An edited, forged, swapped, torn or lost record, and flipped or missing bytes, are noticed, named and healed from what the
store holds, byte for byte; no session is run for it.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench.core import digest, records
from tests.make import workspaces
from tests.make.workspaces import Bench

CELL = "artifacts/cells/tiny/add/gold/0.json"
OTHER = "artifacts/cells/tiny/add/nop/0.json"
SESSION = "artifacts/sessions/tiny/add/gold/0.json"


def overwrite(path: Path, data: bytes) -> None:
    """Replace a file's bytes and give back its times, as one who hides an edit would."""
    before = path.stat()
    path.chmod(0o600)
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def forged(data: bytes) -> bytes:
    """The record with another verdict, sealed anew as if it were so."""
    record = records.parse(data, "x")
    said = record.to_json()
    said["body"]["resolved"] = not said["body"]["resolved"]
    return records.sealed(replace(record, body=said["body"])).to_bytes()


def flipped(data: bytes) -> bytes:
    place = data.index(b'"resolved":true') + len(b'"resolved":')
    return data[:place] + b"uru" + data[place + 3 :]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(flipped, id="flipped"),
        pytest.param(forged, id="sealed-anew"),
        pytest.param(lambda data: data[: len(data) // 2], id="truncated"),
        pytest.param(lambda data: b"", id="emptied"),
        pytest.param(lambda data: b"{}\n", id="foreign"),
        pytest.param(lambda data: data.replace(b'"resolved":true', b'"resolved": true'), id="another-spelling"),
    ],
)
def test_an_edited_result_is_noticed_named_and_healed(workspace: Bench, change):
    before = workspace.records()
    overwrite(workspace.path(CELL), change(before[CELL]))
    verified = workspace.doit("verify")
    assert verified.code == 1
    assert "cells/tiny/add/gold" in verified.stderr or "cell:tiny/add/gold/0" in verified.stderr
    done = workspace.doit()
    assert done.code == 0
    assert done.did == {"cell:tiny/add/gold/0": "restored"}
    assert f"tampered or damaged: {CELL}" in done.stderr
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0


@pytest.mark.parametrize("path", [CELL, SESSION, "artifacts/templates/adder.json", "artifacts/aggregates/tiny.json"])
def test_a_lost_record_is_restored(workspace: Bench, path: str):
    before = workspace.records()
    workspace.path(path).unlink()
    done = workspace.doit()
    assert (done.code, set(done.did.values()), len(done.did)) == (0, {"restored"}, 1)
    assert workspace.records() == before


def test_a_genuine_record_in_anothers_place_is_none(workspace: Bench):
    before = workspace.records()
    overwrite(workspace.path(OTHER), before[CELL])
    assert "this is the record of cell:tiny/add/gold/0" in workspace.doit("verify").stderr
    done = workspace.doit()
    assert (done.code, done.did) == (0, {"cell:tiny/add/nop/0": "restored"})
    assert workspace.records() == before


def test_a_forged_record_with_a_forged_store_entry_is_known_by_the_journal(workspace: Bench):
    before = workspace.records()
    wrong = forged(before[CELL])
    overwrite(workspace.path(CELL), wrong)
    overwrite(entry(workspace, before[CELL]), wrong)
    verified = workspace.doit("verify")
    assert verified.code == 1
    assert "is not what was made under it" in verified.stderr
    done = workspace.doit()
    assert done.code == 0
    assert done.did == {"cell:tiny/add/gold/0": "built"}, "graded again, since nobody is left to vouch for it"
    assert "forged or damaged" in done.stderr
    assert workspace.records() == before


def test_a_forged_store_entry_alone_is_not_restored(workspace: Bench):
    before = workspace.records()
    overwrite(entry(workspace, before[CELL]), forged(before[CELL]))
    workspace.path(CELL).unlink()
    done = workspace.doit()
    assert (done.code, done.did) == (0, {"cell:tiny/add/gold/0": "built"})
    assert workspace.records() == before


def entry(bench: Bench, data: bytes) -> Path:
    return bench.path("artifacts/store/keys").joinpath(*digest.shard(json.loads(data)["key"]))


def test_without_store_entries_the_journal_vouches_and_forgery_still_shows(workspace: Bench):
    before = workspace.records()
    shutil.rmtree(workspace.path("artifacts/store/keys"))
    workspace.path("artifacts/.doit.db").unlink()
    overwrite(workspace.path(CELL), forged(before[CELL]))
    done = workspace.doit()
    assert (done.code, done.did) == (0, {"cell:tiny/add/gold/0": "built"})
    assert "vouches" in done.stderr
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0, "the entries were made again"


def test_a_lost_database_a_moved_workspace_and_lost_keys_heal_byte_for_byte(workspace: Bench, tmp_path: Path):
    before = workspace.records()
    for name in (".doit.db", ".stamp"):
        workspace.path(f"artifacts/{name}").unlink(missing_ok=True)
    moved = Bench(workspaces.copied(workspace.root, tmp_path / "elsewhere" / "deep" / "ws"))
    shutil.rmtree(moved.path("artifacts/store/keys"))
    done = moved.doit()
    assert (done.code, done.did, done.stderr) == (0, {}, "")
    assert "14 reused" in done.stdout
    assert moved.records() == before
    for folder in ("cells", "aggregates", "health", "templates", "expected", "golds"):
        shutil.rmtree(moved.path(f"artifacts/{folder}"))
    again = moved.doit()
    assert (again.code, set(again.did.values())) == (0, {"restored"})
    assert moved.records() == before


def test_free_evidence_made_anew_elsewhere_is_byte_identical(workspace: Bench, tmp_path: Path):
    moved = Bench(workspaces.copied(workspace.root, tmp_path / "elsewhere" / "ws"))
    for folder in ("cells", "aggregates", "health", "templates", "expected", "golds", "oracles", "store/trees"):
        shutil.rmtree(moved.path(f"artifacts/{folder}"))
    for path in moved.path("artifacts/store/keys").rglob("*"):
        if path.is_file() and json.loads(path.read_bytes())["kind"] != "session":
            path.unlink()
    done = moved.doit()
    assert done.code == 0, done.stderr
    assert set(done.did.values()) == {"built"}
    assert "cell:tiny/add/gold/0" in done.did
    assert moved.records() == workspace.records()


def blob_of(bench: Bench, record: str, output: str) -> Path:
    return bench.path("artifacts/store/blobs").joinpath(*digest.shard(bench.record(record)["outputs"][output]["blob"]))


@pytest.mark.parametrize(
    ("record", "output"),
    [("artifacts/templates/adder.json", "tree"), ("artifacts/oracles/add.json", "file/check.sh"), (CELL, "patch")],
)
def test_missing_bytes_of_free_evidence_are_made_again(workspace: Bench, record: str, output: str):
    before = workspace.records()
    blob_of(workspace, record, output).unlink()
    verified = workspace.doit("verify")
    assert verified.code == 1
    assert f"bytes of {output}" in verified.stderr
    done = workspace.doit()
    assert done.code == 0
    assert "built" in done.did.values()
    assert "measured" not in done.did.values()
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0


def test_a_flipped_blob_is_named_when_it_is_used_and_healed_by_the_next_run(workspace: Bench):
    before = workspace.records()
    blob = blob_of(workspace, "artifacts/oracles/add.json", "file/check.sh")
    overwrite(blob, blob.read_bytes().replace(b"= 5", b"= 6"))
    assert "damaged" in workspace.doit("verify").stderr
    workspace.edit("corpus/tiny.yaml", "test -f adder.sh", "test -e adder.sh")
    first = workspace.doit()
    assert first.code == 1
    assert "bytes in the store are damaged" in first.stderr
    second = workspace.doit()
    assert second.code == 0, second.stderr
    workspace.edit("corpus/tiny.yaml", "test -e adder.sh", "test -f adder.sh")
    assert workspace.doit().code == 0
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0


def test_what_verify_says_about_a_flipped_blob_heals_it(workspace: Bench):
    """An up-to-date run uses no bytes, so running again is no remedy; revoking is, and verify names the step to revoke."""
    before = workspace.records()
    blob = blob_of(workspace, "artifacts/oracles/add.json", "file/check.sh")
    overwrite(blob, blob.read_bytes().replace(b"= 5", b"= 6"))
    verified = workspace.doit("verify")
    assert verified.code == 1
    assert "are damaged; `doit clean 'oracle:add'`, then doit makes it again" in verified.stderr
    assert workspace.doit("clean", "oracle:add").code == 0
    assert workspace.doit().code == 0
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0


def test_lost_bytes_of_free_evidence_that_nothing_uses_are_a_note(workspace: Bench):
    """Else verify would stay red for ever: no run makes what nobody wants any more."""
    blob = blob_of(workspace, "artifacts/oracles/add.json", "file/check.sh")
    script = workspace.path("oracles/add/check.sh")
    script.write_bytes(script.read_bytes() + b"# more\n")
    assert workspace.doit().code == 0
    blob.unlink()
    verified = workspace.doit("verify")
    assert (verified.code, verified.stderr) == (0, "")
    assert "note: bytes that the store entry" in verified.stdout


@pytest.mark.parametrize("name", ["report.md", "index.html", "results.jsonl"])
@pytest.mark.parametrize("change", ["edit", "delete"])
def test_a_reports_files_are_laid_out_again(workspace: Bench, name: str, change: str):
    path = workspace.path(f"artifacts/reports/tiny/{name}")
    before = path.read_bytes()
    if change == "edit":
        overwrite(path, before.replace(b"gold", b"g0ld"))
    else:
        path.unlink()
    assert "is not the file that was made" in workspace.doit("verify").stderr
    assert workspace.doit().code == 0
    assert path.read_bytes() == before
    assert workspace.doit("verify").code == 0


def test_a_damaged_blob_of_the_report_is_healed(workspace: Bench):
    before = workspace.records()
    blob = blob_of(workspace, "artifacts/reports/tiny.json", "report.md")
    overwrite(blob, blob.read_bytes().replace(b"gold", b"g0ld"))
    workspace.path("artifacts/reports/tiny/report.md").unlink()
    first = workspace.doit()
    assert first.code == 1
    assert "damaged" in first.stderr
    assert workspace.doit().code == 0
    assert workspace.records() == before
    assert workspace.doit("verify").code == 0
