import pytest

from blocks.lookalikes import _TWINS, has_lookalikes


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
    "twin", sorted(set(_TWINS.replace("\uff10-\uff19\uff21-\uff3a\uff41-\uff5a", "")) | set("\uff11\uff21\uff5a"))
)
def test_every_letter_of_the_table_is_seen_in_a_domain_an_id_and_an_address(twin):
    assert has_lookalikes(f"p{twin}ypal.com")
    assert has_lookalikes(f"u_48{twin}x")
    assert has_lookalikes(f"ada@{twin}cme.example")


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
