import numpy as np


class Tensor:
    """An array that remembers how it was computed.

    data        a NumPy array: float32 stays float32, everything else becomes float64
    grad        None before a backward pass; then an array of the shape and dtype of data
    _children   the tensors that this one was computed from: () for one that you made yourself
    _op         the name of the operation, for drawings
    _backward   passes self.grad on to the children; each operation gives its result one
    """

    __array_ufunc__ = None  # NumPy leaves `array + tensor` to the tensor's __radd__

    def __init__(self, data, _children=(), _op=""):
        dtype = np.float32 if getattr(data, "dtype", None) == np.float32 else float
        self.data = np.asarray(data, dtype)
        self.grad = None
        self._op = _op
        self._children = _children

    def _receive(self, message):
        """Add a message to the gradient, as an array of its own."""
        message = np.array(message, self.data.dtype)
        self.grad = message if self.grad is None else self.grad + message

    def backward(self, upstream=1.0):
        """Give every tensor that this one was computed from its gradient; those of leaves add up over passes."""
        order, seen, waiting = [], set(), [(self, False)]
        while waiting:  # depth first and without recursion, as graphs may be deep
            node, children_done = waiting.pop()
            if children_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting.extend((child, False) for child in node._children)
        for node in order:
            if node._children:
                node.grad = None
        self._receive(np.broadcast_to(upstream, self.data.shape))
        for node in reversed(order):
            if node._children:
                node._backward()
