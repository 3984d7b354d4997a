"""Files of a package index, by project, version and SHA-256: fetched once, verified, and kept in the store for good.

The index is pip's: PIP_INDEX_URL and PIP_EXTRA_INDEX_URL, certificates from REQUESTS_CA_BUNDLE or PIP_CERT. Every use
re-checks the digest, so an index is never trusted. No address is ever shown or recorded: one may hold a password.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from pypi_simple import (
    PYPI_SIMPLE_ENDPOINT,
    DistributionPackage,
    NoSuchProjectError,
    PyPISimple,
    UnsupportedContentTypeError,
    UnsupportedRepoVersionError,
)
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3.util import Retry

from bench.core import digest, records
from bench.core.records import Record
from bench.effects import env
from bench.effects.sources import archive
from bench.effects.store import Store
from bench.effects.trees import Entry
from bench.errors import CorpusError, IntegrityError, SourceError

Kind = Literal["sdist", "wheel"]
MAX_FILE = 512 << 20
"""Bytes of one download; the index's own usual limit is a fifth of it."""
TIMEOUT_S = 60.0
"""Seconds of silence after which a connection is given up."""
_HEX = re.compile(r"[0-9a-f]{64}")
_FAULTS = (requests.RequestException, UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError)


def fetch_file(store: Store, project: str, version: str, *, sha256: str, kind: Kind, filename: str | None = None) -> bytes:
    """The file with that SHA-256 (hex), from the store or else from the index; `filename` picks among wheels.

    Raises SourceError when no index has it, IntegrityError when an index serves other bytes under that name.
    """
    if not _HEX.fullmatch(sha256):
        raise CorpusError("sha256 must be 64 lowercase hex digits", where=f"{project}=={version}")
    kept = _kept(store, sha256)
    if kept is not None:
        return kept
    found = next(_files(project, version, kind, sha256=sha256, filename=filename), None)
    if found is None:
        raise _absent(project, version, kind, f" with sha256 {sha256}")
    data = found[1]
    if hashlib.sha256(data).hexdigest() != sha256:
        raise IntegrityError(f"the index serves other bytes than sha256 {sha256}", where=found[0].filename)
    _keep(store, sha256, kind, data)
    return data


def resolve_sdist(project: str, version: str) -> str:
    """SHA-256 (hex) of the release's sdist as an index states it, for `doit relock`. Raises SourceError."""
    for package, data in _files(project, version, "sdist", download=False):
        return package.digests.get("sha256") or hashlib.sha256(data).hexdigest()
    raise _absent(project, version, "sdist", "")


def sdist_entries(store: Store, pin: str, sha256: object) -> list[Entry]:
    """The files of the release `NAME==VERSION` whose sdist has that SHA-256, below its single top directory.

    Raises CorpusError for a pin or digest that is none, SourceError for an archive that is absent or hostile.
    """
    name, version = split_pin(pin)
    if not sha256:
        raise CorpusError("sha256 is missing", where=f"sdist: {pin}", remedy="doit relock")
    return archive.entries(fetch_file(store, name, version, sha256=str(sha256).lower(), kind="sdist"))


def split_pin(pin: str) -> tuple[str, str]:
    """`NAME==VERSION` in its two parts. Raises CorpusError."""
    name, separator, version = (part.strip() for part in pin.partition("=="))
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name) or not separator or _version(version) is None:
        raise CorpusError("must be NAME==VERSION", where=f"sdist: {pin}")
    return name, version


def key(sha256: str) -> str:
    """Under which key the store keeps a downloaded file: a record of kind `download` whose output `file` it is."""
    return digest.of("assay/download/1", [sha256])


def _kept(store: Store, sha256: str) -> bytes | None:
    record = store.find(key(sha256))
    if record is None:
        return None
    try:
        data = store.get(record.outputs["file"].blob)
    except IntegrityError:
        return None
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def _keep(store: Store, sha256: str, kind: Kind, data: bytes) -> None:
    params = {"sha256": sha256, "kind": kind}
    entry = Record(
        kind="download",
        name=sha256,
        key=key(sha256),
        inputs={},
        params=params,
        state=records.FINAL,
        reason=None,
        outputs={"file": store.put(data)},
        body={},
    )
    store.put_record(records.sealed(entry))


