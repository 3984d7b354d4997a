"""Hidden: phrases in double quotes."""

import pytest

from wordindex import Index, search


@pytest.fixture
def index():
    made = Index()
    made.add("tea", "Green tea, black tea and a pot.")
    made.add("pots", "A black pot; a green lid.")
    made.add("shop", "Tea and green pots. Black lids!")
    return made


def test_words_as_before(index):
    assert search(index, "green black") == ["pots", "shop", "tea"]


def test_phrase(index):
    assert search(index, '"black tea"') == ["tea"]
    assert search(index, '"tea black"') == ["tea"]
    assert search(index, '"green tea black"') == ["tea"]


def test_phrase_is_not_a_bag_of_words(index):
    assert search(index, '"tea green"') == []
    assert search(index, '"green pot"') == []


def test_parts_of_words_are_no_words(index):
    index.add("stall", "Green pots, and one pot of tea")
    assert search(index, '"green pot"') == []
    assert search(index, '"pot of"') == ["stall"]


def test_phrase_and_words(index):
    assert search(index, 'pot "black tea"') == ["tea"]
    assert search(index, '"black pot" lid') == ["pots"]


def test_two_phrases(index):
    assert search(index, '"green tea" "a pot"') == ["tea"]


def test_case_is_folded_in_phrases(index):
    assert search(index, '"BLACK Pot"') == ["pots"]


def test_replaced_and_removed_documents(index):
    index.add("tea", "Only coffee here.")
    assert search(index, '"black tea"') == []
    index.remove("pots")
    assert search(index, '"black pot"') == []


def test_empty_phrase_and_open_quote(index):
    assert search(index, '""') == []
    assert search(index, '"black tea') == ["tea"]


def test_holding_is_still_there(index):
    assert index.holding("lid") == {"pots"}
