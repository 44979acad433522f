"""What the watcher says to do, done: a program that fails gets the printed change, and the failure is gone."""

import contextlib
import io
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from lab.failures import FAILURES  # noqa: E402
from lab.watch.__main__ import run  # noqa: E402
from lab.watch.watcher import Watcher  # noqa: E402
from tests.corpus import programs  # noqa: E402

# program, failure, words of the fix, and the change that they ask for: (old, new), ...
FIXES = (
    ("gate clamped after use", 1, "Make a new tensor", ("z.clamp_(0.05, 0.95)", "z = z.clamp(0.05, 0.95)")),
    ("saved result scaled", 1, "Make a new tensor", ("s *= scale", "s = s * scale")),
    ("two heads two backwards", 2, "retain_graph=True", ("first.backward()", "first.backward(retain_graph=True)")),
    (
        "two heads two backwards",
        2,
        "add them",
        ("first.backward()", ""),
        ("second.backward", "(first + second).backward"),
    ),
    ("loss per sample", 3, ".mean()", ("loss.backward", "loss.mean().backward")),
    ("similarities copied", 4, "torch.stack", ("torch.tensor(sims)", "torch.stack(sims)")),
    ("code copied", 4, "Use the tensor itself", ("torch.tensor(enc(x))", "enc(x)")),
    ("code sampled", 12, "rsample()", (".sample()", ".rsample()")),
    ("all frozen", 4, ".requires_grad_()", ("loss = net", "net[2].requires_grad_()\nloss = net")),
    (
        "parameter replaced without graph",
        4,
        "w -= lr * w.grad",
        ("return tensor - rate * tensor.grad", "tensor -= rate * tensor.grad\n        tensor.grad = None"),
        ("w = moved", "moved"),
    ),
    (
        "judge moves before the player",
        1,
        "Step the optimizer only after each `backward()`",
        ("((judges, wrong), (plays, worse))", "((plays, worse), (judges, wrong))"),
    ),
    ("middle grad printed", 5, "h.retain_grad()", ("h.sum()", "h.retain_grad()\nh.sum()")),
    ("by hand never cleared", 6, "w.grad = None", ("w -= 0.05 * w.grad", "w -= 0.05 * w.grad\n    w.grad = None")),
    ("never cleared", 6, "optimizer.zero_grad()", ("loss.backward()", "opt.zero_grad()\n    loss.backward()")),
    ("leaf minus equals", 7, "with torch.no_grad()", ("w -= 0.1", "with torch.no_grad(): w -= 0.1")),
    ("column minus vector", 8, "`squeeze(-1)`", ("net(x) - y", "net(x).squeeze(-1) - y")),
    ("column minus vector", 8, "prediction.reshape(target.shape)", ("net(x) - y", "net(x).reshape(y.shape) - y")),
    ("log of zero probability", 9, "(x + 1e-12).log()", ("torch.log(p)", "(p + 1e-12).log()")),
    (
        "exp overflow",
        9,
        "x.clamp(max=80)",
        ("torch.exp(net(x))", "torch.exp(net(x).clamp(max=80))"),
        (" * 200", " * 50"),
    ),
    (
        "softmax masked",
        9,
        "leave at least one entry of each row unmasked",
        ("pad[1, :] = True", "pad[1, 1:] = True"),
    ),
    ("std one", 9, "x.var(correction=0) + 1e-12", ("h.std(0)", "(h.var(0, correction=0) + 1e-12).sqrt()")),
    ("constant column", 9, "clamp(min=1e-12)", ("/ x.std(0)", "/ x.std(0).clamp(min=1e-12)")),
    ("meter of each epoch", 10, "total += loss.item()", ("running += loss", "running += loss.item()")),
    ("list of losses", 10, ".detach()", ("history.append(loss)", "history.append(loss.detach())")),
    (
        "lstm state attr",
        11,
        "state = state.detach()",
        ("return self.out(y)", "self.state = tuple(s.detach() for s in self.state)\n        return self.out(y)"),
    ),
    (
        "encoder detached in a function",
        11,
        "Remove `detach()`, or keep it only for uses that need it",
        (".detach()", ""),
    ),
    ("inference mode", 12, "torch.no_grad()", ("inference_mode", "no_grad"), ("*backbone.parameters(), ", "")),
    ("item then backward", 13, "the tensor itself", (".item()", "")),
    ("numpy function", 13, "x.exp()", ("np.exp(w)", "w.exp()")),
    ("dead bias", 14, "Start biases at 0", ("-50.0", "0.0")),
    ("eight sigmoids", 15, "Use `relu`", ("nn.Sigmoid()", "nn.ReLU()")),
    (
        "zero weights",
        16,
        "xavier_uniform_",
        ("nn.init.zeros_(p)", "nn.init.xavier_uniform_(p) if p.dim() > 1 else nn.init.zeros_(p)"),
    ),
    ("layer in forward", 19, "`__init__`", ("nn.Linear(8, 3)(h)", "self.a(x)[:, :3]")),
    ("rate far too high", 17, "Divide the rate by 3 or 10", ("lr=20.0", "lr=0.1")),
    ("minus ce", 18, "remove the minus", ("= -nn", "= nn")),
    ("maximize", 18, "leave out `maximize=True`", (", maximize=True", "")),
    (
        "clip after step",
        18,
        "`backward()`, `step()`",
        ("    opt.step()\n", ""),
        ("1.0)", "1.0)\n    opt.step()"),
    ),
    (
        "scheduler first",
        18,
        "`step()`, scheduler",
        ("    scheduler.step()\n", ""),
        ("opt.step()", "opt.step()\n    scheduler.step()"),
    ),
    (
        "half in optimizer",
        19,
        "Give these tensors",
        ("Adam(dec.", "Adam([*enc.parameters(), *dec."),
        ("(), lr", "()], lr"),
    ),
    ("half in optimizer", 19, "switch their gradients off", ("opt =", "enc.requires_grad_(False)\nopt =")),
    (
        "experts in a list",
        19,
        "nn.ModuleList",
        ("[nn.Linear(d, 1) for _ in range(k)]", "nn.ModuleList([nn.Linear(d, 1) for _ in range(k)])"),
    ),
    (
        "root behind where",
        20,
        "safe = where(x > 0, x, 1.0)",
        ("x.sqrt()", "torch.where(x > 0, x, 1.0).sqrt()"),
    ),
    (
        "accuracy trained",
        21,
        "cross_entropy(logits, labels)",
        (".argmax(dim=1)", ""),
        ("(guess != y).float().mean()", "F.cross_entropy(guess, y)"),
    ),
    ("whole numbers", 22, "Write `1.0`, not `1`", ("[1, 2, 3]", "[1.0, 2.0, 3.0]")),
    ("long input", 22, ".float()", ("[1, 0]])", "[1, 0]]).float()")),
    ("gradcheck single", 23, "x.double()", ("randn(4, ", "randn(4, dtype=torch.float64, ")),
    ("accumulate four", 24, "Divide each loss by k", (".pow(2).mean()", ".pow(2).mean() / 4")),
    (
        "softmax in forward",
        25,
        "Give `cross_entropy` the logits",
        ("F.softmax(self.fc(x), dim=1)", "self.fc(x)"),
    ),
)


def findings(script: Path):
    quiet = io.StringIO()
    grad = torch.is_grad_enabled()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet), Watcher() as watcher:
        _, error, variables = run(script)
    torch.set_grad_enabled(grad)
    found = watcher.findings(error)
    variables.clear()
    return found, error


def test_a_fix_was_tried_for_each_failure():
    assert {failure for _, failure, *_ in FIXES} == {failure.number for failure in FAILURES}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "failure", "words", "changes"), [(p, n, w, c) for p, n, w, *c in FIXES])
def test_the_printed_fix_cures_the_program(program, failure, words, changes, tmp_path):
    source, script = programs()[program].text, tmp_path / "script.py"
    script.write_text(source, "utf-8")
    ill, _ = findings(script)
    assert [words in found.fix for found in ill if found.failure == failure] == [True]
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    script.write_text(source, "utf-8")
    assert findings(script) == ([], None)
