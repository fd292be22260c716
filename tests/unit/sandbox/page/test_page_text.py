import pytest

from bot.sandbox.page.mrkdwn import read_mrkdwn
from bot.sandbox.page.names import Names
from bot.sandbox.page.richtext import read_line
from bot.sandbox.page.spans import html, spoken
from bot.sandbox.slack.seed import make_world

NAMES = Names(make_world())
LINK = '<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>'


def drawn(text, **options):
    return str(html(read_mrkdwn(text, NAMES, **options)))


def line(*elements):
    return str(html(read_line(list(elements), NAMES)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *bold* word", "a <b>bold</b> word"),
        ("_it_ and ~gone~", "<i>it</i> and <s>gone</s>"),
        ("*bold _and_ it*", "<b>bold <i>and</i> it</b>"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("* not bold *", "* not bold *"),
        ("`a *b* c`", "<code>a *b* c</code>"),
        ("```\nx = *1*\n```", "<pre>x = *1*</pre>"),
        ("> said\n> twice\nafter", "<blockquote>said\ntwice</blockquote>after"),
        ("<@U0ADA> and <!subteam^S0SUPPORT>", '<span class="mention">@Ada</span> and <span class="mention">@support</span>'),
        ("<#C0GENERAL> <!here>", '<span class="mention">#general</span> <span class="mention">@here</span>'),
        ("<@U0NOBODY>", '<span class="mention">@U0NOBODY</span>'),
        ("<https://x.example|here>", LINK.format("https://x.example", "here")),
        ("<mailto:a@x.example|mail>", LINK.format("mailto:a@x.example", "mail")),
        ("<javascript:alert(1)|here>", "here"),
        ("see https://x.example/a", "see " + LINK.format("https://x.example/a", "https://x.example/a")),
        ("a &lt;b&gt; &amp; c", "a &lt;b&gt; &amp; c"),
        (":x: :nosuch:", "❌ :nosuch:"),
    ],
)  # fmt: skip
def test_mrkdwn_is_drawn_as_slack_draws_it(text, expected):
    assert drawn(text) == expected


def test_verbatim_text_makes_no_links_of_bare_addresses():
    assert drawn("see https://x.example", verbatim=True) == "see https://x.example"


def test_a_date_keeps_its_moment_its_format_and_words_for_want_of_a_script():
    assert (
        drawn("<!date^1796040000^{date_short_pretty} {time}|18:00 UTC>")
        == '<time data-unix="1796040000" data-format="{date_short_pretty} {time}">18:00 UTC</time>'
    )


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "*<b>*", "`<script>`", "<https://x|<i>>", '"><script>']
)
def test_no_markup_of_others_gets_through(text):
    found = drawn(text)

    assert not any(tag in found for tag in ("<img", "<script", "<i>", "<b><b>"))


def test_text_in_rich_text_means_nothing_but_itself():
    assert line({"type": "text", "text": "*x* <@U0ADA> :x: <b>"}) == "*x* &lt;@U0ADA&gt; :x: &lt;b&gt;"


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ({"type": "text", "text": "x", "style": {"bold": True, "code": True}}, "<b><code>x</code></b>"),
        ({"type": "user", "user_id": "U0BEN"}, '<span class="mention">@Ben</span>'),
        ({"type": "usergroup", "usergroup_id": "S0SUPPORT"}, '<span class="mention">@support</span>'),
        ({"type": "channel", "channel_id": "C0GENERAL"}, '<span class="mention">#general</span>'),
        ({"type": "broadcast", "range": "here"}, '<span class="mention">@here</span>'),
        ({"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fd"}, "👋🏽"),
        ({"type": "emoji", "name": "x"}, "❌"),
        ({"type": "emoji", "name": "nosuch"}, ":nosuch:"),
        ({"type": "emoji", "name": "nosuch", "unicode": "zz"}, ":nosuch:"),
        ({"type": "link", "url": "https://x.example", "text": "x"}, LINK.format("https://x.example", "x")),
        ({"type": "link", "url": "data:text/html,x"}, "data:text/html,x"),
        (
            {"type": "date", "timestamp": 5, "format": "{time}", "fallback": "then"},
            '<time data-unix="5" data-format="{time}">then</time>',
        ),
        ({"type": "team"}, "[team]"),
    ],
)
def test_each_piece_of_rich_text_is_drawn(element, expected):
    assert line(element) == expected


def test_what_is_read_out_has_names_and_words_but_no_marks():
    text = "*Ran*: by <@U0ADA>, <!date^5^{time}|00:00 UTC>, <https://x.example|log>"

    assert spoken(read_mrkdwn(text, NAMES)) == "Ran: by @Ada, 00:00 UTC, log"
