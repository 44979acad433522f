"""A learner's engine in the lab: its passes, its gradients and its training, beside those of the lab's own."""

import itertools

import numpy as np
import pytest

from lab.expression.parser import parse
from lab.practice import learner_training, process_pool
from lab.practice.learner_engine import MAX_FUNCTIONS, EngineError, Loaded
from lab.practice.runner import LocalRunner, StoppedError
from lab.trace.derivation import derive
from lab.trace.export import playable
from lab.trace.recording import record
from practice import COURSES
from tests.answers import unusual

SCALARS, TENSORS, FUNCTIONS = COURSES["scalars"], COURSES["tensors"], COURSES["functions"]
STYLES = [SCALARS.reference, *(path.read_text("utf-8") for path in unusual(SCALARS))]
PASSES = [
    ("((a*b) + c) * (a + d)", {"a": 2.0, "b": 3.0, "c": 4.0, "d": 5.0}),
    ("a + a", {"a": 3.0}),
    ("(a*a - b/2 + a**3).tanh()", {"a": 0.2, "b": 0.5}),
    ("h = a*b\nh.relu() + h", {"a": 2.0, "b": 1.5}),
    ("2 * a.exp() - b", {"a": 0.5, "b": 1.0}),
]


def follow(course, source, expression, leaves, runner, upstream=None):
    return Loaded(course, source, runner).follow(expression, leaves, upstream)


def checked(course, source, expression, leaves, runner, upstream=None):
    return Loaded(course, source, runner).checked(expression, leaves, upstream)


@pytest.mark.parametrize("source", STYLES, ids=range(len(STYLES)))
@pytest.mark.parametrize(("text", "leaves"), PASSES)
def test_a_pass_of_scalars_has_the_numbers_of_the_lab_s_engine(source, text, leaves):
    expression, engine = parse(text), Loaded(SCALARS, source, LocalRunner())
    trace = engine.follow(expression, leaves)
    for name, gradient in record(expression, leaves).gradients.items():
        np.testing.assert_allclose(trace.gradients[name], gradient, rtol=1e-12)
    assert {step["kind"] for step in trace.events} == {"forward", "seed", "message", "accumulate"}
    assert playable(trace)["output"] == trace.output
    assert [row.agrees for row in engine.checked(expression, leaves)] == [True] * len(leaves)


def test_events_name_the_lines_of_the_learner_s_file_that_ran():
    trace = follow(SCALARS, SCALARS.reference, parse("a * b"), {"a": 2.0, "b": 3.0}, LocalRunner())
    lines = SCALARS.reference.splitlines()
    sent = [lines[event["line"] - 1].strip() for event in trace.events if event["kind"] == "message"]
    assert [line.split(" +=")[0] for line in sent] == ["self.grad", "other.grad"]
    code = trace.sources["Value.__mul__"]
    assert lines[code["first"] - 1].strip() == code["lines"][0] == "def __mul__(self, other):"
    held = {entry["name"]: entry for entry in trace.nodes[trace.output]["captured"]}
    assert (held["self"]["node"], held["other"]["node"]) == (0, 1)


def test_an_engine_that_overwrites_is_seen_to():
    wrong = SCALARS.reference.replace("grad +=", "grad =")
    trace = follow(SCALARS, wrong, parse("a + a"), {"a": 3.0}, LocalRunner())
    assert trace.gradients["a"] == 1
    assert [row.agrees for row in checked(SCALARS, wrong, parse("a + a"), {"a": 3.0}, LocalRunner())] == [False]


def _no_such_node(told):
    told["events"][-1]["node"] = 99


def _a_node_from_the_end(told):
    told["events"][-1]["node"] = -1


def _no_line(told):
    told["events"][-1]["line"] = np.inf


def _a_line_inside_a_text(told):
    told["functions"] = dict.fromkeys(told["functions"], 3)


def _another_shape(told):
    told["gradients"]["a"] = np.ones(3)


def _functions_without_end(told):
    names = [f"f{number}" for number in range(MAX_FUNCTIONS)]
    told["functions"] |= dict.fromkeys(names, next(iter(told["functions"].values())))
    told["events"] += [told["events"][-1] | {"source": name} for name in names]


