"""What people bring from outside, answered by general questions: what is alive after its turn, which term of a loss
reaches which parameter, what PyTorch itself says of shapes and messages, whether the batch is finite."""

import pytest

torch = pytest.importorskip("torch")

from lab.watch.__main__ import run  # noqa: E402
from lab.watch.watcher import Watcher  # noqa: E402

BEGIN = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
"""
STEP = """    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
# program -> the only finding, with the line that ends in `#`
PROGRAMS = {
    "a generator's term behind detach": (
        11,
        """gen, made = nn.Linear(4, 4), 0
for i in range(5):
    other = torch.optim.SGD(gen.parameters(), lr=0.01) if i == 0 else other
    fake = gen(x)
    adversarial = net(fake.detach()).square().mean()  #
    loss = adversarial + 10 * (fake - x).abs().mean()
    opt.zero_grad()
    other.zero_grad()
    loss.backward()
    other.step()
    opt.zero_grad()
    net(fake.detach()).square().mean().backward()
    opt.step()
""",
    ),
    "a sum of graphs in a validation": (
        10,
        f"""def validate():
    net.eval()
    total = 0
    for part in x.split(4):
        total += net(part).square().mean()  #
    return total.item()
for _ in range(3):
{STEP}    validate()
""",
    ),
    "a softmax before the loss of a validation": (
        25,
        f"""for _ in range(3):
{STEP}    with torch.no_grad():
        scores = net(x).softmax(1)  #
        print(nn.functional.cross_entropy(scores, y).item())
""",
    ),
    "one prediction for several targets": (
        8,
        """for _ in range(3):
    loss = nn.functional.mse_loss(net(x)[:, :1], x)  #
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "a nan in the batch": (9, f"x[3, 1] = float('nan')\nfor _ in range(3):\n{STEP.replace('y)', 'y)  #')}"),
    "all frozen, and a loss that is asked for gradients": (
        4,
        f"""net.requires_grad_(False)
for _ in range(3):
{STEP.replace("    opt.zero", "    loss.requires_grad = True  #" + chr(10) + "    opt.zero")}""",
    ),
    "losses in a list beside another one": (
        10,
        """history = {"loss": [], "rate": []}
for _ in range(4):
    for part, label in zip(x.split(4), y.split(4)):
        loss = nn.functional.cross_entropy(net(part), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history["loss"].append(loss)  #
    history["rate"].append(opt.param_groups[0]["lr"])
""",
    ),
    "one pass through a critic for two optimizers": (
        2,
        """critic = nn.Linear(3, 1)
other = torch.optim.SGD(critic.parameters(), lr=0.01)
for _ in range(3):
    score = critic(net(x))
    other.zero_grad()
    score.square().mean().backward()  #
    other.step()
    opt.zero_grad()
    (-score).mean().backward()
    opt.step()
""",
    ),
    "a softmax after a step that failed": (
        25,
        f"""class Failing(torch.optim.SGD):
    def step(self, closure=None):
        raise ValueError("no step")
try:
    Failing(net.parameters(), lr=0.1).step()
except ValueError:
    opt.zero_grad()
net.append(nn.Softmax(dim=1))  #
for _ in range(3):
{STEP}""",
    ),
    "a way without gradients inside another": (
        12,
        f"""code = nn.Linear(4, 4)
opt.add_param_group(dict(params=code.parameters()))
def features():
    with torch.no_grad():  #
        with torch.enable_grad():
            w = x * 2
        with torch.no_grad():
            return code(w)
for _ in range(3):
{STEP.replace("net(x)", "net(features())")}""",
    ),
    "a way without gradients behind another": (
        12,
        f"""code, scale = nn.Linear(4, 4), torch.ones(4, requires_grad=True)
opt.add_param_group(dict(params=code.parameters()))
for _ in range(3):
    with torch.no_grad():  #
        seen = code(x)
    with torch.no_grad():
        seen = seen * scale
{STEP.replace("net(x)", "net(seen)")}""",
    ),
    "a gradient that is read before there is one": (
        18,
        """for _ in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    for weight in net.parameters():
        weight.grad.add_(0.001 * weight.sign())  #
    loss.backward()
    opt.step()
""",
    ),
    "a result that is computed once, by a function that every iteration calls": (
        2,
        """def gram(rows):
    return rows.T @ rows
goal = gram(net(x))
for _ in range(3):
    loss = (gram(net(x)) - goal).square().mean()
    opt.zero_grad()
    loss.backward()  #
    opt.step()
""",
    ),
    "a running total, which means and their list hold too": (
        10,
        f"""means = []
for _ in range(4):
    total = 0
    for _ in range(4):
{STEP.replace("    ", "        ")}        total = total + loss  #
    means.append(total / 4)
print((sum(means) / 4).item())
""",
    ),
    "a closure that does not clear what its passes fill": (
        6,
        """slow = torch.optim.LBFGS(net.parameters(), lr=0.01, max_iter=2)
def closure():
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()  #
    return loss
for _ in range(3):
    slow.step(closure)
""",
    ),
    "a result of log that is masked in place": (
        20,
        """rate = nn.Parameter(torch.tensor([0.0, 1.0, 2.0]))
opt = torch.optim.SGD([rate], lr=0.01)
for _ in range(3):
    logs = rate.log()
    logs.masked_fill_(rate.detach() <= 0, 0.0)  #
    loss = logs.square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
    "gradients cleared in each batch, and a step after every third": (
        24,
        f"""for i in range(9):
{STEP.replace("    opt.step()", "    if i % 3 == 2:" + chr(10) + "        opt.step()").replace("grad()", "grad()  #")}""",
    ),
    "units that a step of several times their size killed": (
        17,
        """body = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(body.parameters(), lr=0.5)  #
for _ in range(20):
    loss = (body(x.abs()) - 5 - x.abs()[:, :1]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    ),
}
RIGHT = {
    "equal numbers that nothing trains": """column = torch.ones(3, 1, requires_grad=True)
(column * torch.full((1, 4), 2.0, requires_grad=True)).sum().backward()
""",
    "the critic's part of an actor's loss is not stepped": """critic = nn.Linear(3, 1)
other = torch.optim.SGD(critic.parameters(), lr=0.01)
for i in range(5):
    other.zero_grad()
    nn.functional.mse_loss(critic(net(x).detach()), x[:, :1]).backward()
    other.step()
    opt.zero_grad()
    (-critic(net(x)).mean() + 0.1 * net(x).square().mean()).backward()
    opt.step()
""",
    "a sum over the steps of a sequence": """for _ in range(4):
    total = 0
    for part in x.split(4):
        total += net(part).square().mean()
    opt.zero_grad()
    total.backward()
    opt.step()
""",
    "a number as the target": f"for _ in range(3):\n{STEP}    nn.functional.mse_loss(net(x), torch.tensor(0.0)).item()\n",
    "a nan that is left out": """x[3, 1] = float("nan")
for _ in range(3):
    loss = nn.functional.cross_entropy(net(x.nan_to_num()), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a norm of the weights, printed": f"""for _ in range(4):
{STEP}    print(sum(weight.norm() for weight in net.parameters()).item())
""",
    "a norm of the weights, printed after eval()": f"""net.eval()
for _ in range(4):
    print(sum(weight.norm() for weight in net.parameters()).item())
{STEP}""",
    "labels from a teacher that is not trained": """teacher = nn.Sequential(nn.Linear(4, 3)).eval()
for _ in range(4):
    labels = teacher(x).argmax(1)
    loss = nn.functional.cross_entropy(net(x), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "gradients of single batches, read before they are cleared": """for i in range(9):
    kept = [] if i % 3 == 0 else kept
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    kept.append([weight.grad.clone() for weight in net.parameters()])
    if i % 3 == 2:
        for weight, *slopes in zip(net.parameters(), *kept):
            weight.grad = sum(slopes) / 3
        opt.step()
""",
    "two optimizers in turn, each cleared in each turn": """others = torch.optim.SGD(net[0].parameters(), lr=0.01), torch.optim.SGD(net[2].parameters(), lr=0.01)
for i in range(12):
    nn.functional.cross_entropy(net(x), y).backward()
    others[i % 2].step()
    net.zero_grad()
""",
    "an error of the script's own": "raise KeyError('loss')\n",
    "copies that are trained, kept for a round and freed": """import copy
for _ in range(4):
    clients = []
    for _ in range(4):
        client = copy.deepcopy(net)
        own = torch.optim.SGD(client.parameters(), lr=0.01, momentum=0.9)
        for part, label in zip(x.split(2), y.split(2)):
            own.zero_grad()
            loss = nn.functional.cross_entropy(client(part), label)
            loss.backward()
            own.step()
        clients.append(client)
    states = [client.state_dict() for client in clients]
    net.load_state_dict({name: sum(state[name] for state in states) / 4 for name in states[0]})
""",
}


def found(source, script):
    script.write_text(source, "utf-8")
    with Watcher() as watcher:
        _, error, variables = run(script)
    findings = [(finding.failure, finding.line) for finding in watcher.findings(error)]
    variables.clear()
    assert watcher.failure == ""
    return findings


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_general_question_names_the_line(name, tmp_path):
    failure, text = PROGRAMS[name]
    lines = (BEGIN + text).split("\n")
    assert found(BEGIN + text, tmp_path / "script.py") == [
        (failure, next(i for i, line in enumerate(lines, 1) if line.endswith("#")))
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_gets_no_answer(name, tmp_path):
    assert found(BEGIN + RIGHT[name], tmp_path / "script.py") == []
