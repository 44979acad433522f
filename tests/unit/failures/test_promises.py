"""Each failure shows the symptom that it promises, its fix does not, and what the fix says holds when it is tried."""

import numpy as np
import pytest

from lab.expression.run_pytorch import run_programs
from lab.failures import FAILURES
from lab.failures.catalogue import BY_KEY
from lab.failures.programs import run
from lab.traps import detect_mutation
from model import Tensor, cross_entropy, no_grad, where
from nn import MLP, SGD, Adam


def stops(words):
    return lambda ran: words in ran.error


def falls(losses):
    return losses[-1] < 0.5 * losses[0]


def swings(ran):
    rises = np.diff(ran.shown["loss"]) > 0
    return not rises[0] and np.count_nonzero(rises[1:] != rises[:-1]) >= 2


def near_the_mean(ran):
    """On a plateau, at the variance of the targets, with all predictions near the mean."""
    losses, predictions, mean = ran.shown["loss"], ran.shown["predictions"], ran.shown["mean of the targets"]
    plateau = max(losses[-100:]) - min(losses[-100:]) < 0.01 * losses[0] and losses[-1] > 1
    return falls(losses) and plateau and np.allclose(predictions, mean, rtol=0.01)


def as_far_as_the_bias(ran):
    losses, mean = ran.shown["loss"], ran.shown["loss of the mean of the targets"]
    still = max(losses[-100:]) - min(losses[-100:]) < 1e-6
    return (
        falls(losses) and still and np.isclose(losses[-1], mean) and not any(ran.shown["norm of each layer's gradient"])
    )


def grows(ran):
    steps = np.diff(ran.shown["bytes kept after each batch"])
    return min(steps) > 1000 and np.ptp(steps) == 0


def above_its_floor(ran):
    losses = ran.shown["loss"]
    return (
        min(losses) > ran.shown["lowest possible loss"] > 0.55 and losses[-1] < np.log(2) + 0.01
    )  # the answer is right


def differs(ran):
    small, large = ran.shown["w.grad, k small batches"], ran.shown["w.grad, one large batch"]
    return np.isclose(small, 4 * large)


def noisy(ran):
    return not np.allclose(ran.shown["by differences"], ran.shown["by backward()"], rtol=1e-3)


def none(name, other=None):
    """This gradient is None, and no error says so; the other one is there."""
    return lambda ran: not ran.error and ran.shown[name] is None and (not other or ran.shown[other] is not None)


TWICE, NO_GRAPH = stops("already gone through"), stops("nothing to differentiate")
PROMISES = {  # of each failure, by form: what its program shows, and that of its fix does not
    "inplace": [stops("has been written to since")],
    "twice": [TWICE, TWICE, TWICE],
    "scalar": [stops("starts from a single number")],
    "nograph": [NO_GRAPH] * 5,
    "nonleafgrad": [
        lambda ran: "h.grad" in ran.shown,  # which PyTorch has let go: see below
        TWICE,
        none("other.grad", "w.grad"),
    ],
    "zero-grad": [swings],
    "leaf": [stops("has been written to since")],
    "broadcast": [near_the_mean],
    "nan": [lambda ran: np.isnan(ran.shown["loss"]) and np.isnan(ran.shown["p.grad"]).any()],
    "kept": [grows, grows],
    "detach": [TWICE, none("w1.grad", "w2.grad")],
    "no-grad": [none("w1.grad", "w2.grad")],
    "numpy": [
        stops("NumPy would lose the graph"),
        stops("'float' object has no attribute 'backward'"),
        stops("TypeError"),
    ],
    "dead": [lambda ran: ran.shown["units of 8 that are 0 for every sample"] == 8 and not ran.shown["b.grad"].any()],
    "vanishing": [lambda ran: ran.shown["first layer over last"] < 1e-3],
    "zero-init": [as_far_as_the_bias],
    "rate": [lambda ran: bool((np.diff(ran.shown["loss"]) > 0).all())],
    "order": [
        lambda ran: len(set(ran.shown["loss"])) == 1,
        lambda ran: bool((np.diff(ran.shown["loss"]) > 0).all()),
        lambda ran: ran.shown["rate of the first step"] != 0.3,
    ],
    "optimizer": [
        stops("results of operations are none"),
        stops("is empty"),
        lambda ran: ran.shown["hidden moved by"] == 0 < ran.shown["norm of hidden's gradient"],
    ],
    "where": [lambda ran: np.isfinite(ran.shown["root"]).all() and np.isnan(ran.shown["x.grad"]).any()],
    "argmax": [NO_GRAPH],
    "integers": [lambda ran: ran.shown["x after a step"].dtype.kind == "i"],
    "float32": [noisy],
    "accumulation": [differs],
    "softmax": [above_its_floor],
}
BY_FORM = {
    f"{key}/{form}": (BY_KEY[key].in_form(form), shows)
    for key, its in PROMISES.items()
    for form, shows in enumerate(its)
}


