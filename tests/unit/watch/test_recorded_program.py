"""Programs of learners: the recorded gradients are those of a plain run, and each event has the line that ran."""

import contextlib
import io
import re
import sys
import time
from collections import Counter, defaultdict

import numpy as np
import pytest

from lab.trace.derivation import derive, first_disagreement, result_name, short_names
from lab.trace.loading import load
from lab.trace.nonfinite import remarks
from lab.watch import recorded_program
from lab.watch.cards import kept_slices
from model import Tensor
from nn import MLP
from tests.unit.watch import programs_of_learners as learners

pytestmark = pytest.mark.filterwarnings("ignore")

FILE = "program.py"
MARK = re.compile(r"#: (.*)")


class Ran:
    """A program that was run and recorded in this process."""

    def __init__(self, source):
        self.records = []
        self.printed = io.StringIO()
        with contextlib.redirect_stdout(self.printed):
            self.report, self.error = recorded_program.run(source, FILE, self.records.append)
        self.traces = [load(record["trace"]) for record in self.records]  # as the server reads them


def plain_gradients(source):
    """The gradients after a plain run, by the names of variables, of attributes and of a module's parameters."""
    names = {"__name__": "__main__"}
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, FILE, "exec", dont_inherit=True), names)
    found = {}
    for name, value in names.items():
        if isinstance(value, type):
            continue
        if hasattr(value, "named_parameters"):
            found |= {f"{name}.{path}": parameter.grad for path, parameter in value.named_parameters()}
        elif isinstance(value, MLP):
            found |= {parameter.label: parameter.grad for parameter in value.parameters()}
        elif is_leaf(value):
            found[name] = value.grad
        elif hasattr(value, "__dict__"):
            found |= {key: part.grad for key, part in vars(value).items() if isinstance(part, Tensor)}
    return {name: np.array(gradient) for name, gradient in found.items() if gradient is not None}


def is_leaf(value):
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        return value.is_leaf and value.requires_grad
    return isinstance(value, Tensor) and value.requires_grad and not value.op


def check(source):
    ran = Ran(source)
    assert ran.error is None
    plain = plain_gradients(source)
    shown = {}
    for trace in ran.traces:
        assert first_disagreement(trace) is None
        shown |= {name: gradient for name, gradient in trace.gradients.items() if gradient is not None}
        by_name = {node["label"]: node["id"] for node in trace.nodes if not node["op"]}
        final = trace.gradients_after()
        for name, gradient in trace.gradients.items():  # what the picture shows is what .grad was
            if gradient is not None and by_name[name] in final:
                cells = kept_slices(gradient.shape) if gradient.ndim else ()
                np.testing.assert_array_equal(final[by_name[name]], gradient[cells])
    for name, gradient in plain.items():
        known = shown if name not in shown else {name: shown[name]}  # a tied weight has one of its two names
        assert any(np.array_equal(value, gradient, equal_nan=True) for value in known.values()), (name, gradient, shown)
    lines = defaultdict(Counter)
    if ran.records:
        lines[ran.records[-1]["line"]]["backward"] += 1
    for event in ran.traces[-1].events if ran.traces else ():
        if event["kind"] == "forward":
            lines[event["line"]][ran.traces[-1].nodes[event["node"]]["op"]] += 1
    for number, line in enumerate(source.split("\n"), 1):
        if mark := MARK.search(line):
            assert lines[number] == Counter(mark[1].split()), (line, lines)
    rows = [(row["failure"], row["line"]) for row in ran.report["findings"]]
    assert rows == learners.FINDINGS.get(source, [])


@pytest.mark.parametrize("name", learners.ENGINE)
def test_a_program_of_the_engine_is_shown_as_it_ran(name):
    check(learners.ENGINE[name])


@pytest.mark.parametrize("name", learners.TORCH)
def test_a_program_of_pytorch_is_shown_as_it_ran(name):
    pytest.importorskip("torch")
    check(learners.TORCH[name])


def test_enough_programs():
    assert min(len(learners.ENGINE), len(learners.TORCH)) >= 30


