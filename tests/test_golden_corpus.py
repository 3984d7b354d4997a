"""One file per version of each corpus format, as users have it: it must read the same for as long as the version lives."""

from pathlib import Path

from bench.core import corpus, lock, prices
from bench.core.suite import OracleFile

GOLDEN = Path(__file__).parent / "golden"


def text(name):
    return (GOLDEN / name).read_text("utf-8")


def read_suite():
    arms = text("arms-1.yaml")
    return corpus.parse_suite(text("suite-1.yaml"), path="corpus/suite-1.yaml", arms_text=arms, arms_path="corpus/arms.yaml")


def test_suite_1():
    suite = read_suite()
    first, second = suite.tasks
    assert [arm.name for arm in suite.arms] == ["nop", "incumbent", "candidate"]
    assert suite.arm("candidate").params == {"temperature": 0}
    assert (suite.limits.setup_s, suite.limits.tokens, suite.promotion["policy"]) == (10.5, 9000, "statistical")
    assert first.expensive
    assert second.setup == "make"
    assert second.oracle is not None
    assert second.oracle.files == (OracleFile("tests/t.py", "tests/t.py", "click==8.1.8", "0123456789abcdef" * 4),)


def test_lock_1():
    read = lock.parse(text("lock-1.json"), "corpus/suite-1.lock.json")
    assert lock.dump(read).decode() == text("lock-1.json")
    first, second = read_suite().tasks
    assert read.source(first.source)["commit"] == "0123456789abcdef0123456789abcdef01234567"
    assert read.source(second.source)["sha256"] == "0123456789abcdef" * 4


def test_prices_1():
    table = prices.parse(text("prices-1.json"), "corpus/prices.json")
    assert prices.row(table, "provider/model") == {"input": 1, "cache_creation": 1.25, "cache_read": 0.1, "output": 5}
