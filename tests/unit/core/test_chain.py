"""The hash chain by itself: whatever is done to it shows, and is called by its name."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.store.audit.chain import START, Breach, Entry, Head, explain, follow, head_mac, seal


def make_entries(count=6, tenant="acme"):
    return [
        Entry(tenant, 10 + number, 1_000 + number, "review.opened", f"r_{number}", None, "placet", "{}")
        for number in range(count)
    ]


def make_chain(count=6):
    return seal(make_entries(count), START)


def fault_of(links):
    reached, wrong = follow(links, START)
    assert wrong is not None
    last = max(link.seq for link in links)
    return explain(wrong, reached, hashes={link.hash for link in links}, last=last)


def test_a_chain_leads_from_its_beginning_to_its_head():
    links = make_chain()

    assert follow(links, START) == (Head(6, links[-1].hash), None)


def test_a_chain_goes_on_where_it_was_left():
    first = make_chain(3)
    more = seal(make_entries(6)[3:], first[-1].head)

    assert [*first, *more] == make_chain()


FIELDS = {
    "tenant": "globex",
    "id": 99,
    "at": 1,
    "kind": "x",
    "review_id": None,
    "position": 0,
    "actor": "y",
    "content": "[]",
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_change_of_any_field_shows(field):
    links = make_chain()
    links[2] = replace(links[2], entry=replace(links[2].entry, **{field: FIELDS[field]}))

    fault = fault_of(links)

    assert (fault.breach, fault.seq) == (Breach.CHANGED, 3)


def test_an_event_that_is_gone_is_missing():
    links = make_chain()
    del links[2:4]

    fault = fault_of(links)

    assert (fault.breach, fault.seq) == (Breach.MISSING, 3)
    assert fault.text == "events 3 to 4 are missing"


def test_an_event_that_is_gone_is_missing_even_when_the_rest_was_numbered_anew():
    links = make_chain()
    del links[2]
    links = [replace(link, seq=number) for number, link in enumerate(links, 1)]

    assert (fault_of(links).breach, fault_of(links).seq) == (Breach.MISSING, 3)


def test_two_events_that_changed_places_are_reordered():
    links = make_chain()
    links[2], links[3] = replace(links[3], seq=3), replace(links[2], seq=4)

    assert (fault_of(links).breach, fault_of(links).seq) == (Breach.REORDERED, 3)


def test_an_event_put_in_between_is_named_even_when_it_was_sealed_well():
    links = make_chain()
    (false,) = seal([replace(links[0].entry, id=77)], links[2].head)
    links = [*links[:3], false, *(replace(link, seq=link.seq + 1) for link in links[3:])]

    assert (fault_of(links).breach, fault_of(links).seq) == (Breach.INSERTED, 4)


def test_a_number_that_stands_there_twice_was_put_in():
    links = make_chain()

    assert fault_of([*links[:3], links[2], *links[3:]]).breach is Breach.INSERTED


def test_an_event_written_anew_with_its_hash_is_given_away_by_the_next():
    links = make_chain()
    (false,) = seal([replace(links[2].entry, actor="nobody")], links[1].head)
    links[2] = false

    assert (fault_of(links).breach, fault_of(links).seq) == (Breach.CHANGED, 3)


def test_a_chain_without_its_first_event_begins_nowhere():
    assert (fault_of(make_chain()[1:]).breach, fault_of(make_chain()[1:]).seq) == (Breach.MISSING, 1)
    renumbered = [replace(link, seq=link.seq - 1) for link in make_chain()[1:]]
    assert fault_of(renumbered).breach is Breach.MISSING


def test_a_cut_tail_leaves_a_whole_chain_whose_head_is_another():
    links = make_chain()

    assert follow(links[:4], START) == (links[3].head, None)


def test_a_mac_holds_for_one_head_of_one_tenant_under_one_secret():
    head = make_chain()[-1].head
    macs = {
        head_mac("secret", "acme", head),
        head_mac("other", "acme", head),
        head_mac("secret", "globex", head),
        head_mac("secret", "acme", Head(5, head.hash)),
    }

    assert len(macs) == 4
    assert head_mac("secret", "acme", head) in macs


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_no_other_selection_of_the_events_passes_for_the_chain(chosen):
    links = make_chain(8)
    forged = [links[number] for number in chosen]

    reached, wrong = follow(forged, START)

    assert (wrong is None) == (forged == links[: len(forged)])
    assert reached.seq <= len(forged)