LIES = [_no_such_node, _a_node_from_the_end, _no_line, _a_line_inside_a_text, _another_shape, _functions_without_end]


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_hold_together_is_refused(lie):
    class Lying(LocalRunner):
        def run(self, jobs):
            (said,) = super().run(jobs)
            lie(said.values["recorded"])
            return [said]

    source = f'"""A text\nof lines,\n(an engine" in\nit."""\n{SCALARS.reference}'
    follow(SCALARS, source, parse("a * b"), {"a": 2.0, "b": 3.0}, LocalRunner())
    with pytest.raises(EngineError):
        follow(SCALARS, source, parse("a * b"), {"a": 2.0, "b": 3.0}, Lying())


def test_a_gradient_of_another_shape_is_refused():
    wrong = TENSORS.reference.replace("    return grad.sum(axis=stretched, keepdims=True)", "    return grad")
    leaves = {"x": np.ones((2, 3)), "r": np.ones((1, 3))}
    for seen in (follow, checked):
        with pytest.raises(EngineError, match=r"gradient of r has the shape \(2, 3\), and r has \(1, 3\)"):
            seen(TENSORS, wrong, parse("(x * r).sum()"), leaves, LocalRunner())


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("(x*w + b).relu().sum()", {"x": np.array([[1.0, 2.0], [3.0, -4.0]]), "w": np.array([1.0, 2.0]), "b": np.array(0.5)}),
        ("(x @ w).exp().mean()", {"x": np.ones((2, 3)) / 3, "w": np.ones((3, 2)) / 2}),
        ("x.softmax().log().sum()", {"x": np.array([[0.0, 1.0, 2.0]])}),
    ],
)  # fmt: skip
def test_a_pass_of_tensors_has_the_numbers_of_the_lab_s_engine(text, leaves):
    expression, engine = parse(text), Loaded(TENSORS, TENSORS.reference, LocalRunner())
    trace = engine.follow(expression, leaves)
    for name, gradient in record(expression, leaves).gradients.items():
        np.testing.assert_allclose(trace.gradients[name], gradient, rtol=1e-12, atol=1e-15)
    assert all(row.agrees for row in engine.checked(expression, leaves))
    assert first_wrong(derive(trace)) is None


def first_wrong(derived):
    """The player says that something went wrong where a rule, as the lab knows it, gives another message."""
    terms = (term for one in derived for term in one["terms"] if term["event"] is not None)
    return next((term for term in terms if term["agrees"] is False), None)


def test_what_goes_to_each_copy_is_told_before_its_sum_and_a_forgotten_sum_is_seen():
    leaves = {"x": [[1.0, 2.0], [3.0, 4.0]], "b": [10.0, 20.0]}
    trace = follow(TENSORS, TENSORS.reference, parse("sum(x * b)"), leaves, LocalRunner())
    to_b = next(event for event in trace.events if event["kind"] == "message" and event["child"] == 1)
    assert to_b["contribution"] == [[1, 2], [3, 4]]
    assert [event["message"] for event in trace.events if event["kind"] == "accumulate" and event["node"] == 1] == [
        [4, 6]
    ]
    wrong = TENSORS.reference.replace("unbroadcast(out.grad * a, b.shape)", "(out.grad * a)[0]")
    assert wrong != TENSORS.reference
    trace = follow(TENSORS, wrong, parse("sum(x * b)"), leaves, LocalRunner())
    assert trace.events[first_wrong(derive(trace))["event"] + 1]["message"] == [1, 2]


def edited(*edits):
    source = FUNCTIONS.reference
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return source


X, Y, ROW = np.array([[1.0, 2.0, -0.5], [3.0, -4.0, 0.5]]), np.array([[0.5, -1.0], [1.0, 2.0], [0.2, 0.3]]), [0.1, 0.2]
FUNCTION_STYLES = {path.stem: path.read_text("utf-8") for path in unusual(FUNCTIONS)}
ADDED = "x.grad = message if x.grad is None else x.grad + message"
FUNCTION_STYLES |= {
    "reference": FUNCTIONS.reference,
    "zeros first": edited((ADDED, f"x.grad = np.zeros_like(x.data) if x.grad is None else x.grad\n{' ' * 24}{ADDED}")),
    "behind grad": edited((ADDED, ADDED.replace("x.grad =", "vars(x)['grad'] ="))),
    "class methods": edited(("@staticmethod", "@classmethod"), ("(ctx, a", "(cls, ctx, a"), ("(ctx, x", "(cls, ctx, x"), ("backward(ctx, grad)", "backward(cls, ctx, grad)")),
    "inherited": edited(
        ("class AddRow(Function)", "class AddRow(Add)"),
        ("return x + row", "return Add.forward(ctx, x, row)"),
        ("return grad, grad.sum(axis=0)", "return Add.backward(ctx, grad)[0], grad.sum(axis=0)"),
    ),
    "no line of theirs": edited(("return a + b", "return a + b\n\n    forward = np.vectorize(forward, excluded=[0])")),
}  # fmt: skip
FUNCTION_PASSES = [
    ("(x @ w + b).relu().sum()", {"x": X, "w": Y, "b": ROW}),
    ("sum((sigmoid(x @ w + b) - t)**2)", {"x": X, "w": Y, "b": ROW, "t": np.eye(2)}),
    ("x * x", {"x": X}),  # both messages to one
    ("h = x * y\nsum(h.relu() + 2*h*x - x/y) - 1", {"x": X, "y": 2 * X + 0.3}),
    ("-sum(a.sigmoid() * a**3 + a) / 2", {"a": np.array([0.5, -1.5])}),
    ("(x + b) @ w @ (x + b)", {"x": X.T, "b": ROW, "w": Y.T}),
]


