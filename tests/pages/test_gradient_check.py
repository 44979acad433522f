"""Gradient check without a browser: the step and its arithmetic, the claim, the blind sum."""

from datetime import date

import numpy as np
import pytest

from lab.practice import sandbox
from lab.ui.practice.own import Engine
from model import Tensor
from practice import LADDERS
from tests.pages.conftest import address, app, components, go_back, press, run, switch, texts


def opened(**parameters):
    return run(app("pages/gradient_check.py"), **parameters)


def table(at, header):
    """The rows of the table with this word in its header, without what escapes their marks."""
    (found,) = [
        text.value for text in at.markdown if text.value.startswith("|") and header in text.value.split("\n")[0]
    ]
    return [[cell.strip().replace("\\", "") for cell in line.strip("|").split("|")] for line in found.split("\n")[2:]]


def test_a_step_is_chosen_and_shown_as_arithmetic_before_any_curve_is():
    at = opened()
    assert not [text for text in at.markdown if "best h |" in text.value]
    at.slider(key="check h").set_value(-5).run()
    rows = dict(table(at, "float64"))
    assert rows["x + h"] == "2.00001"
    assert rows["2h"] == "2e−5"
    assert float(rows["quotient"]) == pytest.approx(9.361658460, abs=1e-8)
    assert rows["backward()"] == "9.361658460044808"
    assert "agree in their first **5** digits, of about 16" in texts(at.markdown)
    assert address(at)["h"] == "-5"
    assert len(components(at, "charts")) == 1


def test_every_step_shows_the_best_one_the_rule_and_both_branches():
    at = opened()
    press(at, "check show")
    rows = {row[0]: row[1:] for row in table(at, "best h")}
    assert list(rows) == [f"{method} {n}" for n in (64, 32) for method in ("forward", "central")]
    assert rows["forward 64"][:1] + rows["forward 64"][2:4] == ["1e−8", "2.98e−8", "1.0"]
    assert rows["central 64"][:1] + rows["central 64"][2:4] == ["1e−5", "1.21e−5", "2.0"]
    assert all(row[4].startswith("−") for row in rows.values())
    assert address(at)["shown"] == "1"
    assert not [button for button in at.button if button.key == "check show"]
    at.radio(key="check numbers").set_value("float32").run()
    at.radio(key="check method").set_value("forward").run()
    assert dict(table(at, "float32"))["h"] == "0.1"


def test_what_the_step_loses_is_said():
    at = opened(h=-17)
    assert "x + h is x itself" in texts(at.markdown)
    at = opened(expression="x*1e-9 + 7", in_x="0.5", h=-9)
    assert "two values of f are the same" in texts(at.markdown)
    at = opened(expression="log(x)", in_x="0.1", h=-1)
    assert "no finite value one step from x" in texts(at.warning)
    at.slider(key="check h").set_value(-3).run()
    assert not at.warning
    at = opened(expression="sqrt(x)", in_x="0")
    assert "undefined on the left and without bound on the right" in texts(at.warning)
    assert dict(table(at, "float64"))["error"] == "no derivative"


def test_an_array_has_a_map_its_worst_element_and_its_kinks():
    at = opened(expression="sum(abs(v) * w)", in_v="[1.5, 0, -2]", in_w="[1, 2, 3]", element="v[1]", h=-4, shown=1)
    assert "the slope is −2 on the left and 2 on the right" in texts(at.warning).replace("\\", "")
    assert not [text for text in at.markdown if "best h |" in text.value]  # no step is good there
    assert "the worst of the 5 with a derivative is" in texts(at.markdown)
    assert len(components(at, "charts")) == 2
    at.selectbox(key="check element").select("w[2]").run()
    assert not at.warning
    assert dict(table(at, "float64"))["backward()"] == "2.0"
    assert address(at)["element"] == "w[2]"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"expression": "x*(y"}, "never closed"),
        ({"expression": "sum(a*b)", "in_a": "[1, 2]", "in_b": "[1, 2, 3]"}, "cannot combine"),
        ({"expression": "sum(a + b + c)", **{f"in_{name}": str([1] * 90) for name in "abc"}}, "at most 200"),
    ],
)
def test_what_cannot_be_checked_gets_a_sentence_and_nothing_is_lost(parameters, said):
    at = opened(**parameters)
    assert said in texts(at.error).replace("\\", "")
    at.text_input(key="check expression").set_value("x*x").run()
    assert not at.error
    assert not at.exception