ADDING = {  # programs of two passes without zero_grad; the last records what no pass followed
    "a loop": "for _ in range(2):\n    ((w * 3.0 - 2.0) ** 2).sum().backward()",
    "a graph that is kept": "y = (w * w).sum()\nfor _ in range(2):\n    y.backward(retain_graph=True)",
    "two uses": "for _ in range(2):\n    (w * w + w).sum().backward()",
    "an end without a pass": "for _ in range(2):\n    (w * w).sum().backward()\ny = w * 2.0\nraise ValueError",
}
BEGINNINGS = {
    "the engine": "from model import Tensor\nw = Tensor({})\n",
    "PyTorch": "import torch\nw = torch.tensor({}, requires_grad=True)\n",
}


@pytest.mark.parametrize("value", ["1.5", "[1.5, -2.0]"])
@pytest.mark.parametrize("body", ADDING)
@pytest.mark.parametrize("engine", BEGINNINGS)
def test_a_pass_begins_with_the_gradient_that_the_last_one_left(engine, body, value):
    if engine == "PyTorch":
        pytest.importorskip("torch")
    traces = Ran(BEGINNINGS[engine].format(value) + ADDING[body]).traces
    assert len(traces) == 2 + ("raise" in ADDING[body])
    left = None
    for trace in traces:
        leaf = next(node for node in trace.nodes if node["label"] == "w")
        assert leaf.get("earlier") == left
        sent = [e for e in trace.events if e["kind"] == "accumulate" and e["node"] == leaf["id"]]
        assert left is None or all(not one["first"] for one in sent)
        assert not sent or left is None or sent[0]["before"] == left
        left = trace.gradients_after()[leaf["id"]]


def test_what_was_recorded_before_an_error_is_shown():
    ran = Ran(
        "from model import Tensor\na = Tensor([1.0, 2.0])\nb = a * a\nb.sum().backward()\nc = a @ Tensor([1.0])\n"
    )
    assert type(ran.error) is ValueError
    assert [record["line"] for record in ran.records] == [4]
    ran = Ran(
        "from model import Tensor\na = Tensor([1.0, 2.0])\nb = a * 2.0\nc = a.exp()\nb @ Tensor([1.0, 2.0, 3.0])\n"
    )
    (trace,) = ran.traces
    assert [node["op"] for node in trace.nodes if node["op"]] == ["*", "exp"]
    assert {event["kind"] for event in trace.events} == {"forward"}


@pytest.mark.parametrize("end", ["raise ValueError('no')", "raise ValueError", "import sys\n    sys.exit()"])
def test_a_pass_that_a_hook_ends_is_not_said_to_be_done(end):
    pytest.importorskip("torch")
    source = f"import torch\nx = torch.ones(2, requires_grad=True)\ndef hook(g):\n    {end}\n"
    (trace,) = Ran(source + "y = x * 2\ny.register_hook(hook)\ny.sum().backward()").traces
    assert trace.error
    assert trace.gradients == {"x": None}


NAMED = {  # ends of programs whose last result is named y
    "an error": "y = a * 2.0\n1 / 0",
    "an error in a function": "def f(y):\n    1 / 0\nf(a * 2.0)",
    "an error after a pass": "(a * a).sum().backward()\ny = a * 2.0\n1 / 0",
    "no pass": "y = a * 2.0",
}


@pytest.mark.parametrize("end", NAMED)
@pytest.mark.parametrize("engine", BEGINNINGS)
def test_a_result_that_nothing_uses_has_the_program_s_name(engine, end):
    if engine == "PyTorch":
        pytest.importorskip("torch")
    trace = Ran(BEGINNINGS[engine].format("[1.5, -2.0]") + "a = w\n" + NAMED[end]).traces[-1]
    assert [(node["op"], node["label"]) for node in trace.nodes if node["op"]] == [("*", "y")]


