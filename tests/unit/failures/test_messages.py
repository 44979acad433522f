"""A pasted error message leads to the demonstration of that mistake, by its engine's own error, and to the fix."""

import copy
import warnings

import numpy as np
import pytest

from lab.failures.catalogue import BY_KEY, NEARBY
from lab.failures.causes import shared_by
from lab.failures.finder import look_up as find
from lab.failures.index import Match
from lab.failures.programs import NAMES, NO_PROGRAM, run

OF_FAILURES = ("inplace", "twice", "scalar", "leaf", "nograph", "numpy", "nonleafgrad", "integers", "optimizer")
MESSAGES = {key: BY_KEY[key] for key in OF_FAILURES} | {
    key: its for key, its in NEARBY.items() if its.broken is not NO_PROGRAM
}
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
    ],
    "scalar": ["RuntimeError: grad can be implicitly created only for scalar outputs", "only for scalar outputs"],
    "leaf": [
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        "a leaf Variable that requires grad has been used in an in-place operation.",
    ],
    "numpy": [
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "call numpy() on Tensor that requires grad",
    ],
    "product": [
        "mat1 and mat2 shapes cannot be multiplied (64x784 and 128x10)",
        "size mismatch, got input (2), mat (2x3), vec (4)",
    ],
    "sizes": ["The size of tensor a (32) must match the size of tensor b (64) at non-singleton dimension 1"],
    "labels": [
        "IndexError: Target 3 is out of bounds.",
        "Loss.cu:250: block: [0,0,0] Assertion `t >= 0 && t < n_classes` failed.",
    ],
    "device": [
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be "
        "a MKLDNN tensor and weight is a dense tensor",
        "Expected object of device type cuda but got device type cpu for argument #1 'self' in call to _th_addmm",
    ],
    "nonleafgrad": [
        "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
        "won't be populated during autograd.backward().",
        "The .grad attribute of a Tensor that is not a leaf",
    ],
    "integers": [
        "Only Tensors of floating point and complex dtype can require gradients",
        "only Tensors of floating point dtype can require gradients",
    ],
    "optimizer": ["ValueError: can't optimize a non-leaf Tensor"],
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


UNCLEAR = {  # known by words alone: what stands first is only the likeliest
    "retain_graph": "twice",
    "it says inplace somewhere": "inplace",
    "numpy": "numpy",
}


@pytest.mark.parametrize(("key", "text"), [(key, text) for key, texts in PASTED.items() for text in texts])
def test_a_message_is_found_as_a_line_and_inside_a_traceback(key, text):
    for said in (text, text.upper(), TRACEBACK.format(text)):
        (found,) = find(said)
        assert found == Match(key, sure=True)


@pytest.mark.parametrize("text", UNCLEAR)
def test_a_word_alone_never_gives_a_sure_answer(text):
    found = find(text)
    assert found[0].key == UNCLEAR[text]
    assert not any(match.sure for match in found)


@pytest.mark.parametrize("key", MESSAGES)
def test_the_engines_own_error_is_found_too(key):
    error = run(MESSAGES[key].broken).error
    if error:
        assert find(error) == [Match("inplace" if key == "leaf" else key, sure=True)]  # the engine has one for both
    else:
        assert MESSAGES[key].silent


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "the",
        "hello world",
        "KeyError: 'weights'",
        "ModuleNotFoundError: No module named 'torch'",
    ],
)
def test_what_is_no_message_finds_nothing(text):
    assert find(text) == []


