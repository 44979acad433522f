"""A pasted error message leads to the demonstration of that mistake, by its engine's own error, and to the fix."""

import numpy as np
import pytest

from lab.traps.in_place import run
from lab.traps.messages import MESSAGES, experiment_for, find

INPLACE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [3]], which is output 0 of {}, is at version 1; expected version 0 instead. Hint: enable anomaly "
    "detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
)
PASTED = {
    "inplace": [
        INPLACE.format("ExpBackward0"),
        "RuntimeError: " + INPLACE.format("Relu"),
        "modified by an inplace operation",
        "modified by an\n  in-place\n operation",
    ],
    "twice": [
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
        "tensors after calling backward.",
        "Trying to backward through the graph a second time, but the buffers have already been freed.",
        "backward through the graph a second time",
        "retain_graph",
    ],
    "scalar": ["RuntimeError: grad can be implicitly created only for scalar outputs", "only for scalar outputs"],
    "leaf": [
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ],
    "nograph": [
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "does not require grad",
    ],
}
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 41, in <module>
    loss.backward()
  File "torch/_tensor.py", line 522, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
  File "torch/autograd/__init__.py", line 266, in backward
    Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
RuntimeError: {}
"""


@pytest.mark.parametrize(("key", "text"), [(key, text) for key, texts in PASTED.items() for text in texts])
def test_a_message_is_found_as_a_line_and_inside_a_traceback(key, text):
    assert find(text)[0] == key
    assert find(text.upper())[0] == key
    if len(text.split()) > 4:
        assert find(TRACEBACK.format(text))[0] == key


@pytest.mark.parametrize("key", MESSAGES)
def test_the_engines_own_error_is_found_too(key):
    error = MESSAGES[key].cause()[1]
    assert find(error)[0] == ("inplace" if key == "leaf" else key)  # the engine has one error for both


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "the",
        "hello world",
        "KeyError: 'weights'",
        "mat1 and mat2 shapes cannot be multiplied in the forward pass",
    ],
)
def test_what_is_no_message_finds_nothing(text):
    assert find(text) == []


def test_a_fragment_that_fits_two_messages_offers_both():
    assert set(find("in-place operation")) == {"inplace", "leaf"}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_lines_that_are_shown_raise_the_error_that_is_shown(message):
    code, error = message.cause()
    names = {}
    exec("from model import SGD, Tensor, no_grad", names)
    with pytest.raises(RuntimeError) as caught:
        exec(code, names)
    assert error == f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_lines_of_the_fix_give_the_gradient_that_is_shown(message):
    code, gradient = message.cure()
    names = {}
    exec("from model import SGD, Tensor, no_grad", names)
    exec(code, names)
    leaf = names.get("w", names.get("x"))
    np.testing.assert_array_equal(leaf.grad, gradient)
    assert "return" not in code


@pytest.mark.parametrize(
    ("made_by", "op", "written"),
    [
        ("ExpBackward0", "exp", "output"), ("Exp", "exp", "output"), ("ReluBackward0", "relu", "output"),
        ("TanhBackward0", "exp", "output"), ("AddBackward0", "mul", "input"), ("AsStridedBackward0", "mul", "input"),
    ],
)  # fmt: skip
def test_the_array_that_pytorch_names_chooses_the_experiment(made_by, op, written):
    experiment = experiment_for(INPLACE.format(made_by))
    assert (experiment.op, experiment.written, experiment.guard) == (op, written, True)
    assert run(experiment).outcome == "error"


def test_a_leaf_has_no_maker():
    assert experiment_for("[torch.FloatTensor [3]] is at version 1; expected version 0 instead").op == "mul"


def test_the_messages_are_what_pytorch_says_today():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def inplace():
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        loss = y.sum()
        y += 1
        loss.backward()

    def twice():
        x = torch.ones(3, requires_grad=True)
        loss = (x * x).sum()
        loss.backward()
        loss.backward()

    def scalar():
        (torch.ones(3, requires_grad=True) * 2).backward()

    def leaf():
        torch.ones(3, requires_grad=True).add_(1)

    def nograph():
        torch.ones(3).sum().backward()

    for cause in (inplace, twice, scalar, leaf, nograph):
        with pytest.raises(RuntimeError) as caught:
            cause()
        assert find(str(caught.value))[0] == cause.__name__
    with pytest.raises(RuntimeError) as caught:
        inplace()
    assert experiment_for(str(caught.value)).op == "exp"
