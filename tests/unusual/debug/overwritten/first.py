"""The smallest engine: sums and products of numbers."""


class Value:
    def __init__(self, data, children=()):
        self.data, self.grad = data, 0.0
        self.children = children
        self.rule = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))

        def rule():
            self.grad = self.grad + out.grad
            other.grad = other.grad + out.grad

        out.rule = rule
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def rule():
            self.grad = self.grad + out.grad * other.data
            other.grad = other.grad + out.grad * self.data

        out.rule = rule
        return out

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for child in value.children:
                    visit(child)
                order.append(value)

        visit(self)
        self.grad = 1.0
        for value in reversed(order):
            value.rule()