@pytest.mark.parametrize("style", FUNCTION_STYLES)
@pytest.mark.parametrize(("text", "leaves"), FUNCTION_PASSES)
def test_a_pass_of_functions_has_the_numbers_of_the_lab_s_engine(style, text, leaves):
    expression, source = parse(text), FUNCTION_STYLES[style]
    leaves = {name: np.asarray(value) for name, value in leaves.items()}
    labs = record(expression, leaves)
    shape = np.shape(labs.nodes[labs.output]["value"])
    upstream = np.ones(shape) if shape else None
    engine = Loaded(FUNCTIONS, source, LocalRunner())
    trace = engine.follow(expression, leaves, upstream)
    for name, gradient in labs.gradients.items():
        np.testing.assert_allclose(trace.gradients[name], gradient, rtol=1e-12, atol=1e-15)
    assert all(row.agrees for row in engine.checked(expression, leaves, upstream))
    assert playable(trace)["output"] == trace.output
    assert first_wrong(derive(trace)) is None
    # Each node's gradient is the sum of its messages, and these stand in front of their arrivals.
    assert [event["kind"] for event in trace.events].count("seed") == 1
    for number, gradient in trace.gradients_after().items():
        arrivals = [event for event in trace.events if event["kind"] == "accumulate" and event["node"] == number]
        if number != trace.output:
            np.testing.assert_allclose(sum(np.array(event["message"]) for event in arrivals), gradient, atol=1e-12)
    for message, arrival in itertools.pairwise(trace.events):
        assert (message["kind"] == "message") == (arrival["kind"] == "accumulate")
    # Each event is at a line of the function that is shown with it.
    for event in trace.events:
        code = trace.sources[event["source"]]
        assert code["first"] <= event["line"] < code["first"] + len(code["lines"])


def test_functions_show_what_they_saved_and_plain_numbers_are_constants():
    expression = parse("3 * a + b")
    leaves = {"a": np.array([1.0, 2.0]), "b": np.array([0.5, -1.0])}
    trace = follow(FUNCTIONS, FUNCTIONS.reference, expression, leaves, LocalRunner(), np.ones(2))
    product, number = next((node, trace.nodes[node["children"][1]]) for node in trace.nodes if node["op"] == "*")
    assert (number["label"], number["requires_grad"]) == ("3", False)
    assert [(entry["name"], entry["holds"], entry["value"]) for entry in product["captured"]] == [
        ("saved_tensors[0]", "value of operand 0", [1, 2]),
        ("saved_tensors[1]", "value of operand 1", 3),
    ]
    ran = {(event["kind"], event["source"]) for event in trace.events}
    assert {("forward", "Mul.forward"), ("message", "Mul.backward"), ("accumulate", "Tensor.backward")} <= ran


@pytest.mark.parametrize(
    ("edit", "text", "leaves", "name"),
    [
        (("x.grad = message if x.grad is None else x.grad + message", "x.grad = message"), "x + x", {"x": X}, "x"),
        (("return grad * b, grad * a", "return grad * a, grad * b"), "x * y", {"x": X, "y": X + 2}, "x"),
        (("return grad, grad.sum(axis=0)", "return grad, grad[0]"), "x + r", {"x": X, "r": np.ones(3)}, "r"),
        (("return (grad * mask,)", "return (grad,)"), "relu(x)", {"x": X}, "x"),
    ],
    ids=["overwritten", "swapped", "row", "relu"],
)
def test_a_broken_function_is_seen_to(edit, text, leaves, name):
    wrong = FUNCTIONS.reference.replace(*edit)
    assert wrong != FUNCTIONS.reference
    upstream = np.arange(6.0).reshape(2, 3)
    rows = checked(FUNCTIONS, wrong, parse(text), leaves, LocalRunner(), upstream)
    assert not next(row for row in rows if row.name == name).agrees
    trace = follow(FUNCTIONS, wrong, parse(text), leaves, LocalRunner(), upstream)
    lost = [
        event
        for event in trace.events
        if event["kind"] == "accumulate"
        and not np.array_equal(np.add(event["before"], event["message"]), event["after"])
    ]
    assert bool(lost) == ("x.grad" in edit[0])
    assert bool(first_wrong(derive(trace))) == (not lost)


