"""The sentences that the finder learns from: a text file that anybody may edit."""

import pytest

from lab.failures.catalogue import BY_KEY
from lab.failures.phrases import OTHER, parse, phrases


def test_the_file_has_sentences_for_each_failure_and_none_stands_twice():
    labels = phrases()
    assert {label[0] for label in labels if len(label) == 1} == BY_KEY.keys()
    assert len(labels[OTHER]) > 50
    sentences = [sentence for its in labels.values() for sentence in its]
    assert len(sentences) == len({sentence.lower() for sentence in sentences}) > 800


def test_a_teacher_edits_it_line_by_line():
    assert parse(
        "# a note\n\n[nan]\n  loss is nan  \n[order rate]\nit climbs\nit swings\n[other]\nno module torch\n"
    ) == {
        ("nan",): ("loss is nan",),
        ("order", "rate"): ("it climbs", "it swings"),
        OTHER: ("no module torch",),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("loss is nan\n", "line 1: a sentence needs a heading"),
        ("[nan]\na\n\n[nans]\nb\n", "line 4: no failure has the key 'nans'"),
        ("[nan]\na\n[nan]\nb\n", "line 3: [nan] is there twice"),
    ],
)
def test_a_slip_is_named_with_its_line(text, says):
    with pytest.raises(ValueError, match="line") as error:
        parse(text)
    assert says in str(error.value)
