"""What a tutorial prints, measured."""

import pytest

from lab.autodiff.claims import CLAIMS
from lab.autodiff.steps import Place

X = Place("x")


@pytest.mark.parametrize(("key", "exact", "coarse"), [("zero", 9.361658, 8.881784), ("alone", 1.972602, 1.776357)])
def test_one_step_of_1e_15_gives_no_zero_and_1e_16_does(key, exact, coarse):
    forward, central = CLAIMS[key].measure(1e-15)[X]
    assert forward.exact == pytest.approx(exact, abs=1e-6)
    assert forward.quotient == pytest.approx(coarse, abs=1e-6)
    assert central.quotient != 0
    assert [one.quotient for one in CLAIMS[key].measure(1e-16)[X]] == [0, 0]
    assert not CLAIMS[key].holds(X, forward.exact)
    assert CLAIMS[key].holds(X, 6.14112)


def test_the_two_gradients_are_others():
    found = CLAIMS["two"].measure(1e-5)
    assert [one.exact for one, _ in found.values()] == pytest.approx([7.95353613, -3.95996999])
    assert not any(CLAIMS["two"].holds(place, one.exact) for place, (one, _) in found.items())
