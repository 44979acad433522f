"""Wrong answers that people give, none of them taken from the catalogue of the tasks: the judge is measured on them.

Each is (course, task, edits of the reference, words): of `words`, one must stand in the sentence that names the mistake,
so that no other mistake is blamed. With an empty word, any name will do; with `()` it has none; with None nothing is
asked of the name, as where a set leaves the order to chance.
"""

MUL = "            self.grad += other.data * out.grad\n            other.grad += self.data * out.grad"
ADD = "            self.grad += out.grad\n            other.grad += out.grad"
DIV = "        return self * wrapped(other) ** -1\n"


def _scalar(task, words, *edits):
    return "scalars", task, edits, words


def _tensor(task, words, *edits):
    return "tensors", task, edits, words


def _function(task, words, *edits):
    return "functions", task, edits, words


ADDED = ("replace", "overw")
UPSTREAM = ("upstream", "from above")
SIGN = ("sign", "minus", "plus", "where `-` belongs")

WRONG = (
    # -- Scalars -------------------------------------------------------------------------------------------------------
    _scalar("add", ("first", "a"), (ADD, "            other.grad += out.grad")),
    _scalar("add", UPSTREAM, (ADD, "            self.grad += 1.0\n            other.grad += out.grad")),
    _scalar("add", UPSTREAM, (ADD, "            self.grad += out.grad\n            other.grad += 1")),
    _scalar("add", ("own", "number", "product"), (ADD, "            self.grad += self.data * out.grad\n            other.grad += other.data * out.grad")),
    _scalar("add", SIGN, (ADD, "            self.grad += out.grad\n            other.grad -= out.grad")),
    _scalar("add", ("order", "swapped"), ('(self, other), "+")', '(other, self), "+")')),
    _scalar("add", None, ('(self, other), "+")', 'tuple({self} | {other}), "+")')),
    _scalar("add", (), ('(self, other), "+")', '(self, other), "add")')),
    _scalar("add", ("`data`",), (ADD, "            self.grad += out.data\n            other.grad += out.grad")),
    _scalar("add", ("children",), ('(self, other), "+")', '(self,), "+")')),
    _scalar("arithmetic", ("own",), (MUL, "            self.grad += self.data * out.grad\n            other.grad += self.data * out.grad")),
    _scalar("arithmetic", ("own",), (MUL, "            self.grad += other.data * out.grad\n            other.grad += other.data * out.grad")),
    _scalar("arithmetic", UPSTREAM, (MUL, "            self.grad += other.data * out.grad\n            other.grad += self.data")),
    _scalar("arithmetic", UPSTREAM, (MUL, "            self.grad += other.data\n            other.grad += self.data * out.grad")),
    _scalar("arithmetic", ("factor", "sum", "local"), (MUL, "            self.grad += out.grad\n            other.grad += self.data * out.grad")),
    _scalar("arithmetic", SIGN, (MUL, "            self.grad += other.data * out.grad\n            other.grad += -self.data * out.grad")),
    _scalar("arithmetic", ("second operand is missing", "message to the second"), (MUL, "            self.grad += other.data * out.grad")),
    _scalar("arithmetic", ("`data`",), (MUL, "            self.grad += other.data * out.data\n            other.grad += self.data * out.data")),
    _scalar("arithmetic", SIGN, ("n * self.data ** (n - 1) * out.grad", "-n * self.data ** (n - 1) * out.grad")),
    _scalar("arithmetic", ("n", "factor", "number"), ("n * self.data ** (n - 1) * out.grad", "(n - 1) * self.data ** (n - 1) * out.grad")),
    _scalar("arithmetic", ("has the local derivative b * a^(b + 1)",), ("n * self.data ** (n - 1) * out.grad", "n * self.data ** (n + 1) * out.grad")),
    _scalar("arithmetic", (), (DIV, "        return self * (1 / wrapped(other).data)\n")),
    _scalar("arithmetic", (), (DIV, "        return Value(self.data) * wrapped(other) ** -1\n")),
    _scalar("arithmetic", ("came out as",), ("return self + other * -1", "return self * -1 + other")),
    _scalar("arithmetic", ("with the wrong sign",), (DIV, '        other = wrapped(other)\n        out = Value(self.data / other.data, (self, other), "/")\n\n        def _backward():\n            self.grad += out.grad / other.data\n            other.grad += self.data / other.data**2 * out.grad\n\n        out._backward = _backward\n        return out\n')),
    _scalar("arithmetic", ("order", "swapped"), ('(self, other), "*")', '(other, self), "*")')),
    _scalar("backward", ("is 2 times what",), ("        self.grad = 1.0\n", "        self.grad = 2.0\n")),
    _scalar("backward", ("data", "1", "own"), ("        self.grad = 1.0\n", "        self.grad = self.data\n")),
    _scalar("backward", ("began at 1 again",), ("        for value in reversed(order):\n            value._backward()", "        self._backward()\n        for child in self._children:\n            child.backward()")),
    _scalar("backward", ("themselves, not their `data`",), ("    order, seen, stack = [], set(), [(root, False)]\n    while stack:\n        value, children_are_placed = stack.pop()\n        if children_are_placed:\n            order.append(value)\n        elif value not in seen:\n            seen.add(value)\n            stack.append((value, True))\n            stack.extend((child, False) for child in value._children)\n    return order", "    order, seen = [], []\n    def visit(v):\n        if v.data not in seen:\n            seen.append(v.data)\n            for child in v._children:\n                visit(child)\n            order.append(v)\n    visit(root)\n    return order")),
    _scalar("repeated", ADDED, ("self.grad += out.grad", "self.grad = out.grad"), ("other.grad += out.grad", "other.grad = out.grad"), ("self.grad += other.data * out.grad", "self.grad = other.data * out.grad"), ("other.grad += self.data * out.grad", "other.grad = self.data * out.grad"), ("self.grad += n *", "self.grad = n *")),
    _scalar("repeated", ADDED, ("self.grad += out.grad", "self.grad = out.grad")),
    _scalar("repeated", ADDED, ("other.grad += out.grad", "other.grad = out.grad")),
    _scalar("repeated", ADDED, ("self.grad += other.data * out.grad", "self.grad = other.data * out.grad")),
    _scalar("repeated", ADDED, ("other.grad += self.data * out.grad", "other.grad = self.data * out.grad")),
    _scalar("repeated", ADDED, ("self.grad += n *", "self.grad = n *")),
    _scalar("repeated", ADDED, ("self.grad += n *", "self.grad = n *"), ("other.grad += out.grad", "other.grad = out.grad")),
    _scalar("functions", SIGN, ("(1 - t * t) * out.grad", "(t * t - 1) * out.grad")),
    _scalar("functions", (), ("(1 - t * t) * out.grad", "(1 + t * t) * out.grad")),
    _scalar("functions", ("value", "input"), ("(self.data > 0) * out.grad", "self.data * out.grad")),
    _scalar("functions", ("value", "input", "result"), ("(self.data > 0) * out.grad", "max(self.data, 0.0) * out.grad")),
    _scalar("functions", SIGN, ("self.grad += e * out.grad", "self.grad += -e * out.grad")),
    _scalar("value", (), ("data={self.data}, grad", "data={self.grad}, grad")),
    _scalar("value", (), ("self.data = data", "self.data = round(data, 3)")),
    _scalar("value", ("argument",), ("self._backward = lambda: None", "self._backward = lambda upstream: None")),
    _scalar("value", ("empty text",), ('return f"Value(data={self.data}, grad={self.grad})"', 'return str()')),
    _scalar("add", ("is 2 times what",), (ADD, "            self.grad += out.grad\n            self.grad += out.grad")),
    _scalar("arithmetic", ("a^(b - 1) / b",), ("n * self.data ** (n - 1) * out.grad", "self.data ** (n - 1) * out.grad / n")),
    _scalar("network", ("flat", "list"), ("return [*self.weights, self.bias]", "return [self.weights, self.bias]")),
    _scalar("network", ("flat", "list"), ("[p for layer in self.layers for p in layer.parameters()]", "[layer.parameters() for layer in self.layers]")),
    _scalar("network", ("plain number", "Value"), ("[Value(rng.uniform(-1, 1)) for", "[rng.uniform(-1, 1) for")),
    _scalar("network", ("plain number", "Value"), ("self.bias = Value(0.0)", "self.bias = 0.0")),
    _scalar("network", ("tanh of the whole sum",), ("            total = total + w * x\n        return total.tanh()", "            total = total + (w * x).tanh()\n        return total")),
    _scalar("network", (), ("return total.tanh()", "return total.relu()")),
    _scalar("train", (), ("p.data -= rate * p.grad", "p.data -= p.grad")),
    _scalar("train", (), ("(out - y) ** 2", "(out + y) ** 2")),
    _scalar("train", ("square",), ("loss = loss + (out - y) ** 2", "loss = loss + (out - y)")),
    # -- Tensors -------------------------------------------------------------------------------------------------------
    _tensor("unbroadcast", (), ("    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)", "    stretched = tuple(axis for axis, size in enumerate(shape) if size != 1)")),
    _tensor("elementwise", ("first",), ("            self._receive(unbroadcast(out.grad, a.shape))\n", "")),
    _tensor("elementwise", ("own", "itself"), ("unbroadcast(out.grad * b, a.shape)", "unbroadcast(out.grad * a, a.shape)")),
    _tensor("elementwise", ("own", "itself"), ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(out.grad * b, b.shape)")),
    _tensor("elementwise", UPSTREAM, ("unbroadcast(out.grad * a, b.shape)", "unbroadcast(np.ones_like(out.grad) * a, b.shape)")),
    _tensor("elementwise", ("copied",), ("self._receive(unbroadcast(out.grad, a.shape))", "self._receive(out.grad)")),
    _tensor("elementwise", ("copied",), ("other._receive(unbroadcast(out.grad * a, b.shape))", "other._receive(out.grad * a)")),
    _tensor("elementwise", SIGN, ("other._receive(unbroadcast(out.grad, b.shape))", "other._receive(unbroadcast(-out.grad, b.shape))")),
    _tensor("elementwise", ADDED, ("other._receive(unbroadcast(out.grad * a, b.shape))", "other.grad = unbroadcast(out.grad * a, b.shape)")),
    _tensor("matmul", ("order", "wrong way"), ("self._receive(out.grad @ b.T)", "self._receive(b.T @ out.grad)"), ("other._receive(a.T @ out.grad)", "other._receive(out.grad @ a.T)")),
    _tensor("matmul", UPSTREAM, ("self._receive(out.grad @ b.T)", "self._receive(np.ones_like(out.grad) @ b.T)")),
    _tensor("matmul", ("second operand is missing",), ("            other._receive(a.T @ out.grad)\n", "")),
    _tensor("functions", ("`v * x.data`",), ("out.grad * (x > 0)", "out.grad * x")),
    _tensor("functions", SIGN, ("self._receive(out.grad / x)", "self._receive(-out.grad / x)")),
    _tensor("functions", (), ("np.log(x), (self,)", "np.log(x + 1e-3), (self,)"), ("out.grad / x)", "out.grad / (x + 1e-3))")),
    _tensor("functions", (), ("np.log(x), (self,)", "np.log2(x), (self,)")),
    _tensor("softmax", (), ("powers.sum(axis=axis, keepdims=True)", "powers.sum(axis=-1, keepdims=True)")),
    _tensor("softmax", (), ("(out.grad * p).sum(axis=axis, keepdims=True)", "(out.grad * p).sum(axis=-1, keepdims=True)")),
    _tensor("softmax", ("factor", "p"), ("self._receive(p * (out.grad - common))", "self._receive(out.grad - common)")),
    _tensor("cross-entropy", ("times `labels.size`",), ("-log_p[rows, labels].mean()", "-log_p[rows, labels].sum()")),
    _tensor("cross-entropy", ("number of classes",), ("out.grad * slope / len(labels)", "out.grad * slope / logits.data.shape[1]")),
    _tensor("optimizers", (), ("p.data = p.data - self.lr * m / (np.sqrt(v) + self.eps)", "p.data = p.data + self.lr * m / (np.sqrt(v) + self.eps)")),
    _tensor("optimizers", (), ("        self.steps += 1\n        b1, b2 = self.betas\n        for i, p in enumerate(self.params):\n            if p.grad is not None:\n", "        b1, b2 = self.betas\n        for i, p in enumerate(self.params):\n            if p.grad is not None:\n                self.steps += 1\n")),
    _tensor("cross-entropy", (), ("    def backward():\n        slope = np.exp(log_p)\n", "    slope = np.exp(log_p)\n\n    def backward():\n")),
    _tensor("digits", ("after the step",), ("        loss = cross_entropy(network(params, Tensor(x)), labels)\n        loss.backward()\n        optimizer.step()\n", "        cross_entropy(network(params, Tensor(x)), labels).backward()\n        optimizer.step()\n        loss = cross_entropy(network(params, Tensor(x)), labels)\n")),
    _tensor("digits", (), ("(x @ w1 + b1).relu() @ w2 + b2", "(x @ w1 + b1).relu() @ w2")),
    _tensor("unbroadcast", ("last copy",), ("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)\n    return grad.sum(axis=stretched, keepdims=True)", "    places = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), grad.shape)\n    flat = np.zeros(int(np.prod(shape)), grad.dtype)\n    flat[places.ravel()] += grad.ravel()\n    return flat.reshape(shape)")),
    _tensor("unbroadcast", ("Sum the new axes first",), ("    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))\n    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)\n    return grad.sum(axis=stretched, keepdims=True)", "    for i, n in enumerate(shape):\n        if n == 1:\n            grad = grad.sum(axis=i, keepdims=True)\n    while grad.ndim > len(shape):\n        grad = grad.sum(axis=0)\n    return grad")),
    _tensor("elementwise", ("no rule under the name `_backward`",), ("            other._receive(unbroadcast(out.grad * a, b.shape))\n\n        out._backward = backward", "            other._receive(unbroadcast(out.grad * a, b.shape))\n\n        out.backward_rule = backward")),
    _tensor("elementwise", ("upstream gradient",), ("            self._receive(unbroadcast(out.grad * b, a.shape))\n            other._receive(unbroadcast(out.grad * a, b.shape))", "            other._receive(unbroadcast(out.grad * a, b.shape))\n            out.grad *= b\n            self._receive(unbroadcast(out.grad, a.shape))")),
    _tensor("elementwise", ("An array on the other side",), ("return other if isinstance(other, Tensor) else Tensor(np.asarray(other, self.data.dtype))", "return Tensor(np.asarray(other, self.data.dtype)) if type(other) in (int, float) else other")),
    _tensor("reduce", (), ("        shape = self.data.shape\n", "        shape, Tensor.axis = self.data.shape, axis\n"), ("            if axis is not None and not keepdims:\n                grad = np.expand_dims(grad, axis)", "            if Tensor.axis is not None and not keepdims:\n                grad = np.expand_dims(grad, Tensor.axis)")),
    _tensor("reduce", ("negative axis",), ("            if axis is not None and not keepdims:\n                grad = np.expand_dims(grad, axis)", "            if isinstance(axis, int) and not keepdims:\n                grad = grad.reshape(shape[:axis] + (1,) + shape[axis + 1:])\n            elif axis is not None and not keepdims:\n                grad = np.expand_dims(grad, axis)")),
    _tensor("reduce", ("may be a tuple",), ("        total = self.sum(axis, keepdims)\n        return total * (total.data.size / self.data.size)", "        n = self.data.size if axis is None else self.data.shape[axis]\n        return self.sum(axis, keepdims) * (1 / n)")),
    _tensor("functions", ("upstream gradient",), ("self._receive(out.grad / x)", "out.grad /= x\n            self._receive(out.grad)")),
    _tensor("softmax", (), ("def softmax(self, axis=-1)", "def softmax(self, axis=0)")),
    _tensor("softmax", (), ("def softmax(self, axis=-1)", "def softmax(self, axis=1)")),
    _tensor("cross-entropy", ("need again",), ("    def backward():\n        slope = np.exp(log_p)\n        slope[rows, labels] -= 1\n        logits._receive(out.grad * slope / len(labels))", "    slope = np.exp(log_p)\n    slope[rows, labels] -= 1\n\n    def backward():\n        nonlocal slope\n        slope *= out.grad / len(labels)\n        logits._receive(slope)")),
    _tensor("cross-entropy", ("only the logit of the right class",), ("        slope[rows, labels] -= 1\n", "        right = np.zeros_like(slope)\n        right[rows, labels] = slope[rows, labels] - 1\n        slope = right\n")),
    _tensor("cross-entropy", ("sum of all logits",), ("    z = logits.data - logits.data.max(axis=1, keepdims=True)\n    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))\n    out = Tensor(-log_p[rows, labels].mean(), (logits,), \"cross entropy\")\n\n    def backward():\n        slope = np.exp(log_p)\n        slope[rows, labels] -= 1\n        logits._receive(out.grad * slope / len(labels))\n\n    out._backward = backward\n    return out\n", "    z = logits - logits.data.max(axis=1, keepdims=True)\n    return (z.exp().sum(axis=1).log() - z.sum(axis=1)).mean()\n")),
    _tensor("modes", ("flips the switch",), ("    before = Tensor.recording\n    Tensor.recording = False\n", "    Tensor.recording = not Tensor.recording\n"), ("        Tensor.recording = before\n", "        Tensor.recording = not Tensor.recording\n")),
    _tensor("modes", ("in one place",), ("    before = Tensor.recording\n", "    Tensor.saved = Tensor.recording\n"), ("        Tensor.recording = before\n", "        Tensor.recording = Tensor.saved\n")),
    _tensor("optimizers", ("missing gradient for 0",), ("            if p.grad is not None:\n                self.m[i] = b1 * self.m[i] + (1 - b1) * p.grad\n                self.v[i] = b2 * self.v[i] + (1 - b2) * p.grad**2\n", "            if True:\n                g = 0 * p.data if p.grad is None else p.grad\n                self.m[i] = b1 * self.m[i] + (1 - b1) * g\n                self.v[i] = b2 * self.v[i] + (1 - b2) * g**2\n")),
    _tensor("optimizers", ("does `zero_grad` clear",), ("    def step(self):\n        self.steps += 1\n", "    def zero_grad(self):\n        super().zero_grad()\n        self.m, self.v = [0.0] * len(self.params), [0.0] * len(self.params)\n\n    def step(self):\n        self.steps += 1\n")),
    _tensor("optimizers", ("momentum of 0.9",), ("        for p in self.params:\n            if p.grad is not None:\n                p.data = p.data - self.lr * p.grad\n", "        if not hasattr(self, 'speed'):\n            self.speed = [0.0 for _ in self.params]\n        for i, p in enumerate(self.params):\n            if p.grad is not None:\n                self.speed[i] = 0.9 * self.speed[i] + p.grad\n                p.data = p.data - self.lr * self.speed[i]\n")),
    _tensor("guard", ("`out.data`, in the backward pass, for the sum",), ("            common = (out.grad * p).sum(axis=axis, keepdims=True)\n", "            common = out.grad * out.data\n            common = common.sum(axis=axis, keepdims=True)\n")),
    _tensor("guard", ("softmax computes p again",), ("            common = (out.grad * p).sum", "            q = np.exp(self.data - self.data.max(axis=axis, keepdims=True))\n            p = q / q.sum(axis=axis, keepdims=True)\n            common = (out.grad * p).sum")),
    _tensor("guard", ("first operand",), ("            other._receive(a.T @ out.grad)\n", "            a = self.data\n            other._receive(a.T @ out.grad)\n"), ('        a, b = self.data, other.data\n        out = Tensor(a @ b, (self, other), "@")', '        b = other.data\n        out = Tensor(self.data @ b, (self, other), "@")')),
    _tensor("guard", ("`@` keeps the array",), ("        values.flags.writeable = False\n", ""), ("        a, b = self.data, other.data\n        out = Tensor(a * b", "        a, b = np.array(self.data), np.array(other.data)\n        out = Tensor(a * b"), ("        x = self.data\n        out = Tensor(np.maximum", "        x = np.array(self.data)\n        out = Tensor(np.maximum"), ("        x = self.data\n        out = Tensor(np.log", "        x = np.array(self.data)\n        out = Tensor(np.log")),
    _tensor("guard", ("last operation",), ("        values.flags.writeable = False\n", ""), ("        self._children = _children\n", "        self._children = _children\n        self._then = [(one, one.data.copy()) for one in (*_children, self)]\n"), ("        order, seen, waiting = [], set(), [(self, False)]\n", "        if self._children and not all(np.array_equal(one.data, then) for one, then in self._then):\n            raise ValueError('written')\n        order, seen, waiting = [], set(), [(self, False)]\n")),
    _tensor("digits", ("probabilities",), ("        loss = cross_entropy(network(params, Tensor(x)), labels)\n", "        p = network(params, Tensor(x)).softmax()\n        loss = cross_entropy(p, labels)\n")),
    _tensor("digits", ("three rows",), ("        loss = cross_entropy(network(params, Tensor(x)), labels)\n", "        loss = cross_entropy(network(params, Tensor(x[:3])), labels[:3])\n")),
    # -- Functions -----------------------------------------------------------------------------------------------------
    _function("add", UPSTREAM, ("return grad, grad\n", "return grad, np.ones_like(grad)\n")),
    _function("add", ("twice the upstream",), ("return grad, grad\n", "return grad + grad, grad + grad\n")),
    _function("add", (), ("return grad, grad\n", "return (grad,)\n")),
    _function("sigmoid", ("where y is the result",), ("(grad * s * (1 - s),)", "(grad / (1 + np.exp(-s)) * (1 - 1 / (1 + np.exp(-s))),)")),
    _function("context", ("context",), ("        out.grad_fn = ctx\n", "        out.grad_fn = ctx.function\n")),
    _function("graph", ("turn for each use", "had its turn several times"), ("        for tensor in reversed(order):\n            if tensor.grad_fn:\n                ctx = tensor.grad_fn\n                for x, message in zip(ctx.inputs, ctx.function.backward(ctx, tensor.grad)):\n                    if isinstance(x, Tensor):\n                        x.grad = message if x.grad is None else x.grad + message\n", "        def send(tensor):\n            if tensor.grad_fn:\n                ctx = tensor.grad_fn\n                for x, message in zip(ctx.inputs, ctx.function.backward(ctx, tensor.grad)):\n                    if isinstance(x, Tensor):\n                        x.grad = message if x.grad is None else x.grad + message\n                        send(x)\n\n        send(self)\n")),
    _function("graph", (), ("                    if isinstance(x, Tensor):\n                        x.grad =", "                    if not isinstance(x, Tensor):\n                        break\n                    if True:\n                        x.grad =")),
    _function("add", SIGN, ("return grad, grad\n", "return -grad, grad\n")),
    _function("mul", ("own",), ("return grad * b, grad * a", "return grad * a, grad * a")),
    _function("mul", UPSTREAM, ("return grad * b, grad * a", "return b + 0 * grad, grad * a")),
    _function("mul", ("factor", "sum", "local"), ("return grad * b, grad * a", "return grad * b, grad")),
    _function("mul", ("own",), ("return grad * b, grad * a", "return grad * a, grad * b")),
    _function("pow", SIGN, ("grad * n * a ** (n - 1), None", "-grad * n * a ** (n - 1), None")),
    _function("relu", ("value", "input"), ("ctx.save_for_backward(a > 0)", "ctx.save_for_backward(a)")),
    _function("sigmoid", ("has the local derivative 1 - y",), ("(grad * s * (1 - s),)", "(grad * (1 - s),)")),
    _function("sigmoid", (), ("(grad * s * (1 - s),)", "(grad * s * (1 + s),)")),
    _function("matmul", UPSTREAM, ("return grad @ b.T, a.T @ grad", "return np.ones_like(grad) @ b.T, a.T @ grad")),
    _function("network", ("divided by `x.size`",), ("return x.sum()", "return x.mean()")),
    _function("network", SIGN, ("return grad, grad.sum(axis=0)", "return grad, -grad.sum(axis=0)")),
)  # read by rows  # fmt: skip