def _files(
    project: str, version: str, kind: Kind, *, sha256: str = "", filename: str | None = None, download: bool = True
) -> Iterator[tuple[DistributionPackage, bytes]]:
    """What the indexes offer for a release, in their order; a file whose stated digest differs is never one of them."""
    with _session() as session:
        for index in _indexes():
            client = PyPISimple(index, session=session)
            for package in _offers(client, project, version, kind):
                stated = package.digests.get("sha256", "")
                if (filename and package.filename != filename) or (sha256 and stated not in ("", sha256)):
                    continue
                yield package, b"" if stated and not download else _download(session, package)


def _offers(client: PyPISimple, project: str, version: str, kind: Kind) -> list[DistributionPackage]:
    try:
        page = client.get_project_page(project, timeout=TIMEOUT_S)
    except NoSuchProjectError:
        return []
    except _FAULTS as error:
        raise _unreachable(error, f"{project}=={version}") from None
    wanted = _version(version)
    found = [
        package
        for package in page.packages
        if package.package_type == kind
        and package.project is not None
        and canonicalize_name(package.project) == canonicalize_name(project)
        and _version(package.version or "") == wanted
    ]
    # A release may have its sdist in two formats: the tar is the one that tools install from.
    return sorted(found, key=lambda package: (package.filename.endswith(".zip"), package.filename))


def _download(session: requests.Session, package: DistributionPackage) -> bytes:
    parts, size = [], 0
    try:
        with session.get(package.url, stream=True, timeout=TIMEOUT_S) as reply:
            reply.raise_for_status()
            for part in reply.iter_content(1 << 20):
                parts.append(part)
                size += len(part)
                if size > MAX_FILE:
                    raise SourceError(f"is larger than {MAX_FILE} bytes", where=package.filename)
    except _FAULTS as error:
        raise _unreachable(error, package.filename) from None
    return b"".join(parts)


def _indexes() -> list[str]:
    first = env.get("PIP_INDEX_URL") or PYPI_SIMPLE_ENDPOINT
    return [first, *(env.get("PIP_EXTRA_INDEX_URL") or "").split()]


class _Files(BaseAdapter):
    """Indexes in a directory of this machine (file://…), as pip reads them: a folder's index.html is its page."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        path = Path(url2pathname(urlsplit(str(request.url)).path))
        reply = requests.Response()
        reply.request, reply.url = request, str(request.url)
        reply.headers["Content-Type"] = "text/html" if path.is_dir() else "application/octet-stream"
        try:
            reply.raw = io.BytesIO((path / "index.html" if path.is_dir() else path).read_bytes())
            reply.status_code = 200
        except OSError:
            reply.raw, reply.status_code = io.BytesIO(), 404
        return reply

    def close(self) -> None:
        """Nothing is held."""


@contextmanager
def _session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.verify = env.get("REQUESTS_CA_BUNDLE") or env.get("PIP_CERT") or True
        retries = HTTPAdapter(max_retries=Retry(total=4, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504)))
        session.mount("https://", retries)
        session.mount("http://", retries)
        session.mount("file://", _Files())
        yield session


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _absent(project: str, version: str, kind: Kind, which: str) -> SourceError:
    return SourceError(
        f"no package index has this {kind}{which}",
        where=f"{project}=={version}",
        remedy="check name, version and digest, or set PIP_INDEX_URL",
    )


def _unreachable(error: Exception, where: str) -> SourceError:
    # Only the kind of fault: the text of such an error holds the address, and with it perhaps a password.
    status = getattr(getattr(error, "response", None), "status_code", None)
    detail = f"HTTP {status}" if status else type(error).__name__
    return SourceError(
        f"the package index cannot be read ({detail})", where=where, remedy="check the network, PIP_INDEX_URL and PIP_CERT"
    )
