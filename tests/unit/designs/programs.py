"""Random programs over the operations that all designs have."""

import numpy as np

from lab.designs.compare import DesignProgram, ProgramLine

SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (3, 2)]
BOUNDED = ("tanh", "relu", "neg", "exp", "log", "sqrt", "reciprocal", "square", "nothing")


class Writer:
    """Writes lines, and knows their shapes: each result is kept small, so that no number runs away."""

    def __init__(self, rng):
        self.rng, self.lines, self.shapes = rng, [], []

    def add(self, line, shape):
        self.lines.append(line)
        self.shapes.append(shape)
        return len(self.lines) - 1

    def op(self, name, *operands):
        shapes = [self.shapes[i] for i in operands]
        if name == "sum":
            shape = ()
        elif name == "@":
            shape = (np.zeros(shapes[0]) @ np.zeros(shapes[1])).shape
        else:
            shape = np.broadcast_shapes(*shapes)
        return self.add(ProgramLine(name, operands), shape)

    def constant(self, value):
        return self.add(ProgramLine("constant", value=value), np.shape(value))

    def random(self, shape):
        return self.rng.uniform(-1.5, 1.5, shape) if shape else float(self.rng.uniform(-1.5, 1.5))

    def above(self, number):
        """The square of a line, and something, so that it can be divided by, or has a logarithm."""
        square = self.op("**", number, self.constant(2.0))
        return self.op("+", square, self.constant(float(self.rng.uniform(0.5, 1.5))))

    def pick(self, accept=lambda shape: True):
        found = [
            i
            for i, (line, shape) in enumerate(zip(self.lines, self.shapes, strict=True))
            if self.varies(line) and accept(shape)
        ]
        return int(self.rng.choice(found)) if found else None

    @staticmethod
    def varies(line):
        return line.op != "constant"

    def unary(self, number):
        kind = self.rng.choice(BOUNDED)
        if kind in ("tanh", "relu", "neg"):
            return self.op(kind, number)
        if kind == "exp":
            return self.op("exp", self.op("tanh", number))
        if kind == "log":
            return self.op("log", self.above(number))
        exponent = {"sqrt": 0.5, "reciprocal": -1.0, "square": 2.0, "nothing": 0.0}[kind]
        return self.op("**", self.above(number), self.constant(exponent))

    def binary(self, number):
        shape = self.shapes[number]
        op = self.rng.choice(["+", "-", "*", "/", "@"])
        if op == "@":
            other = self.pick(lambda other: shape and other and shape[-1] == other[-2:][0])
            return number if other is None else self.op("@", number, other)
        fitting = [other for other in SHAPES if broadcasts(shape, other)]
        if self.rng.random() < 0.3:
            value = self.random(fitting[self.rng.integers(len(fitting))])
            other = self.constant(value + 3.0 if op == "/" else value)
        else:
            other = self.pick(lambda other: broadcasts(shape, other))
            other = self.above(other) if op == "/" else other
        if self.rng.random() < 0.3 and op != "/":
            number, other = other, number
        return self.op(op, number, other)


def broadcasts(one, other):
    try:
        return len(np.broadcast_shapes(one, other)) <= 2
    except ValueError:
        return False


def random_program(seed, steps=6):
    writer = Writer(np.random.default_rng(seed))
    for name in "abc"[: writer.rng.integers(1, 4)]:
        shape = SHAPES[writer.rng.integers(len(SHAPES))]
        writer.add(ProgramLine("leaf", value=writer.random(shape), name=name), shape)
    for _ in range(steps):
        number = writer.pick()
        writer.unary(number) if writer.rng.random() < 0.5 else writer.binary(number)
    # Every leaf has a part in the result, and so has every line that nothing used.
    used = {i for line in writer.lines for i in line.operands}
    rest = [i for i, line in enumerate(writer.lines) if i not in used and writer.varies(line)]
    total = writer.op("sum", rest[0])
    for number in rest[1:]:
        total = writer.op("+", total, writer.op("sum", number))
    return DesignProgram(tuple(writer.lines))