def test_a_claim_is_guessed_measured_and_loaded():
    at = opened(tab="claim")
    assert not at.success
    at.radio(key="check wrong").set_value("The gradient").run()
    assert "Both numbers are wrong" in texts(at.warning)
    rows = dict(table(at, "x"))
    assert rows["printed"] == "6.1411"
    assert rows["backward()"] == "9.3617"
    assert (rows["forward, h = 1e−15"], rows["forward, h = 1e−16"]) == ("8.882", "0")
    at.radio(key="check claim").set_value("alone").run()
    at.radio(key="check wrong").set_value("Both numbers").run()
    rows = dict(table(at, "x"))
    assert (rows["backward()"], rows["forward, h = 1e−15"]) == ("1.9726", "1.776")
    at.radio(key="check claim").set_value("two").run()
    at.radio(key="check wrong").set_value("Both numbers").run()
    assert "Right" in texts(at.success)
    assert table(at, "x")[1] == ["backward()", "7.9535", "−3.9600"]
    press(at, "check load")
    assert address(at)["tab"] == "step"
    assert address(at)["in_x"] == "[2, 3]"
    assert float(dict(table(at, "float64"))["backward()"]) == pytest.approx(7.95353613, abs=1e-8)


def test_the_sum_is_blind_and_the_random_cotangent_is_not():
    at = opened(tab="cotangent")
    at.radio(key="check finds").set_value("sum").run()
    assert "only the one with the random cotangent" in texts(at.warning)
    at.radio(key="check rule").set_value("diagonal").run()
    assert at.radio(key="check finds").value is None
    at.radio(key="check finds").set_value("both").run()
    assert "Right: both" in texts(at.success)
    at.radio(key="check rule").set_value("right").run()
    at.radio(key="check finds").set_value("none").run()
    assert "Right: neither" in texts(at.success)
    at.text_input(key="check logits").set_value("[1").run()
    assert "Write a number, or a vector" in texts(at.error)


def test_a_broken_rule_of_the_engine_is_seen(monkeypatch):
    def sin(self):
        return self._node(np.sin(self._read()), (self,), "sin", lambda upstream: self._accumulate(upstream * 1.0))

    monkeypatch.setattr(Tensor, "sin", sin)
    at = opened(expression="sin(x)", in_x="1", h=-5, shown=1)
    assert "The gradients disagree, most at x" in texts(at.error).replace("\\", "")
    assert dict(table(at, "float64"))["backward()"] == "1.0"
    assert float(table(at, "best h")[0][2]) > 0.4  # whatever the step


def test_the_state_survives_the_menu_and_the_way_back():
    at = run(app("app.py"))
    switch(at, "pages/gradient_check.py")
    at.slider(key="check h").set_value(-7).run()
    switch(at, "pages/every_operation.py")
    switch(at, "pages/gradient_check.py")
    assert at.slider(key="check h").value == -7
    go_back(at, tab="step", h="-3", expression="a*b")
    assert at.slider(key="check h").value == -3
    assert at.text_input(key="check expression").value == "a*b"


def test_what_is_out_of_sight_stays_as_it_was():
    at = opened(expression="sum(v**3)", in_v="[1, 2]")
    at.text_input(key="check expression").set_value("sum(v**3) * 2").run()
    at.slider(key="check h").set_value(-6).run()
    at.radio(key="check numbers").set_value("float32").run()
    at.selectbox(key="check element").select("v[1]").run()
    before = address(at)
    for broken in ("sum(v", "v @ v @ v @ v", "sum(v**3) * 2"):
        at.text_input(key="check expression").set_value(broken).run()
        at.run()
    assert address(at) == before
    go_back(at, **before | {"tab": "claim"})
    at.radio(key="check wrong").set_value("Nothing").run()
    at.run()
    at.session_state["check tab"] = "A blind sum"
    at.run()
    at.run()
    assert address(at) == before | {"tab": "cotangent", "wrong": "Nothing"}
    at.session_state["check tab"] = "The step h"
    at.run()
    assert address(at) == before | {"wrong": "Nothing"}
    slider, radio = at.slider(key="check h"), at.radio(key="check numbers")
    assert (slider.value, radio.value) == (-6, "float32")
    assert slider.proto.set_value  # else the browser, for which they are new, would show their defaults
    assert radio.proto.set_value
    assert not at.run().slider(key="check h").proto.set_value


