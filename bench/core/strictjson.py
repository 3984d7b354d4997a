"""JSON from people and agents, read strictly: what Python would let through stays visible, each field is checked by name.

Every refusal is a `Refused` that says `field: what is wrong`, without the text that was refused. Nothing is mended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

DIGITS = 1000
"""Decimal digits of a whole number; more are a joke on the reader."""
_DRIVE = re.compile(r"[A-Za-z]:")


NOT_UTF8, NOT_JSON, INVALID = "not-utf8", "not-json", "invalid"
"""Kinds of refusal, in the order in which they are looked for."""


class Refused(Exception):
    """`field: what is wrong`, of one of these kinds; who reads a format makes a value or an error of its own."""

    def __init__(self, text: str, kind: str = INVALID) -> None:
        super().__init__(text)
        self.kind = kind


def read(data: bytes) -> Any:
    """Parsed JSON in which what Python would let through is kept visible: duplicate keys, NaN, endless integers.

    Raises Refused for what is no UTF-8 or no JSON.
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_Odd, parse_int=_integer)
    except UnicodeDecodeError as error:
        raise Refused(f"is not valid UTF-8 (byte {error.start})", NOT_UTF8) from None
    except json.JSONDecodeError as error:
        raise Refused(f"is not valid JSON: {error.msg} (line {error.lineno})", NOT_JSON) from None
    except RecursionError:
        raise Refused("is not valid JSON: nested too deeply", NOT_JSON) from None


def whole(value: Any, where: str = "") -> None:
    """Nothing that JSON does not have and no key twice, at any depth. Raises Refused, RecursionError."""
    if isinstance(value, _Odd):
        refuse(where, f"must not be {value.what}")
    if isinstance(value, _Object) and value.twice is not None:
        refuse(f"{where}.{_name(value.twice)}".removeprefix("."), "stands there twice")
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            whole(item, f"{where}[{key}]" if isinstance(key, int) else f"{where}.{_name(key)}".removeprefix("."))


@dataclass(frozen=True, slots=True)
class _Odd:
    """A value that JSON does not have, or that is too large; no field accepts it."""

    what: str


class _Object(dict[str, Any]):
    """A JSON object that remembers a key that stood in it twice."""

    twice: str | None = None


def _pairs(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object()
    for key, value in pairs:
        if key in found and found.twice is None:
            found.twice = key
        found[key] = value
    return found


def _integer(text: str) -> int | _Odd:
    digits = len(text.lstrip("-"))
    return int(text) if digits <= DIGITS else _Odd(f"an integer of {digits} digits")


def fields(value: Any, where: str, wanted: tuple[str, ...]) -> Mapping[str, Any]:
    """The object at `where`, which has exactly these keys, each once. Raises Refused."""
    if not isinstance(value, _Object):
        refuse(where, f"must be an object, not {said(value)}")
    prefix = f"{where}." if where else ""
    if value.twice is not None:
        refuse(f"{prefix}{_name(value.twice)}", "stands there twice")
    for name in wanted:
        if name not in value:
            refuse(f"{prefix}{name}", "is missing")
    for name in value:
        if name not in wanted:
            refuse(f"{prefix}{_name(name)}", "is not a key of this format")
    return value


def text(value: Any, where: str, limit: int, *, strip: bool = False) -> str:
    """A text that is Unicode, not blank, without NUL, of at most `limit` bytes of UTF-8. Raises Refused."""
    if not isinstance(value, str):
        refuse(where, f"must be text, not {said(value)}")
    found = value.strip() if strip else value
    try:
        size = len(found.encode())
    except UnicodeEncodeError:
        refuse(where, "holds half of a surrogate pair")
    if not found.strip():
        refuse(where, "is blank")
    if size > limit:
        refuse(where, f"holds {size} bytes, the limit is {limit}")
    if "\0" in found:
        refuse(where, "holds a NUL")
    return found


def word(value: Any, where: str, limit: int, known: tuple[str, ...]) -> str:
    """One of a few words, in any case. Raises Refused."""
    found = text(value, where, limit).casefold()
    if found not in known:
        refuse(where, f"must be one of {', '.join(known)}")
    return found


def number(value: Any, where: str, least: int) -> int:
    """A whole number of at least `least`; `true` and `1.0` are none. Raises Refused."""
    if type(value) is not int:
        refuse(where, f"must be a whole number, not {said(value)}")
    if value < least:
        refuse(where, f"must be at least {least}")
    return value


def path(value: Any, where: str, limit: int) -> str:
    """A path below the source's root, with forward slashes, without `.` and empty parts. Raises Refused."""
    found = text(value, where, limit).replace("\\", "/")
    parts = [part for part in found.split("/") if part not in ("", ".")]
    if found.startswith("/") or (parts and _DRIVE.match(parts[0])):
        refuse(where, "is not relative to the source's root")
    if ".." in parts:
        refuse(where, "holds a part ..")
    if not parts:
        refuse(where, "names no file")
    return "/".join(parts)


def unique(names: list[str], where: str) -> None:
    """No id twice. Raises Refused."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            refuse(f"{where}[{place}].id", "is the id of an earlier one")
        seen.add(name)


def listed(value: Any, where: str) -> list[Any]:
    """A list. Raises Refused."""
    if not isinstance(value, list):
        refuse(where, f"must be a list, not {said(value)}")
    return value


def version(value: Any, wanted: int) -> None:
    """The one schema version there is. Raises Refused."""
    if type(value) is not int or value != wanted:
        refuse("schema_version", f"must be {wanted}, not {said(value)}")


def refuse(where: str, what: str) -> NoReturn:
    """Raises Refused."""
    raise Refused(f"{where or 'the document'}: {what}")


def said(value: Any) -> str:
    """A wrong value in words; never its text, which is the agent's."""
    if isinstance(value, _Odd):
        return value.what
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else "a large number"
    kinds = {str: "text", float: "a decimal number", list: "a list"}
    return kinds.get(type(value), "an object")


def _name(key: str) -> str:
    return ascii(key[:60])[1:-1]