@pytest.mark.parametrize(
    ("text", "leaves", "said"),
    [
        ("tanh(x)", {"x": X}, "has no tanh: its course has"),
        ("maximum(x, 0)", {"x": X}, "no such operation or attribute: name 'maximum'"),
        ("x.sum(axis=0)", {"x": X}, "no sum along an axis"),
        ("2 ** x", {"x": X}, "no power with a tensor as the exponent"),
        ("x[0]", {"x": X}, "no part of a tensor by its index"),
        ("x @ b", {"x": X, "b": np.ones(3)}, "no @ of anything but matrices"),
        ("x * b", {"x": X, "b": np.ones(3)}, r"cannot multiply \(2, 3\) and \(3,\)"),
    ],
)
def test_what_the_course_of_functions_lacks_is_one_sentence(text, leaves, said):
    for seen in (follow, checked):
        with pytest.raises(EngineError, match=said) as raised:
            seen(FUNCTIONS, FUNCTIONS.reference, parse(text), leaves, LocalRunner())
        assert len(str(raised.value)) <= 200


def test_an_engine_with_another_value_is_said_to_have_it():
    wrong = SCALARS.reference.replace("t = math.tanh(self.data)", "t = math.sin(self.data)")
    with pytest.raises(EngineError, match=r"computes 0\.4794 where the lab’s computes 0\.4621"):
        Loaded(SCALARS, wrong, LocalRunner()).checked(parse("tanh(a)"), {"a": 0.5})


def test_arrays_are_no_inputs_of_an_engine_of_numbers():
    with pytest.raises(EngineError, match="single numbers: make a a number"):
        follow(SCALARS, SCALARS.reference, parse("a * b"), {"a": [1.0, 2.0], "b": 3.0}, LocalRunner())


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("self._op = op", "self._op = 600 * op"), "contradict each other"),
        (("self._children = tuple(children)", "self._children = 3"), "stops with"),
        (("def backward(self):", "def back(self):"), "no such operation"),
        (("import math", "import math\n1 / 0"), "stops with ZeroDivisionError"),
    ],
)
def test_an_engine_that_cannot_be_followed_is_refused_in_a_sentence(edit, said):
    with pytest.raises(EngineError, match=said):
        follow(SCALARS, SCALARS.reference.replace(*edit), parse("a * b"), {"a": 2.0, "b": 3.0}, LocalRunner())


@pytest.mark.parametrize("course", [SCALARS, TENSORS, FUNCTIONS], ids=lambda course: course.key)
def test_training_gives_the_numbers_of_the_lab_s_engine(course):
    task = learner_training.task(course, 0)
    with process_pool.runner(learner_training.LIMITS) as runner:
        own = list(learner_training.train(task, course.reference, course.file, runner))
    with process_pool.runner(learner_training.LIMITS) as runner:
        labs = list(learner_training.train_lab_engine(task, runner))
    losses = [[said.loss for said in told[: task.steps]] for told in (own, labs)]
    assert len(losses[0]) == task.steps
    np.testing.assert_allclose(*losses, rtol=1e-9)
    assert losses[0][-1] < 0.1 * losses[0][0]
    if course is TENSORS:
        assert own[-1] == labs[-1] > learner_training.GRADUATED
    else:
        assert losses[0][-1] < 0.01


def test_an_engine_that_fails_while_it_trains_says_where():
    wrong = SCALARS.reference.replace("t = math.tanh(self.data)", "t = math.tanh(self.dat)")
    with (
        pytest.raises(StoppedError, match="AttributeError") as raised,
        process_pool.runner(learner_training.LIMITS) as runner,
    ):
        list(learner_training.train(learner_training.task(SCALARS, 0), wrong, "scalars.py", runner))
    assert "self.dat)" in wrong.splitlines()[raised.value.line - 1]
