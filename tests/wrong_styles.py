"""Wrong answers written in the learner's own style, with other names, loops, lambdas and helpers, and one mistake each.

Each is (course, task, words, replacements): of `words`, one must stand in the sentence that names the mistake. With `()`
it has no name; with None nothing is asked of the name. Within a course, no two are named by the same sentence, apart
from the code in it. The text of a replacement stands in place of the function or the class of that name in the
reference ("Value.__add__", "MatMul").
"""

from __future__ import annotations

ADDED = ("replace", "overw", "Add")
UPSTREAM = ("upstream", "from above")
LOCAL = ("local", "sum passes", "rule of a sum", "factor")
SIGN = ("sign", "minus", "plus", "where `-` belongs", "should be subtracted")
OWN = ("own number", "own array", "own", "itself")

STYLES = (
    # -- Scalars -------------------------------------------------------------------------------------------------------
    (
        "scalars",
        "value",
        ("tuple", "children"),
        {
            "Value": """
from dataclasses import dataclass, field
@dataclass(eq=False)
class Value:
    data: float
    children: list = field(default_factory=list)
    op: str = ""
    label: str = ""
    grad: float = 0.0
    def __post_init__(self):
        self._children, self._op = self.children, self.op
        self._backward = lambda: None
    def __repr__(self):
        return "Value(data=%s, grad=%s)" % (self.data, self.grad)
"""
        },
    ),
    (
        "scalars",
        "value",
        ("begins", "0"),
        {
            "Value": """
class Value:
    def __init__(this, number, label="", parents=(), operation=""):
        this.data, this.grad, this.label = number, 1, label
        this._children, this._op = parents, operation
        def nothing():
            return None
        this._backward = nothing
    def __repr__(this):
        return "Value(data=" + str(this.data) + ", grad=" + str(this.grad) + ")"
"""
        },
    ),
    (
        "scalars",
        "value",
        ("repr", "gradient"),
        {
            "Value.__repr__": """
def __repr__(me):
    return "Value(data={})".format(me.data)
"""
        },
    ),
    (
        "scalars",
        "value",
        ("label",),
        {
            "Value": """
class Value:
    __slots__ = ("data", "grad", "label", "_children", "_op", "_backward")
    def __init__(self, data, children=(), op="", label=""):
        for name, value in dict(data=data, grad=0.0, label=op, _children=children, _op=op).items():
            setattr(self, name, value)
        self._backward = lambda *args: None
    def __repr__(self):
        return f"{type(self).__name__}(data={self.data!r}, grad={self.grad!r})"
"""
        },
    ),
    (
        "scalars",
        "value",
        ("with 0 where 0.0",),
        {
            "Value.__init__": """
def __init__(self, data, children=(), op="", label=""):
    self.data, self.grad, self.label = data, 0, label
    self._children, self._op = tuple(children), op
    self._backward = lambda: None
"""
        },
    ),
    (
        "scalars",
        "add",
        UPSTREAM,
        {
            "Value.__add__": """
def __add__(self, b):
    if isinstance(b, (int, float)):
        b = Value(b)
    result = Value(self.data + b.data, (self, b), "+")
    def send():
        for child in (self, b):
            child.grad = child.grad + 1
    result._backward = send
    return result
"""
        },
    ),
    (
        "scalars",
        "add",
        ("first", "second", "missing", "Only"),
        {
            "Value.__add__": """
def __add__(self, b):
    b = b if hasattr(b, "data") else Value(b)
    result = Value(sum([self.data, b.data]), (self, b), "+")
    result._backward = lambda: setattr(self, "grad", self.grad + result.grad)
    return result
"""
        },
    ),
    (
        "scalars",
        "add",
        ("called at once", "stored"),
        {
            "Value.__add__": """
def __add__(self, b):
    b = wrapped(b)
    result = Value(self.data + b.data, (self, b), "+")
    def rule(g):
        self.grad += g
        b.grad += g
    result._backward = rule(result.grad)
    return result
"""
        },
    ),
    (
        "scalars",
        "add",
        ("half", "shared", "split"),
        {
            "Value.__add__": """
def __add__(self, b):
    b = wrapped(b)
    result = Value(self.data + b.data, (self, b), "+")
    def rule():
        share = result.grad / len(result._children)
        for child in result._children:
            child.grad += share
    result._backward = rule
    return result
"""
        },
    ),
    (
        "scalars",
        "add",
        ("stored as", "order", "`data`", "upstream", "first", "second"),
        {
            "Value.__add__": """
def __add__(self, b):
    if type(b) is not Value:
        b = Value(b)
    s = Value(self.data + b.data, (self, b), "+")
    g = s.grad
    def rule():
        self.grad += g
        b.grad += g
    s._backward = rule
    return s
"""
        },
    ),
    (
        "scalars",
        "add",
        ("value of the result", "`data`", "grad", "product"),
        {
            "Value.__add__": """
def __add__(x, y):
    y = y if isinstance(y, Value) else Value(y)
    z = Value(x.data + y.data, (x, y), "+")
    def pull(node=z):
        left, right = node._children
        left.grad += node.grad * node.data
        right.grad += node.grad * node.data
    z._backward = pull
    return z
"""
        },
    ),
    (
        "scalars",
        "add",
        ("both operands are the same",),
        {
            "Value.__add__": """
def __add__(self, other):
    b = other if isinstance(other, Value) else Value(other)
    out = Value(self.data + b.data, (self, b), "+")
    def back():
        for v in {self, b}:
            v.grad += out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "add",
        ("only once",),
        {
            "Value.__add__": """
def __add__(self, other):
    other = wrapped(other)
    out = Value(self.data + other.data, tuple(dict.fromkeys((self, other))), "+")
    def back():
        self.grad += out.grad
        other.grad += out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "add",
        None,  # the order of a set is left to chance
        {
            "Value.__add__": """
def __add__(self, other):
    other = wrapped(other)
    out = Value(self.data + other.data, {self, other}, "+")
    def back():
        self.grad += out.grad
        other.grad += out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "add",
        ("changes its first operand",),
        {
            "Value.__add__": """
def __add__(self, other):
    other = wrapped(other)
    self.data += other.data
    return self
"""
        },
    ),
    (
        "scalars",
        "add",
        ("wrapped once more",),
        {
            "wrapped": """
def wrapped(x):
    return Value(x.data if isinstance(x, Value) else x)
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        OWN,
        {
            "Value.__mul__": """
def __mul__(left, right):
    right = wrapped(right)
    product = Value(left.data * right.data, (left, right), "*")
    x, y = left.data, right.data
    def rule():
        left.grad += product.grad * x
        right.grad += product.grad * y
    product._backward = rule
    return product
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("result", "`data`", "value of the result"),
        {
            "Value.__mul__": """
def __mul__(left, right):
    right = wrapped(right)
    product = Value(left.data * right.data, (left, right), "*")
    def rule():
        left.grad += product.data * product.grad
        right.grad += product.data * product.grad
    product._backward = rule
    return product
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        UPSTREAM,
        {
            "Value.__pow__": """
def __pow__(base, exponent):
    power = Value(pow(base.data, exponent), (base,), "**")
    slope = exponent * base.data ** (exponent - 1)
    def rule():
        base.grad += slope
    power._backward = rule
    return power
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("exponent", "n - 1", "going down", "down by one"),
        {
            "Value.__pow__": """
def __pow__(base, exponent):
    power = Value(pow(base.data, exponent), (base,), "**")
    def rule():
        base.grad += exponent * power.data * power.grad
    power._backward = rule
    return power
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        SIGN,
        {
            "Value.__sub__": """
def __sub__(self, b):
    b = wrapped(b)
    d = Value(self.data - b.data, (self, b), "-")
    def rule():
        for v in (self, b):
            v.grad += d.grad
    d._backward = rule
    return d
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("square", "denominator", "-1 / b", "exponent"),
        {
            "Value.__truediv__": """
def __truediv__(self, b):
    b = wrapped(b)
    q = Value(self.data / b.data, (self, b), "/")
    def rule():
        self.grad += q.grad / b.data
        b.grad -= q.grad * self.data / b.data
    q._backward = rule
    return q
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("upstream", "own", "factor"),
        {
            "Value.__mul__": """
def __mul__(self, b):
    b = wrapped(b)
    s = Value(self.data * b.data, (self, b), "*")
    def rule():
        self.grad += b.data
        b.grad += b.data * s.grad
    s._backward = rule
    return s
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("abs(a)", "sign", "absolute"),
        {
            "Value.__pow__": """
def __pow__(self, k):
    s = Value(self.data ** k, (self,), "**")
    def rule():
        slope = k * abs(self.data) ** (k - 1)
        self.grad += slope * s.grad
    s._backward = rule
    return s
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("exponent", "log", "other"),
        {
            "Value.__pow__": """
def __pow__(self, k):
    s = Value(self.data ** k, (self,), "**")
    def rule():
        self.grad += (k - 1) * self.data ** k * s.grad
    s._backward = rule
    return s
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("first", "1 / b", "local", "factor", "numerator"),
        {
            "Value.__truediv__": """
def __truediv__(self, b):
    b = wrapped(b)
    q = Value(self.data / b.data, (self, b), "/")
    def rule():
        self.grad += q.grad
        b.grad += -q.grad * self.data / (b.data * b.data)
    q._backward = rule
    return q
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("sign", "turned", "came out", "taken away", "left"),
        {
            "Value.__rsub__": """
def __rsub__(self, k):
    return Value(self.data) * 0 + self - k
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("upstream",),
        {
            "Value.__truediv__": """
def __truediv__(self, d):
    d = wrapped(d)
    q = Value(self.data / d.data, (self, d), "/")
    def pull():
        self.grad += (1 / d.data) * q.grad
        d.grad += -self.data / (d.data ** 2)
    q._backward = pull
    return q
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("missing", "bare", "nothing leads back"),
        {
            "Value.__truediv__": """
def __truediv__(self, d):
    if isinstance(d, Value):
        d = d.data
    inverse = 1.0 / d
    return self * inverse
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("divides the result",),
        {
            "Value.__mul__": """
def __mul__(self, other):
    other = wrapped(other)
    out = Value(self.data * other.data, (self, other), "*")
    def back():
        self.grad += out.data / self.data * out.grad
        other.grad += out.data / other.data * out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("//",),
        {
            "Value.__truediv__": """
def __truediv__(self, other):
    other = wrapped(other)
    out = Value(self.data // other.data, (self, other), "/")
    def back():
        self.grad += 1 / other.data * out.grad
        other.grad -= self.data / other.data ** 2 * out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("other one's message",),
        {
            "Value.__truediv__": """
def __truediv__(self, other):
    other = wrapped(other)
    out = Value(self.data / other.data, (self, other), "/")
    def back():
        self.grad += -self.data / other.data**2 * out.grad
        other.grad += 1 / other.data * out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("local derivative",),
        {
            "Value.__pow__": """
def __pow__(self, n):
    out = Value(self.data ** n, (self,), "**")
    def _backward():
        local = n * out.data ** (n - 1)
        self.grad += local * out.grad
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "scalars",
        "arithmetic",
        ("local derivative",),
        {
            "Value.__pow__": """
def __pow__(self, n):
    out = Value(self.data ** n, (self,), "**")
    def _backward():
        local = n * self.data ** n - 1
        self.grad += local * out.grad
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "scalars",
        "backward",
        ("reach", "once", "two paths", "each path"),
        {
            "Value.backward": """
def backward(self):
    def visit(v):
        out = []
        for c in v._children:
            out += visit(c)
        return out + [v]
    order = visit(self)
    for v in order:
        if v._children: v.grad = 0.0
    self.grad = 1.0
    for v in order[::-1]:
        v._backward()
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("distance", "early", "first met"),
        {
            "Value.backward": """
def backward(self):
    todo, order = [self], []
    while todo:
        v = todo.pop(0)
        if not any(v is o for o in order):
            order.append(v)
            todo += v._children
    for v in order:
        if v._children: v.grad = 0.0
    self.grad = 1.0
    for v in order:
        v._backward()
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("empt", "leaves"),
        {
            "Value.backward": """
def backward(self):
    order = topological_order(self)
    [setattr(v, "grad", 0.0) for v in order]
    self.grad = 1.0
    while order:
        order.pop()._backward()
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("earlier pass", "reset", "still held"),
        {
            "Value.backward": """
def backward(self):
    order = topological_order(self)
    self.grad = 1.0
    for i in range(len(order) - 1, -1, -1):
        order[i]._backward()
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("never called", "1", "number", "every"),
        {
            "Value.backward": """
def backward(self):
    order = topological_order(self)
    for v in order:
        v.grad = 1.0 if v is self else (0.0 if v._children else v.grad)
    for i, v in enumerate(order):
        order[len(order) - 1 - i]._backward() if i else None
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("leaves", "first"),
        {
            "topological_order": """
def topological_order(root):
    listed = []
    def walk(v):
        if v in listed:
            return
        listed.append(v)
        for c in v._children:
            walk(c)
    walk(root)
    listed.reverse()
    return listed
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("1", "set"),
        {
            "Value.backward": """
def backward(self):
    order = topological_order(self)
    for v in filter(lambda v: v._children, order):
        v.grad = 0.0
    for v in reversed(order):
        v._backward()
"""
        },
    ),
    (
        "scalars",
        "backward",
        ("children", "rule of the result", "rules"),
        {
            "Value.backward": """
def backward(self):
    for v in topological_order(self):
        if v._children: v.grad = 0
    self.grad = 1.0
    self._backward()
    for c in self._children:
        c._backward()
"""
        },
    ),
    (
        "scalars",
        "repeated",
        (),
        {
            "Value.__add__": """
def __add__(self, b):
    b = wrapped(b)
    s = Value(self.data + b.data, (self, b), "+")
    def rule():
        for v in {self, b}:
            v.grad += s.grad
    s._backward = rule
    return s
"""
        },
    ),
    (
        "scalars",
        "repeated",
        ("nothing", "emptied", "each", "name"),
        {
            "zero_grad": """
def zero_grad(values):
    return [0.0 for v in values]
"""
        },
    ),
    (
        "scalars",
        "repeated",
        ("first iteration", "order", "step", "sign", "negative", "0", "missing"),
        {
            "zero_grad": """
def zero_grad(values):
    for i in range(1, len(values)):
        values[i].grad = 0.0
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("used the input", "input", "output"),
        {
            "Value.tanh": """
def tanh(self):
    out = Value(math.tanh(self.data), (self,), "tanh")
    def rule():
        self.grad += out.grad * (1 - self.data ** 2)
    out._backward = rule
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("stop", "flat", "negative", "went on"),
        {
            "Value.relu": """
def relu(self):
    out = Value(self.data if self.data > 0 else 0.0, (self,), "relu")
    def rule():
        self.grad += out.grad
    out._backward = rule
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        (">", "exactly 0"),
        {
            "Value.relu": """
def relu(self):
    out = Value(0.0, (self,), "relu")
    if self.data >= 0:
        out.data = self.data
    def rule():
        if self.data < 0:
            return
        self.grad += out.grad
    out._backward = rule
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("input", "power rule"),
        {
            "Value.exp": """
def exp(self):
    result = Value(math.e ** self.data, (self,), "exp")
    def rule():
        self.grad += self.data * math.e ** (self.data - 1) * result.grad
    result._backward = rule
    return result
"""
        },
    ),
    (
        "scalars",
        "functions",
        (*ADDED, "lost a message"),
        {
            "Value.tanh": """
def tanh(self):
    th = math.tanh(self.data)
    out = Value(th, (self,), "tanh")
    def rule():
        self.grad = out.grad * (1 - th ** 2)
    out._backward = rule
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("parenthes", "t²"),
        {
            "Value.tanh": """
def tanh(x):
    y = Value((math.exp(2 * x.data) - 1) / (math.exp(2 * x.data) + 1) if abs(x.data) < 300 else (1.0 if x.data > 0 else -1.0), (x,), "tanh")
    def rule():
        x.grad += y.grad - y.data ** 2
    y._backward = rule
    return y
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("sigmoid", "minus", "exponent"),
        {
            "Value.sigmoid": """
def sigmoid(x):
    e = x.exp()
    return 1 / (1 + e)
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("output", "result", "input", "data"),
        {
            "Value.exp": """
def exp(self):
    out = Value(math.exp(self.data), (self,), "exp")
    def pull():
        self.grad += math.exp(out.data) * out.grad
    out._backward = pull
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("gradient", "sign"),
        {
            "Value.relu": """
def relu(self):
    r = Value(max(0.0, self.data), (self,), "relu")
    def pull():
        if r.grad > 0:
            self.grad += r.grad
    r._backward = pull
    return r
"""
        },
    ),
    (
        "scalars",
        "functions",
        (
            "abs(y)",
            "square",
        ),
        {
            "Value.tanh": """
def tanh(self):
    t = math.tanh(self.data)
    out = Value(t, (self,), "tanh")
    out._backward = lambda: self.__dict__.update(grad=self.grad + (1 - abs(t)) * out.grad)
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("tanh(y)",),
        {
            "Value.tanh": """
def tanh(self):
    out = Value(math.tanh(self.data), (self,), "tanh")
    def back():
        self.grad += (1 - math.tanh(out.data) ** 2) * out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "functions",
        ("leaky",),
        {
            "Value.relu": """
def relu(self):
    out = Value(self.data if self.data > 0 else 0.01 * self.data, (self,), "relu")
    def back():
        self.grad += (1 if self.data > 0 else 0.01) * out.grad
    out._backward = back
    return out
"""
        },
    ),
    (
        "scalars",
        "network",
        ("tanh",),
        {
            "Neuron.__call__": """
def __call__(self, xs):
    return sum([w * x for w, x in zip(self.weights, xs)], self.bias)
"""
        },
    ),
    (
        "scalars",
        "network",
        ("bias",),
        {
            "Neuron.parameters": """
def parameters(self):
    ps = []
    for w in self.weights:
        ps.append(w)
    return ps
"""
        },
    ),
    (
        "scalars",
        "network",
        ("positive", "uniform"),
        {
            "Neuron.__init__": """
def __init__(self, n, rng):
    self.weights = list(map(lambda i: Value(rng.random()), range(n)))
    self.bias = Value(0.0)
"""
        },
    ),
    (
        "scalars",
        "network",
        ("same", "alike", "share"),
        {
            "Layer.__init__": """
def __init__(self, inputs, count, rng):
    one = Neuron(inputs, rng)
    self.neurons = [one for _ in range(count)]
"""
        },
    ),
    (
        "scalars",
        "network",
        ("bias",),
        {
            "Neuron.__call__": """
def __call__(self, xs):
    it = iter(zip(self.weights, xs))
    w, x = next(it)
    acc = w * x
    for w, x in it:
        acc = acc + w * x
    return acc.tanh()
"""
        },
    ),
    (
        "scalars",
        "network",
        ("last", "list of one", "unpack", "list"),
        {
            "MLP.__call__": """
def __call__(self, xs):
    out = xs
    for layer in self.layers:
        out = layer(out)
    return out if len(out) > 1 else out[0]
"""
        },
    ),
    (
        "scalars",
        "network",
        ("after tanh",),
        {
            "Neuron.__call__": """
def __call__(self, xs):
    s = sum((w * x for w, x in zip(self.weights, xs)), Value(0.0))
    return s.tanh() + self.bias
"""
        },
    ),
    (
        "scalars",
        "network",
        ("share one bias",),
        {
            "Layer.__init__": """
def __init__(self, inputs, neurons, rng):
    self.neurons = [Neuron(inputs, rng) for _ in range(neurons)]
    for n in self.neurons:
        n.bias = self.neurons[0].bias
"""
        },
    ),
    (
        "scalars",
        "network",
        ("one and the same",),
        {
            "Neuron.__init__": """
def __init__(self, inputs, rng):
    self.weights = [Value(rng.uniform(-1, 1))] * inputs
    self.bias = Value(0.0)
"""
        },
    ),
    (
        "scalars",
        "train",
        ("mean", "divi", "points"),
        {
            "train": """
def train(net, xs, ys, rate=0.3, steps=150):
    history = []
    for step in range(steps):
        errors = [(net(x)[0] - y) ** 2 for x, y in zip(xs, ys)]
        total = errors[0]
        for e in errors[1:]:
            total = total + e
        for p in net.parameters(): p.grad = 0.0
        total.backward()
        for p in net.parameters(): p.data = p.data - rate * p.grad
        history.append(total.data)
    return history
"""
        },
    ),
    (
        "scalars",
        "train",
        ("earlier steps", "missing", "empt", "zero", "add up"),
        {
            "train": """
def train(net, xs, ys, rate=0.3, steps=150):
    history, params = [], net.parameters()
    zero_grad(params)
    for step in range(steps):
        total = 0.0
        for i in range(len(xs)):
            diff = net(xs[i])[0] - ys[i]
            total += diff * diff
        mean = total / len(xs)
        mean.backward()
        history.append(mean.data)
        for p in params: p.data -= rate * p.grad
    return history
"""
        },
    ),
    (
        "scalars",
        "train",
        ("before", "after", "order", "first"),
        {
            "train": """
def train(net, xs, ys, rate=0.3, steps=150):
    def loss():
        return sum(((net(x)[0] - y) ** 2 for x, y in zip(xs, ys)), Value(0.0)) / len(xs)
    history = []
    for step in range(steps):
        zero_grad(net.parameters())
        l = loss()
        l.backward()
        for p in net.parameters(): p.data -= rate * p.grad
        history.append(loss().data)
    return history
"""
        },
    ),
    (
        "scalars",
        "train",
        ("too small", "rate", "factor"),
        {
            "train": """
def train(m, xs, ys, rate=0.4, steps=120):
    out = []
    ps = m.parameters()
    for _ in range(steps):
        e = [(m(x)[0] - y) ** 2 for x, y in zip(xs, ys)]
        L = sum(e[1:], e[0]) / len(e)
        zero_grad(ps)
        L.backward()
        for p in ps:
            p.data -= rate * p.grad / len(xs)
        out.append(L.data)
    return out
"""
        },
    ),
    (
        "scalars",
        "train",
        ("last", "list", "point"),
        {
            "train": """
def train(m, xs, ys, rate=0.4, steps=120):
    out = []
    ps = m.parameters()
    for _ in range(steps):
        for x, y in zip(xs, ys):
            L = (m(x)[0] - y) ** 2
            zero_grad(ps)
            L.backward()
            for p in ps:
                p.data -= rate * p.grad
        out.append(L.data)
    return out
"""
        },
    ),
    (
        "scalars",
        "train",
        ("last item",),
        {
            "train": """
def train(model, xs, ys, rate=0.5, steps=100):
    history = []
    for step in range(steps):
        total = Value(0.0)
        for i in range(len(xs)):
            difference = model(xs[i])[0] - ys[i]
            total = total + difference * difference
        loss = total / len(xs)
        zero_grad(model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data = p.data - rate * p.grad
        history.append(loss.data)
    return history[-1]
""",
        },
    ),
    (
        "scalars",
        "train",
        ("first iteration of a loop alone",),
        {
            "train": """
def train(model, xs, ys, rate=0.5, steps=100):
    history = []
    for step in range(steps):
        total = Value(0.0)
        for i in range(len(xs)):
            difference = model(xs[i])[0] - ys[i]
            total = total + difference * difference
        loss = total / len(xs)
        zero_grad(model.parameters())
        loss.backward()
        for p in model.parameters():
            p.data = p.data - rate * p.grad
            break
        history.append(loss.data)
    return history
""",
        },
    ),
    # -- Tensors -------------------------------------------------------------------------------------------------------
    (
        "tensors",
        "unbroadcast",
        ("keepdims", "axis", "removed"),
        {
            "unbroadcast": """
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for i in reversed(range(len(shape))):
        if shape[i] == 1 and grad.shape[i] > 1:
            grad = grad.sum(axis=i)
    return grad
"""
        },
    ),
    (
        "tensors",
        "unbroadcast",
        ("stretched", "size 1"),
        {
            "unbroadcast": """
def unbroadcast(g, target):
    extra = len(g.shape) - len(target)
    for _ in range(extra):
        g = np.add.reduce(g, 0)
    return g
"""
        },
    ),
    (
        "tensors",
        "unbroadcast",
        ("average", "mean"),
        {
            "unbroadcast": """
def unbroadcast(g, target):
    for _ in range(len(g.shape) - len(target)):
        g = g.mean(0)
    for axis in range(len(target)):
        if target[axis] == 1:
            g = g.mean(axis, keepdims=True)
    return g
"""
        },
    ),
    (
        "tensors",
        "unbroadcast",
        ("front", "copies", "first"),
        {
            "unbroadcast": """
def unbroadcast(g, shape):
    keep = tuple(i for i, s in enumerate(shape) if s == 1)
    if keep and g.ndim == len(shape):
        return g.sum(axis=keep, keepdims=True)
    return g.reshape((-1,) + tuple(shape))[0] if g.ndim != len(shape) else g
"""
        },
    ),
    (
        "tensors",
        "unbroadcast",
        ("first", "one", "axis"),
        {
            "unbroadcast": """
def unbroadcast(g, shape):
    if g.ndim > len(shape):
        g = g.sum(0)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(i, keepdims=True)
    return g
"""
        },
    ),
    (
        "tensors",
        "unbroadcast",
        ("return",),
        {
            "unbroadcast": """
def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis in range(len(shape)):
        if shape[axis] == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis=axis, keepdims=True)
""",
        },
    ),
    (
        "tensors",
        "elementwise",
        UPSTREAM,
        {
            "Tensor.__mul__": """
def __mul__(self, rhs):
    rhs = self._operand(rhs)
    res = Tensor(np.multiply(self.data, rhs.data), (self, rhs), "*")
    x, y = self.data, rhs.data
    def bw():
        self._receive(unbroadcast(np.broadcast_to(y, res.data.shape), x.shape))
        rhs._receive(unbroadcast(np.broadcast_to(x, res.data.shape), y.shape))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("copied", "copies"),
        {
            "Tensor.__add__": """
def __add__(self, rhs):
    rhs = self._operand(rhs)
    res = Tensor(self.data + rhs.data, (self, rhs), "+")
    def bw():
        for t in (self, rhs):
            t._receive(res.grad)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("early", "before", "copied", "copies"),
        {
            "Tensor.__mul__": """
def __mul__(self, rhs):
    rhs = self._operand(rhs)
    x, y = self.data, rhs.data
    res = Tensor(x * y, (self, rhs), "*")
    def bw():
        self._receive(unbroadcast(res.grad, x.shape) * y)
        rhs._receive(unbroadcast(res.grad, y.shape) * x)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("You answer with x - 5", "exchang", "came out", "turned", "should be subtracted", "sign", "where"),
        {
            "Tensor.__rsub__": """
def __rsub__(self, left):
    return self - left
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("bare", "nothing leads back"),
        {
            "Tensor.__sub__": """
def __sub__(self, rhs):
    if isinstance(rhs, Tensor):
        rhs = rhs.data
    return self + (-1 * rhs)
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("own", "itself"),
        {
            "Tensor.__mul__": """
def __mul__(self, o):
    o = o if isinstance(o, Tensor) else Tensor(np.asarray(o, self.data.dtype))
    x, y = self.data, o.data
    r = Tensor(x * y, (self, o), "*")
    def bw():
        for t, factor in ((self, x), (o, x)):
            t._receive(unbroadcast(r.grad * factor, t.data.shape))
    r._backward = bw
    return r
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("replace", "overw", "only the last"),
        {
            "Tensor.__add__": """
def __add__(self, o):
    o = self._operand(o)
    r = Tensor(self.data + o.data, (self, o), "+")
    def bw():
        self.grad = unbroadcast(r.grad, self.data.shape)
        o.grad = unbroadcast(r.grad, o.data.shape)
    r._backward = bw
    return r
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("upstream", "above"),
        {
            "Tensor.__mul__": """
def __mul__(self, other):
    other = self._operand(other)
    p = Tensor(self.data * other.data, (self, other), "*")
    x, y = np.broadcast_arrays(self.data, other.data)
    def pull():
        self._receive(unbroadcast(p.grad * y, self.data.shape))
        other._receive(unbroadcast(x, other.data.shape))
    p._backward = pull
    return p
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("mean", "average"),
        {
            "Tensor.__add__": """
def __add__(self, other):
    other = self._operand(other)
    s = Tensor(self.data + other.data, (self, other), "+")
    def fit(g, t):
        while g.ndim > t.data.ndim:
            g = g.mean(axis=0)
        for i, n in enumerate(t.data.shape):
            if n == 1:
                g = g.mean(axis=i, keepdims=True)
        return g
    def pull():
        self._receive(fit(s.grad, self))
        other._receive(fit(s.grad, other))
    s._backward = pull
    return s
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("sign", "minus", "came out", "turned", "exchanged", "x - 5"),
        {
            "Tensor.__sub__": """
def __sub__(self, other):
    return -self + self._operand(other)
"""
        },
    ),
    (
        "tensors",
        "elementwise",
        ("both operands are the same",),
        {
            "Tensor.__add__": """
def __add__(self, other):
    other = self._operand(other)
    out = Tensor(self.data + other.data, (self, other), "+")
    def back():
        for t in {self, other}:
            t._receive(unbroadcast(out.grad, t.data.shape))
    out._backward = back
    return out
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("shared out", "share"),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    res = Tensor(np.sum(x, axis=axis, keepdims=keepdims), (self,), "sum")
    count = x.size / res.data.size
    def bw():
        g = res.grad
        if not keepdims and axis is not None:
            g = np.expand_dims(g, axis)
        self._receive(np.ones_like(x) * g / count)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("put back", "axis"),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    res = Tensor(np.sum(x, axis=axis, keepdims=keepdims), (self,), "sum")
    def bw():
        self._receive(np.zeros_like(x) + res.grad)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("all elements", "number of all", "length"),
        {
            "Tensor.mean": """
def mean(self, axis=None, keepdims=False):
    n = 1
    for s in self.data.shape:
        n = n * s
    return self.sum(axis=axis, keepdims=keepdims) * (1.0 / n)
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("keepdims", "ignored"),
        {
            "Tensor.mean": """
def mean(self, axis=None, keepdims=False):
    axes = range(self.data.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    n = 1
    for a in axes:
        n *= self.data.shape[a]
    return self.sum(axis) * (1 / n)
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("back", "axis", "in front", "place"),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    r = Tensor(x.sum(axis=axis, keepdims=keepdims), (self,), "sum")
    def bw():
        g = r.grad
        if axis is not None and not keepdims:
            for _ in (axis if isinstance(axis, tuple) else (axis,)):
                g = g[..., None]
        self._receive(g * np.ones(x.shape))
    r._backward = bw
    return r
"""
        },
    ),
    (
        "tensors",
        "reduce",
        (),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    s = Tensor(x.sum(axis, keepdims=True), (self,), "sum")
    def pull():
        self._receive(np.broadcast_to(s.grad, x.shape))
    s._backward = pull
    return s
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("divided", "mean"),
        {
            "Tensor.mean": """
def mean(self, axis=None, keepdims=False):
    x = self.data
    m = Tensor(x.mean(axis, keepdims=keepdims), (self,), "mean")
    def pull():
        g = m.grad
        if axis is not None and not keepdims:
            g = np.expand_dims(g, axis)
        self._receive(g * np.ones_like(x))
    m._backward = pull
    return m
"""
        },
    ),
    (
        "tensors",
        "reduce",
        ("conditions",),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    out = Tensor(np.sum(x, axis=axis, keepdims=keepdims), (self,), "sum")
    def _backward():
        g = out.grad
        if axis is not None:
            g = np.expand_dims(g, axis)
        self._receive(np.ones_like(x) * g)
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "tensors",
        "reduce",
        ("sum of the upstream",),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    x = self.data
    out = Tensor(np.sum(x, axis=axis, keepdims=keepdims), (self,), "sum")
    def _backward():
        g = out.grad
        if not keepdims and axis is not None:
            g = np.expand_dims(g, axis)
        self._receive(np.ones_like(x) * g.sum())
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "tensors",
        "reduce",
        (),
        {
            "Tensor.sum": """
def sum(self, axis=None, keepdims=False):
    out = Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), "sum")
    def back():
        g = out.grad
        if axis is not None and not keepdims:
            for one in axis if isinstance(axis, tuple) else (axis,):
                g = np.expand_dims(g, one)
        self._receive(np.broadcast_to(g, self.data.shape))
    out._backward = back
    return out
"""
        },
    ),
    (
        "tensors",
        "matmul",
        (
            "as it is",
            "transposed",
        ),
        {
            "Tensor.__matmul__": """
def __matmul__(self, rhs):
    res = Tensor(np.dot(self.data, rhs.data), (self, rhs), "@")
    x, y = self.data, rhs.data
    def bw():
        self._receive(np.dot(res.grad, y))
        rhs._receive(np.dot(x.T, res.grad))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "matmul",
        ("order", "wrong way"),
        {
            "Tensor.__matmul__": """
def __matmul__(self, rhs):
    res = Tensor(np.einsum("ij,jk->ik", self.data, rhs.data), (self, rhs), "@")
    x, y = self.data, rhs.data
    def bw():
        self._receive(np.einsum("ij,jk->ik", res.grad, y.T))
        rhs._receive(np.einsum("ij,jk->ik", res.grad, x.T))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "matmul",
        ("transpose", "swapped", "wrong", "exchanged", "other", "order"),
        {
            "Tensor.__matmul__": """
def __matmul__(self, other):
    A, B = self.data, other.data
    C = Tensor(A.dot(B), (self, other), "@")
    def pull():
        self._receive(C.grad.dot(B.T))
        other._receive(C.grad.T.dot(A))
    C._backward = pull
    return C
"""
        },
    ),
    (
        "tensors",
        "matmul",
        ("operand alone",),
        {
            "Tensor.__matmul__": """
def __matmul__(self, other):
    a = self.data
    b = other.data
    out = Tensor(np.matmul(a, b), (self, other), "@")
    def _backward():
        g = out.grad
        da = b.transpose()
        db = np.matmul(a.transpose(), g)
        self._receive(da)
        other._receive(db)
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "tensors",
        "functions",
        ("output", "input", "result", "log"),
        {
            "Tensor.exp": """
def exp(self):
    res = Tensor(np.exp(self.data), (self,), "exp")
    x = self.data
    def bw():
        self._receive(x * res.grad)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "functions",
        ("output", "result", "input"),
        {
            "Tensor.log": """
def log(self):
    y = np.log(self.data)
    res = Tensor(y, (self,), "log")
    def bw():
        self._receive(np.divide(res.grad, y))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "functions",
        ("through", "leak", "negative", "little"),
        {
            "Tensor.relu": """
def relu(self):
    x = self.data
    res = Tensor(np.where(x > 0, x, 0), (self,), "relu")
    def bw():
        self._receive(np.where(x > 0, res.grad, 0.01 * res.grad))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "functions",
        ("gradient", "input"),
        {
            "Tensor.relu": """
def relu(self):
    x = self.data.copy()
    x[x < 0] = 0
    res = Tensor(x, (self,), "relu")
    def bw():
        g = res.grad.copy()
        g[g < 0] = 0
        self._receive(g)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "functions",
        ("upstream", "above"),
        {
            "Tensor.log": """
def log(self):
    r = Tensor(np.log(self.data), (self,), "log")
    inv = 1 / self.data
    r._backward = lambda: self._receive(inv)
    return r
"""
        },
    ),
    (
        "tensors",
        "functions",
        (">", "0", "kink"),
        {
            "Tensor.relu": """
def relu(self):
    x = self.data
    r = Tensor(x * (x > 0), (self,), "relu")
    def bw():
        g = np.array(r.grad)
        g[x < 0] = 0
        self._receive(g)
    r._backward = bw
    return r
"""
        },
    ),
    (
        "tensors",
        "functions",
        ("square", "log", "factor", "1 /", "exponent", "input"),
        {
            "Tensor.log": """
def log(self):
    a = self.data
    out = Tensor(np.log(a), (self,), "log")
    def pull():
        self._receive(out.grad * a)
    out._backward = pull
    return out
"""
        },
    ),
    (
        "tensors",
        "softmax",
        ("diagonal", "p * (1", "own", "others"),
        {
            "Tensor.softmax": """
def softmax(self, axis=-1):
    e = np.exp(self.data - np.max(self.data, axis=axis, keepdims=True))
    s = e / np.sum(e, axis=axis, keepdims=True)
    res = Tensor(s, (self,), "softmax")
    def bw():
        self._receive(res.grad * s * (1 - s))
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "softmax",
        ("overflow", "maximum", "largest", "large"),
        {
            "Tensor.softmax": """
def softmax(self, axis=-1):
    e = np.exp(self.data)
    s = e / np.sum(e, axis=axis, keepdims=True)
    res = Tensor(s, (self,), "softmax")
    def bw():
        inner = (s * res.grad).sum(axis=axis, keepdims=True)
        self._receive(s * res.grad - s * inner)
    res._backward = bw
    return res
"""
        },
    ),
    (
        "tensors",
        "softmax",
        ("sum", "axis", "mean", "common"),
        {
            "Tensor.softmax": """
def softmax(self, axis=-1):
    e = np.exp(self.data - self.data.max(axis, keepdims=True))
    s = e / e.sum(axis, keepdims=True)
    r = Tensor(s, (self,), "softmax")
    def bw():
        self._receive(s * (r.grad - r.grad.sum(axis, keepdims=True)))
    r._backward = bw
    return r
"""
        },
    ),
    (
        "tensors",
        "softmax",
        (),
        {
            "Tensor.softmax": """
def softmax(self, axis=-1):
    shifted = self.data - self.data.max()
    q = np.exp(shifted)
    q = q / q.sum(axis=1, keepdims=True)
    out = Tensor(q, (self,), "softmax")
    def pull():
        dot = np.sum(out.grad * q, axis=1, keepdims=True)
        self._receive(q * (out.grad - dot))
    out._backward = pull
    return out
"""
        },
    ),
    (
        "tensors",
        "cross-entropy",
        ("mean", "samples", "average", "divided", "number"),
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    z = logits.data
    z = z - z.max(1)[:, None]
    p = np.exp(z) / np.exp(z).sum(1)[:, None]
    n = len(labels)
    total = 0.0
    for i in range(n):
        total += -(z[i, labels[i]] - np.log(np.exp(z[i]).sum()))
    out = Tensor(total / n, (logits,), "ce")
    def bw():
        d = p.copy()
        for i in range(n):
            d[i, labels[i]] -= 1
        logits._receive(d * out.grad)
    out._backward = bw
    return out
"""
        },
    ),
    (
        "tensors",
        "cross-entropy",
        UPSTREAM,
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    z = logits.data - logits.data.max(axis=1, keepdims=True)
    p = np.exp(z)
    p = p / p.sum(axis=1, keepdims=True)
    onehot = np.eye(z.shape[1])[labels]
    lp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    out = Tensor(-(onehot * lp).sum() / len(z), (logits,), "ce")
    out._backward = lambda: logits._receive((p - onehot) / len(z))
    return out
"""
        },
    ),
    (
        "tensors",
        "cross-entropy",
        ("label", "one", "1", "minus", "missing", "subtract"),
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    z = logits.data - logits.data.max(axis=1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    n = z.shape[0]
    picked = z[np.arange(n), labels] - np.log(np.exp(z).sum(axis=1))
    out = Tensor(-np.mean(picked), (logits,), "ce")
    def bw():
        logits._receive(out.grad * p / n)
    out._backward = bw
    return out
"""
        },
    ),
    (
        "tensors",
        "cross-entropy",
        ("sign", "minus", "negative"),
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    z = logits.data
    m = z.max(axis=1)
    lse = m + np.log(np.exp(z - m[:, None]).sum(axis=1))
    losses = np.array([z[i, l] - lse[i] for i, l in enumerate(labels)])
    out = Tensor(losses.mean(), (logits,), "ce")
    def pull():
        p = np.exp(z - lse[:, None])
        for i, l in enumerate(labels):
            p[i, l] -= 1
        logits._receive(-out.grad * p / len(losses))
    out._backward = pull
    return out
"""
        },
    ),
    (
        "tensors",
        "cross-entropy",
        ("another order",),
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    n = len(labels)
    x = logits.data
    z = x - np.max(x, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    picked = logp[labels, np.arange(n)]
    out = Tensor(-np.sum(picked) / n, (logits,), "cross_entropy")
    def _backward():
        p = np.exp(logp)
        onehot = np.zeros_like(p)
        onehot[np.arange(n), labels] = 1
        logits._receive(out.grad * (p - onehot) / n)
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "tensors",
        "cross-entropy",
        ("indices",),
        {
            "cross_entropy": """
def cross_entropy(logits, labels):
    n = len(labels)
    x = logits.data
    z = x - np.max(x, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    picked = logp[np.arange(n), labels]
    out = Tensor(-np.sum(picked) / n, (logits,), "cross_entropy")
    def _backward():
        p = np.exp(logp)
        onehot = np.zeros_like(p)
        onehot[labels] = 1
        logits._receive(out.grad * (p - onehot) / n)
    out._backward = _backward
    return out
""",
        },
    ),
    (
        "tensors",
        "modes",
        ("exception", "finally", "before"),
        {
            "no_grad": """
class no_grad:
    def __enter__(self):
        self.old = Tensor.recording
        Tensor.recording = False
    def __exit__(self, kind, value, trace):
        if kind is None:
            Tensor.recording = self.old
"""
        },
    ),
    (
        "tensors",
        "modes",
        ("before", "inside another", "nested", "inner"),
        {
            "no_grad": """
class no_grad:
    def __enter__(self):
        Tensor.recording = False
    def __exit__(self, *rest):
        Tensor.recording = True
"""
        },
    ),
    (
        "tensors",
        "modes",
        ("history", "detach", "children", "own"),
        {
            "Tensor.detach": """
def detach(self):
    self._children = ()
    return self
"""
        },
    ),
    (
        "tensors",
        "modes",
        ("history",),
        {
            "Tensor.detach": """
def detach(self):
    t = Tensor(self.data.copy())
    self._children = ()
    return t
""",
        },
    ),
    (
        "tensors",
        "optimizers",
        ("correction", "first", "too small"),
        {
            "Adam": """
class Adam:
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        self.params, self.lr, self.betas, self.eps = list(params), lr, betas, eps
        self.state = {}
    def zero_grad(self):
        for q in self.params: q.grad = None
    def step(self):
        for q in self.params:
            if q.grad is None: continue
            m, v = self.state.get(id(q), (0, 0))
            m = self.betas[0] * m + (1 - self.betas[0]) * q.grad
            v = self.betas[1] * v + (1 - self.betas[1]) * q.grad ** 2
            self.state[id(q)] = m, v
            q.data = q.data - self.lr * m / (np.sqrt(v) + self.eps)
"""
        },
    ),
    (
        "tensors",
        "optimizers",
        ("squar", "absolute", "v is"),
        {
            "Adam.step": """
def step(self):
    self.steps += 1
    t, (b1, b2) = self.steps, self.betas
    for k, p in enumerate(self.params):
        if p.grad is None:
            continue
        g = p.grad
        self.m[k] = b1 * self.m[k] + (1 - b1) * g
        self.v[k] = b2 * self.v[k] + (1 - b2) * np.abs(g)
        p.data = p.data - self.lr * (self.m[k] / (1 - b1 ** t)) / (np.sqrt(self.v[k] / (1 - b2 ** t)) + self.eps)
"""
        },
    ),
    (
        "tensors",
        "optimizers",
        ("root", "eps"),
        {
            "Adam.step": """
def step(self):
    self.steps = self.steps + 1
    for i in range(len(self.params)):
        p = self.params[i]
        if p.grad is None: continue
        self.m[i] = self.betas[0] * self.m[i] + (1 - self.betas[0]) * p.grad
        self.v[i] = self.betas[1] * self.v[i] + (1 - self.betas[1]) * p.grad * p.grad
        mh = self.m[i] / (1 - self.betas[0] ** self.steps)
        vh = self.v[i] / (1 - self.betas[1] ** self.steps)
        p.data = p.data - self.lr * mh / (vh + self.eps) ** 0.5
"""
        },
    ),
    (
        "tensors",
        "digits",
        ("before `+`",),
        {
            "network": """
def network(params, x):
    w1, b1, w2, b2 = params
    h = (x @ w1).relu() + b1
    return h @ w2 + b2
""",
        },
    ),
    # -- Functions -----------------------------------------------------------------------------------------------------
    (
        "functions",
        "context",
        ("class", "own", "each", "second"),
        {
            "Context": """
class Context:
    saved_tensors = ()
    def __init__(self, function, inputs):
        self.function, self.inputs = function, inputs
    def save_for_backward(self, *arrays):
        Context.saved_tensors = arrays
"""
        },
    ),
    (
        "functions",
        "context",
        ("without `Tensor`",),
        {
            "Context": """
class Context:
    def __init__(self):
        self.saved_tensors = ()
        self.inputs = ()
        self.fn = None
    def save_for_backward(self, *arrays):
        self.saved_tensors = tuple(arrays)
""",
            "Function": """
class Function:
    @classmethod
    def apply(cls, *inputs):
        ctx = Context()
        ctx.inputs = inputs
        ctx.fn = cls
        raw = []
        for i in inputs:
            if isinstance(i, Tensor):
                raw.append(i.data)
            else:
                raw.append(i)
        out = cls.forward(ctx, *raw)
        out.grad_fn = ctx
        return out
""",
        },
    ),
    (
        "functions",
        "graph",
        ("replace", "last message", "Add"),
        {
            "Tensor.backward": """
def backward(self, upstream=None):
    order = topological_order(self)
    for t in order:
        if t.grad_fn is not None: t.grad = None
    self.grad = upstream if upstream is not None else np.ones(self.data.shape, self.data.dtype)
    for t in reversed(order):
        c = t.grad_fn
        if c is None: continue
        for i, m in enumerate(c.function.backward(c, t.grad)):
            if isinstance(c.inputs[i], Tensor):
                c.inputs[i].grad = m
"""
        },
    ),
    (
        "functions",
        "graph",
        ("accumul", "leaves", "emptied", "add up"),
        {
            "Tensor.backward": """
def backward(self, upstream=None):
    order = topological_order(self)
    grads = {id(self): np.ones_like(self.data) if upstream is None else upstream}
    for t in reversed(order):
        t.grad = grads[id(t)]
        if t.grad_fn:
            for x, m in zip(t.grad_fn.inputs, t.grad_fn.function.backward(t.grad_fn, t.grad)):
                if isinstance(x, Tensor):
                    grads[id(x)] = grads[id(x)] + m if id(x) in grads else m
"""
        },
    ),
    (
        "functions",
        "graph",
        ("another tensor was sent", "same array"),
        {
            "Context": """
class Context:
    def __init__(self):
        self.saved_tensors = ()
        self.inputs = ()
        self.fn = None
    def save_for_backward(self, *arrays):
        self.saved_tensors = tuple(arrays)
""",
            "Function": """
class Function:
    @classmethod
    def apply(cls, *inputs):
        ctx = Context()
        ctx.inputs = inputs
        ctx.fn = cls
        raw = []
        for i in inputs:
            if isinstance(i, Tensor):
                raw.append(i.data)
            else:
                raw.append(i)
        out = Tensor(cls.forward(ctx, *raw))
        out.grad_fn = ctx
        return out
""",
            "Tensor": """
class Tensor:
    def __init__(self, data):
        self.data = np.asarray(data)
        self.grad = None
        self.grad_fn = None

    def backward(self, upstream=None):
        order = []
        seen = set()
        def visit(t):
            if id(t) in seen:
                return
            seen.add(id(t))
            if t.grad_fn is not None:
                for i in t.grad_fn.inputs:
                    if isinstance(i, Tensor):
                        visit(i)
            order.append(t)
        visit(self)
        for t in order:
            if t.grad_fn is not None:
                t.grad = None
        if upstream is None:
            upstream = np.ones_like(self.data)
        self.grad = upstream
        for t in order[::-1]:
            if t.grad_fn is None:
                continue
            messages = t.grad_fn.fn.backward(t.grad_fn, t.grad)
            for i, m in zip(t.grad_fn.inputs, messages):
                if isinstance(i, Tensor):
                    if i.grad is None:
                        i.grad = m
                    else:
                        i.grad += m
""",
        },
    ),
    (
        "functions",
        "graph",
        ("divided by `x.size`",),
        {
            "Context": """
class Context:
    def __init__(self):
        self.saved_tensors = ()
        self.inputs = ()
        self.fn = None
    def save_for_backward(self, *arrays):
        self.saved_tensors = tuple(arrays)
""",
            "Function": """
class Function:
    @classmethod
    def apply(cls, *inputs):
        ctx = Context()
        ctx.inputs = inputs
        ctx.fn = cls
        raw = []
        for i in inputs:
            if isinstance(i, Tensor):
                raw.append(i.data)
            else:
                raw.append(i)
        out = Tensor(cls.forward(ctx, *raw))
        out.grad_fn = ctx
        return out
""",
            "Tensor": """
class Tensor:
    def __init__(self, data):
        self.data = np.asarray(data)
        self.grad = None
        self.grad_fn = None

    def backward(self, upstream=None):
        order = []
        seen = set()
        def visit(t):
            if id(t) in seen:
                return
            seen.add(id(t))
            if t.grad_fn is not None:
                for i in t.grad_fn.inputs:
                    if isinstance(i, Tensor):
                        visit(i)
            order.append(t)
        visit(self)
        for t in order:
            if t.grad_fn is not None:
                t.grad = None
        if upstream is None:
            upstream = np.ones_like(self.data) / self.data.size
        self.grad = upstream
        for t in order[::-1]:
            if t.grad_fn is None:
                continue
            messages = t.grad_fn.fn.backward(t.grad_fn, t.grad)
            for i, m in zip(t.grad_fn.inputs, messages):
                if isinstance(i, Tensor):
                    if i.grad is None:
                        i.grad = m
                    else:
                        i.grad = i.grad + m
""",
        },
    ),
    (
        "functions",
        "graph",
        ("`c.data`",),
        {
            "Context": """
class Context:
    def __init__(self):
        self.saved_tensors = ()
        self.inputs = ()
        self.fn = None
    def save_for_backward(self, *arrays):
        self.saved_tensors = tuple(arrays)
""",
            "Function": """
class Function:
    @classmethod
    def apply(cls, *inputs):
        ctx = Context()
        ctx.inputs = inputs
        ctx.fn = cls
        raw = []
        for i in inputs:
            if isinstance(i, Tensor):
                raw.append(i.data)
            else:
                raw.append(i)
        out = Tensor(cls.forward(ctx, *raw))
        out.grad_fn = ctx
        return out
""",
            "Tensor": """
class Tensor:
    def __init__(self, data):
        self.data = np.asarray(data)
        self.grad = None
        self.grad_fn = None

    def backward(self, upstream=None):
        order = []
        seen = set()
        def visit(t):
            if id(t) in seen:
                return
            seen.add(id(t))
            if t.grad_fn is not None:
                for i in t.grad_fn.inputs:
                    if isinstance(i, Tensor):
                        visit(i)
            order.append(t)
        visit(self)
        for t in order:
            if t.grad_fn is not None:
                t.grad = None
        if upstream is None:
            upstream = np.ones_like(self.data)
        self.grad = self.data
        for t in order[::-1]:
            if t.grad_fn is None:
                continue
            messages = t.grad_fn.fn.backward(t.grad_fn, t.grad)
            for i, m in zip(t.grad_fn.inputs, messages):
                if isinstance(i, Tensor):
                    if i.grad is None:
                        i.grad = m
                    else:
                        i.grad = i.grad + m
""",
        },
    ),
    (
        "functions",
        "add",
        ("tuple", "list", "one"),
        {
            "Add": """
class Add(Function):
    @staticmethod
    def forward(c, left, right):
        return np.add(left, right)
    @staticmethod
    def backward(c, g):
        return g
"""
        },
    ),
    (
        "functions",
        "add",
        UPSTREAM,
        {
            "Add": """
class Add(Function):
    @staticmethod
    def forward(c, left, right):
        c.shape = left.shape
        return left + right
    @staticmethod
    def backward(c, g):
        return tuple(np.ones(c.shape, g.dtype) for _ in range(2))
"""
        },
    ),
    (
        "functions",
        "add",
        ("return",),
        {
            "Add": """
class Add(Function):
    @staticmethod
    def forward(ctx, a, b):
        out = a + b
        return out

    @staticmethod
    def backward(ctx, grad):
        da = grad
        db = grad

""",
        },
    ),
    (
        "functions",
        "mul",
        OWN,
        {
            "Mul": """
class Mul(Function):
    @staticmethod
    def forward(c, p, q):
        c.p, c.q = p, q
        return np.multiply(p, q)
    @staticmethod
    def backward(c, g):
        return tuple(g * v for v in (c.p, c.q))
"""
        },
    ),
    (
        "functions",
        "mul",
        ("result", "both"),
        {
            "Mul": """
class Mul(Function):
    @staticmethod
    def forward(c, p, q):
        out = p * q
        c.save_for_backward(out)
        return out
    @staticmethod
    def backward(c, g):
        (out,) = c.saved_tensors
        d = g * out
        return d, d.copy()
"""
        },
    ),
    (
        "functions",
        "mul",
        ("upstream", "factor", "own"),
        {
            "Mul": """
class Mul(Function):
    @staticmethod
    def forward(c, p, q):
        c.save_for_backward(p, q)
        return p * q
    @staticmethod
    def backward(c, g):
        p, q = c.saved_tensors
        return g * q, g * g * p
"""
        },
    ),
    (
        "functions",
        "mul",
        ("tuple",),
        {
            "Mul": """
class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        out = a * b
        return out

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        da = grad * b
        db = grad * a
        return da * db

""",
        },
    ),
    (
        "functions",
        "mul",
        ("missing", "save_for_backward"),
        {
            "Mul": """
class Mul(Function):
    @staticmethod
    def forward(ctx, a, b):
        out = a * b
        return out

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        da = grad * b
        db = grad * a
        return (da, db)

""",
        },
    ),
    (
        "functions",
        "pow",
        ("n", "exponent", "factor"),
        {
            "Pow": """
class Pow(Function):
    @staticmethod
    def forward(c, base, k):
        c.base, c.k = base, k
        return np.power(base, k)
    @staticmethod
    def backward(c, g):
        local = np.power(c.base, c.k - 1)
        return [g * local, None]
"""
        },
    ),
    (
        "functions",
        "pow",
        ("sign", "negative", "base"),
        {
            "Pow": """
class Pow(Function):
    @staticmethod
    def forward(c, base, k):
        c.base, c.k = base, k
        return base ** k
    @staticmethod
    def backward(c, g):
        return g * c.k * np.abs(c.base) ** (c.k - 1), None
"""
        },
    ),
    (
        "functions",
        "pow",
        ("`grad` where",),
        {
            "Pow": """
class Pow(Function):
    @staticmethod
    def forward(ctx, a, n):
        ctx.save_for_backward(a)
        ctx.n = n
        return np.power(a, n)

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        n = ctx.n
        local = n * np.power(grad, n - 1)
        return local * grad, None

""",
        },
    ),
    (
        "functions",
        "relu",
        (">", "exactly 0"),
        {
            "ReLU": """
class ReLU(Function):
    @staticmethod
    def forward(c, x):
        c.save_for_backward(x)
        return x.clip(min=0)
    @staticmethod
    def backward(c, g):
        x, = c.saved_tensors
        return np.where(x < 0, np.zeros_like(g), g),
"""
        },
    ),
    (
        "functions",
        "relu",
        ("gradient",),
        {
            "ReLU": """
class ReLU(Function):
    @staticmethod
    def forward(c, x):
        return x * (x > 0)
    @staticmethod
    def backward(c, g):
        return (np.maximum(g, 0),)
"""
        },
    ),
    (
        "functions",
        "relu",
        ("upstream",),
        {
            "ReLU": """
class ReLU(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return np.where(a > 0, a, np.zeros_like(a))

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        out = np.where(a > 0, a, np.zeros_like(grad))
        return (out,)

""",
        },
    ),
    (
        "functions",
        "sigmoid",
        ("input",),
        {
            "Sigmoid": """
class Sigmoid(Function):
    @staticmethod
    def forward(c, x):
        c.save_for_backward(x)
        return np.reciprocal(1 + np.exp(-x))
    @staticmethod
    def backward(c, g):
        [x] = c.saved_tensors
        return (g * (x - x ** 2),)
"""
        },
    ),
    (
        "functions",
        "sigmoid",
        ("y^2", "square", "factor", "exponent", "one side"),
        {
            "Sigmoid": """
class Sigmoid(Function):
    @staticmethod
    def forward(c, x):
        s = 1.0 / (1.0 + np.exp(-x))
        c.s = s
        return s
    @staticmethod
    def backward(c, g):
        return (g * c.s ** 2,)
"""
        },
    ),
    (
        "functions",
        "matmul",
        ("order", "wrong"),
        {
            "MatMul": """
class MatMul(Function):
    @staticmethod
    def forward(c, left, right):
        c.save_for_backward(left, right)
        return np.matmul(left, right)
    @staticmethod
    def backward(c, g):
        left, right = c.saved_tensors
        to_right = np.matmul(left.T, g)
        to_left = np.matmul(g, right.T)
        return to_right, to_left
"""
        },
    ),
    (
        "functions",
        "matmul",
        ("transposed",),
        {
            "MatMul": """
class MatMul(Function):
    @staticmethod
    def forward(c, left, right):
        c.save_for_backward(left, right)
        return left.dot(right)
    @staticmethod
    def backward(c, g):
        left, right = c.saved_tensors
        return g.dot(right.transpose()), left.dot(g) if left.shape[0] == left.shape[1] else left.transpose().dot(g)
"""
        },
    ),
    (
        "functions",
        "matmul",
        ("wrong order",),
        {
            "MatMul": """
class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return np.dot(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        ga = np.dot(b, grad)
        gb = np.dot(grad, a)
        return (ga, gb)

""",
        },
    ),
    (
        "functions",
        "matmul",
        ("operand alone",),
        {
            "MatMul": """
class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return np.dot(a, b)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        ga = np.transpose(b)
        gb = np.transpose(a)
        return (ga, gb)

""",
        },
    ),
    (
        "functions",
        "network",
        ("sum", "copied", "rows"),
        {
            "AddRow": """
class AddRow(Function):
    @staticmethod
    def forward(c, m, r):
        c.save_for_backward(r)
        return m + r
    @staticmethod
    def backward(c, g):
        return g, g[0]
"""
        },
    ),
    (
        "functions",
        "network",
        ("sum", "shape", "keep"),
        {
            "AddRow": """
class AddRow(Function):
    @staticmethod
    def forward(c, m, r):
        return m + r
    @staticmethod
    def backward(c, g):
        return g, np.add.reduce(g, axis=0, keepdims=True)
"""
        },
    ),
    (
        "functions",
        "network",
        ("operations", "root", "squar", "power", "`+`", "2"),
        {
            "loss": """
def loss(x, y, w1, b1, w2, b2):
    def dense(t, w, b):
        return AddRow.apply(MatMul.apply(t, w), b)
    p = Sigmoid.apply(dense(ReLU.apply(dense(x, w1, b1)), w2, b2))
    d = Add.apply(p, Mul.apply(y, -1))
    return Pow.apply(Sum.apply(d), 2)
"""
        },
    ),
    (
        "functions",
        "network",
        ("row", "axis", "mean", "average"),
        {
            "AddRow": """
class AddRow(Function):
    @staticmethod
    def forward(c, m, r):
        c.n = len(m)
        return m + r[None, :]
    @staticmethod
    def backward(c, g):
        return g, sum(g) / c.n
"""
        },
    ),
)
