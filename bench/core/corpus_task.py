"""One task of a suite file, from a document whose structure was checked: the rules that a schema cannot say.

Sizes of files are checked where files are read; here are names, paths, lengths and what must fit together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bench.core import names, relpath
from bench.core.names import shown
from bench.core.suite import REVIEW_LABELS, Gold, Oracle, OracleFile, Task
from bench.core.yamlmap import Node, place
from bench.errors import CorpusError

COMMAND_BYTES = 8 << 10
PROMPT_BYTES = 256 << 10
"""Limits of the reference (spec 1.1); those of oracle files are in `sealing`, and applied where the files are read."""

_REQUIREMENT = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
    r"\s*(?:\[\s*[A-Za-z0-9._-]+(?:\s*,\s*[A-Za-z0-9._-]+)*\s*\])?"
    r"\s*(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.!+*_-]+(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.!+*_-]+)*)?"
    r"\s*(?:;[^\x00-\x1f]{1,200})?"
)
_CREDENTIALS = re.compile(r"://[^/@\s]*:[^/@\s]*@")


def build(node: Node, path: str) -> Task:
    """The task at `node` of the suite file `path`. Raises CorpusError."""
    text = _Texts(node, path)
    oracle, gold = node.get("oracle"), node.get("gold")
    return Task(
        id=names.check(text.required("id"), text.where("id")),
        cls=text.required("class"),
        source=_source(node, path),
        prompt=text.required("prompt", PROMPT_BYTES),
        verify=text.required("verify", COMMAND_BYTES),
        setup=text.optional("setup", COMMAND_BYTES),
        patch=_path(node.get("patch"), path),
        dependencies=_requirements(node.get("dependencies"), path),
        sandbox_copy=_paths(node.get("sandbox_copy"), path),
        sandbox_dependencies=_mounts(node.get("sandbox_dependencies"), path),
        oracle=_oracle(oracle, path) if oracle else None,
        gold=_gold(gold, path) if gold else None,
        expensive=bool(node.value["expensive"].value) if "expensive" in node.value else False,
    )


class _Texts:
    """Reads texts of a mapping, bounded in bytes and free of NUL."""

    def __init__(self, node: Node, path: str) -> None:
        self.node = node
        self.path = path

    def where(self, key: str) -> str:
        found = self.node.get(key)
        return place(self.path, found.at if found else self.node.at)

    def required(self, key: str, limit: int = 1024) -> str:
        text: str = self.node.value[key].value
        if "\0" in text:
            raise CorpusError(f"{key}: contains NUL", where=self.where(key), remedy="remove it")
        size = len(text.encode())
        if size > limit:
            raise CorpusError(f"{key}: holds {size} bytes, the limit is {limit}", where=self.where(key))
        return text

    def optional(self, key: str, limit: int = 1024) -> str | None:
        return self.required(key, limit) if self.node.get(key) else None


def _source(task: Node, path: str) -> Mapping[str, Any]:
    node = task.get("source")
    if node is None:
        texts = _Texts(task, path)
        return _git(texts, "repo")
    texts = _Texts(node, path)
    if node.get("git"):
        return _git(texts, "git")
    if node.get("dir"):
        return {"dir": _place(texts, "dir").rstrip("/") or "/"}
    return _sdist(node)


def _git(texts: _Texts, key: str) -> Mapping[str, Any]:
    address = _place(texts, key)
    if "::" in address:
        raise CorpusError(f"{key}: names a transport helper", where=texts.where(key), remedy="use a path or a plain URL")
    if _CREDENTIALS.search(address):
        raise CorpusError(f"{key}: contains a password", where=texts.where(key), remedy="leave it to git's credential store")
    ref = texts.optional("ref") or "HEAD"
    if ref.startswith("-") or not ref.isprintable() or " " in ref:
        raise CorpusError(f"ref: {shown(ref)} is not a git ref", where=texts.where("ref"))
    return {"git": address, "ref": ref}


def _place(texts: _Texts, key: str) -> str:
    value = texts.required(key)
    if value.startswith("-") or not value.isprintable() or value != value.strip():
        raise CorpusError(f"{key}: {shown(value)} is neither a path nor a URL", where=texts.where(key))
    return value


def _sdist(node: Node) -> dict[str, str]:
    found = {"sdist": str(node.value["sdist"].value)}
    sha256 = node.get("sha256")
    return found | {"sha256": sha256.value.lower()} if sha256 else found


def _requirements(node: Node | None, path: str) -> tuple[str, ...]:
    pip = node.get("pip") if node else None
    found = []
    for item in pip.value if pip else ():
        text = " ".join(item.value.split())
        if len(text) > 256 or not _REQUIREMENT.fullmatch(text):
            raise CorpusError(
                f"dependencies.pip: {shown(item.value)} is not a requirement",
                where=place(path, item.at),
                remedy="write NAME, or NAME and versions such as ==1.0; no URLs, paths or options",
            )
        found.append(text)
    return tuple(found)


def _paths(node: Node | None, path: str, *, root: bool = False) -> tuple[str, ...]:
    return tuple(names.check_path(i.value, place(path, i.at), root=root) for i in (node.value if node else ()))


def _path(node: Node | None, path: str) -> str | None:
    return names.check_path(node.value, place(path, node.at)) if node else None


def _mounts(node: Node | None, path: str) -> tuple[tuple[str, str], ...]:
    found = []
    for item in node.value if node else ():
        source, target = item.value["source"], item.value["target"]
        pair = tuple(names.check_path(n.value, place(path, n.at)) for n in (source, target))
        found.append((pair[0], pair[1]))
    _no_clash([target for _source, target in found], "sandbox_dependencies", node, path)
    return tuple(found)


def _no_clash(paths: list[str], key: str, node: Node | None, path: str) -> None:
    pair = relpath.clash(paths)
    if pair and node:
        what = f"{key}: the targets {shown(pair[0])} and {shown(pair[1])} cannot stand side by side"
        raise CorpusError(what, where=place(path, node.at), remedy="rename one of them")


def _oracle(node: Node, path: str) -> Oracle:
    labels = node.get("labels")
    if labels is not None:
        source = names.check_path(labels.value, place(path, labels.at))
        return Oracle(files=(OracleFile(source, REVIEW_LABELS),), labels=True)
    files = tuple(_oracle_file(item, path) for item in node.value["files"].value)
    _no_clash([f.target for f in files], "oracle.files", node.value["files"], path)
    targets = [f.target for f in files]
    if REVIEW_LABELS in targets and (len(targets) > 1 or node.get("pytest")):
        raise CorpusError(
            f"oracle.files: {REVIEW_LABELS} makes the task a review, which has no other file and no pytest",
            where=place(path, node.value["files"].at),
            remedy="write oracle: {labels: FILE}",
        )
    sources = [(f.sdist, f.source) for f in files]
    if len(set(sources)) < len(sources):
        raise CorpusError(
            "oracle.files: the same source twice", where=place(path, node.value["files"].at), remedy="remove one"
        )
    pytest = node.get("pytest")
    if pytest is None:
        command = _Texts(node, path).required("command", COMMAND_BYTES)
        report = node.get("report")
        labelled = [f.target for f in files] == [REVIEW_LABELS]
        return Oracle(files=files, command=command, report=report.value if report else "exit", labels=labelled)
    args = pytest.get("args")
    return Oracle(
        files=files,
        pytest=True,
        report="pytest",
        paths=_pytest_paths(pytest.value["paths"], files, path),
        pythonpath=_paths(pytest.get("pythonpath"), path, root=True),
        args=tuple(_argument(item, path) for item in (args.value if args else ())),
    )


def _pytest_paths(node: Node, files: tuple[OracleFile, ...], path: str) -> tuple[str, ...]:
    found = _paths(node, path)
    for item in node.value:
        if not any(_may_hold(file, item.value) for file in files):
            raise CorpusError(
                f"oracle.pytest.paths: {shown(item.value)} is no target of the oracle's files",
                where=place(path, item.at),
                remedy=f"targets: {', '.join(f.target for f in files)}",
            )
    return found


def _may_hold(file: OracleFile, wanted: str) -> bool:
    """Whether `wanted` is the file's target, a directory above it, or a path below it.

    The last only for a file of an sdist, which can be a directory. What it holds is not known here: the oracle step
    refuses a path that turns out to be none of its files.
    """
    return (
        file.target == wanted
        or file.target.startswith(f"{wanted}/")
        or (file.sdist is not None and wanted.startswith(f"{file.target}/"))
    )


def _argument(node: Node, path: str) -> str:
    text: str = node.value
    if not text or len(text) > 1024 or not text.isprintable():
        raise CorpusError("oracle.pytest.args: an argument is blank, too long or not printable", where=place(path, node.at))
    return text


def _oracle_file(node: Node, path: str) -> OracleFile:
    target = names.check_path(node.value["target"].value, place(path, node.value["target"].at))
    inside = node.value["source"] if "source" in node.value else node.value["path"]
    source = names.check_path(inside.value, place(path, inside.at))
    if "sdist" not in node.value:
        return OracleFile(source=source, target=target)
    return OracleFile(source=source, target=target, **_sdist(node))


def _gold(node: Node, path: str) -> Gold:
    if isinstance(node.value, str):
        return Gold(patch=names.check_path(node.value, place(path, node.at)))
    exclude = node.get("exclude")
    return Gold(**_sdist(node), exclude=tuple(item.value for item in (exclude.value if exclude else ())))
