"""Programs as learners paste them, for *Your program* in the Graph lab.

A comment `#: a b` names the operations that its line computes in the last pass, in the lab's words; `#: backward` marks
the line of that pass. FINDINGS has what is found in those that go wrong: (failure, line). Their gradients are compared
with those of a plain run.
"""

from pathlib import Path

ROOT = Path(__file__).parents[3]

ENGINE = {
    file.stem.removeprefix("example_"): file.read_text("utf-8")
    for file in (ROOT / "practice" / "programs").glob("*.py")
}
ENGINE |= {
    "a product": "a, b = Tensor(2.0), Tensor(-3.0)\nc = a * b  #: *\nc.backward()  #: backward",
    "a sum of squares": "w = Tensor([1.0, 2.0])\nloss = (w**2).sum()  #: ** sum\nloss.backward()  #: backward",
    "a relu": "w = Tensor([-1.0, 2.0])\nh = w.relu()  #: relu\nh.sum().backward()  #: sum backward",
    "a chain": "x = Tensor(0.5)\ny = x.exp().sin().tanh()  #: exp sin tanh\ny.backward()  #: backward",
    "a matrix product": (
        "X = Tensor([[1.0, 2.0], [3.0, 4.0]])\nw = Tensor([[1.0], [-1.0]])\ny = (X @ w).mean()  #: @ sum /\n"
        "y.backward()  #: backward"
    ),
    "a column and a row": (
        "a = Tensor([[1.0], [2.0]])\nb = Tensor([[3.0, 4.0]])\nc = (a + b) * a  #: + *\nc.sum().backward()  #: sum backward"
    ),
    "a reused name": "x = Tensor(3.0)\nx2 = x * x  #: *\nx2 = x2 * x  #: *\nx2.backward()  #: backward",
    "a function": (
        "def loss(w):\n    h = w * 2.0  #: *\n    return h.sum()  #: sum\n\nw = Tensor([1.0, 2.0])\n"
        "loss(w).backward()  #: backward"
    ),
    "a class": (
        "class Layer:\n    def __init__(self):\n        self.weight = Tensor([[0.5, -0.5]])\n\n"
        "    def __call__(self, x):\n        return x @ self.weight  #: @\n\nx = Tensor([[2.0]])\nlayer = Layer()\n"
        "layer(x).sum().backward()  #: sum backward"
    ),
    "a loop": "w = Tensor(1.5)\nh = w\nfor _ in range(4):\n    h = h * w  #: * * * *\nh.backward()  #: backward",
    "an upstream gradient": "w = Tensor([1.0, 2.0])\ny = w * 3.0  #: *\ny.backward(np.array([1.0, 10.0]))  #: backward",
    "two losses": (
        "w = Tensor([1.0, 2.0])\n(w * 2.0).sum().backward()\nl2 = (w**2).sum()  #: ** sum\nl2.backward()  #: backward"
    ),
    "a kept graph": ("w = Tensor(2.0)\ny = w * w  #: *\ny.backward(retain_graph=True)\ny.backward()  #: backward"),
    "cleared gradients": (
        "w = Tensor(2.0)\nfor _ in range(3):\n    w.grad = None\n    loss = (w - 1.0) ** 2  #: - **\n"
        "    loss.backward()  #: backward\n    w.data = w.data - 0.1 * w.grad"
    ),
    "an embedding": "E = Tensor(np.arange(6.0).reshape(3, 2))\ny = E[np.array([0, 2, 0])]  #: getitem\ny.sum().backward()",
    "a softmax": "z = Tensor([1.0, 2.0, 3.0])\np = z.softmax(axis=0)\np[1].backward()  #: backward getitem",
    "a maximum": "a = Tensor([1.0, 5.0])\nb = Tensor([4.0, 2.0])\nm = maximum(a, b)\nm.sum().backward()  #: sum backward",
    "a where": "a = Tensor([1.0, -5.0])\ny = where(a > 0, a * 2.0, a)\ny.sum().backward()  #: sum backward",
    "a stack": "a, b = Tensor(1.0), Tensor(2.0)\ns = stack([a, b, a])\ns.sum().backward()  #: sum backward",
    "float32": "w = Tensor(np.array([0.1, 0.2], np.float32))\ny = (w * w).sum()  #: * sum\ny.backward()  #: backward",
    "a constant input": (
        "x = Tensor([1.0, 2.0], requires_grad=False)\nw = Tensor([3.0, 4.0])\ny = (x * w).sum()  #: * sum\n"
        "y.backward()  #: backward"
    ),
    "no_grad": ("w = Tensor(2.0)\nwith no_grad():\n    k = w * 3.0\ny = w * k  #: *\ny.backward()  #: backward"),
    "a network and Adam": (
        "net = MLP([2, 4, 1], rng=0)\noptimizer = Adam(net.parameters(), lr=0.01)\n"
        "x = np.array([[0.0, 1.0], [1.0, 1.0]])\nfor _ in range(2):\n    optimizer.zero_grad()\n"
        "    loss = mse_loss(net(x), np.zeros((2, 1)))\n    loss.backward()  #: backward\n    optimizer.step()"
    ),
    "main": "def main():\n    w = Tensor(2.0)\n    (w * w).backward()  #: * backward\n\nif __name__ == '__main__':\n    main()",
    "sys.exit": "w = Tensor(2.0)\n(w * w).backward()  #: * backward\nimport sys\nsys.exit(0)",
    "a nan": "w = Tensor(-1.0)\nwith np.errstate(all='ignore'):\n    y = w.log()  #: log\n    y.backward()  #: backward",
}
ENGINE = {
    name: source
    if "import Tensor" in source or "from model" in source
    else f"from model import *; from nn import *; import numpy as np\n{source}"
    for name, source in ENGINE.items()
}

