from fractions import Fraction

from bench.core import digest, numbers


def test_one_value_has_one_spelling():
    assert digest.canonical(numbers.plain_numbers({"a": [5.0, 0.5, True, 3], "b": "5.0"})) == digest.canonical(
        {"a": [5, 0.5, True, 3], "b": "5.0"}
    )


def test_numbers_are_taken_as_they_are_written() -> None:
    assert numbers.exact(0.21) - numbers.exact(0.2) == Fraction(1, 100)
    assert (numbers.number(True), numbers.number("1"), numbers.number(0)) == (None, None, 0)