def not_known_here(torch):
    """Errors of PyTorch about something else, which share words with those that are known."""
    h, index = torch.ones(3, requires_grad=True) * 2, torch.tensor([1])
    return [
        lambda: setattr(h, "requires_grad", False),  # "you can only change requires_grad flags of leaf variables"
        lambda: copy.deepcopy(h),
        lambda: torch.autograd.grad(h.sum(), torch.ones(2, requires_grad=True)),
        lambda: torch.ones(3).item(),
        lambda: bool(torch.ones(3) > 0),
        lambda: torch.ones(3).expand(4),  # "... must match the existing size (3) at non-singleton dimension 0"
        lambda: torch.nn.functional.cross_entropy(torch.ones(1, 3), index.float()),
        lambda: torch.nn.functional.embedding(torch.ones(2), torch.ones(2, 2)),
        lambda: torch.ones(2, 3).view(4),
        lambda: torch.cat([torch.ones(2, 3), torch.ones(3, 2)]),
        lambda: torch.ones(3, requires_grad=True).sum().backward(torch.ones(2)),
        lambda: torch.bmm(torch.ones(1, 2, 3), torch.ones(1, 4, 5)),
    ]


def test_an_error_about_something_else_never_gets_a_sure_answer():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for cause in not_known_here(torch):
        with pytest.raises((RuntimeError, ValueError, IndexError)) as caught:
            cause()
        found = find(str(caught.value))
        assert len(found) <= 3
        assert not any(match.sure for match in found), caught.value


@pytest.mark.parametrize("text", ["in the forward pass", "the graph", "requires grad", "of the tensor"])
def test_a_piece_of_a_message_that_says_little_is_not_sure(text):
    found = find(text)
    assert len(found) <= 3
    assert not any(match.sure for match in found)


def test_a_fragment_that_fits_two_messages_offers_both():
    assert set(find("in-place operation")) == {Match("inplace", sure=False), Match("leaf", sure=False)}


def test_two_messages_in_one_text_are_both_offered():
    both = find(f"{PASTED['twice'][0]} During handling of the above: {PASTED['scalar'][0]}")
    assert {match.key for match in both} == {"twice", "scalar"}
    assert not any(match.sure for match in both)


@pytest.mark.parametrize("key", MESSAGES)
def test_each_message_says_what_tells_it_apart(key):
    assert MESSAGES[key].symptom.endswith(".")
    assert sum(message.symptom == MESSAGES[key].symptom for message in MESSAGES.values()) == 1


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_lines_of_the_fix_give_the_gradient_that_is_shown(message):
    ran, names = run(message.fixed), dict(NAMES)
    exec(ran.code, names)
    leaf = next(names[name] for name in ("w", "W", "x") if name in names)
    np.testing.assert_array_equal(leaf.grad, next(iter(ran.shown.values())))
    assert "return" not in ran.code


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

    def numpy():
        np.exp(torch.ones(3, requires_grad=True))

    def product():
        torch.nn.Linear(4, 5)(torch.ones(2, 3))

    def sizes():
        torch.ones(3) + torch.ones(4)

    def labels():
        torch.nn.functional.cross_entropy(torch.ones(1, 3), torch.tensor([3]))

    def nonleafgrad():
        h = torch.ones(3, requires_grad=True) * 2
        h.sum().backward()
        h.grad  # noqa: B018

    def integers():
        torch.tensor([1, 2], requires_grad=True)

    def optimizer():
        torch.optim.SGD([torch.ones(3, requires_grad=True) * 2], lr=0.1)

    causes = (inplace, twice, scalar, leaf, nograph, numpy, product, sizes, labels, nonleafgrad, integers, optimizer)
    assert {cause.__name__ for cause in causes} == set(MESSAGES)
    for cause in causes:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((IndexError, RuntimeError, ValueError, UserWarning)) as caught:
                cause()
        assert find(caught.exconly()) == [Match(cause.__name__, sure=True)]
    for more in (  # the same mistakes, in other words of PyTorch
        lambda: torch.ones(3, requires_grad=True).numpy(),
        lambda: torch.ones(2, 3) @ torch.ones(4),
        lambda: torch.ones(3) @ torch.ones(4),
        lambda: torch.ones(3, requires_grad=True)[:2].add_(1),
        lambda: torch.tensor([1, 2]).requires_grad_(),
    ):
        with pytest.raises(RuntimeError) as caught:
            more()
        (found,) = find(str(caught.value))
        assert found.sure


