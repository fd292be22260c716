import json
import random
import unicodedata
from importlib.resources import files

import pytest

from blocks.lookalikes import TWINS, has_lookalikes


def of_the_table():
    ranges = [each.split("-") for each in TWINS.split()]
    return {chr(point) for each in ranges for point in range(int(each[0], 16), int(each[-1], 16) + 1)}


def test_the_table_is_what_unicode_says_passes_for_ascii_beyond_nfkc():
    data = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8"))
    single = {char: [one["c"] for one in ones] for char, ones in data.items() if len(char) == 1 and not char.isascii()}
    ascii_like = {char for char, ones in single.items() if any(one.isascii() and one.strip() for one in ones)}
    assert of_the_table() == {char for char in ascii_like if not unicodedata.normalize("NFKC", char).isascii()}


@pytest.mark.parametrize(
    "text",
    [
        "p\u0430ypal.com",
        "https://\u0430pple.example/login",
        "\u0430\u0440\u0440\u04cf\u0435.com",
        "Переведи на \u0430\u0440\u0440\u04cf\u0435.com",
        "u_\u0410\u0412",
        "\u0441\u0440.\u0440\u0443",
        "b\u03bfss@acme.example",
        "\uff41dmin",
        "acme\u2024com",
        "paypa\u217c.com",
        "\u1d18\u1d00\u028f\u1d18\u1d00\u029f",
        "\ua4d1\ua4ee\ua4ec\ua4d1\ua4ee\ua4e1",
        "\u2ca3\u2c81\u2ca9\u2ca3\u2c81\u2c97",
        "\U00010414\U0001042f\U00010445\U00010428\U00010449\U0001042f\U0001043b",
        "\u13aa\u13f4",
        "http\ua789//evil.example",
        "https:\u30ce\u30ceevil.example",
        "acme\ua4f8com",
        "\u22125",
        "\u20135",
        "\u2013force",
        "acme\u2011corp",
        "\U0001d7cf\U0001d7ce",
        "\uff15\uff10\uff10",
        "\u0665\u0660\u0660",
        "5\u0660\u0660",
        "\u0966",
        "e\u00d7ec",
        "\U0001f170\U0001f171",
        "\u0391lpha",
        "\u0440\u0430\u0443\u0440\u0430\u04cf",
    ],
)
def test_what_passes_for_ascii_is_flagged(text):
    assert has_lookalikes(text)
    assert has_lookalikes(f"send to {text} now")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "paypal.com",
        "Grüße aus München – Straße 10–12, „Zitat“, 5 m² für 3×4 m",
        "don’t “quote” … it’s — fine",
        "naïve café über Łódź, œuvre, Ærø, Ørsted",
        "Việt Nam: cơm, phở",
        "Привет, как дела? Оплата 100 рублей.",
        "сор из избы, 100 у.е., 5-ое число, а и о с у",
        "Москва",
        "почта.рф",
        "Дана Петрова <dana@acme.example>",
        "Καλημέρα κόσμε, τι κάνεις;",
        "Αθήνα",
        "مرحبا بالعالم",
        "المبلغ ٥٠٠ ريال",
        "שלום עולם",
        "हिन्दी में ५०० रुपये",
        "你好，世界！订单ID：12345（元），二〇二六年",
        "日本語のテキスト、MacノートとTシャツ",
        "한국어 API 문서",
        "😀 ok ✅ → 100 µm",
    ],
)
def test_honest_words_of_one_script_are_left_alone(text):
    assert not has_lookalikes(text)


LETTERS = sorted(char for char in of_the_table() if char.isalpha() and char not in "æÆœŒƠơ")


@pytest.mark.parametrize("host", ["p{}ypal.com", "u_48{}x", "ada@{}cme.example"])
def test_every_letter_of_the_table_is_seen_in_a_domain_an_id_and_an_address(host):
    assert [twin for twin in LETTERS if not has_lookalikes(host.format(twin))] == []


def test_words_made_of_doubles_are_flagged_wherever_they_stand_alone():
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    drawn = random.Random(seed)
    scripts = {}
    for twin in LETTERS:
        scripts.setdefault(unicodedata.name(twin).split(" ")[0], []).append(twin)
    for script, letters in scripts.items():
        word = "".join(drawn.choices(letters, k=drawn.randint(2, 9)))
        assert has_lookalikes(word), (script, word)
        assert has_lookalikes(f"{word}@acme.example"), (script, word)


def test_mathematical_and_fullwidth_letters_and_digits_are_flagged_one_by_one():
    points = [*range(0x1D400, 0x1D800), *range(0xFF10, 0xFF5B), *range(0x2160, 0x2180), *range(0x2460, 0x249C)]
    shown = [chr(point) for point in points if unicodedata.name(chr(point), "")]
    alike = [char for char in shown if unicodedata.normalize("NFKC", char).isascii() and char.isalnum()]
    assert len(alike) > 500
    assert [char for char in alike if not has_lookalikes(f"a{char}")] == []