def test_each_of_the_25_makes_a_promise_for_each_of_its_forms():
    assert {key: len(its) for key, its in PROMISES.items()} == {
        failure.key: 1 + len(failure.others) for failure in FAILURES
    }


@pytest.mark.parametrize(("failure", "shows"), BY_FORM.values(), ids=BY_FORM)
def test_its_program_shows_what_it_promises_and_the_fix_does_not(failure, shows):
    assert shows(run(failure.broken))
    fixed = run(failure.fixed)
    assert fixed.error == ""
    assert not shows(fixed)


def test_what_pytorch_lets_go_or_refuses_it_does():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    said = run_programs(
        {
            key: BY_KEY[key].pytorch_equivalent()
            for key in ("nonleafgrad", "integers", "zero-init", "broadcast", "softmax")
        }
    )
    assert said["nonleafgrad"].printed.splitlines()[0] == "None"
    assert "floating point" in said["integers"].error
    loss, mean, norms = said["zero-init"].printed.splitlines()
    assert np.isclose(float(loss.split()[-1]), float(mean.split()[-1]), rtol=1e-3)
    assert norms == "norms [0.0, 0.0]"
    for key in ("broadcast", "softmax"):
        ours = run(BY_KEY[key].broken).shown["loss"][-1]
        theirs = dict(line.rsplit(" ", 1) for line in said[key].printed.splitlines())["loss"]
        assert np.isclose(float(theirs), ours, rtol=1e-4)


# ---------------------------------------------------------------- what the fixes say, tried


def trained(lines, start=5.0, rounds=30):
    """The loss in the end, of a loop of these lines: f(orward), b(ackward), z(ero_grad), s(tep)."""
    w = Tensor(start)
    optimizer = SGD([w], lr=0.1)
    loss = (w - 3) ** 2
    for _ in range(rounds):
        for line in lines:
            if line == "f":
                loss = (w - 3) ** 2
            {"b": loss.backward, "z": optimizer.zero_grad, "s": optimizer.step}.get(line, int)()
    return ((w - 3) ** 2).item()


def raises(program):
    try:
        program()
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return True
    return False


def nan_in_gradient(f, value):
    x = Tensor(value)
    with np.errstate(all="ignore"):
        f(x).sum().backward()
    return bool(np.isnan(x.grad).any())


def accumulated(divide):
    w, large, xs = Tensor(0.5), Tensor(0.5), np.array([1.0, 2.0, 4.0])
    for x in xs:
        (((w * x - 1) ** 2) / (len(xs) if divide else 1)).backward()
    ((large * xs - 1) ** 2).mean().backward()
    return bool(np.isclose(w.grad, large.grad))


def two_backwards(**options):
    loss = Tensor(3.0) ** 2
    loss.backward(**options)
    loss.backward()


def carried(cut):
    w, state = Tensor(0.5), Tensor(0.0, requires_grad=False)
    for x in (1.0, 2.0):
        state = (w * (state.detach() if cut else state) + x).tanh()
        (state**2).backward()


def checked(dtype, h):
    x = np.array([1.0, 2.0, 3.0], dtype)
    h = dtype(h)
    return bool(np.allclose(((x + h) ** 3 - (x - h) ** 3) / (2 * h), 3 * x**2, rtol=1e-3))


