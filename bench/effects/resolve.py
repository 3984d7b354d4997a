"""Resolution of `dependencies: {pip: […]}` into a lock, for `doit relock` and nothing else: `doit` never resolves again.

pip decides which versions fit, as a dry run that installs nothing and builds nothing. The lock holds names, versions,
file names and digests; never an address or a path.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bench.effects import distributions, interpreter, proc, trees, wheels
from bench.effects.distributions import Pinned
from bench.effects.store import Store
from bench.errors import CorpusError, IntegrityError, MissingPart, StepFailed, UsageError

SECONDS = 600.0


def resolve(
    requirements: Sequence[str], python: str, store: Store, *, cancel: threading.Event | None = None
) -> list[dict[str, str]]:
    """Lock entries {name, version, filename, sha256, tree} of everything that `requirements` need, sorted by name.

    Raises CorpusError for a requirement that is malformed, names a path or address, or cannot be met by wheels.
    """
    if python != interpreter.minor():
        # pip would evaluate environment markers for the interpreter that runs it.
        raise UsageError(f"cannot resolve for Python {python}", remedy=f"run doit relock under Python {python}")
    for text in requirements:
        _check_requirement(text)
    if not requirements:
        return []
    found = [_pin(item, python, store) for item in _report(requirements, cancel)]
    return [item.to_json() for item in sorted(found, key=lambda item: item.name)]


def _check_requirement(text: str) -> None:
    try:
        parsed = Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).splitlines()[0]
        raise CorpusError(f"is not a requirement ({reason})", where=f"dependencies.pip: {text}") from None
    if parsed.url is not None:
        raise CorpusError(
            "names an address or a path, which a lock cannot hold",
            where=f"dependencies.pip: {text}",
            remedy="name a released version",
        )


def _report(requirements: Sequence[str], cancel: threading.Event | None) -> list[dict[str, Any]]:
    pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-input"]
    asked = ["--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", "-", "--", *requirements]
    done = proc.run([*pip, *asked], seconds=SECONDS, cancel=cancel)
    if done.exit != 0:
        said = done.stderr.decode("utf-8", "replace")
        if "No module named pip" in said:
            raise MissingPart("this environment has no pip", remedy="run python -m ensurepip in it")
        raise CorpusError(
            f"pip cannot meet {', '.join(requirements)} with wheels: {done.tail()}",
            where="dependencies.pip",
            remedy="choose versions that have wheels",
        )
    try:
        installs = json.loads(done.stdout)["install"]
    except (ValueError, KeyError, TypeError):
        raise StepFailed("pip's report is not of a known form", remedy="upgrade pip (23.0 or later)") from None
    return [dict(item) for item in installs]


def _pin(item: dict[str, Any], python: str, store: Store) -> Pinned:
    name, version = canonicalize_name(item["metadata"]["name"]), str(item["metadata"]["version"])
    address = urllib.parse.urlsplit(item["download_info"]["url"])
    filename = urllib.parse.unquote(address.path.rpartition("/")[2])
    wheels.check_filename(filename, name, version, python)
    sha256 = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
    if address.scheme == "file":
        data = Path(urllib.request.url2pathname(address.path)).read_bytes()
        actual = hashlib.sha256(data).hexdigest()
        if sha256 not in (None, actual):
            raise IntegrityError("the wheel's sha256 is not the reported one", where=filename)
        sha256 = actual
    elif not isinstance(sha256, str):
        raise CorpusError("the registry gives no sha256", where=filename, remedy="choose another version")
    else:
        data = distributions.fetch(store, name, version, filename, sha256)
    entries = wheels.unpack(data, filename)
    pinned = Pinned(name, version, filename, sha256, trees.tree_digest(entries))
    distributions.keep(store, pinned, entries)
    return pinned
