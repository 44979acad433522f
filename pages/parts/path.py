"""The path on Start: the cards in their order, ticked by the browser."""

from lab.lessons.cards import CARDS
from lab.lessons.pages import BY_FILE
from lab.ui import places
from practice import COURSES


def show() -> None:
    """Show the cards of the path, ticked by the browser, with buttons to save and load the visitor's progress."""
    cards = [
        {
            "key": card.key,
            "title": card.title,
            "action": card.action,
            "page": page.title,
            "href": page.address(card.link),
        }
        for card in CARDS
        for page in [BY_FILE[card.file]]
    ]
    courses = [{"key": one.key, "title": one.title} for one in COURSES.values()]
    places.mount("path", "start path", {"cards": cards, "courses": courses})
