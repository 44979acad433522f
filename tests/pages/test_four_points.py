"""Training lab > Four points: without a browser."""

import pytest

from model import Tensor
from tests.pages.conftest import address, charts, open_at, press, texts
from tests.pages.test_descent import halved, table


def opened(**parameters):
    return open_at("training-lab", **parameters)


def test_it_is_a_lesson_and_another_one_leads_back():
    at = opened()
    at.menu_button(key="training lesson").click("Four points").run()
    assert not at.exception
    assert address(at)["four"] == "1"
    assert "4 points" in texts(at.markdown)
    at = opened(four=1)  # also from a link, which has begun no run
    at.menu_button(key="training lesson").click("Rate too high").run()
    assert not at.exception
    assert "four" not in address(at)
    assert at.session_state["training worker"].run.config.lr == 0.3


def test_it_follows_the_engine(monkeypatch):
    right = table(opened(four=1, four_steps="1", soon="within 30"), "point 4")
    monkeypatch.setattr(Tensor, "tanh", halved(Tensor.tanh))
    broken = table(opened(four=1, four_steps="1", soon="within 30"), "point 4")
    assert right[1] == broken[1]  # before the first step
    assert right[0] != broken[0]


def test_four_points_are_learned_within_a_hundred_steps():
    at = opened(four=1, four_steps=50)
    assert len(table(at, "point 4")) == 1  # nothing is told before the guess
    assert "Guess first." in texts(at.markdown)
    assert at.button(key="four step").disabled
    at.session_state["training-four_steps"] = 0
    at.segmented_control(key="training-soon").set_value("10").run()
    press(at, "four step")
    assert "1 step" in at.metric[0].label
    press(at, "four run")
    losses = {row[0]: row[1] for row in table(at, "point 4")}
    said = f"below 0.01 for the first time after 11 steps, at {losses['11']}; one step before it was {losses['10']}."
    assert f"✗ Not as you guessed. It was {said}" in texts(at.markdown)
    at.segmented_control(key="training-soon").set_value("30").run()
    assert f"✓ As you guessed. It was {said}" in texts(at.markdown)
    assert len(table(at, "point 4")) == 101
    assert len(table(at, "gradient")) == 41
    at.select_slider(key="training-four_rate").set_value(0.0001).run()
    assert "✗ Not as you guessed. After 100 steps it is" in texts(at.markdown)
    at.number_input(key="training-four_seed").set_value(5).run()
    assert at.number_input(key="training-four_seed").value == 5


@pytest.mark.sample(1)
@pytest.mark.parametrize("steps", [0, 100])
def test_the_target_of_four_points_is_on_the_axis_from_the_start(steps):
    spec = charts(opened(four=1, soon="within 30", four_steps=steps))["four-loss"]["spec"]
    losses = [loss for _, loss in spec["series"][0]["data"]]
    (target,) = spec["series"][0]["markLine"]["data"]
    assert target == {"yAxis": 0.01, "name": "target: 0.01"}
    assert spec["yAxis"]["min"] < min(target["yAxis"], *losses)
