"""YAML with positions: plain values of a safe subset, each with the line and column where it stands.

Built from the parser's events, so that size, depth and what aliases expand to are bounded while reading. Anchors and merge
keys are allowed; duplicate keys, several documents, tags beyond the plain ones, keys that are not text, and numbers that
canonical JSON cannot hold are refused. Never makes an object of any other class.
"""

from __future__ import annotations

import math
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from bench.core.names import shown
from bench.errors import CorpusError

MAX_BYTES = 8 << 20
MAX_DEPTH = 48
MAX_VALUES = 1_000_000
"""After expansion of aliases; a long text counts as one more value per 100 characters."""
MAX_NUMBER = 2**63
NUMBER_CHARS = 64

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_SCALARS = {_TAG + name: name for name in ("null", "bool", "int", "float", "str")}
_PLAIN_COLLECTIONS = (None, "!", _TAG + "map", _TAG + "seq")
_IMPLICIT: Any = yaml.SafeLoader.yaml_implicit_resolvers
_MERGE = "<<"

Position = tuple[int, int]
"""Line and column, both counted from 1."""


def place(path: str, at: Position) -> str:
    """`path:line:column`, as errors name a place."""
    return f"{path}:{at[0]}:{at[1]}"


class Node:
    """A value and where it stands. `value` is a scalar, a list of nodes, or a dict from text to node."""

    __slots__ = ("at", "keys", "value")

    def __init__(self, value: Any, at: Position, keys: dict[str, Position] | None = None) -> None:
        self.value = value
        self.at = at
        self.keys = keys

    def get(self, key: str) -> Node | None:
        """The value of a key, or None when the mapping lacks it or it is null."""
        node: Node | None = self.value.get(key)
        return None if node is None or node.value is None else node

    def plain(self) -> Any:
        """Fresh plain containers and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def find(self, path: list[Any]) -> Node:
        """The node at a path of keys and indices."""
        node = self
        for part in path:
            node = node.value[part]
        return node

    def key_at(self, key: str) -> Position:
        """Where a key of this mapping stands."""
        return (self.keys or {}).get(key, self.at)


def load(text: str, path: str, *, loader: Any = LOADER) -> Node:
    """The one document of `text`. Raises CorpusError with `path:line:column`, and nothing else, for any text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise CorpusError("not valid Unicode (half a surrogate pair)", where=path) from None
    if size > MAX_BYTES:
        raise CorpusError(f"holds {size} bytes, the limit is {MAX_BYTES}", where=path)
    odd = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if odd:
        line, column = text.count("\n", 0, odd.start()) + 1, odd.start() - text.rfind("\n", 0, odd.start())
        raise CorpusError(f"the character {shown(odd.group())} is not allowed in YAML", where=f"{path}:{line}:{column}")
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.reader.ReaderError as error:
        raise CorpusError(f"not YAML: {error.reason}", where=path) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise CorpusError(f"not YAML: {error.problem or error.context}", where=where) from None
    return builder.root or Node(None, (1, 1))


class _Frame:
    __slots__ = ("anchor", "key", "key_at", "node", "weight")

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: str | None = None
        self.key_at: Position = node.at
        self.weight = 1


