from bench.core import nearest


def test_a_slip_of_the_finger_is_recognised():
    assert nearest.nearest("sesion_s", ["session_s", "setup_s", "turns"]) == "session_s"
    assert nearest.nearest("CodeAnalyser", ["codeanalyzer", "gitnexus"]) == "codeanalyzer"


def test_nothing_is_suggested_when_nothing_is_near():
    assert nearest.nearest("zebra", ["session_s", "turns"]) is None


def test_remedy_suggests_or_lists():
    assert nearest.remedy("turnz", ["turns", "tokens"]) == "did you mean 'turns'?"
    assert nearest.remedy("zebra", ["b", "a", "a"]) == "known: a, b"
    assert nearest.remedy("zebra", []) == "there is none"


def test_a_long_list_is_cut():
    known = [f"arm-{n:02d}" for n in range(20)]
    assert nearest.remedy("zebra", known).endswith("arm-11 and 8 more")


def test_a_very_long_word_costs_nothing():
    assert nearest.nearest("x" * 1_000_000, ["session_s"]) is None
