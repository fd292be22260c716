import pytest

from blocks.reasons import PROBLEMS, WHYS, problem_text, why_text


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_problem_is_a_plain_sentence(code):
    text = problem_text(code, positions="2, 3")
    assert text is not None
    assert text[0].isupper()
    assert text.endswith(".")
    assert "{" not in text


@pytest.mark.parametrize("code", WHYS)
def test_every_why_is_a_plain_sentence(code):
    assert why_text(code)[0].isupper()
    assert why_text(code).endswith(".")


def test_a_code_without_words_says_nothing():
    assert problem_text("no_such_code") is None
    assert why_text("no_such_code") == ""
