import math


class Value:
    def __init__(self, data, children=()):
        self.data, self.grad = data, 0.0
        self._backward = lambda: None
        self._prev = set(children)

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def _backward():
            self.grad += (1 - t**2) * out.grad

        out._backward = _backward
        return out

    def backward(self):
        self.grad = 1.0
        for v in reversed(order(self)):
            v._backward()


w = Value(0.5)
for k in range(20):
    loss = (w * w).tanh()
    w.grad = 0.0
    loss.backward()
    w.data -= 0.1 * w.grad
