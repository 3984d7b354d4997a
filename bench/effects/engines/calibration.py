"""The two engines that calibrate a task: `nop` changes nothing, `gold` applies the reference patch. Neither costs anything.

They say nothing about agents: a task whose grader cannot tell them apart is broken.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.effects.engines import Ours, Outcome, Room, Work
from bench.effects.engines.transcript import Transcript
from bench.effects.redact import Redactor
from bench.errors import Cancelled, StepFailed

NO_USAGE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}
"""Known to be zero: no model was asked."""

# GIT_DIR points nowhere on purpose: git then only patches files, and heeds no configuration or attribute of the workspace.
_APPLY = ("env", "GIT_DIR=/nonexistent", "git", "apply", "--whitespace=nowarn", "-")
# As an agent should: a temporary file, then a rename.
_HAND_IN = ("sh", "-c", 'cat > "$1.new" && mv "$1.new" "$1"', "sh")


class Nop(Ours):
    """Does nothing."""

    protocol = 1
    places: Mapping[str, str] = {}

    def open(self, work: Work, room: Room) -> None:
        """Needs nothing."""
        self._room = room

    def run(self) -> Outcome:
        """An empty session."""
        if self._room.cancel.is_set():
            raise Cancelled("the session was cancelled")
        transcript = Transcript()
        transcript.add("result", subtype="success", is_error=False, num_turns=0)
        return Outcome(transcript.to_bytes(Redactor()), usage=NO_USAGE, turns=0)

    def close(self) -> None:
        """Nothing to release."""


class Gold(Ours):
    """Applies the reference patch in the sandbox."""

    protocol = 1
    places: Mapping[str, str] = {}

    def open(self, work: Work, room: Room) -> None:
        """Raises StepFailed when the arm was given no patch, and no review either."""
        self._review, self._hand_in = work.review, work.hand_in
        if work.patch is None and work.review is None:
            raise StepFailed("the gold arm has no reference patch", remedy="give the task a `gold:`")
        self._patch = work.patch or b""
        self._seconds = float(work.limits.get("session_s", 600))
        self._room = room

    def run(self) -> Outcome:
        """Raises StepFailed when the patch does not apply: the task is broken, no agent failed."""
        if self._room.cancel.is_set():
            raise Cancelled("the session was cancelled")
        if self._review is not None and self._hand_in:
            self._do((*_HAND_IN, self._hand_in), self._review, "review cannot be handed in")
        elif self._patch.strip():
            self._do(_APPLY, self._patch, "patch does not apply")
        transcript = Transcript()
        transcript.add("result", subtype="success", is_error=False, num_turns=0)
        return Outcome(transcript.to_bytes(Redactor()), usage=NO_USAGE, turns=0)

    def _do(self, argv: tuple[str, ...], stdin: bytes, fault: str) -> None:
        done = self._room.execute(argv, stdin=stdin, seconds=self._seconds)
        if done.limit == "cancelled":
            raise Cancelled("the session was cancelled")
        if not done.ok:
            why = done.limit or " ".join(done.stderr.decode("utf-8", "replace").split())[:400]
            raise StepFailed(f"the reference {fault}: {why}", remedy="mend the task's gold")

    def close(self) -> None:
        """Nothing to release."""
