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


def test_ray_is_a_stand_in_that_starts_nothing():
    script = f"import runpy; m = runpy.run_path({canpy_launch.__file__!r}); m['_no_daemons'](); import ray; "
    script += "assert ray.remote(len) is len; assert not ray.is_initialized(); print(hasattr(ray, 'init'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_it_needs_nothing_but_the_standard_library():
    source = Path(canpy_launch.__file__).read_text()
    assert "bench" not in source.split('"""', 2)[2]