WITHOUT_GRAD = {  # cause -> what leaves x without a gradient; w is a leaf of two ones
    "nonleafgrad": "x = w * 3\nloss = x.sum()",
    "nonleafgrad/1": "w.sum().backward()\nx = w - 0.1 * w.grad\nloss = x.sum()",
    "nonleafgrad/2": "x = torch.ones(2, requires_grad=True)\nloss = w.sum()",
    "no-grad": "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    h = x * 2\nloss = (w * h).sum()",
    "detach/1": "x = torch.ones(2, requires_grad=True)\nloss = (w * x.detach()).sum()",
    "argmax": "x = torch.ones(2, requires_grad=True)\nloss = (w * x.argmax()).sum()",
    "nograph/1": "x = torch.ones(2)\nloss = (w * x).sum()",
    "optimizer/2": "net = nn.Linear(2, 2)\nx, net = net.weight, nn.Linear(2, 2)\nloss = net(w).sum()",
    "order": "x, loss = w, torch.ones((), requires_grad=True)",  # read before a pass from its own loss
}
LACK_OF_IT = {
    "One of the differentiated Tensors appears to not have been used in the graph": "torch.autograd.grad(loss, x)",
    "unsupported operand type(s) for *: 'float' and 'NoneType'": "loss.backward()\n0.1 * x.grad",
    "'NoneType' object has no attribute 'norm'": "loss.backward()\nx.grad.norm()",
}
SUM = "total = 0\nfor _ in (1, 2):\n    total = total + (w * w).sum()\n    total.backward()"
INFERENCE = "with torch.inference_mode():\n    h = torch.ones(2)\n"
LABELS = "nn.functional.cross_entropy(w.reshape(1, 2), torch.tensor([0.0]))"
RAISED_BY = {  # message -> cause -> what raises it, if its demonstration does not
    "element 0 of tensors does not require grad and does not have a grad_fn": {},
    "Trying to backward through the graph a second time": {"kept": SUM},
    "'float' object has no attribute 'backward'": {"numpy": "np.mean(w.detach().numpy()).backward()"},
    "Inference tensors cannot be saved for backward": {"no-grad": f"{INFERENCE}w * h", "inplace": f"{INFERENCE}h += 1"},
    "unsupported format string passed to Tensor.__format__": {"scalar": "f'{w * w:.3f}'"},
    "expected scalar type Long but found Float": {
        "integers": LABELS,
        "argmax": "nn.MSELoss()(w.argmax(), torch.tensor(1))",
    },
} | {text: {key: f"{code}\n{use}" for key, code in WITHOUT_GRAD.items()} for text, use in LACK_OF_IT.items()}


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize("message", RAISED_BY)
def test_each_cause_that_is_listed_for_a_message_raises_it_in_pytorch(message):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for cause in shared_by(message).causes:
        name = f"{cause.key}/{cause.form_number}" if cause.form_number else cause.key
        code = RAISED_BY[message].get(name) or cause.pytorch_equivalent()
        with pytest.raises((AttributeError, RuntimeError, TypeError)) as caught:
            exec(code, {"torch": torch, "nn": torch.nn, "np": np, "w": torch.ones(2, requires_grad=True)})
        assert shared_by(str(caught.value)) is shared_by(message), name


def test_the_advice_for_a_detected_write_holds_in_pytorch():
    """Each thing that MutationError proposes, done in PyTorch: the gradient is right, and there is no error."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    error = run(BY_KEY["inplace"].broken).error
    assert "numpy()" not in error  # in PyTorch, writing to what it gives is this very mistake
    for advice in ("Run the forward pass again after the change", "t = t + change", "steps after backward()"):
        assert advice in error

    def right(x, factor=1):
        torch.testing.assert_close(x.grad, x.detach().exp() * factor)

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        x += 1
    x.exp().sum().backward()  # the forward pass after the change
    right(x)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y = y + 1  # a new tensor
    y.sum().backward()
    right(x)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.exp().sum().backward()
    right(x)
    torch.optim.SGD([x], lr=0.1).step()  # after backward()
