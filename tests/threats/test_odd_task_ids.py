"""pydoit 59 and 125: ids with a snowman, blanks, quotes or a newline broke doit's reporter, or were taken for variables.

Ids that can be shown and stored anywhere are kept as they are; those that cannot are refused with file, line and column,
and the message itself can be printed on any terminal, whatever the id held.
"""

import pytest

from bench.core import matrix
from bench.errors import CorpusError
from tests.core import suites


@pytest.mark.parametrize("name", ["☃", "two words", 'it\'s "quoted"', "日本語", "naïve"])
def test_odd_ids_are_kept(name):
    suite = suites.parse(suites.suite(tasks=[suites.task(id=name)]))
    assert matrix.select(suite).cells[0].name == f"{name}/nop/0"


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x1b[31mb", "a=b", "a/../b", "cell:*", "a\u202eb", "\u2028"])
def test_ids_that_would_break_a_path_a_pattern_or_a_terminal_are_refused(name):
    with pytest.raises(CorpusError) as caught:
        suites.parse(suites.suite(tasks=[suites.task(id=name)]))
    assert str(caught.value).startswith("corpus/demo.yaml:1:")
    assert str(caught.value).isprintable()
