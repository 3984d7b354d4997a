from wordindex import Index, search


def library():
    index = Index()
    index.add("tea", "Green tea, black tea and a pot.")
    index.add("pots", "A black pot; a green lid.")
    return index


def test_every_word_must_be_there():
    assert search(library(), "black pot") == ["pots", "tea"]
    assert search(library(), "tea pot") == ["tea"]


def test_case_does_not_matter():
    assert search(library(), "GREEN") == ["pots", "tea"]


def test_an_empty_query_finds_nothing():
    assert search(library(), " ,;") == []
