"""doit's database on top of our index: a line is appended when a step finishes, so a killed run loses nothing finished."""

from __future__ import annotations

from typing import Any


class JournalBackend:
    """doit's backend protocol (0.37: get, set, in_, remove, remove_all, dump)."""

    desc = "append-only journal in artifacts/"

    def __init__(self, name: str, codec: object, module_name: str | None = None) -> None:
        from bench.make import workspace  # doit imports every backend before the stamp can answer

        self.name = name
        self._index = workspace.index_at(name)

    def get(self, task_id: str, dependency: str) -> Any:
        """One saved state of a step, or None."""
        index = self._index
        index.load()
        row = index.rows.get(task_id)
        return None if row is None else row.get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Save a state. doit sets `deps:` last, which makes the row whole."""
        index = self._index
        if dependency == "checker:":
            index.rows[task_id] = {}
        row = index.rows.setdefault(task_id, {})
        if dependency == "_values_:":
            return
        row[dependency] = list(value) if isinstance(value, tuple) else value
        if dependency == "deps:":
            index.commit(task_id)

    def in_(self, task_id: str) -> bool:
        """Whether anything is saved of a step."""
        self._index.load()
        return task_id in self._index.rows

    def remove(self, task_id: str) -> None:
        """Forget a step's row (the record it made stays)."""
        self._index.load()
        if self._index.rows.pop(task_id, None) is not None:
            self._index.rows[task_id] = {}
            self._index.commit(task_id)
            del self._index.rows[task_id]

    def remove_all(self) -> None:
        """Forget every row."""
        for task_id in list(self._index.rows):
            self.remove(task_id)

    def dump(self) -> None:
        """A normal end."""
        self._index.close()
