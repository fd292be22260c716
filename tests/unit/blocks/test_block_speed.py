"""What a card costs, beside what the standard library needs to write the same arguments. Printed, never judged."""

import json
import time

import pytest

from blocks.cards import call_card
from blocks.windows import review_modal
from tests.kit.block_calls import ARGUMENTS, make_call, make_review

SOURCES = {
    "typical call": ARGUMENTS,
    "one string of 1 MB": json.dumps({"content": "x" * 1_000_000}),
    "200,000 short strings": json.dumps({"list": ["a"] * 200_000}),
    "36,000 small objects": json.dumps({"rows": [{"a": "b c d", "n": 1}] * 36_000}),
    "1 MB of invisible characters": json.dumps({"content": "\u202e" * 330_000}),
}


def milliseconds(build, times):
    start = time.perf_counter()
    for _ in range(times):
        build()
    return (time.perf_counter() - start) / times * 1_000


@pytest.mark.bench
@pytest.mark.parametrize("name", SOURCES)
def test_what_a_card_and_a_review_cost(name):
    source = SOURCES[name]
    tree = json.loads(source)
    times = 3 if len(source) > 10_000 else 200
    call = make_call(arguments=source)
    card = milliseconds(lambda: call_card(call), times)
    review = milliseconds(lambda: review_modal(make_review(call)), times)
    dumps = milliseconds(lambda: json.dumps(tree), times)
    print(f"{name}: card {card:.2f} ms ({card / dumps:.1f} x json.dumps), review {review:.2f} ms")
