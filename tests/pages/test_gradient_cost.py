"""Why reverse mode without a browser: what a gradient costs, the formula."""

import re

from lab.autodiff import gradient_cost
from model import Tensor
from tests.pages.conftest import address, app, charts, press, run, table, texts

PAGE = "pages/why_reverse_mode.py"


def opened(**parameters):
    labels = {
        "slower": lambda times: f"{int(times):,}×",
        "n": "{:,}".format,
    }
    return run(app(PAGE), **{name: labels.get(name, str)(value) for name, value in parameters.items()})


def wrong(right):
    """An operation whose backward rule sends twice what it should."""

    def operation(self, other):
        out = right(self, other)
        rule = out.closure
        if rule is not None:
            out.closure = lambda upstream: rule(upstream * 2.0)
        return out

    return operation


# ---------------------------------------------------------------- cost


def test_passes_are_counted_for_any_number_of_parameters_after_the_guess():
    at = opened(n=10**12)
    assert not at.select_slider
    at.segmented_control(key="why-slower").set_value("100").run()
    assert [row[1:] for row in table(at, "one gradient")] == [
        ["2,000,000,000,000", "0", "23148 d 3 h"],
        ["1,000,000,000,000", "0", "11574 d 1 h"],
        ["1", "1", "2 ms"],
    ]


def test_the_guess_comes_first_then_gradients_are_really_computed(monkeypatch):
    at = opened()
    assert at.button(key="why measure").disabled
    at.segmented_control(key="why-slower").set_value("1000").run()
    press(at, "why measure")
    _, points = at.session_state["memoized"]["why measured"]
    chart = charts(at)["measured"]
    assert [series["name"] for series in chart["spec"]["series"]] == list(gradient_cost.METHODS.values())
    assert [point[0] for point in chart["spec"]["series"][0]["data"]] == [6, 30, 96, 300, 996]
    assert "At 996 parameters finite differences took" in texts(at.markdown)
    assert "✓ Your guess was the nearest." in texts(at.markdown)  # as the passes have it, too: 2,000 against 2
    rows = table(at, "error of differences")
    assert rows[-1][:4] == ["996", "1,992 + 0", "996 + 0", "1 + 1"]
    again = opened(slower="1000", **address(at))  # reloaded
    assert "✓ Your guess was the nearest." in texts(again.markdown)
    assert "Guess first." in texts(opened(**address(at)).markdown)

    assert "1,992 passes against 2 are 996 times as many" in texts(at.markdown)
    points[-1].seconds["reverse"] *= 300
    at.run()
    assert "The times contradict the passes" in texts(at.markdown)
    assert not re.search("Your guess|996 times", texts(at.markdown))  # no verdict on the learner by a busy machine

    right = float(rows[-1][4].replace("−", "-"))
    monkeypatch.setattr(Tensor, "__matmul__", wrong(Tensor.__matmul__))
    press(at, "why measure")
    assert not at.exception
    assert float(table(at, "error of differences")[-1][4]) > 1e3 * right


def test_one_of_the_choices_is_the_number_of_times_that_the_passes_say():
    options = opened().segmented_control(key="why-slower").options
    finite, reverse = (sum(gradient_cost.passes(method, 1000)) for method in ("finite", "reverse"))
    assert f"{finite // reverse:,}×" in options