class _Builder:
    """Turns events into nodes without recursion."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.root: Node | None = None
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.total = 0
        self.documents = 0
        self.known: set[str] = set()
        """Plain scalars that are text: mostly the same few keys, again and again."""

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._open(event, mapping=kind is yaml.MappingStartEvent)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self.documents += 1
            if self.documents > 1:
                raise self._error("a second document", _at(event), "keep one document in the file")

    def _error(self, what: str, at: Position, remedy: str = "") -> CorpusError:
        return CorpusError(what, where=place(self.path, at), remedy=remedy)

    def _scalar(self, event: Any) -> None:
        at = _at(event)
        text = event.value
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.key is None and frame.node.keys is not None:
            self._set_key(frame, event, at)
            return
        weight = 1 + len(text) // 100
        node = Node(self._resolve(event, at), at)
        if event.anchor:
            self.anchors[event.anchor] = (node, weight)
        self._add(node, weight)

    def _set_key(self, frame: _Frame, event: Any, at: Position) -> None:
        key = self._resolve(event, at)
        if not isinstance(key, str):
            raise self._error(f"the key {shown(event.value)} is not text", at, "put it in quotes")
        if key in frame.node.value:
            first = frame.node.key_at(key)
            raise self._error(f"the key {shown(key)} stands twice (first at line {first[0]})", at, "remove one")
        frame.key, frame.key_at = key, at
        if event.anchor:
            self.anchors[event.anchor] = (Node(key, at), 1)

    def _open(self, event: Any, *, mapping: bool) -> None:
        at = _at(event)
        if event.tag not in _PLAIN_COLLECTIONS:
            raise self._error(f"the tag {shown(event.tag)} is not allowed", at, "remove it")
        if self.stack and self.stack[-1].key is None and self.stack[-1].node.keys is not None:
            raise self._error("a key that is a list or mapping", at, "keys are text")
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", at)
        node = Node({}, at, {}) if mapping else Node([], at)
        self.stack.append(_Frame(node, event.anchor))

    def _close(self) -> None:
        frame = self.stack.pop()
        if frame.node.keys is not None and _MERGE in frame.node.value:
            self._merge(frame.node)
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.node, frame.weight)
        self._add(frame.node, frame.weight, counted=True)

    def _alias(self, event: Any) -> None:
        at = _at(event)
        known = self.anchors.get(event.anchor)
        if known is None:
            inside = any(f.anchor == event.anchor for f in self.stack)
            what = "an alias inside its own anchor" if inside else "an alias without anchor"
            raise self._error(f"{what}: {shown(event.anchor)}", at)
        frame = self.stack[-1] if self.stack else None
        if frame is not None and frame.key is None and frame.node.keys is not None:
            raise self._error("a key that is an alias", at, "write the key out")
        self._add(*known)

    def _add(self, node: Node, weight: int, *, counted: bool = False) -> None:
        self.total += 1 if counted else weight
        if self.total > MAX_VALUES:
            raise self._error(f"expands to more than {MAX_VALUES} values", node.at)
        if not self.stack:
            self.root = node
            return
        frame = self.stack[-1]
        frame.weight += weight
        if frame.node.keys is None:
            frame.node.value.append(node)
            return
        assert frame.key is not None, "a value follows its key"
        frame.node.value[frame.key] = node
        frame.node.keys[frame.key] = frame.key_at
        frame.key = None

    def _merge(self, node: Node) -> None:
        assert node.keys is not None
        merged: Node = node.value.pop(_MERGE)
        at = node.keys.pop(_MERGE)
        if not _mergeable(merged):
            raise self._error("'<<' takes a mapping or a list of mappings", at, "merge an anchored mapping: <<: *name")
        for source in [merged] if isinstance(merged.value, dict) else merged.value:
            for key, value in source.value.items():
                if key not in node.value:
                    node.value[key] = value
                    node.keys[key] = source.key_at(key)

    def _resolve(self, event: Any, at: Position) -> Any:
        tag, text = event.tag, event.value
        if tag is None:
            if not event.implicit[0] or text in self.known:
                return text
            tag = _implicit_tag(text)
            if tag == _TAG + "str":
                self.known.add(text)
                return text
        elif tag == "!":
            return text
        elif tag not in _SCALARS:
            raise self._error(f"the tag {shown(tag)} is not allowed", at, "remove it")
        return self._construct(_SCALARS.get(tag, "str"), text, at)

    def _construct(self, kind: str, text: str, at: Position) -> Any:
        if kind == "str":
            return text
        if kind == "null":
            return None
        if kind == "bool":
            known = SafeConstructor.bool_values.get(text.lower())
            if known is None:
                raise self._error(f"{shown(text)} is neither true nor false", at)
            return known
        try:
            number = _number(kind, text)
        except (ValueError, OverflowError, IndexError):
            raise self._error(f"{shown(text)} is not a number", at) from None
        if not math.isfinite(number) or abs(number) >= MAX_NUMBER:
            raise self._error(f"the number {shown(text)} is not finite or too large", at)
        return number


def _mergeable(node: Node) -> bool:
    if isinstance(node.value, list):
        return all(isinstance(n.value, dict) for n in node.value)
    return isinstance(node.value, dict)


def _at(event: Any) -> Position:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _implicit_tag(text: str) -> str:
    for tag, pattern in _IMPLICIT.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return _TAG + "str"


def _number(kind: str, text: str) -> int | float:
    if len(text) > NUMBER_CHARS:
        raise ValueError("too long")
    read = SafeConstructor()
    node = yaml.ScalarNode(_TAG + kind, text)
    number: int | float = read.construct_yaml_int(node) if kind == "int" else read.construct_yaml_float(node)
    return number
