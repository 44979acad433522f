"""What the four steps show is what has happened, said in signs and words."""

import re

import numpy as np
import pytest

from lab.traps.in_place import Box, Experiment, run
from lab.traps.in_place_panels import arrays, program


def cells(html):
    return [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", html)]


@pytest.mark.parametrize("done", range(5))
def test_the_program_has_all_its_steps_and_points_at_the_next(done):
    html = program(Experiment(), done)
    assert html.count("<li") == 5
    assert html.count('class="done"') == done + 1  # and the inputs
    assert html.count('aria-current="step"') == (done < 4)
    for line in ("a.data += 1.0", "L.backward()", "with allow_mutation():", "y = a * b"):
        assert line in html


def test_names_for_one_array_stand_beside_it_with_old_and_new_numbers():
    html = arrays(run(Experiment(route="name"), 2).boxes)
    assert html.count("<tr") == 1
    for name in ("a.data", "other = a.data", "closure of *: left"):
        assert f"<code>{name}</code>" in html
    assert cells(html) == ["→", "2 → 1", "−1", "3"]
    assert "⚠ written to" in html


def test_with_the_guard_the_array_of_the_closure_is_another_and_intact():
    boxes = run(Experiment(guard=True), 2).boxes
    assert cells(arrays(boxes)) == ["→", "2 → 3", "−1 → 0", "3 → 4", "→", "2", "−1", "3"]
    assert re.findall(r"<small>(.*?)</small>", arrays(boxes)) == ["⚠ written to"]


def test_a_name_cannot_become_markup():
    html = arrays([Box(("<img src=x>",), np.zeros(1), np.zeros(1))])
    assert "<code>&lt;img src=x&gt;</code>" in html
