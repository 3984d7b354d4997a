import pytest

from clockwork import Job, Schedule


def test_next_job_is_the_one_due_first():
    schedule = Schedule(start=100)
    schedule.add(Job.repeating("backup", "2h"))
    schedule.add(Job.repeating("ping", "10m"))
    schedule.ran("backup", 100)
    schedule.ran("ping", 200)
    assert schedule.next_job().name == "ping"


def test_a_name_is_taken_once():
    schedule = Schedule()
    schedule.add(Job("a", 5))
    with pytest.raises(ValueError, match="already"):
        schedule.add(Job("a", 6))


def test_nothing_to_do():
    assert Schedule().next_job() is None
