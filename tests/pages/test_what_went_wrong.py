"""What went wrong? from a text to the failure, and each failure lived, without a browser."""

import pytest

from lab.failures import FAILURES, find
from lab.failures.catalogue import BY_KEY
from lab.failures.programs import run as run_program
from lab.practice.learner_program import MAX_LINKED, ProgramRun
from lab.practice.stop_reasons import TOO_LONG
from lab.traps.faults.catalogue import FAULTS
from lab.ui.search_field import ASKED
from lab.ui.table import with_code
from pages.parts.failures import index
from pages.parts.failures.from_code import EXAMPLE
from pages.parts.practice import running
from tests.pages.conftest import address, charts, open_at, press, run, texts


def opened(**address):
    return open_at("what-went-wrong", **address)


def ask(at, text):
    at.text_area(key="wrong text").set_value(text).run()
    assert not at.exception


@pytest.mark.sample(5)
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.key)
def test_each_failure_is_caused_seen_and_cured(failure):
    at = opened()
    press(at, f"wrong choose {failure.key}")
    assert at.header[0].value == f"{failure.number} {failure.name}"
    cause, cure = run_program(failure.broken), run_program(failure.fixed)
    shown = texts(at.code)
    assert cause.code.strip() in shown
    assert cure.code.strip() in shown
    assert failure.pytorch_equivalent().strip() in shown
    if cause.error:
        assert len(at.error) == 1
        assert cause.error.split(":")[0] in at.error[0].value
    else:
        assert [warning.value for warning in at.warning] == [with_code(failure.silent)]
    assert address(at)["failure"] == failure.key
    charted = [name for name, value in cure.shown.items() if isinstance(value, list)]
    assert len(charts(at)) == len(charted)


def test_a_text_is_looked_up_once_and_is_one_step_for_back():
    at = opened()
    ask(at, "RuntimeError: grad can be implicitly created only for scalar outputs")
    assert address(at)["failure"] == "scalar"
    assert at.query_params["entry"] == "1"
    press(at, "wrong find")  # pressing it has ended typing, which has looked the text up
    assert at.query_params["entry"] == "1"
    press(at, "wrong choose twice")
    press(at, "wrong find")  # back to what the text is about
    assert (at.query_params["entry"], address(at)["failure"]) == ("3", "scalar")


def test_a_text_that_the_search_was_asked_is_looked_up():
    at = opened()
    text = "RuntimeError: grad can be implicitly created only for scalar outputs"
    at.session_state[ASKED] = text
    at.run()
    assert not at.exception
    assert at.text_area(key="wrong text").value == text
    assert at.header[0].value == "3 Only for scalar outputs"
    assert run(at).text_area(key="wrong text").value == text


def test_code_and_a_curve_are_read_where_such_is_read():
    at = opened()
    loop = "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    ask(at, loop)
    assert at.session_state["wrong-tab"] == "From code"
    assert at.text_area(key="code text").value == loop
    assert "**Line" in texts(at.markdown)
    press(at, "code finding 0")
    assert at.session_state["wrong-tab"] == "From a message, or in words"
    press(at, "wrong elsewhere")  # the box still has the loop
    assert at.session_state["wrong-tab"] == "From code"
    at = opened()
    ask(at, "epoch,loss\n" + "\n".join(f"{epoch},{loss}" for epoch, loss in enumerate([2.3, 2.9, 9.5, 80, 1e4, "nan"])))
    assert at.session_state["wrong-tab"] == "From a log"
    assert at.text_area(key="curve text").value.startswith("epoch,loss")
    assert "First to check" in texts(at.markdown)


def test_a_clear_text_opens_its_failure_and_an_unclear_one_offers_at_most_three():
    at = opened()
    ask(at, "Traceback\n  loss.backward()\nRuntimeError: grad can be implicitly created only for scalar outputs")
    assert at.header[0].value == "3 Only for scalar outputs"
    assert address(at)["failure"] == "scalar"
    ask(at, "in-place operation")
    assert at.session_state["wrong-failure"] is None
    assert "Not clear from this text" in texts(at.markdown)
    candidates = [button.key for button in at.button if button.key.startswith("wrong cause")]
    assert candidates == ["wrong cause inplace 0", "wrong cause leaf 0"]
    assert with_code(BY_KEY["leaf"].symptom) in texts(at.markdown)
    press(at, "wrong cause leaf 0")
    assert at.header[0].value == "7 A leaf used in an in-place operation"


def test_a_text_that_fits_nothing_gets_the_check_list():
    at = opened()
    ask(at, "KeyError: 'weights' <script>alert(1)</script>")
    assert "No match" in at.info[0].value
    assert "Shrink the data" in texts(at.markdown)


