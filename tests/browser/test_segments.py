"""What a teacher shows in a lesson, from Start: each in at most five touches."""

import pytest
from playwright.sync_api import expect

from tests.support import settled

MOST = 5
SEGMENTS = {  # what is touched, one after the other, and what the last touch shows
    "why-plus": (
        ["text=See", "link:Graph lab", "radio:= for +="],
        [
            (".ledger .note", "The first event that differs"),
            (".ledger .equation", "10 + 21 = 31✓ right"),
            (".right-line", "✓ right engine: self.grad += message"),
            (".card.departs .name", "✗ a"),
        ],
    ),
    "why-an-order": (
        ["text=See", "link:Graph lab", "radio:any order", "button:show one that differs"],
        [
            (".ledger .note", "t sends too early: 1 of its 2 messages have arrived"),
            (".pending", "Sending: t (1 of 2 messages). Still to send: v1."),
            (".card.departs .name", "✗"),
        ],
    ),
    "why-broadcasting-sums": (
        ["text=See", "link:Graph lab", "radio:no sum", "button:show one that differs"],
        [
            (".ledger .note", "The first event that differs"),
            (".card.departs .name", "✗"),
            (".card.departs .mark.gradient", "(2, 2)"),  # where the row's two numbers are due
        ],
    ),
}


@pytest.mark.flow
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SEGMENTS)
def test_a_segment_takes_at_most_five_touches_from_start(open_page, name):
    touches, shown = SEGMENTS[name]
    assert len(touches) <= MOST
    page = open_page("", width=1024, height=768)
    for touch in touches:
        kind, _, what = touch.rpartition(":")
        if kind:
            page.get_by_role(kind, name=what).first.click()
        else:
            page.locator(touch).first.click()
        settled(page)
    for place, text in shown:
        found = page.locator(place).first
        expect(found).to_contain_text(text)
        expect(found).to_be_in_viewport()
