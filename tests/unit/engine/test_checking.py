"""Checking gradients (in full in tests/unit/gradcheck)."""

import numpy as np

from lab.gradcheck import gradcheck
from model import Tensor


def test_trap_51_the_check_uses_a_random_cotangent():
    class SoftmaxWithoutGradient(Tensor):
        __slots__ = ()

        def softmax(self, axis=-1):
            def _backward(upstream):
                self._accumulate(np.zeros(self.shape))

            return self._node(Tensor.softmax(self, axis).numpy(), (self,), "softmax", _backward)

    x = np.array([0.3, -0.2, 0.9])
    assert gradcheck(lambda t: t.softmax().sum(), [x], tensor=SoftmaxWithoutGradient)  # what a plain sum sees
    assert not gradcheck(lambda t: t.softmax(), [x], tensor=SoftmaxWithoutGradient)


def test_trap_52_float32_is_checked_in_float64_and_the_inputs_are_untouched():
    x = np.array([0.1, 0.7], np.float32)
    before = x.tobytes()
    report = gradcheck(lambda t: t.exp(), [x])
    assert report
    assert "float32" in str(report)
    assert x.tobytes() == before


def test_trap_53_the_check_fails_on_none_and_names_the_worst_element():
    assert not gradcheck(lambda a, b: a * 1.0, {"a": 1.0, "b": 1.0})

    class WrongAtOne(Tensor):
        __slots__ = ()

        def _accumulate(self, message):
            super()._accumulate(message + np.array([0.0, 0.0, 1.0]))

    report = gradcheck(lambda x: x * 2.0, {"x": np.ones(3)}, tensor=WrongAtOne)
    assert not report
    assert report.worst.name == "x[2]"


def test_trap_54_kinks_are_reported():
    report = gradcheck(lambda x: x.relu(), {"x": np.array([-1.0, 0.0, 1.0])})
    assert report
    assert [kink.name for kink in report.kinks] == ["x[1]"]


def test_trap_55_a_broken_rule_is_caught():
    """One for the eye; test_mutations.py does it for every rule and every small way to break it."""

    class Broken(Tensor):
        __slots__ = ()

        def __mul__(self, other):
            def _backward(upstream):
                self._accumulate(upstream * a)  # should be b
                other._accumulate(upstream * a)

            a, b = self.numpy(), other.numpy()
            return self._node(a * b, (self, other), "*", _backward)

    assert gradcheck(lambda a, b: a * b, [2.0, 3.0])
    assert not gradcheck(lambda a, b: a * b, [2.0, 3.0], tensor=Broken)
