"""A small job schedule."""

from clockwork.durations import format_duration, parse_duration
from clockwork.schedule import Job, Schedule

__all__ = ["Job", "Schedule", "format_duration", "parse_duration"]
