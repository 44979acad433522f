"""Questions: answered, told why, coming back; and each link opens a page that shows the answer."""

import pytest

from lab.lessons.pages import BY_FILE
from lab.practice.questions import value
from practice.questions import QUESTIONS, ChoiceQuestion, NumberQuestion
from tests.pages.conftest import address, app, press, progress, run, texts

PAGE = "pages/build_it_yourself.py"
# Where the page wants a guess before it shows the answer: the widget, and a guess.
GUESSES = {
    "central-passes": ("why-slower", "1000"),
    "checkpointing": ("why-fewest", "between"),
}
PROOFS = {  # what the page of the link says, as it is opened
    "how-it-knows": '"kind": "message"',
    "why-reverse": "6 passes of forward mode, or 1 of reverse mode",
    "central-passes": "2\\,000 | 0 | 2 s",
    "forward-wins": "1 pass of forward mode, or 8 of reverse mode",
    "step-too-small": "h is smaller than the last digit of x",
    "relu-at-0": "slope in x **0**",
    "why-add": '"before": 10.0, "message": 21.0, "after": 31.0',
    "used-twice": '"before": 4.0, "message": 3.0, "after": 7.0',
    "classic": '"before": 10.0, "message": 21.0, "after": 31.0',
    "drawn-by-hand": '"children": [2, 2]',
    "why-an-order": "A node passes its gradient on before all of its messages have arrived",
    "define-by-run": "x.item() > 0 else -x",
    "grad-fn": "objects of C",
    "jax-grad": "jax.grad(f)",
    "number-first": "none because it is a constant",
    "leaf-step": '"label": "a", "children": []',
    "backward-twice": "freed its graph",
    "many-numbers": "starts from a single number",
    "written-to": "**A wrong gradient, and no error.**",
    "detached": "a part of it",
    "bias-gradient": "b is copied 4 times",
    "pairs": '"shape": [4, 4]',
    "matmul-rule": "*row* k of B",
    "how-many-parameters": "a network of 41 parameters",
    "not-zeroed": "the new gradient was added to it",
    "steepest-sigmoid": "slope in x **0.25**",
    "zero-weights": "The gradients of all weights are exactly 0",
    "checkpointing": "Bytes kept at the worst moment",
    "testing-rules": "The elements of a softmax always add up to 1. Choose a rule",
    "column-and-row": "a is copied 3 times",
    "column-gradient": "b is copied 3 times",
    "mean-gradient": "0.25",
    "sum-without-keepdims": "does not fit",
    "product-gradient": "*row* k of B",
    "one-step": "6.0",
    "two-long-steps": "-6.0",
    "unsure": "-0.5",
    "cut-off-unit": "relu(w*x)",
}


def opened(**state):
    at = app(PAGE)
    at.session_state["path"] = "build-it-yourself"
    return run(at, **{"tab": "ask"} | state)


def wrong_answer(question):
    if isinstance(question, ChoiceQuestion):
        return str(next(at for at, option in enumerate(question.options) if option.why_not))
    return "987"


def right_answer(question):
    if isinstance(question, ChoiceQuestion):
        return str(next(at for at, option in enumerate(question.options) if not option.why_not))
    return repr(value(question))


def passed_tasks(at):
    """The tasks of which the page tells the browser that they are passed."""
    return [task for note in progress(at, "note") for task in note["tasks"]]


def type_in(at, question, answer):
    if isinstance(question, ChoiceQuestion):
        at.radio(key="questions widget").set_value(int(answer)).run()
    else:
        at.text_input(key="questions widget").set_value(answer).run()


@pytest.mark.sample(6)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_its_link_opens_a_page_that_shows_the_answer(question):
    at = app(question.place.file)
    at.session_state["path"] = BY_FILE[question.place.file].path
    run(at, **question.place.query)
    assert "does not fit" not in texts(at.info)
    if question.key in GUESSES:
        key, guess = GUESSES[question.key]
        at.segmented_control(key=key).set_value(guess).run()
    shown = [str(getattr(element, "value", "")) for element in at.main]
    shown += [component.proto.bytes.decode() for component in at.get("bidi_component")]
    assert PROOFS[question.key] in "\n".join(shown)


@pytest.mark.parametrize("kind", [ChoiceQuestion, NumberQuestion])
def test_a_wrong_answer_is_told_why_and_comes_back(kind):
    question = next(question for question in QUESTIONS if isinstance(question, kind))
    at = opened(question=question.key)
    type_in(at, question, wrong_answer(question))
    assert address(at)["answer"] == wrong_answer(question)  # a reload loses nothing
    press(at, "questions check")
    said = texts(at.warning).replace("\\", "")
    assert question.because in said
    assert "to come back" in texts(at.markdown)
    assert passed_tasks(at) == []
    keys = []
    for _ in range(5):
        press(at, "questions next")
        keys.append(at.session_state["build-question"])
        following = next(one for one in QUESTIONS if one.key == keys[-1])
        type_in(at, following, right_answer(following))
        press(at, "questions check")
        assert "**Right.**" in texts(at.success)
        if following.key == question.key:
            break
    assert keys[-1] == question.key
    assert len(keys) == 4
    assert f"questions/{question.key}" in passed_tasks(at)


def test_an_answer_in_the_address_is_shown_again_and_is_no_achievement():
    at = opened(question="classic", answer="31", checked="1")
    assert "**Right.** It is 31" in texts(at.success).replace("\\", "")
    assert passed_tasks(at) == []
    assert "Your answer: **31**" in texts(at.markdown)
    assert not at.text_input
    at = opened(question="classic", answer="31")
    assert not at.success
    assert at.text_input(key="questions widget").value == "31"


def test_nothing_is_lost_where_there_is_no_answer_yet_and_a_hint_helps():
    at = opened(question="classic")
    type_in(at, next(one for one in QUESTIONS if one.key == "classic"), "many")
    press(at, "questions check")
    assert "This is not a number" in texts(at.warning)
    assert at.text_input(key="questions widget").value == "many"
    assert "Two ways lead from a to y" in texts(at.expander[0].markdown)


def test_a_topic_asks_its_own_questions_until_all_are_done():
    at = opened()
    at.selectbox(key="build-topic").set_value("Shapes").run()
    of_topic = {question.key: question for question in QUESTIONS if question.topic == "Shapes"}
    for _ in of_topic:
        question = of_topic[at.session_state["build-question"]]
        type_in(at, question, right_answer(question))
        press(at, "questions check")
        press(at, "questions next")
    assert "You have answered all of these" in texts(at.success)
    at.button(key="questions again").click().run()
    assert at.session_state["build-question"] in of_topic
    assert address(at)["seed"] == "1"


def test_a_link_to_a_topic_begins_with_a_question_of_it():
    at = opened(topic="Shapes")
    assert next(one for one in QUESTIONS if one.key == at.session_state["build-question"]).topic == "Shapes"