def learned(init, activation="tanh"):
    rng = np.random.default_rng(0)
    network, x = MLP([2, 8, 1], activation=activation, init=init, rng=rng), rng.normal(size=(32, 2))
    optimizer = Adam(network.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss = ((network(x) - x[:, :1] * x[:, 1:]) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item() < 0.1


def first_over_last(activation, init, layers):
    rng = np.random.default_rng(0)
    network = MLP([4] + [16] * layers + [1], activation=activation, init=init, rng=rng)
    (network(rng.normal(size=(32, 4))) ** 2).mean().backward()
    return np.linalg.norm(network.layers[0].weight.grad) / np.linalg.norm(network.layers[-1].weight.grad)


def written(order):
    with detect_mutation() as watched:
        w = watched([1.0, 2.0])
    loss = (w * w).sum()
    if order == "before":
        w.data -= 0.1
    loss.backward()
    if order == "after":
        SGD([w], lr=0.1).step()


def overwritten(new):
    with detect_mutation() as watched:
        y = watched([1.0, 2.0]).exp()
    loss = y.sum()
    if new:
        y = y + 1
    else:
        y.data += 1
    loss.backward()


def no_grad_around(part):
    w1, w2 = Tensor(0.5), Tensor(0.5)
    if part == "the network":
        with no_grad():
            hidden = w1 * 2
    else:
        hidden = w1 * 2
    loss = w2 * hidden
    loss.backward()
    with no_grad():
        loss.item()
    return w1.grad is not None


def of_scores(loss):
    scores = Tensor([[2.0, 1.0]])
    loss(scores).backward()
    return scores.grad is not None and bool(scores.grad.any())


def lowest(softmax):
    sure = Tensor([[1000.0, 0.0, 0.0]])
    return cross_entropy(sure.softmax() if softmax else sure, np.array([0])).item()


def revives(f):
    b = Tensor(np.full(4, -20.0))
    ((f(b) - 1) ** 2).mean().backward()
    return bool(b.grad.any())


FIXES = {  # what a fix says, what holds when one does so, and what does not when one does not
    "inplace": ("`y = y + 1`, not `y += 1`", not raises(lambda: overwritten(True)), raises(lambda: overwritten(False))),
    "twice": ("give the first call `retain_graph=True`", not raises(lambda: two_backwards(retain_graph=True)),
              raises(two_backwards)),
    "scalar": ("Reduce the result to one number: `.sum()` or `.mean()`. Or pass the weights",
               not raises(lambda: (Tensor([1.0, 2.0]) * 2).sum().backward())
               and not raises(lambda: (Tensor([1.0, 2.0]) * 2).backward(np.ones(2))),
               raises(lambda: (Tensor([1.0, 2.0]) * 2).backward())),
    "nograph": ("outside `no_grad()`, and without `detach()`", not raises(lambda: Tensor(2.0).exp().backward()),
                raises(lambda: Tensor(2.0).detach().exp().backward())),
    "nonleafgrad": ("Read the `.grad` of the leaf", run(BY_KEY["nonleafgrad"].fixed).shown["w.grad"] is not None,
                    not np.array_equal(run(BY_KEY["nonleafgrad"].broken).shown["h.grad"],
                                       run(BY_KEY["nonleafgrad"].fixed).shown["w.grad"])),
    "zero-grad": ("`optimizer.zero_grad()` once in each step, before `backward()`", trained("zfbs") < 0.01,
                  trained("fbzs") > 1 and trained("fbs") > 0.01),
    "leaf": ("Change parameters after `backward()`, with the optimizer", not raises(lambda: written("after")),
             raises(lambda: written("before"))),
    "broadcast": ("`prediction.reshape(target.shape)`", (np.ones((3, 1)).reshape(3) - np.ones(3)).shape == (3,),
                  (np.ones((3, 1)) - np.ones(3)).shape == (3, 3)),
    "nan": ("`(x + 1e-12).log()`, `(x + 1e-12).sqrt()`; clip what can be negative",
            not nan_in_gradient(lambda x: x * (x + 1e-12).log(), [0.0])
            and not nan_in_gradient(lambda x: x * x.clip(low=1e-12).log(), [0.0])
            and not nan_in_gradient(lambda x: x.clip(low=1e-12).sqrt() + x.clip(low=1e-12).log(), [-1.0])
            and not nan_in_gradient(lambda x: (x + 1e-12).sqrt() * 0, [0.0]),
            nan_in_gradient(lambda x: x * x.log(), [0.0]) and nan_in_gradient(lambda x: x.sqrt() * 0, [0.0])),
    "kept": ("`total += loss.item()`", not PROMISES["kept"][0](run(BY_KEY["kept"].fixed)),
             PROMISES["kept"][0](run(BY_KEY["kept"].broken))),
    "detach": ("`state = state.detach()`", not raises(lambda: carried(True)), raises(lambda: carried(False))),
    "no-grad": ("Put under `no_grad()` what is only looked at", no_grad_around("what is looked at"),
                not no_grad_around("the network")),
    "numpy": ("`x.exp()`, not `np.exp(x)`", not raises(lambda: Tensor([1.0]).exp().sum().backward()),
              raises(lambda: np.exp(Tensor([1.0])))),
    "dead": ("`leaky_relu` has a slope below 0, so a unit can come back", revives(Tensor.leaky_relu),
             not revives(Tensor.relu)),
    "vanishing": ("`relu`, with He's initial weights, in place of `sigmoid`; fewer layers",
                  first_over_last("relu", "he", 10) > 0.01 and first_over_last("sigmoid", "xavier", 2) > 100 * first_over_last("sigmoid", "xavier", 10),
                  first_over_last("sigmoid", "xavier", 10) < 1e-3),
    "zero-init": ("Xavier's for tanh and sigmoid, He's for relu", learned("xavier") and learned("he", "relu"),
                  not learned("zeros") and not learned("zeros", "relu")),
    "rate": ("Divide the rate by 3 or 10", run(BY_KEY["rate"].broken, 1.1 / 3).shown["loss"][-1] < 0.01,
             run(BY_KEY["rate"].broken, 1.1).shown["loss"][-1] > 4),
    "order": ("`zero_grad()`, forward, `backward()`, `step()`", trained("zfbs") < 0.01, trained("fbzs") > 1),
    "optimizer": ("Give the optimizer a leaf", not raises(lambda: SGD([Tensor(1.0)], lr=0.1)),
                  raises(lambda: SGD([Tensor(1.0) * 0.1], lr=0.1))),
    "where": ("Make the input of the dangerous side safe first",
              not nan_in_gradient(lambda x: where(x > 0, where(x > 0, x, 1.0).sqrt(), 0.0), [-1.0, 0.0]),
              nan_in_gradient(lambda x: where(x > 0, where(x > 0, x.sqrt(), 1.0), 0.0), [-1.0, 0.0])),
    "argmax": ("`cross_entropy(logits, labels)`", of_scores(lambda s: cross_entropy(s, np.array([1]))),
               not of_scores(lambda s: Tensor(s.numpy().argmax(axis=1)).mean())),
    "integers": ("Write `1.0`, not `1`", np.array([1.0]).dtype.kind == "f", np.array([1]).dtype.kind == "i"),
    "float32": ("With float32 take a larger h, about 0.005",
                checked(np.float64, 1e-6) and checked(np.float32, 0.005), not checked(np.float32, 1e-6)),
    "accumulation": ("Divide each loss by k", accumulated(True), not accumulated(False)),
    "softmax": ("the logits, with no softmax before it", lowest(False) < 0.01, lowest(True) > 0.55),
}  # read by rows  # fmt: skip


@pytest.mark.parametrize("key", BY_KEY)
def test_the_fix_that_is_stated_is_one_and_the_opposite_is_none(key):
    says, holds, fails = FIXES[key]
    assert says in BY_KEY[key].fix
    assert holds
    assert fails


def test_the_perfect_answer_costs_what_the_meaning_says():
    assert "even a perfect answer among three classes costs 0.55" in BY_KEY["softmax"].meaning
    assert round(lowest(True), 2) == 0.55
