"""Check the gradients of the engine's backward pass against finite differences.

A derivative can be computed in two ways: by the chain rule (`backward()`, exact up to rounding, one pass for all
inputs) and by moving one element a little and watching the output (slow, approximate, but too simple to be wrong).
`gradcheck` computes both and compares them element by element.

What makes the comparison fair:

- Random cotangent. The output may have any shape; it is not summed but weighted by a fixed random array v, so that
  `backward(v)` is compared with the differences of sum(v * f(x)). A plain sum is blind to softmax, whose rows always
  sum to one. The weights are never near zero, so no output element is left out. The weight of a single output is a
  power of two and is divided out again, exactly, so that the report shows the derivatives themselves.
- Step size. A central difference has a truncation error of order h**2 and a rounding error of order eps / h; they
  balance at h = cbrt(eps), times max(1, |x|), which is the default. The rounding error is added to the tolerance.
- float32. A difference of two float32 numbers keeps only a few digits. So backward() runs in float32, the differences
  run on float64 copies of the same inputs, and the tolerance is that of a float32 result. The report says so.
- Kinks (relu at 0, the tie of a maximum): any gradient between the slopes on both sides is accepted, and the element is
  reported: see lab/gradcheck/slopes.py.
- Nothing to judge. If gradient and difference are both below the tolerance, they prove nothing. If that holds for
  every element, the outcome is "not judged", and the report is not truthy.
- Rounding inside. (x + 1e8) - 1e8 loses the digits of x that 1e8 has no room for, so its differences are noise. The
  noise is estimated from the values inside f, times their gradients; if it hides the slope, the report says so.
- Rounding in backward(). If gradient and slope disagree, both passes run again with each number rounded another way.
  If that moves the gradient just as far, the gradient proves nothing, and the check does not pass.
- The inputs are only read. f gets leaves made from copies.
"""

from lab.gradcheck.check import compare, gradcheck, random_cotangent
from lab.gradcheck.finite_differences import numerical_gradient
from lab.gradcheck.report import MARKS, InputResult, Outcome, Report

__all__ = [
    "MARKS",
    "InputResult",
    "Outcome",
    "Report",
    "compare",
    "gradcheck",
    "numerical_gradient",
    "random_cotangent",
]
