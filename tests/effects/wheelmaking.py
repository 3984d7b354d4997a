"""Wheels made by hand, and installed by hand the way pip does it, for tests that need no registry."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from bench.effects import trees, wheels
from bench.effects.distributions import Pinned

WHEEL = b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(
    name: str,
    version: str,
    files: Mapping[str, bytes],
    *,
    entry_points: str = "",
    executable: tuple[str, ...] = (),
) -> bytes:
    """A wheel's bytes: `files` as they stand in the archive, dist-info and RECORD added."""
    info = f"{name}-{version}.dist-info"
    every = dict(files)
    every[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    every[f"{info}/WHEEL"] = WHEEL
    if entry_points:
        every[f"{info}/entry_points.txt"] = entry_points.encode()
    rows = [f"{path},sha256={record_hash(data)},{len(data)}" for path, data in every.items()]
    every[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in every.items():
            item = zipfile.ZipInfo(path)
            item.external_attr = (0o100755 if path in executable else 0o100644) << 16
            archive.writestr(item, data)
    return out.getvalue()


def record_hash(data: bytes) -> str:
    """The hash of a RECORD row."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def filename(name: str, version: str) -> str:
    """Of a pure wheel."""
    return f"{name}-{version}-py3-none-any.whl"


def lock(name: str, version: str, data: bytes) -> Pinned:
    """The lock entry of a wheel's bytes."""
    entries = wheels.unpack(data, filename(name, version))
    return Pinned(name, version, filename(name, version), hashlib.sha256(data).hexdigest(), trees.tree_digest(entries))


def write(root: Path, files: Mapping[str, bytes]) -> Path:
    """Files below `root`."""
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root
