"""The page to keep: all that it should say, nothing of the learner's as HTML, and nothing that asks anybody."""

import re
from datetime import date
from html.parser import HTMLParser

import pytest

from lab.practice import certificate, sandbox
from lab.practice.learner_run import Contest
from lab.practice.learner_training import LossPoint
from practice import COURSES

TENSORS = COURSES["tensors"]
TODAY = date(2026, 11, 2)


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.said = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.said.append(data)


@pytest.fixture
def contest():
    """A training as it would be at its end."""
    contest = Contest(TENSORS, "", 0, sandbox.runner)
    contest.stop()
    contest.wait(100)
    for side in (contest.yours, contest.labs):
        side.points[:] = [LossPoint(0, 2.5, 0.0), LossPoint(1, float("nan"), 0.5), LossPoint(2, 0.125, 1.0)]
        side.share, side.ended, side.why = 0.95, True, ""
    return contest


def test_it_says_what_was_built_passed_tried_and_trained(contest):
    page = certificate.page(TENSORS, "x = 1\n", {"matmul": "2026-10-01"}, 7, contest, TODAY)
    said = " ".join(Elements(page).said)
    for task in TENSORS.tasks:
        assert task.title in said
    for words in (
        "2 November 2026",
        "2026-10-01",
        "Checks since the lab was opened: 7",
        "95.0%",
        "0.125",
        "x = 1",
        "not a proof",
    ):
        assert words in said
    points = [attributes["points"] for tag, attributes in Elements(page).found if tag == "polyline"]
    assert [len(line.split()) for line in points] == [2, 2]  # what is not a number is not drawn


def test_the_learner_s_text_stays_text_and_nothing_is_loaded(contest):
    nasty = "</pre></script><script>alert(1)</script><b onclick=x>\"'&amp;"
    contest.yours.why = nasty
    page = certificate.page(TENSORS, nasty, {"matmul": nasty}, 1, contest, TODAY)
    elements = Elements(page)
    plain = Elements(certificate.page(TENSORS, "", {}, 1, contest, TODAY))
    assert [tag for tag, _ in elements.found] == [tag for tag, _ in plain.found]
    assert not {"script", "b", "img", "link", "iframe"} & {tag for tag, _ in elements.found}
    assert "".join(elements.said).count(nasty) == 3
    assert not re.search(r"https?:|src=|href=|url\(", page)
    assert "default-src 'none'" in page


def test_losses_below_0_and_all_the_same_are_drawn(contest):
    for side in (contest.yours, contest.labs):
        side.points[:] = [LossPoint(step, -1.5, 0.0) for step in range(3)]
    (line, *_) = re.findall('<polyline points="([^"]*)"', certificate.page(TENSORS, "x = 1\n", {}, 7, contest, TODAY))
    assert len({point.split(",")[1] for point in line.split()}) == 1


def test_without_a_training_nothing_is_said_of_one():
    page = certificate.page(TENSORS, "x = 1\n", {}, 0, None, TODAY)
    assert "<svg" not in page
    assert page.count("passed before") == len(TENSORS.tasks)