@pytest.mark.parametrize(
    ("text", "verb"), [("Target 3 is out of bounds", "may be"), ("train loss falls, val loss rises", "is")]
)
def test_a_text_about_none_of_the_failures_is_answered_and_says_how_sure_it_is(text, verb):
    ask(at := opened(), text)
    assert f"This text {verb} about" in at.success[0].value
    assert "**What to do.**" in texts(at.markdown)


def test_it_runs_with_numbers_of_ones_own():
    at = opened(failure="accumulation", numbers="2, 4")
    assert "numbers = [2.0, 4.0]" in at.code[0].value
    assert "numbers = [2.0, 4.0]" in at.code[2].value
    at.text_input(key="wrong-numbers").set_value("2, x").run()
    assert "Write 2 to 8 numbers" in at.error[0].value
    assert at.text_input(key="wrong-numbers").value == "2, x"
    at = opened(failure="nan", numbers="0.5, 0.5")
    assert "the same" in texts(at.markdown)
    assert "differs" not in texts(at.markdown)
    press(at, "wrong choose rate")
    assert at.text_input(key="wrong-numbers").value == ""


def test_a_failure_comes_in_each_of_its_forms():
    at = opened(failure="optimizer", form="2", numbers="3")
    form = BY_KEY["optimizer"].in_form(2)
    assert run_program(form.broken, [3.0]).code.strip() in texts(at.code)
    assert form.pytorch_equivalent([3.0]).strip() in texts(at.code)
    assert [warning.value for warning in at.warning] == [with_code(form.silent)]
    assert "It has no message" in texts(at.markdown)
    at.button_group(key="wrong-form").set_value(1).run()
    assert not at.exception
    assert address(at)["form"] == "1"
    assert "It says: *optimizer got an empty parameter list*" in texts(at.markdown)
    press(at, "wrong choose order")
    assert "form" not in address(at)
    at = opened(failure="order", form="5")  # it has three
    assert not at.exception
    assert run_program(BY_KEY["order"].broken).code.strip() in texts(at.code)


@pytest.mark.parametrize("path", sorted({place.path for f in FAILURES for place in f.places} - {"build-it-yourself"}))
@pytest.mark.sample(4)
def test_where_else_it_can_be_tried_takes_the_address(path):
    """No note that something in it does not fit. Addresses of tasks: tests/unit/failures/test_catalogue.py."""
    addresses = [place.query for failure in FAILURES for place in failure.places if place.path == path]
    for query in {tuple(query.items()): query for query in addresses}.values():
        at = open_at(path, **query)
        assert "does not fit" not in texts(at.info), query


def test_a_piece_of_code_leads_to_the_failures_that_it_commits():
    at = opened(tab="code")
    press(at, "code example")
    said = texts(at.markdown)
    for number in (6, 10, 25):
        assert with_code(FAILURES[number - 1].name) in said.replace("\\", "\\")
    assert any(code.value.startswith("- ") and "\n+ " in code.value for code in at.code)
    press(at, "code finding 0")
    assert at.session_state["wrong-tab"] == "From a message, or in words"
    assert at.header[0].value
    at = opened(tab="code")
    at.text_area(key="code text").set_value("for x in :\n    pass\n\nmore").run()
    assert "Line 1 is not Python" in at.error[0].value
    at.text_area(key="code text").set_value("print(1)").run()
    assert "None of the failures" in at.success[0].value
    assert at.text_area(key="code text").value == "print(1)"


def test_a_program_is_in_the_address_which_brings_it_back(monkeypatch):
    began = []
    monkeypatch.setattr(running, "begin", lambda place, source, linked: began.append((source, linked)))
    at = opened(tab="code")
    at.text_area(key="code text").set_value("a = 1\n").run()
    at = opened(tab="code", code=address(at)["code"])
    assert at.text_area(key="code text").value == "a = 1\n"
    press(at, "code run")
    at.text_area(key="code text").set_value("a = 2\n").run()
    press(at, "code run")
    assert began == [("a = 1\n", True), ("a = 2\n", False)]
    at.text_area(key="code text").set_value("a = 1\n" * MAX_LINKED).run()
    assert "code" not in address(at)
    assert "a reload forgets this text" in texts(at.caption)


def test_a_log_is_in_the_address_which_brings_it_back():
    at = opened(tab="curve")
    at.text_area(key="curve text").set_value(LOG).run()
    at = opened(tab="curve", log=address(at)["log"])
    assert at.text_area(key="curve text").value == LOG
    at.text_area(key="curve text").set_value(LOG * 200).run()
    assert "log" not in address(at)
    assert "a reload forgets this text" in texts(at.caption)


