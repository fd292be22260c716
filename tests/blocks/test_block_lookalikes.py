import pytest

from blocks.lookalikes import has_lookalikes


@pytest.mark.parametrize(
    "text",
    [
        "p\u0430ypal.com",
        "https://\u0430pple.example/login",
        "\u0430\u0440\u0440\u04cf\u0435.com",
        "u_\u0410\u0412",
        "\u0441\u0440.\u0440\u0443",
        "b\u03bfss@acme.example",
        "\uff41dmin",
        "acme\u2024com",
    ],
)
def test_a_word_of_two_scripts_or_an_address_of_doubles_is_flagged(text):
    assert has_lookalikes(f"send to {text} now")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "paypal.com",
        "Привет, как дела? Оплата 100 рублей.",
        "Καλημέρα κόσμε",
        "naïve café über Łódź",
        "日本語のテキスト",
        "\u0441\u043e\u0440",
        "почта.рф",
    ],
)
def test_honest_words_of_one_script_are_left_alone(text):
    assert not has_lookalikes(text)
