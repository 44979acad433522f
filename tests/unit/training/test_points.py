"""Points placed by hand: there and back as text, as a file of the command line, and as data."""

import pytest

from lab.training import points
from lab.training.config import Config
from lab.training.datasets import from_table
from lab.training.live import LiveRun
from lab.training.samples import DataError


def test_text_and_back():
    assert points.from_text(points.to_text(points.START)) == points.START
    assert points.from_text("") == ()
    assert points.from_text("0.5,-1,C") == ((0.5, -1.0, 2),)


@pytest.mark.parametrize(
    "text", ["1", "1,2", "0,0,D", "x,0,A", "2,0,A", "0,-1.5,A", "nan,0,A", "inf,0,A", ";", "0,0,A;" * 151, "0,0,A,1"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        points.from_text(text)


def test_the_first_points_can_be_trained_and_need_a_hidden_layer():
    data = points.dataset(points.START, 0.2, seed=0)
    assert data.classes == ("A", "B")
    runs = {hidden: LiveRun(Config(data="points", hidden=hidden, lr=0.03, epochs=100), data) for hidden in ((), (8,))}
    for run in runs.values():
        run.advance(None)
    assert runs[()].history[-1]["train_accuracy"] < 0.8 < runs[(8,)].history[-1]["train_accuracy"]


def test_the_file_holds_the_same_data():
    table = from_table(points.to_csv(points.START), "points.csv", 0.2, seed=3)
    assert table.fingerprint == points.dataset(points.START, 0.2, seed=3).fingerprint
    assert table.classes == ("A", "B")


def test_classes_that_are_missing_leave_no_hole():
    data = points.dataset([(0, 0, 0), (0, 1, 0), (1, 0, 2), (1, 1, 2)], 0.5, seed=0)
    assert data.classes == ("A", "C")
    assert set(data.train_y.tolist()) == {0, 1}


@pytest.mark.parametrize("some", [(), ((0, 0, 0),), ((0, 0, 0), (0, 1, 0)), ((0, 0, 0), (0, 1, 0), (1, 1, 1))])
def test_too_few_points_are_said_in_a_sentence(some):
    with pytest.raises(DataError, match=r"\w+ .*\."):
        points.dataset(some, 0.2, seed=0)
