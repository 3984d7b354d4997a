"""Hidden: Schedule.overdue."""

from clockwork import Job, Schedule


def schedule():
    made = Schedule(start=100)
    made.add(Job("a", 60))
    made.add(Job("b", 10))
    made.add(Job("c", 30))
    made.add(Job("off", 1, paused=True))
    return made


def names(jobs):
    return [job.name for job in jobs]


def test_everything_is_due_at_the_start_by_name():
    assert names(schedule().overdue(100)) == ["a", "b", "c"]


def test_longest_overdue_first():
    made = schedule()
    made.ran("a", 100)
    made.ran("b", 105)
    made.ran("c", 101)
    assert names(made.overdue(200)) == ["b", "c", "a"]


def test_due_exactly_now_counts():
    made = schedule()
    made.ran("a", 100)
    made.ran("b", 200)
    made.ran("c", 200)
    assert names(made.overdue(160)) == ["a"]


def test_paused_jobs_are_never_overdue():
    made = schedule()
    assert "off" not in names(made.overdue(10_000))


def test_nothing_before_the_start():
    assert schedule().overdue(99) == []
