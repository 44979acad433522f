"""Mean and variance of a program's data, as far as the text shows how it is drawn, counted or written out."""

from lab.failures.analysis.facts import Value
from lab.failures.analysis.kinds import Kind
from lab.failures.analysis.shapes import leaves

Moments = tuple[float, float]  # mean, variance
MOVED = {"view", "clone", "part", "index", "detach", "T", "flip"}  # the result has the same numbers, or some of them


def created_moments(name: str, args: list[Value], keys: dict[str, Value]) -> Moments | None:
    """Return the moments of the tensor that the function `name` creates; None if unknown."""
    numbers = [a.constant for a in args if isinstance(a.constant, int | float)]
    if name in {"randn", "standard_normal", "randn_like"}:
        return 0.0, 1.0
    if name in {"rand", "random", "random_sample", "rand_like"}:
        return uniform_moments(0.0, 1.0)
    if name in {"full", "full_like"} and len(args) > 1 and isinstance(args[1].constant, int | float):
        return float(args[1].constant), 0.0
    if name.removesuffix("_like") in {"zeros", "ones"}:
        return float(name.startswith("ones")), 0.0
    if name in {"linspace", "uniform"} and len(numbers) > 1:
        return uniform_moments(numbers[0], numbers[1])
    if name == "normal" and len(numbers) > 1:
        return float(numbers[0]), float(numbers[1]) ** 2
    if name == "arange" and 0 < len(numbers) == len(args):
        return uniform_moments(0.0, numbers[0]) if len(numbers) == 1 else uniform_moments(numbers[0], numbers[1])
    if name in {"tensor", "array", "as_tensor", "Tensor", "FloatTensor"} and args and args[0].kind == Kind.LIST:
        return moments_of_numbers([leaf.constant for leaf in leaves(args[:1])])
    if name in {"randint", "integers"} and 0 < len(numbers) < 3:
        return uniform_moments(float(numbers[0] if len(numbers) == 2 else 0), float(numbers[-1]) - 1)
    if name in {"from_numpy", "tensor", "as_tensor", "array"} and args:
        return args[0].moments
    return None


def uniform_moments(low: float, high: float) -> Moments:
    return (low + high) / 2, (high - low) ** 2 / 12


def mixed_moments(parts: list[Moments | None]) -> Moments | None:
    """Return the moments of columns side by side, each counted once; None unless all are known."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    mean = sum(m for m, _ in known) / len(known)
    return mean, sum(v + (m - mean) ** 2 for m, v in known) / len(known)


def moments_of_numbers(numbers: list[object]) -> Moments | None:
    """Return the moments of numbers written in the text; None unless all are known."""
    return mixed_moments([(float(n), 0.0) if isinstance(n, int | float) else None for n in numbers])


def combined_moments(sign: str, one: Value, two: Value) -> Moments | None:
    """Return the moments of x * 3, 3 * x, x + 3, x - 3, 3 - x or x / 3; None if unknown."""
    number, other = (one.constant, two) if one.kind == Kind.NUMBER else (two.constant, one)
    if not isinstance(number, int | float) or other.moments is None:
        return None
    mean, variance = other.moments
    if sign == "*":
        return mean * number, variance * number**2
    if sign == "/" and other is one and number:
        return mean / number, variance / number**2
    if sign == "+":
        return mean + number, variance
    if sign == "-":
        return (mean - number if other is one else number - mean), variance
    return None