END = "z.backward()"
HOOKS = {  # a hook and how the pass begins; the gradients that are put in place of others, and what y then uses
    "returns another": ("y.register_hook(lambda g: g * 0.25)", END, [[0.25, 0.25]], [0.25, 0.25]),
    "writes": ("y.register_hook(lambda g: g.clamp_(max=0.5))", END, [[0.5, 0.5]], [0.5, 0.5]),
    "returns 1.01 times": ("y.register_hook(lambda g: g * 1.0078125)", END, [[1.0078125] * 2], [1.0078125] * 2),
    "looks": ("y.register_hook(lambda g: seen.append(g))", END, [], [1.0, 1.0]),
    "keeps": ("y.retain_grad()", END, [], [1.0, 1.0]),
    "of a leaf": ("x.grad = torch.ones(2)\nx.register_hook(lambda g: g + 2)", END, [[6.0, 6.0]], [1.0, 1.0]),
    "none, of a start": ("", "torch.autograd.backward([y, z], [torch.ones(2), None])", [], [2.0, 2.0]),
}


@pytest.mark.parametrize("most", [300, 2], ids=["whole", "folded"])
@pytest.mark.parametrize("hook", HOOKS)
def test_what_a_hook_changes_is_an_event(hook, most, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(recorded_program, "MAX_OPERATIONS", (most,))
    source, end, changed, used = HOOKS[hook]
    lines = ("import torch", "seen = []", "x = torch.ones(2, requires_grad=True)", "y = x * 3", source)
    (trace,) = Ran("\n".join((*lines, "z = (y * torch.ones(2)).sum()", end))).traces
    replacing = [event for event in trace.events if event["kind"] == "seed" and "replaced" in event]
    assert [event["grad"] for event in replacing] == changed
    sent = [event for event in trace.events if event["kind"] == "message"]
    assert {trace.nodes[event["node"]]["label"]: event["upstream"] for event in sent}["y"] == used


MODULE_HOOKS = {  # hooks of a module that doubles -> the gradients that are put in place of others
    "register_full_backward_pre_hook(lambda m, g: (g[0] * 3,))": [[3.0, 3.0]],
    "register_full_backward_hook(lambda m, g, _: (g[0] + 1,))": [[3.0, 3.0]],
    "register_full_backward_hook(lambda m, g, _: None)": [],
}


@pytest.mark.parametrize("hook", MODULE_HOOKS)
def test_what_a_hook_of_a_module_changes_is_an_event(hook):
    pytest.importorskip("torch")
    lines = (
        "import torch\nclass Twice(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\nnet = Twice()\n"
    )
    end = "x = torch.ones(2, requires_grad=True)\nnet(x).sum().backward()"
    (trace,) = Ran(f"{lines}net.{hook}\n{end}").traces
    assert [node["op"] for node in trace.nodes if node["op"]] == ["module hook", "*", "module hook", "sum"]
    replacing = [event for event in trace.events if event["kind"] == "seed" and "replaced" in event]
    assert [event["grad"] for event in replacing] == MODULE_HOOKS[hook]
    assert {trace.nodes[event["node"]]["op"] for event in replacing} <= {"module hook"}


STARTS = {  # how a pass begins -> the gradients that are set without a message, each with what it replaces
    "z.backward()": [("z", 1.0, None)],
    "z.register_hook(lambda g: g / 2)\nz.backward()": [("z", 1.0, None), ("z", 0.5, 1.0)],
    "torch.autograd.backward([z, z])": [("z", 2.0, None)],
    "torch.autograd.backward([y, z], [torch.ones(2), None])": [("y", [1.0, 1.0], None), ("z", 1.0, None)],
    "torch.autograd.backward([y, z], [torch.tensor([5.0, 1.0]), None])": [("y", [5.0, 1.0], None), ("z", 1.0, None)],
}


@pytest.mark.parametrize("start", STARTS)
def test_a_pass_starts_with_the_gradients_that_it_is_given(start):
    pytest.importorskip("torch")
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 3\nz = y.sum()\n"
    (trace,) = Ran(source + start).traces
    label = {node["id"]: node["label"] for node in trace.nodes}
    seeds = [event for event in trace.events if event["kind"] == "seed"]
    assert [(label[event["node"]], event["grad"], event.get("replaced")) for event in seeds] == STARTS[start]
    assert result_name(trace, short_names(trace)) == (
        "(y + z, weighted)" if "5.0" in start else "(y + z)" if "[y, z]" in start else "z"
    )
    (why,) = (node["why"] for node in derive(trace) if node["name"] == "z")
    assert why.startswith("2 because" if "z, z" in start else "1 because")
    assert why.endswith("a hook of the program then made it 0.5" if "hook" in start else "starting gradient")


def test_values_are_those_of_the_forward_pass_whatever_is_written_before_the_backward_pass():
    written = "x.data[0] = 10.0\nx.data *= 0.5\n"
    ran = Ran(
        f"from model import Tensor\nx = Tensor([1.0, 2.0])\ny = x * x\n{written}y.sum().backward()\nprint(x.grad)"
    )
    assert [node["value"] for node in ran.traces[0].nodes] == [[1.0, 2.0], [1.0, 4.0], 5.0]
    assert [node.get("now") for node in ran.traces[0].nodes] == [[5.0, 1.0], None, None]
    assert ran.printed.getvalue() == "[2. 4.]\n"


def test_results_of_one_call_send_together():
    pytest.importorskip("torch")
    lines = ("import torch", "a, b, c, d = torch.ones(4, requires_grad=True).unbind()", "(a + b + c + d).backward()")
    (trace,) = Ran("\n".join(lines)).traces
    (term,) = (term for node in derive(trace) for term in node["terms"] if "unbind" in term["sends"])
    assert term["sends"] == "a, b, c and 1 more (unbind) send"
    assert term["text"].endswith("∂out/∂a, ∂out/∂b, ∂out/∂c and 1 more")


WRITES = {  # between the forward and the backward pass -> the values that w then has, if others than before
    "w.data[0] = 5": [5.0, 2.0],
    "w.data *= 2": [2.0, 4.0],
    "w.data *= 1": None,
    "w.grad = None": None,
}


@pytest.mark.parametrize("loop", ["", "for _ in range(2):\n    w.data[0] = 1\n    "], ids=["once", "twice"])
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("engine", BEGINNINGS)
def test_values_that_were_written_to_before_the_backward_pass_are_there_too(engine, write, loop):
    if engine == "PyTorch":
        pytest.importorskip("torch")
    source = BEGINNINGS[engine].format("[1.0, 2.0]") + f"{loop}w.data[1] = 2; y = w.sum(); {write}; y.backward()"
    for trace in Ran(source).traces:
        (w,) = (node for node in trace.nodes if node["label"] == "w")
        assert (w["value"], w.get("now")) == ([1.0, 2.0], WRITES[write])


def test_an_operator_stands_between_its_operands_also_where_its_rule_is_not_shown():
    (trace,) = Ran("from model import Tensor\nw = Tensor([[3.0]])\n(w @ w.mean(axis=0) / w).sum().backward()").traces
    assert {node["op"]: node["symbol"] for node in trace.nodes if node["op"] in list("@/")} == {"@": "@", "/": "/"}


def test_a_value_that_python_never_saw_is_not_said_to_be_nan():
    pytest.importorskip("torch")
    source = "import torch\nf = torch.nn.Linear(2, 1)\nx = torch.ones(3, 2, requires_grad=True)\n"
    source += "(g,) = torch.autograd.grad(f(x).tanh().sum(), x, create_graph=True)\n(g * g).sum().backward()"
    trace = Ran(source).traces[-1]
    assert any(node.get("unseen") for node in trace.nodes)
    assert remarks(trace) == []


def test_a_buffer_of_a_module_is_called_by_its_path_and_has_the_values_from_before_the_call_that_writes_to_it():
    pytest.importorskip("torch")
    (trace,) = Ran("import torch\nnet = torch.nn.BatchNorm1d(1)\nnet(3 * torch.ones(2, 1)).sum().backward()").traces
    values = {node["label"]: node["value"] for node in trace.nodes}
    assert (values["net.running_mean"], values["net.running_var"]) == ([0.0], [1.0])


def test_a_second_pass_through_a_freed_graph_gets_the_engine_s_sentence():
    ran = Ran("from model import Tensor\na = Tensor(2.0)\nb = a * a\nb.backward()\nb.backward()\n")
    assert "already gone through" in str(ran.error)
    assert len(ran.traces) == 1


MANY = "from model import Tensor\nw = Tensor(1.001)\nh = w\nfor _ in range(2000):\n    h = h * w\nh.backward()\n"
IN_TORCH = MANY.replace("from model import Tensor", "import torch").replace("Tensor(1.001)", "torch.tensor(1.001)")
IN_TORCH = IN_TORCH.replace("1.001)", "1.001, requires_grad=True)")


@pytest.mark.parametrize("source", [MANY, IN_TORCH], ids=["engine", "torch"])
def test_a_large_pass_has_300_cards_and_one_for_all_others(source):
    if source is IN_TORCH:
        pytest.importorskip("torch")
    ran = Ran(source)
    (trace,) = ran.traces
    assert ran.records[0]["operations"] == 2000
    assert sum(node["op"] == "*" for node in trace.nodes) == 300
    assert trace.nodes[trace.output]["op"] == "more operations"
    assert len(ran.records[0]["trace"]) < recorded_program.MAX_BYTES
    gradient = plain_gradients(source)["w"]
    (w,) = (node["id"] for node in trace.nodes if node["label"] == "w")
    assert trace.gradients_after()[w] == gradient  # the messages of all 2,000


@pytest.mark.parametrize("source", [MANY, IN_TORCH], ids=["engine", "torch"])
def test_operations_that_were_not_all_recorded_are_not_counted(source, monkeypatch):
    if source is IN_TORCH:
        pytest.importorskip("torch")
        monkeypatch.setattr("lab.watch.torch_recorder.MAX_CARDS", 1_000)
    ran = Ran(source.replace("h.backward()", "raise ValueError").replace("2000", "3000"))
    assert [record["operations"] for record in ran.records] == [0]
    assert sum(bool(node["op"]) for node in ran.traces[0].nodes) == 301


KERNEL = "import os\nwhile True:\n    os.urandom(10**4)\n"  # its time is the kernel's


@pytest.mark.parametrize("source", ["while True:\n    pass\n", KERNEL], ids=["own", "kernel"])
def test_time_that_the_kernel_takes_counts_too(source):
    began = time.process_time()
    _, error = recorded_program.run(source, FILE, lambda record: None, seconds=1.0)  # half of them are the program's
    assert type(error) is recorded_program.TimeUp
    assert time.process_time() - began < 1.5


@pytest.mark.parametrize("end", ["raise KeyboardInterrupt", "raise ValueError", "pass"])
def test_a_program_that_is_stopped_before_its_first_backward_keeps_no_graph_too_long(end):
    pytest.importorskip("torch")
    ran = Ran(f"import torch\nx = torch.tensor(1.0, requires_grad=True)\nfor _ in range(50):\n    x = x * 1.1\n{end}\n")
    assert [found["failure"] for found in ran.report["findings"]] == ([10] if end == "pass" else [])


def test_more_passes_than_are_recorded_are_counted():
    ran = Ran("from model import Tensor\nw = Tensor(1.0)\nfor _ in range(30):\n    (w * w).backward()\n")
    assert ran.report["passes"] == 30
    assert len(ran.traces) == recorded_program.MAX_PASSES


def test_the_engine_s_own_lines_are_there():
    ran = Ran("from model import Tensor\na = Tensor(2.0)\n(a * a + a).backward()\n")
    (trace,) = ran.traces
    texts = {
        event["kind"]: trace.sources[event["engine"]["source"]]["lines"][
            event["engine"]["line"] - trace.sources[event["engine"]["source"]]["first"]
        ].strip()
        for event in trace.events
        if "engine" in event
    }
    assert "self.node(" in texts["forward"]
    assert ".accumulate(" in texts["message"]
    assert texts["accumulate"] == "self.grad += message"


def test_layers_of_the_engine_are_groups_as_in_a_traced_pass():
    source = """from model import Tensor
from nn import MLP
net = MLP([2, 3, 1])
for _ in range(2):
    loss = (net(Tensor([[1.0, 2.0]])) ** 2).mean()
    loss.backward()
"""
    of_pass = [{call for node in trace.nodes for call in node.get("calls", ())} for trace in Ran(source).traces]
    assert of_pass == [{"MLP 1", "outputs 1", "Linear 1", "Linear 2", "mean 1"}] * 2


def test_prepare_fails_only_with_an_error():
    recorded_program.prepare(with_torch=False)