def test_numbers_below_zero_keep_their_digits():
    rows = dict(table(opened(expression="x*x", in_x="-0.5", h=-3), "float64"))
    assert rows["x + h"] == "−0.499"
    assert rows["backward()"] == "−1.0"


def with_engine(*edit, ladder="tensors", **parameters):
    """The page in a visit with an engine, the reference with an edit; it is the one that is chosen."""
    source = LADDERS[ladder].reference.replace(*edit) if edit else LADDERS[ladder].reference
    assert not edit or source != LADDERS[ladder].reference
    at = app("pages/gradient_check.py")
    at.session_state["own engines"] = {ladder: Engine(LADDERS[ladder], source, date(2026, 11, 2))}
    return run(at, engine=ladder, **parameters)


needs_processes = pytest.mark.skipif(bool(sandbox.unavailable()), reason=sandbox.unavailable())


@needs_processes
def test_the_gradient_of_one_s_own_engine_is_checked_where_there_is_one():
    at = opened(engine="tensors")
    assert not at.segmented_control
    assert dict(table(at, "float64"))["backward()"] == "9.361658460044808"
    at = with_engine(expression="sum(relu(x @ w) * w)", in_x="[[1, 2], [3, -4]]", in_w="[[0.5], [-0.3]]", shown=1)
    assert "Your engine: tensors, passed 2 Nov 2026" in texts(at.markdown)
    assert "`backward()` is that of your engine" in texts(at.caption)
    assert at.success
    assert len(components(at, "charts")) == 2
    best = {row[0]: float(row[2].replace("−", "-")) for row in table(at, "best h")}
    assert best["central 64"] < 1e-9
    at.segmented_control(key="check engine").set_value("lab").run()
    assert "your engine" not in texts([*at.markdown, *at.caption])
    assert {row[0]: float(row[2].replace("−", "-")) for row in table(at, "best h")} == best
    assert "engine" not in address(at)
    at = with_engine("self._receive(out.grad * (x > 0))", "self._receive(out.grad)",
                     expression="sum(relu(x) * x)", in_x="[2, -3]", element="x[1]", h=-5, shown=1)  # fmt: skip
    assert "The gradients disagree, most at x[1]" in texts(at.error).replace("\\", "")
    assert dict(table(at, "float64"))["backward()"] == "−3.0"
    assert {float(row[2]) for row in table(at, "best h")} == {3.0}  # whatever the step


@needs_processes
def test_one_s_own_engine_begins_with_an_expression_that_it_can_compute():
    at = with_engine()
    assert at.text_input(key="check expression").value == "sum(relu(x @ w + b))"
    assert not at.error
    at.segmented_control(key="check engine").set_value("lab").run()
    assert at.text_input(key="check expression").value == "x**2 * sin(x) + exp(x)"
    at.text_input(key="check expression").set_value("x * 3").run()
    at.segmented_control(key="check engine").set_value("tensors").run()
    assert at.text_input(key="check expression").value == "x * 3"  # what one wrote stays


@needs_processes
@pytest.mark.parametrize(
    ("edit", "parameters", "said"),
    [
        ((), {"expression": "sin(x)"}, "no such operation"),
        ((), {"expression": "sum(x)", "in_x": "[1, 2]", "ladder": "scalars"}, "takes single numbers: make x a number"),
        (("            self._receive(out.grad * y)", "            1 / 0"), {"expression": "exp(x)"}, "in line 1"),
        (("self._receive(out.grad * y)", "self._receive(out.grad * np.nan)"), {"expression": "exp(x)"}, "gives NaN at x"),
        (("y = np.exp(self.data)", "y = np.exp2(self.data)"), {"expression": "exp(x)"}, "computes 2 where the lab’s computes 2.718"),
    ],
)  # fmt: skip
def test_an_engine_that_has_no_gradient_is_one_sentence_and_the_lab_s_is_there_to_choose(edit, parameters, said):
    at = with_engine(*edit, **parameters)
    (box,) = [*at.warning, *at.error[:1]][:1]
    assert said in box.value.replace("\\", "")
    assert at.segmented_control(key="check engine").value != "lab"
    at.segmented_control(key="check engine").set_value("lab").run()
    assert not at.error
    assert at.success