TORCH = {
    "a product": "a = torch.tensor(2.0, requires_grad=True)\nc = a * -3.0  #: *\nc.backward()  #: backward",
    "used twice": (
        "a = torch.tensor(3.0, requires_grad=True)\nh = a + 4  #: +\nloss = h * h + a  #: * +\nloss.backward()  #: backward"
    ),
    "a bias": (
        "x = torch.ones(3, 2)\nb = torch.tensor([0.1, 0.2], requires_grad=True)\ny = (x + b).pow(2)  #: + **\n"
        "y.mean().backward()  #: mean backward"
    ),
    "an MLP": (
        "net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))\nx = torch.randn(6, 3)\n"
        "y = torch.tensor([0, 1, 1, 0, 1, 0])\nloss = F.cross_entropy(net(x), y)  #: linear relu linear cross_entropy\n"
        "loss.backward()  #: backward"
    ),
    "a convolution with batch norm": (
        "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten())\n"
        "out = net(torch.randn(4, 1, 6, 6))  #: conv2d batch_norm relu flatten\nout.square().mean().backward()"
    ),
    "attention": (
        "q = torch.randn(4, 8, requires_grad=True)\nk = torch.randn(4, 8, requires_grad=True)\nv = torch.randn(4, 8)\n"
        "scores = q @ k.T / 8**0.5  #: T @ /\nw = scores.softmax(dim=-1)  #: softmax\nout = w @ v  #: @\n"
        "out.sum().backward()  #: sum backward"
    ),
    "multi-head attention": (
        "layer = nn.MultiheadAttention(8, 2, batch_first=True)\nx = torch.randn(2, 3, 8)\nout, _ = layer(x, x, x)\n"
        "out.sum().backward()  #: sum backward"
    ),
    "an LSTM": (
        "lstm = nn.LSTM(3, 4, batch_first=True)\nout, state = lstm(torch.randn(2, 5, 3))  #: lstm\n"
        "out[:, -1].sum().backward()"
    ),
    "a GRU cell in a loop": (
        "cell = nn.GRUCell(2, 3)\nh = torch.zeros(1, 3)\nfor t in range(3):\n    h = cell(torch.randn(1, 2), h)\n"
        "h.sum().backward()  #: sum backward"
    ),
    "tied weights": (
        "embed = nn.Embedding(5, 4)\nhead = nn.Linear(4, 5, bias=False)\nhead.weight = embed.weight\n"
        "x = torch.tensor([1, 2])\nout = head(embed(x))  #: embedding linear\nF.cross_entropy(out, x).backward()"
    ),
    "a function of its own": (
        "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return 2 * x\n\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return 2 * g\n\n"
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = Double.apply(x)  #: Double\ny.sum().backward()  #: sum backward"
    ),
    "a write in place": (
        "w = torch.tensor([1.0, -2.0], requires_grad=True)\nh = w * 3  #: *\nh.relu_()  #: relu\nh.sum().backward()  #: sum backward"
    ),
    "two passes": (
        "w = torch.tensor([0.1, 0.2], requires_grad=True)\nfor _ in range(3):\n    loss = (w * w * 0.3).sum()  #: * * sum\n"
        "    loss.backward()  #: backward"
    ),
    "a step by hand": (
        "w = torch.tensor([1.0], requires_grad=True)\nfor _ in range(3):\n    loss = (w**2).sum()  #: ** sum\n"
        "    loss.backward()  #: backward\n    with torch.no_grad():\n        w -= 0.1 * w.grad"
    ),
    "SGD": (
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nx, y = torch.randn(4, 2), torch.randn(4, 1)\n"
        "for _ in range(2):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)  #: linear mse_loss\n"
        "    loss.backward()  #: backward\n    opt.step()"
    ),
    "Adam": (
        "net = nn.Linear(2, 2)\nopt = torch.optim.Adam(net.parameters())\nloss = net(torch.randn(3, 2)).tanh().sum()\n"
        "loss.backward()  #: backward\nopt.step()"
    ),
    "a detach": (
        "w = torch.tensor(2.0, requires_grad=True)\nh = w * 3  #: *\ny = h * h.detach()  #: detach *\ny.backward()  #: backward"
    ),
    "a kept graph": (
        "w = torch.tensor(2.0, requires_grad=True)\ny = w * w  #: *\ny.backward(retain_graph=True)\ny.backward()  #: backward"
    ),
    "autograd.grad": (
        "w = torch.tensor(2.0, requires_grad=True)\ny = w**3  #: **\n(g,) = torch.autograd.grad(y, w)  #: backward"
    ),
    "a second derivative": (
        "w = torch.tensor(2.0, requires_grad=True)\ny = w**3\n(g,) = torch.autograd.grad(y, w, create_graph=True)\n"
        "g.backward()  #: backward"
    ),
    "a frozen layer": (
        "body, head = nn.Linear(2, 2), nn.Linear(2, 1)\nbody.requires_grad_(False)\n"
        "out = head(body(torch.randn(3, 2))).sum()\nout.backward()  #: backward"
    ),
    "dropout and a seed": (
        "net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5))\nout = net(torch.ones(2, 2)).sum()  #: linear dropout sum\n"
        "out.backward()  #: backward"
    ),
    "a module of one's own": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.scale = nn.Parameter(torch.ones(2))\n\n"
        "    def forward(self, x):\n        return (x * self.scale).tanh()  #: * tanh\n\nnet = Net()\n"
        "net(torch.randn(3, 2)).sum().backward()  #: sum backward"
    ),
    "an einsum": (
        "a = torch.randn(2, 3, requires_grad=True)\nb = torch.randn(3, 2)\nc = torch.einsum('ij,ji->', a, b)  #: einsum\n"
        "c.backward()  #: backward"
    ),
    "a list of losses": (
        "w = torch.tensor(1.0, requires_grad=True)\nlosses = [w * k for k in range(3)]  #: * * *\n"
        "torch.stack(losses).sum().backward()  #: stack sum backward"
    ),
    "double": (
        "w = torch.tensor([0.1, 0.7], dtype=torch.float64, requires_grad=True)\ny = w.exp().sum()  #: exp sum\n"
        "y.backward()  #: backward"
    ),
    "numbers of two bytes": (
        "w = torch.tensor([0.3, 2e-4, 250.0], dtype=torch.float16, requires_grad=True)\nh = (w.bfloat16() * 0.7).tanh().half()\n"
        "y = h * w / 1.3 + w * w * w * 1000  #: * / * * * +\ny.sum().backward()  #: sum backward"
    ),
    "complex numbers": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nz = torch.complex(w, w * 0.5)\n"
        "s = (z * w).sin() + z  #: * sin +\ns.abs().sum().backward()  #: abs sum backward"
    ),
    "a leaf made of a result, and numbers of one byte": (
        "v = torch.tensor([1.1, 2.0], requires_grad=True)\nw = v.detach().clone().requires_grad_()\n"
        "(w * w.detach().to(torch.float8_e4m3fn).float()).sum().backward()  #: detach to float * sum backward"
    ),
    "a leaf read between two passes": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nfor _ in range(2):\n    w.grad = None\n"
        "    (w * w).sum().backward()  #: * sum backward\n    print(w.tolist())  #: "
    ),
    "a hook": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nw.register_hook(lambda g: g * 10)\n(w * w).sum().backward()  #: * sum backward"
    ),
    "a hook after the sum": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nw.register_post_accumulate_grad_hook(lambda p: print(p.grad.mul_(10)))\n"
        "(w * w).sum().backward()  #: * sum backward"
    ),
    "an unused first result": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\na, b = w.unbind()  #: unbind\n(b * b).backward()  #: * backward"
    ),
    "the last state of an LSTM": (
        "lstm = nn.LSTM(3, 4)\n_, (h, c) = lstm(torch.randn(5, 1, 3))  #: lstm lstm\n(h * c).sum().backward()  #: * sum backward"
    ),
    "layer norm": (
        "norm = nn.LayerNorm(4)\nx = torch.randn(2, 4, requires_grad=True)\ny = norm(x)  #: layer_norm\n(y * y * x).sum().backward()"
    ),
    "both engines": (
        "from model import Tensor\na = Tensor(2.0)\n(a * a).backward()\nw = torch.tensor(2.0, requires_grad=True)\n"
        "(w * w).backward()  #: * backward"
    ),
    "a main function": (
        "def main():\n    w = torch.tensor(2.0, requires_grad=True)\n    (w * w).backward()  #: * backward\n\nmain()"
    ),
}
TORCH = {
    name: f"import torch; from torch import nn; from torch.nn import functional as F; torch.manual_seed(1)\n{source}"
    for name, source in TORCH.items()
}

# What goes wrong in a program, as (failure, line)
FINDINGS = {
    ENGINE["5_without_zero_grad"]: [(6, 9)],
    TORCH["a step by hand"]: [(6, 5)],
}
