"""The launcher's own pieces; that it starts codeanalyzer in the sandbox is shown by the tests of the indexer."""

import subprocess
import sys
from pathlib import Path

from bench.effects.indexers import canpy_launch


def test_lone_surrogates_are_escaped_wherever_they_stand():
    raw = {"doc \ud800": ["\udfff", ("é", 1, None, True)]}
    assert canpy_launch._escaped(raw) == {"doc \\ud800": ["\\udfff", ["é", 1, None, True]]}


def test_files_are_listed_in_order(tmp_path):
    listed = canpy_launch._in_order(lambda self, pattern: [self / "b.py", self / "a/z.py", self / "a.py"])
    assert [p.name for p in listed(tmp_path, "*.py")] == ["z.py", "a.py", "b.py"]


def test_an_ordered_set_is_a_set_that_keeps_the_order_of_insertion():
    items = [object() for _ in range(50)]
    one = canpy_launch.Ordered([*items, *items[:5]])
    assert list(one) == items
    assert list(canpy_launch.Ordered(items[10:]) | one) == items[10:] + items[:10]
    assert list(one & canpy_launch.Ordered(items[3:5])) == items[3:5]
    assert one == frozenset(items)
    assert frozenset(items) == one
    assert one != frozenset(items[1:])
    assert hash(one) == hash(canpy_launch.Ordered(reversed(items)))
    grown = canpy_launch.Ordered()
    grown |= one
    grown.add(items[0])
    assert (list(grown), len(grown), bool(canpy_launch.Ordered())) == (items, 50, False)


def test_ray_is_a_stand_in_that_starts_nothing():
    script = f"import runpy; m = runpy.run_path({canpy_launch.__file__!r}); m['_no_daemons'](); import ray; "
    script += "assert ray.remote(len) is len; assert not ray.is_initialized(); print(hasattr(ray, 'init'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_it_needs_nothing_but_the_standard_library():
    source = Path(canpy_launch.__file__).read_text()
    assert "bench" not in source.split('"""', 2)[2]
