"""The edges of the engine: input that is unusual, but that somebody will try."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

from lab.gradcheck import gradcheck
from model import Tensor, concatenate, cross_entropy, linear, maximum, minimum, mse_loss, no_grad, stack, where
from nn import MLP, SGD, Adam, clip_grad_norm


def named(*shape):
    return Tensor(np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape), label="x")


# ---------------------------------------------------------------- axes

REDUCTIONS = ["sum", "mean", "var", "std", "norm", "max", "min", "prod", "softmax", "log_softmax", "logsumexp"]


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((), 0), ((), -1), ((2, 3), 5), ((2, 3), (0, 0)), ((2, 3), (0, -2)), ((2, 3), "a"), ((2,), 0.5)]
)
def test_an_axis_that_is_not_there_is_refused_by_the_forward_pass(op, shape, axis):
    with pytest.raises((ValueError, TypeError), match=r"out of bounds|repeated axis|integer|not iterable"):
        getattr(named(*shape), op)(axis=axis)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_list_of_axes_is_a_tuple_and_may_change_afterwards(op):
    right, x, axes = named(2, 3, 4), named(2, 3, 4), [0, -1]
    expected = getattr(right, op)(axis=(0, 2))
    y = getattr(x, op)(axis=axes)
    axes.pop()
    np.testing.assert_array_equal(y.numpy(), expected.numpy())
    expected.backward(np.ones(expected.shape))
    y.backward(np.ones(y.shape))
    np.testing.assert_array_equal(x.grad, right.grad)


@pytest.mark.parametrize("axis", [None, 7, -3, "a", 0.5, (0, 1)])
def test_joining_along_an_axis_that_is_not_there(axis):
    with pytest.raises((ValueError, TypeError), match=r"out of bounds|integer"):
        concatenate([named(2), named(2)], axis=axis)
    with pytest.raises((ValueError, TypeError), match=r"out of bounds|integer"):
        stack([named(2)], axis=axis)


@pytest.mark.parametrize("join", [concatenate, stack])
def test_what_is_joined_may_come_from_a_generator(join):
    parts = [named(2), named(2)]
    y = join(part * 2.0 for part in parts)
    np.testing.assert_array_equal(y.numpy().ravel(), [2.0, 4.0, 2.0, 4.0])
    y.sum().backward()
    np.testing.assert_array_equal(parts[1].grad, [2.0, 2.0])
    with pytest.raises(ValueError, match="at least one tensor"):
        join(part for part in ())


# ---------------------------------------------------------------- shapes


def test_the_shape_of_a_number_can_be_spread_out():
    t, s = named(1), Tensor(5.0)
    y = t.reshape(*s.shape)
    assert y.shape == ()
    y.backward()
    np.testing.assert_array_equal(t.grad, [1.0])
    assert Tensor(1.0).transpose(*s.shape).shape == ()
    assert t.reshape(*s.shape).broadcast_to(*s.shape).shape == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.reshape("a"), lambda t: t.reshape(1.5, 4), lambda t: t.reshape(None), lambda t: t.reshape(7),
        lambda t: t.transpose(0, 0), lambda t: t.swapaxes(0, 3), lambda t: t.squeeze(0), lambda t: t.squeeze(5),
        lambda t: t.expand_dims(5), lambda t: t.broadcast_to((2, 2)), lambda t: t.transpose("a", "b"),
        lambda t: t.transpose(0), lambda t: t.transpose(0.0, 1.0), lambda t: t.swapaxes(0.5, 1),
        lambda t: t.swapaxes("a", 1), lambda t: t.squeeze("a"), lambda t: t.expand_dims("a"),
        lambda t: t.broadcast_to("a"), lambda t: t.broadcast_to(2, 2.5),
    ],
)  # read by rows  # fmt: skip
def test_what_is_no_shape_is_refused(change):
    with pytest.raises((ValueError, TypeError, IndexError)):
        change(named(2, 3))


@pytest.mark.parametrize("index", [(i for i in range(2)), object(), {"a": 1}, "a", 1.5, Tensor([0.0]), (0, 0, 0, 0)])
def test_what_is_no_index_is_an_index_error(index):
    with pytest.raises(IndexError, match=r"indices|index"):
        named(2, 3)[index]


def test_a_loss_may_take_an_array_as_its_prediction():
    target = named(3)
    mse_loss(np.zeros(3), target).backward()
    np.testing.assert_allclose(target.grad, 2 * np.array([1.0, 2.0, 3.0]) / 3)
    assert cross_entropy(np.zeros((2, 4)), [0, 1]).item() == pytest.approx(math.log(4))


def test_there_is_no_smallest_of_nothing():
    with pytest.raises(ValueError, match="zero-size"):
        named(0).min()


# ---------------------------------------------------------------- numbers


def test_whole_numbers_of_any_size():
    assert Tensor(10**30).item() == 1e30
    assert (Tensor(1.0) * 10**30).item() == 1e30
    for make in (lambda: Tensor(10**400), lambda: Tensor(1.0) * 10**400, lambda: 10**400 - Tensor(1.0)):
        with pytest.raises(OverflowError, match="too large"):
            make()


@pytest.mark.parametrize(
    ("dtype", "left", "right", "expected"),
    [
        (np.float32, 1e30, 1e20, -1e-10),
        (np.float32, 1e-23, 1e-23, -1e23),
        (np.float32, 1e-23, 3e-22, -1.1111e20),
        (np.float64, 1e200, 1e160, -1e-120),
        (np.float64, 3.0, 2.0, -0.75),
    ],
)
def test_the_gradient_of_a_quotient_where_the_square_over_or_underflows(dtype, left, right, expected):
    a, b = Tensor(dtype([left])), Tensor(dtype([right]))
    (a / b).sum().backward()
    np.testing.assert_allclose(b.grad, [expected], rtol=1e-4)
    np.testing.assert_allclose(a.grad, [1 / right], rtol=1e-4)


@pytest.mark.parametrize(("dtype", "large", "small"), [(np.float32, 1e18, 1e-18), (np.float64, 1e150, 1e-150)])
def test_norm_and_std_up_to_where_squares_over_or_underflow(dtype, large, small):
    for size in (large, small, 1.0):
        t = Tensor(np.array([size, -size], dtype))
        deviation = t.std()
        deviation.backward()
        np.testing.assert_allclose(deviation.numpy(), dtype(size), rtol=1e-6)
        np.testing.assert_allclose(t.grad, [0.5, -0.5], rtol=1e-6)
        t = Tensor(np.array([3 * size, 4 * size], dtype))
        length = t.norm()
        length.backward()
        np.testing.assert_allclose(length.numpy(), dtype(5 * size), rtol=1e-6)
        np.testing.assert_allclose(t.grad, [0.6, 0.8], rtol=1e-6)


def test_norm_of_infinity_and_nan():
    np.testing.assert_equal(Tensor([np.inf, 1.0]).norm().item(), np.inf)
    np.testing.assert_equal(Tensor([np.nan, 1.0]).norm().item(), np.nan)
    assert Tensor(np.empty(0)).norm().item() == 0.0


def test_many_float32_numbers_are_added_up_without_losing_their_end():
    rng = np.random.default_rng(0)
    x = rng.random((60_000, 4), dtype=np.float32)
    exact = x.astype(np.float64).sum(axis=0)
    for total in (
        Tensor(x).sum(axis=0).numpy(),
        Tensor(x).mean(axis=0).numpy() * 60_000,
        Tensor(x[None]).sum(axis=(0, 1)).numpy(),
    ):
        assert total.dtype == np.float32
        np.testing.assert_allclose(total, exact, rtol=2e-7)
    bias = Tensor(np.zeros(4, np.float32))
    (Tensor(x) * (bias + 1.0)).sum().backward()  # the same sum, where broadcasting is undone
    np.testing.assert_allclose(bias.grad, exact, rtol=2e-7)
    layer = MLP([3, 4], rng=0, dtype=np.float32)
    (layer(np.ones((60_000, 3), np.float32)) * x).sum().backward()
    np.testing.assert_allclose(layer.layers[0].bias.grad, exact, rtol=2e-7)
    constant = Tensor(np.full((4_000_000, 1), 0.1, np.float32))
    np.testing.assert_allclose(constant.mean(axis=0).numpy(), 0.1, rtol=1e-6)


def test_nan_in_a_choice_is_as_the_table_says():
    t, other = Tensor(np.nan), Tensor(1.0)
    for choose, order in itertools.product((maximum, minimum), (1, -1)):
        first, second = (t, other)[::order]
        first.zero_grad(), second.zero_grad()
        y = choose(first, second)
        assert np.isnan(y.item())
        y.backward()
        assert (first.grad, second.grad) == (0.0, 1.0)
    t.zero_grad()
    t.relu().backward()
    assert t.grad == 0.0


# ---------------------------------------------------------------- NumPy's functions


# ---------------------------------------------------------------- gradients that were assigned


def test_an_assigned_gradient_of_another_dtype_changes_no_dtype():
    for make in (lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1), lambda p: Adam(p)):
        p = Tensor(np.float32([1, 2]))
        optimizer = make([p])
        for gradient in (np.ones(2), np.ones(2, int), np.float64(0.5) * np.ones(2)):
            p.grad = gradient
            optimizer.step()
            assert p.dtype == np.float32
            assert p.grad.dtype == np.float32
    p = Tensor(np.float32([1, 2]))
    p.grad = np.zeros(2)
    (p * p).sum().backward()
    assert p.grad.dtype == np.float32
    np.testing.assert_array_equal(p.grad, [2.0, 4.0])
    p.grad = np.array([3, 4])
    assert clip_grad_norm([p], 1.0) == 5.0
    assert p.grad.dtype == np.float32


def test_an_assigned_number_is_the_gradient_of_every_element():
    p, unused = Tensor([1.0, 2.0]), Tensor([[1.0]])
    optimizer = SGD([p, unused], lr=0.5)
    for zero in (0.0, 0, np.float32(0)):
        p.grad = unused.grad = zero
        p.sum().backward()
        optimizer.step()
    np.testing.assert_array_equal(p.numpy(), [-0.5, 0.5])
    np.testing.assert_array_equal(unused.numpy(), [[1.0]])
    p.grad = 3
    p.sum().backward()
    np.testing.assert_array_equal(p.grad, [4.0, 4.0])
    scalar = Tensor(1.0)
    scalar.grad = 2
    (scalar * 3.0).backward()
    assert scalar.grad == 5.0


@pytest.mark.parametrize(
    "use",
    [
        lambda p: SGD([p], lr=0.1).step(),
        lambda p: Adam([p]).step(),
        lambda p: clip_grad_norm([p], 1.0),
        lambda p: (p * p).sum().backward(),
    ],
)
@pytest.mark.parametrize(("shape", "gradient"), [((1,), np.ones(3)), ((), np.ones(3)), ((2, 1), np.ones((1, 2)))])
def test_an_assigned_gradient_of_another_shape_is_refused(use, shape, gradient):
    p = Tensor(np.ones(shape), label="p")
    p.grad = gradient
    with pytest.raises(ValueError, match=r"gradient of 'p' of shape .*assigned.*\.$"):
        use(p)
    assert p.shape == shape
    assert p.grad is gradient


# ---------------------------------------------------------------- what an optimizer is given


@pytest.mark.parametrize("use", [lambda p: SGD(p, lr=0.1), Adam, lambda p: clip_grad_norm(p, 1.0)])
@pytest.mark.parametrize(
    "parameters", [Tensor([[1.0, 2.0]]), [Tensor([1.0]) * 2.0], [Tensor([1.0]), 3.0], [np.ones(2)]], ids=repr
)
def test_only_a_list_of_leaves_is_taken_as_parameters(use, parameters):
    with pytest.raises(
        TypeError,
        match=r"^Give parameters as a list of leaf Tensors.*parameters\(\): results of operations are none\.$",
    ):
        use(parameters)
    with pytest.raises(TypeError, match=r"^The list of parameters is empty: there is nothing to train\.$"):
        use(type(parameters)() if isinstance(parameters, list) else ())


@pytest.mark.parametrize(
    "make",
    [
        *(lambda p, lr=lr, make=make: make(p, lr=lr) for lr in (0.0, -0.1, math.nan, math.inf) for make in (SGD, Adam)),
        lambda p: SGD(p, lr=0.1, momentum=math.nan),
        lambda p: SGD(p, lr=0.1, momentum=-0.5),
        lambda p: SGD(p, lr=0.1, weight_decay=math.inf),
        lambda p: Adam(p, betas=(2, -1)),
        lambda p: Adam(p, betas=(0.9, 1.0)),
        lambda p: Adam(p, eps=-1e-8),
        lambda p: Adam(p, weight_decay=math.nan),
    ],
)
def test_a_setting_of_an_optimizer_outside_its_range_is_a_sentence(make):
    with pytest.raises(
        ValueError, match=r"must be a (finite number from 0|number from 0|positive number).*, not .*\.$"
    ):
        make([Tensor([1.0])])


# ---------------------------------------------------------------- graphs that were tampered with


def test_requires_grad_switched_off_on_a_result_is_refused_before_anything_changes():
    a, b = Tensor(2.0), Tensor(5.0)
    h = a * 3.0
    h.requires_grad = False
    y = h * b
    with pytest.raises(RuntimeError, match=r"requires_grad was switched off on the result of `\*`.*detach\(\).*\.$"):
        y.backward()
    assert (a.grad, b.grad) == (None, None)
    h.requires_grad = True
    (h * b).backward()
    assert (a.grad, b.grad) == (15.0, 6.0)


def test_requires_grad_may_be_switched_off_on_a_leaf_between_the_passes():
    a, b = Tensor(2.0), Tensor(5.0)
    y = a * b
    a.requires_grad = False
    y.backward()
    assert (a.grad, b.grad) == (None, 2.0)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda f: f.__name__)
def test_a_result_is_not_copied_and_says_so(duplicate):
    y = Tensor([3.0, 2.0])
    for _ in range(3000):  # and it says so at once, whatever the depth
        y = y * 1.0
    with pytest.raises(TypeError, match=r"result of `\*` of shape \(2,\) cannot be copied or pickled.*detach\(\).*\.$"):
        duplicate(y)
    assert duplicate(y.detach()) is not None


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))], ids=["copy", "deepcopy", "pickle"]
)
@pytest.mark.parametrize("handed_out", [False, True])
@pytest.mark.parametrize("value", [2.0, [2.0, 3.0]])
def test_a_copied_leaf_is_whole_and_apart(duplicate, handed_out, value):
    t = Tensor(value, label="t")
    (t * t).sum().backward()
    if handed_out:
        t.data.sum()
    twin = duplicate(t)
    assert (twin.label, twin.requires_grad, twin.dtype) == ("t", True, np.float64)
    np.testing.assert_array_equal(twin.grad, t.grad)
    y = (twin * twin).sum()
    t.data[...] = 7.0
    t.grad *= 2.0
    np.testing.assert_array_equal(twin.numpy(), value)
    twin.zero_grad()
    y.backward()  # no false alarm, and no write that got through
    np.testing.assert_array_equal(twin.grad, 2 * np.array(value))
    twin.data[...] = 5.0
    np.testing.assert_array_equal(twin.numpy(), np.full(np.shape(value), 5.0))
    np.testing.assert_array_equal(t.numpy(), np.full(np.shape(value), 7.0))


def test_a_network_is_copied_and_pickled():
    net = MLP([2, 3, 2], rng=0)
    net(np.ones((1, 2))).sum().backward()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        np.testing.assert_array_equal(twin(np.ones((1, 2))).numpy(), net(np.ones((1, 2))).numpy())
        assert twin.layers[0].weight.label == "W1"


def test_the_dtype_and_the_shape_of_a_tensor_are_not_those_of_its_handed_out_array():
    for change in (lambda d: setattr(d, "dtype", np.int64), lambda d: setattr(d, "shape", (2, 1))):
        t = Tensor([1.0, 2.0])
        y = (t * 3.0 + t).sum()
        handed_out = t.data
        try:
            change(handed_out)
        except DeprecationWarning:  # NumPy is about to forbid it altogether
            continue
        assert (t.shape, t.dtype) == ((2,), np.float64)
        y.backward()
        assert (t.grad.shape, t.grad.dtype) == ((2,), np.float64)


def test_a_handed_out_array_that_was_made_read_only_does_not_stop_an_optimizer():
    p = Tensor([1.0, 2.0])
    seen = p.data
    seen.setflags(write=False)
    p.grad = np.ones(2)
    SGD([p], lr=0.5).step()
    np.testing.assert_array_equal(p.numpy(), [0.5, 1.5])
    np.testing.assert_array_equal(seen, [0.5, 1.5])


# ---------------------------------------------------------------- the guard


def test_without_a_graph_no_array_is_copied_and_no_result_shares_one():
    t, array = Tensor(np.ones((2, 3))), np.ones((2, 3))
    with no_grad():
        assert t.constant(array)._values is array
        results = [t + array, array - t, maximum(array, t), where(array > 0, array, t), concatenate([array, t])]
        results += [stack([array, t]), array @ t.T, MLP([3, 2])(array), mse_loss(array, t)]
    for result in results:
        assert not np.shares_memory(result.numpy(), array)
        assert not np.shares_memory(result._values, array)


# ---------------------------------------------------------------- subclasses


def test_a_subclass_with_reflected_operators_keeps_the_gradient_of_the_left_operand():
    class Sub(Tensor):
        __slots__ = ()

        def __radd__(self, other):
            return super().__radd__(other)

        def __rmul__(self, other):
            return super().__rmul__(other)

    left, right = Tensor([2.0]), Sub([3.0])
    ((left + right) * (left * right)).sum().backward()
    assert (left.grad[0], right.grad[0]) == (6.0 + 15.0, 6.0 + 10.0)


def test_layers_can_be_watched_one_by_one():
    for activation in ("relu", "identity"):
        net, x = MLP([2, 5, 4, 3], activation, rng=0), np.ones((6, 2))
        outputs = list(net.outputs(x))
        assert [output.shape for output in outputs] == [(6, 5), (6, 4), (6, 3)]
        np.testing.assert_array_equal(outputs[-1].numpy(), net(x).numpy())
        assert (outputs[0].numpy() >= 0).all() == (activation == "relu")
        with no_grad():
            assert not any(output.requires_grad for output in net.outputs(x))


def test_a_skip_connection_adds_the_input_of_a_layer_where_both_have_one_shape():
    plain, around = (MLP([2, 4, 4, 3], "tanh", rng=0, skip=skip) for skip in (False, True))
    x = np.array([[0.5, -1.0], [2.0, 0.3]])
    (w1, b1), (w2, b2), (w3, b3) = ([p.numpy() for p in layer.parameters()] for layer in around.layers)
    first = np.tanh(x @ w1 + b1)  # 2 inputs, 4 outputs: nothing goes around
    second = np.tanh(first @ w2 + b2)
    np.testing.assert_allclose(around(x).numpy(), (first + second) @ w3 + b3, rtol=1e-12)
    np.testing.assert_allclose(plain(x).numpy(), second @ w3 + b3, rtol=1e-12)
    np.testing.assert_allclose([output.numpy() for output in around.outputs(x)][1], second, rtol=1e-12)
    assert gradcheck(around, [x])


@pytest.mark.parametrize("value", [2.0, [1.0, 2.0]])
def test_a_tensor_can_be_compared_with_what_is_no_number(value):
    t = Tensor(value)
    assert not np.any(t == None)  # noqa: E711
    assert np.all(t != None)  # noqa: E711


def test_a_single_number_can_be_looked_for_in_a_list():
    loss = Tensor([1.0, 2.0]).sum()
    assert loss not in [None, "best"]
    assert [None, loss].index(loss) == 1


@pytest.mark.parametrize("name", ["mean", "var", "std", "sum"])
def test_axes_from_an_iterator_are_read_once(name):
    values = np.arange(6.0).reshape(2, 3)
    reduce = getattr(Tensor(values), name)
    np.testing.assert_array_equal(reduce(axis=iter([0])).numpy(), reduce(axis=0).numpy())


@pytest.mark.parametrize("name", ["sum", "mean", "max", "norm", "prod", "var", "std", "min", "logsumexp"])
def test_a_second_axis_is_not_taken_for_keepdims(name):
    with pytest.raises(TypeError, match=r"^keepdims is True or False, not 1: several axes are one tuple"):
        getattr(Tensor(np.ones((2, 3))), name)(0, 1)


@pytest.mark.parametrize("condition", [None, "no", [None, True]])
def test_a_condition_is_of_booleans(condition):
    with pytest.raises(TypeError, match=r"^where chooses by an array of booleans, not by (object|<U2)"):
        where(condition, Tensor([1.0, 2.0]), 0.0)


@pytest.mark.parametrize(
    ("weight", "bias"), [((3, 3, 3), (3,)), ((3,), (3,)), ((3, 4), (1, 4)), ((3, 4), (2, 4)), ((3, 4), (3,)), ((), ())]
)
def test_linear_refuses_shapes_before_the_backward_pass(weight, bias):
    with pytest.raises(ValueError, match=r"^linear needs inputs \(n, n_in\), a weight"):
        linear(Tensor(np.ones((2, 3))), Tensor(np.ones(weight)), Tensor(np.ones(bias)))


@pytest.mark.parametrize("join", [stack, concatenate])
def test_tensors_to_join_can_be_given_by_name(join):
    a, b = Tensor([1.0]), Tensor([2.0])
    np.testing.assert_array_equal(join(tensors=[a, b], axis=0).numpy(), join([a, b]).numpy())


def test_float32_of_another_byte_order_stays_float32():
    assert Tensor(np.array([1.0], ">f4")).dtype == np.float32


@pytest.mark.parametrize(
    "name", ["unsqueeze", "view", "permute", "flatten", "argmax", "cuda", "to", "clamp", "is_leaf"]
)
def test_a_name_of_pytorch_is_answered_with_what_to_write_here(name):
    with pytest.raises(AttributeError, match=r"PyTorch's name\. Here: .*"):
        getattr(Tensor([1.0, 2.0]), name)


def test_the_gradient_of_a_single_number_is_a_number_by_every_route():
    x = Tensor(2.0)
    (x.reshape(1) * 3).sum().backward()
    assert type(x.grad) is np.float64
