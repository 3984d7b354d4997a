"""Messages on their way to a model and back."""

from __future__ import annotations

from bench.effects import llm, llm_messages


def test_first_and_last_message_are_marked_for_the_cache_and_the_rest_is_left() -> None:
    given = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, {"role": "tool", "content": "t"}]
    marked = llm_messages.cached(given)
    assert [isinstance(m["content"], list) for m in marked] == [True, False, True]
    assert given[0]["content"] == "s"


def test_an_answer_keeps_its_usage_on_the_way() -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3, "output_tokens": 4}
    made = llm_messages.as_completion({"role": "assistant", "content": "x"}, "stop", usage)
    assert llm.usage_of(llm.library().Usage(**made["usage"])) == usage
    assert made["choices"][0]["message"]["content"] == "x"
