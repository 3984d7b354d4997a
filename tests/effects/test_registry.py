"""Files of a package index: verified, kept, and never asked for twice."""

import pytest

from bench.effects import registry
from bench.effects.store import open_store
from bench.errors import CorpusError, IntegrityError, SourceError
from tests.effects.indexserver import sdist, serve, sha256

OLD = sdist("demo_pkg-1.0", {"PKG-INFO": b"Name: demo-pkg\n", "src/a.py": b"1\n"})
NEW = sdist("demo_pkg-1.1", {"PKG-INFO": b"Name: demo-pkg\n", "src/a.py": b"2\n"})
WHEEL = b"PK wheel bytes"


@pytest.fixture
def index(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    with serve() as running:
        running.files["demo-pkg"] = {
            "demo_pkg-1.0.tar.gz": OLD,
            "demo_pkg-1.0.zip": b"PK\3\4 another form",
            "demo_pkg-1.0-py3-none-any.whl": WHEEL,
            "demo_pkg-1.1.tar.gz": NEW,
            "demo_pkg-not.a.version.tar.gz": b"odd",
        }
        monkeypatch.setenv("PIP_INDEX_URL", running.url)
        yield running


def test_fetch_by_name_and_digest_then_offline(tmp_path, index):
    store = open_store(tmp_path)
    assert registry.fetch_file(store, "Demo.Pkg", "1.0.0", sha256=sha256(OLD), kind="sdist") == OLD
    index.files.clear()
    before = len(index.requests)
    assert registry.fetch_file(store, "whatever", "9", sha256=sha256(OLD), kind="sdist") == OLD
    assert len(index.requests) == before
    assert store.find(registry.key(sha256(OLD))).kind == "download"


def test_a_damaged_copy_is_fetched_again(tmp_path, index):
    store = open_store(tmp_path)
    registry.fetch_file(store, "demo-pkg", "1.0", sha256=sha256(OLD), kind="sdist")
    blob = store.find(registry.key(sha256(OLD))).outputs["file"].blob
    path = store.path(blob)
    path.chmod(0o600)
    path.write_bytes(OLD[:-1] + b"X")
    assert registry.fetch_file(store, "demo-pkg", "1.0", sha256=sha256(OLD), kind="sdist") == OLD
    path.unlink()
    assert registry.fetch_file(store, "demo-pkg", "1.0", sha256=sha256(OLD), kind="sdist") == OLD
    assert store.get(blob) == OLD


def test_wheels_by_file_name(tmp_path, index):
    store = open_store(tmp_path)
    name = "demo_pkg-1.0-py3-none-any.whl"
    got = registry.fetch_file(store, "demo-pkg", "1.0", sha256=sha256(WHEEL), kind="wheel", filename=name)
    assert got == WHEEL
    with pytest.raises(SourceError, match="no package index has this wheel"):
        registry.fetch_file(open_store(tmp_path / "b"), "demo-pkg", "1.0", sha256=sha256(WHEEL), kind="wheel", filename="x")


@pytest.mark.parametrize(("name", "version"), [("demo-pkg", "2.0"), ("nobody", "1.0"), ("demo-pkg", "1.1")])
def test_absent_project_version_or_digest(tmp_path, index, name, version):
    with pytest.raises(SourceError, match=f"{name}=={version}: no package index has this sdist"):
        registry.fetch_file(open_store(tmp_path), name, version, sha256=sha256(OLD), kind="sdist")


def test_other_bytes_under_the_stated_digest_are_never_kept(tmp_path, index):
    store = open_store(tmp_path)
    index.stated["demo_pkg-1.1.tar.gz"] = sha256(OLD)
    with pytest.raises(IntegrityError, match=r"demo_pkg-1\.1\.tar\.gz"):
        registry.fetch_file(store, "demo-pkg", "1.1", sha256=sha256(OLD), kind="sdist")
    assert list(store.blobs()) == []
    index.stated["demo_pkg-1.1.tar.gz"] = ""
    with pytest.raises(IntegrityError):
        registry.fetch_file(store, "demo-pkg", "1.1", sha256=sha256(OLD), kind="sdist")


def test_extra_indexes_are_asked_in_turn(tmp_path, index, monkeypatch):
    with serve() as empty:
        monkeypatch.setenv("PIP_INDEX_URL", empty.url.rstrip("/"))
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f" {index.url} ")
        assert registry.fetch_file(open_store(tmp_path), "demo-pkg", "1.0", sha256=sha256(OLD), kind="sdist") == OLD
        assert len(empty.requests) == 1


def test_an_index_in_a_directory(tmp_path, monkeypatch):
    page = tmp_path / "simple/demo-pkg/index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<!DOCTYPE html><a href="../../files/demo_pkg-1.0.tar.gz">demo_pkg-1.0.tar.gz</a>')
    (tmp_path / "files").mkdir()
    (tmp_path / "files/demo_pkg-1.0.tar.gz").write_bytes(OLD)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    digest = registry.resolve_sdist("demo-pkg", "1.0")
    store = open_store(tmp_path / "store")
    assert registry.fetch_file(store, "demo-pkg", "1.0", sha256=digest, kind="sdist") == OLD
    with pytest.raises(SourceError, match="no package index has"):
        registry.resolve_sdist("nobody", "1.0")


def test_resolve_prefers_the_tar_and_trusts_no_missing_digest(index):
    assert registry.resolve_sdist("demo-pkg", "1.0") == sha256(OLD)
    assert not any(path.startswith("/files") for path in index.requests)
    index.stated["demo_pkg-1.1.tar.gz"] = ""
    assert registry.resolve_sdist("demo-pkg", "1.1") == sha256(NEW)
    with pytest.raises(SourceError, match="check name, version"):
        registry.resolve_sdist("demo-pkg", "3")


def test_faults_are_named_without_the_address(tmp_path, index, monkeypatch):
    index.status = 403
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("http://", "http://user:secret@"))
    with pytest.raises(SourceError, match="HTTP 403") as caught:
        registry.resolve_sdist("demo-pkg", "1.0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@[bad/simple")
    with pytest.raises(SourceError) as worse:
        registry.resolve_sdist("demo-pkg", "1.0")
    for error in (caught, worse):
        assert "secret" not in str(error.value)
        assert "127.0.0.1" not in str(error.value)


def test_pins():
    assert registry.split_pin("Demo.Pkg == 1.0.post1") == ("Demo.Pkg", "1.0.post1")
    for bad in ("demo", "demo==", "==1", "demo>=1", "demo==1.*", "-demo==1", "demo==x", "de mo==1"):
        with pytest.raises(CorpusError, match="NAME==VERSION"):
            registry.split_pin(bad)


def test_a_digest_must_be_one(tmp_path):
    with pytest.raises(CorpusError, match="64 lowercase"):
        registry.fetch_file(open_store(tmp_path), "demo-pkg", "1.0", sha256="../../x", kind="sdist")


def test_entries_of_an_sdist(index, tmp_path):
    found = registry.sdist_entries(open_store(tmp_path), "demo-pkg==1.0", sha256(OLD).upper())
    assert [entry.path for entry in found] == ["PKG-INFO", "src/a.py"]
    with pytest.raises(CorpusError, match="sha256 is missing"):
        registry.sdist_entries(open_store(tmp_path), "demo-pkg==1.0", None)


@pytest.mark.network
def test_a_real_release_from_the_real_index(tmp_path):
    digest = registry.resolve_sdist("iniconfig", "2.0.0")
    found = registry.sdist_entries(open_store(tmp_path), "iniconfig==2.0.0", digest)
    assert "PKG-INFO" in [entry.path for entry in found]
