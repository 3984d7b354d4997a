"""Jobs that repeat, and which of them is next."""

from __future__ import annotations

from dataclasses import dataclass, field

from clockwork.durations import parse_duration


@dataclass
class Job:
    """A job that runs every `every` seconds; `last_run` is None until it ran."""

    name: str
    every: int
    last_run: int | None = None
    paused: bool = False

    @classmethod
    def repeating(cls, name: str, every: str) -> Job:
        """A job from a duration text."""
        return cls(name, parse_duration(every))

    def due_at(self, start: int = 0) -> int:
        """The moment of its next run, in seconds; `start` is when the schedule began."""
        return start if self.last_run is None else self.last_run + self.every


@dataclass
class Schedule:
    """Jobs by name, from a start moment on."""

    start: int = 0
    jobs: dict[str, Job] = field(default_factory=dict)

    def add(self, job: Job) -> None:
        """Add a job. Raises ValueError for a name that is taken."""
        if job.name in self.jobs:
            raise ValueError(f"there is a job {job.name!r} already")
        self.jobs[job.name] = job

    def next_job(self) -> Job | None:
        """The job that is due first; None without a job that is not paused."""
        waiting = [job for job in self.jobs.values() if not job.paused]
        return min(waiting, key=lambda job: job.due_at(self.start), default=None)

    def ran(self, name: str, now: int) -> None:
        """Note that a job ran."""
        self.jobs[name].last_run = now
