from bench.core import digest, numbers


def test_one_value_has_one_spelling():
    assert digest.canonical(numbers.plain_numbers({"a": [5.0, 0.5, True, 3], "b": "5.0"})) == digest.canonical(
        {"a": [5, 0.5, True, 3], "b": "5.0"}
    )
