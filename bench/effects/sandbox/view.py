"""What the inside of every sandbox looks like besides the caller's mounts: system directories, /etc, the environment.

Pure but for looking at which system directories exist. Nothing here depends on the user, the project or the time.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from bench.effects.sandbox import DEPENDENCIES, HOME

ETC = {
    "passwd": b"root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"
    b"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": b"root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
    "hosts": b"127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n",
    "nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "host.conf": b"multi on\n",
    "gitconfig": b"",
}
"""/etc as it is made up for the sandbox: no name of this host, no resolver."""
ETC_FROM_HOST = ("alternatives",)
"""Directories of /etc that programs need and that name nobody: what links of /usr/bin lead through."""
ETC_FILES_FROM_HOST = ("ld.so.cache", "services", "protocols")
CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""The bundle of authorities, where distributions keep it. Nothing else of /etc/ssl: root reads its private keys."""
CERTIFICATES_INSIDE = "/etc/ssl/certs/ca-certificates.crt"
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
FOREIGN_PACKAGES = (
    "/usr/lib/python3*/dist-packages",
    "/usr/lib/python3*/site-packages",
    "/usr/lib64/python3*/site-packages",
)
SEARCH_PATH = f"{DEPENDENCIES}/bin:/opt/python/bin:/usr/bin:/bin:/usr/sbin:/sbin"

ENVIRONMENT: Mapping[str, str] = {
    "PATH": SEARCH_PATH,
    "HOME": HOME,
    "USER": "agent",
    "LOGNAME": "agent",
    "SHELL": "/bin/sh",
    "TMPDIR": "/tmp",
    "XDG_CACHE_HOME": f"{HOME}/.cache",
    "XDG_CONFIG_HOME": f"{HOME}/.config",
    "XDG_DATA_HOME": f"{HOME}/.local/share",
    "XDG_STATE_HOME": f"{HOME}/.local/state",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "CI": "1",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""The fixed neutral environment; `Spec.env` is laid over it."""


@functools.cache
def system_links() -> tuple[tuple[str, str], ...]:
    """`(path, text)` of /bin, /lib, … where they are links into /usr."""
    return tuple((p, Path(p).readlink().as_posix()) for p in SYSTEM if Path(p).is_symlink())


@functools.cache
def system_folders() -> tuple[str, ...]:
    """/usr, and /bin, /lib, … where they are directories of their own."""
    return ("/usr", *(p for p in SYSTEM if Path(p).is_dir() and not Path(p).is_symlink()))


@functools.cache
def masked() -> tuple[str, ...]:
    """Directories below /usr that hold what somebody installed on this host, shown empty."""
    found = ["/usr/local", "/usr/src"]
    for pattern in FOREIGN_PACKAGES:
        found += [str(p) for p in Path("/").glob(pattern.lstrip("/")) if p.is_dir() and not p.is_symlink()]
    return tuple(p for p in found if Path(p).is_dir())


@functools.cache
def certificates() -> Path | None:
    """The file of certificate authorities of this system."""
    return next((Path(p).resolve() for p in CERTIFICATES if Path(p).is_file()), None)


@functools.cache
def etc_folders() -> tuple[str, ...]:
    """Names of ETC_FROM_HOST that exist here."""
    return tuple(name for name in ETC_FROM_HOST if (Path("/etc") / name).is_dir())


@functools.cache
def etc_files() -> Mapping[str, bytes]:
    """Contents of /etc, made up or of the system."""
    found = {name: Path("/etc", name).read_bytes() for name in ETC_FILES_FROM_HOST if Path("/etc", name).is_file()}
    return found | ETC