LOG = "epoch 1 loss 0.5\nepoch 2 loss 0.4\n"
NAME = "NameError: name 'undefined' is not defined"


@pytest.mark.parametrize(
    ("source", "ran", "errors", "ticks"),
    [
        ("a = 1\n", {}, 0, 1),
        ("while True: pass", {"problem": TOO_LONG}, 1, 0),
        ("y = undefined", {"problem": NAME, "line": 1, "kind": "NameError"}, 1, 0),
        ("for x in y\n", {"problem": "SyntaxError: expected ':'", "line": 1, "kind": "SyntaxError"}, 1, 0),
        ("import cv2", {"problem": "No module named 'cv2'.", "line": 1, "kind": "ModuleNotFoundError"}, 0, 1),
    ],
    ids=["ran", "endless", "unknown name", "syntax", "missing module"],
)
def test_a_program_that_failed_is_not_called_sound(source, ran, errors, ticks):
    at = opened(tab="code")
    at.session_state["program ran for code"] = ProgramRun(source, **ran)
    at.text_area(key="code text").set_value(source).run()
    assert not at.exception
    assert (len(at.error), len(at.success)) == (errors, ticks)


def test_an_empty_line_at_the_end_of_a_program_is_not_counted():
    at = opened(tab="code")
    at.text_area(key="code text").set_value(EXAMPLE).run()
    assert f"in {len(EXAMPLE.splitlines())} lines" in texts(at.markdown)


def test_a_message_with_several_causes_asks_which_and_runs_each():
    at = opened()
    text = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
    ask(at, text)
    assert "failure" not in address(at)
    assert "In your code, is there" in texts(at.markdown)
    assert "A link to this page does not contain the text" in texts(at.caption)
    causes = [button for button in at.button if button.key.startswith("wrong cause")]
    assert [button.label for button in causes] == [f"... {found.asks}?" for found in find(text)]
    for form in range(5):
        press(at, f"wrong cause nograph {form}")
        assert at.expander[0].label == f"{len(causes) - 1} other causes"  # folded: the program stands in the window
        assert any(button.key == f"wrong cause nograph {form}" for button in at.expander[0].button)
        assert address(at).get("form", "0") == str(form)
        assert run_program(BY_KEY["nograph"].in_form(form).broken).code.strip() in texts(at.code)
    ask(at, f"{text}\nout = model(x).detach()\nloss = F.mse_loss(out, y)\nloss.backward()")
    assert (address(at)["failure"], address(at)["form"]) == ("nograph", "2")
    assert at.code[0].value == "out = model(x).detach()"
    ask(at, "CUDA out of memory. Tried to allocate 2.00 GiB")
    assert "very first step" in texts(at.markdown)


def test_a_message_about_shapes_is_raised_and_fixed_here_and_has_an_address():
    at = opened()
    ask(at, "mat1 and mat2 shapes cannot be multiplied (64x784 and 128x10)")
    assert not at.info
    assert address(at)["other"] == "product"
    for shown in (at, opened(other="product")):
        assert shown.header[0].value == "Shapes that cannot be multiplied"
        assert "In a matrix product the last axis" in texts(shown.markdown)
        assert "Error" in shown.error[0].value
        assert "| stopped |" in texts(shown.markdown)
        assert len(shown.error) == 1
    press(at, "wrong choose twice")
    assert "other" not in address(at)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("optimizer got an empty parameter list", "1"),
        ("UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`.", "2"),
    ],
)
def test_a_message_of_one_form_opens_that_form(text, form):
    at = opened()
    ask(at, text)
    assert address(at)["form"] == form


def test_the_index_has_every_failure_and_fault_once():
    failures = [key for group in index.INDEX for key in group.failures]
    faults = [key for group in index.INDEX for key in group.faults]
    assert sorted(failures) == sorted(failure.key for failure in FAILURES)
    assert sorted(faults) == sorted(fault.key for fault in FAULTS)
    assert sorted(at for groups in index.IN_COLUMN.values() for at in groups) == [*range(len(index.INDEX))]


def test_the_index_opens_a_failure_or_a_fault_in_place_of_the_other():
    at = opened()
    press(at, "wrong fault overwrite")
    assert at.header[0].value == "Overwrite instead of add"
    assert address(at)["fault"] == "overwrite"
    press(at, "wrong choose nan")
    assert "nan or inf from" in at.header[0].value
    assert "fault" not in address(at)
    press(at, "wrong fault sign-flipped")
    assert at.header[0].value == "The sign of the update flipped"
    assert "failure" not in address(at)
