"""Takes secrets and host paths out of anything that is to be kept, by structure: keys first, then every string.

What it never does: judge whether something was leaked. A user name is hidden as part of a home directory only; as a bare
word it is not (a user called `runner` would blank half of a transcript), and the sandbox shows no user name to begin with.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.errors import IntegrityError

HIDDEN = "[redacted]"
SHORTEST = 8
"""A known secret shorter than this many characters is a word, and would blank ordinary text."""

_KEYS = {
    "authorization",
    "proxy_authorization",
    "api_key",
    "apikey",
    "x_api_key",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "auth_token",
    "secret",
    "client_secret",
    "secret_key",
    "private_key",
    "cookie",
    "set_cookie",
    "password",
    "passwd",
    "credentials",
}
_PATTERNS = [
    (re.compile(r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,}"), HIDDEN),  # not in `task-management-dashboard`
    (re.compile(r"\bgh[a-z]_[A-Za-z0-9]{16,}"), HIDDEN),
    (re.compile(r"\bgithub_pat_[A-Za-z0-9_]{16,}"), HIDDEN),
    (re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}"), HIDDEN),
    (re.compile(r"\bAKIA[0-9A-Z]{16}\b"), HIDDEN),
    (re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"), HIDDEN),
    (re.compile(r"(?i)(authorization\W{1,8}f?\W{0,3}(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{4,}"), r"\1" + HIDDEN),
    # Without the header's name only what no word looks like: `a basic implementation` stays.
    (re.compile(r"(?i)\b(bearer|basic)\s+(?=[a-z._~+/=-]*(?:[0-9]|\.[a-z_-]+\.))[A-Za-z0-9._~+/=-]{16,}"), r"\1 " + HIDDEN),
    (re.compile(r"(?<=://)[^/\s:@'\"]{1,200}:[^/\s@'\"]{1,200}(?=@)"), HIDDEN),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
]
_EVERYWHERE = {"/", "/home", "/home/agent", "/opt", "/root", "/tmp", "/usr", "/usr/local", "/var", "/workspace"}
_SECRET_NAME = re.compile(r"(?i)(api_?key|_key$|token|secret|passw|credential)")


class Redactor:
    """Hides known secrets, secrets by their form, and the host's own paths. Build one per session."""

    def __init__(self, secrets: Iterable[str] = (), paths: Mapping[str, str] | None = None) -> None:
        """`secrets`: strings to hide, without blanks at their ends. `paths`: host path → what to show instead; longer ones
        win."""
        known = sorted({s for secret in secrets if len(s := secret.strip()) >= SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(re.escape(s) for s in known)) if known else None
        longest_first = sorted((paths or {}).items(), key=lambda item: -len(item[0]))
        self._paths = [(re.compile(re.escape(path) + r"(?![\w.-])"), shown) for path, shown in longest_first]

    def text(self, text: str) -> str:
        """One string; lone surrogates, control characters and everything else stay as they are."""
        if self._known:
            text = self._known.sub(HIDDEN, text)
        for pattern, shown in _PATTERNS:
            text = pattern.sub(shown, text)
        for path, shown in self._paths:
            text = path.sub(shown, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value of the same shape; what stands under a sensitive key is hidden whole.

        Raises IntegrityError when two keys of one object become the same.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        for key, item in value.items():
            name = self.text(key)
            if name in out:
                raise IntegrityError("two keys of one object are the same after redaction", where=name[:80])
            sensitive = key.casefold().replace("-", "_") in _KEYS and item is not None
            out[name] = HIDDEN if sensitive else self.value(item)
        return out


def known_secrets(variables: Mapping[str, str] | None = None) -> list[str]:
    """Values of environment variables, this process's unless others are given, whose names say that they are secret."""
    return [
        value
        for name, value in (os.environ if variables is None else variables).items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST
    ]


def host_paths(*paths: Path) -> dict[str, str]:
    """The given directories, the user's home and our virtual environment, as `Redactor` wants them.

    Places that every sandbox has too (/workspace, /usr/local) say nothing about the host and stay.
    """
    shown = {str(path): "<host>" for path in paths}
    shown[os.environ.get("HOME", "")] = "<home>"
    if sys.prefix != sys.base_prefix:
        shown[sys.prefix] = "<python>"
    return {path: name for path, name in shown.items() if path.startswith("/") and path not in _EVERYWHERE}
