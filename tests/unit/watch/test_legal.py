"""A script cannot tell whether it is watched, whatever it calls and however, and also where own code fails."""

import contextlib
import importlib
import inspect
import io
import signal
import sys
import types
import warnings

import pytest

torch = pytest.importorskip("torch")

from lab.watch.__main__ import run  # noqa: E402
from lab.watch.onlooker import modules_with  # noqa: E402
from lab.watch.records import Leaf  # noqa: E402
from lab.watch.report import text  # noqa: E402
from lab.watch.run_passes import RunPasses  # noqa: E402
from lab.watch.sites import NOWHERE  # noqa: E402
from lab.watch.torch_recorder import TorchPass, TorchRecorder  # noqa: E402
from lab.watch.updates import leaves_with_gradient  # noqa: E402
from lab.watch.watcher import Watcher  # noqa: E402
from tests.unit.watch.legal import BEGIN, SCRIPTS  # noqa: E402

# A recorded pass keeps its tensors and its hooks, and the wrapper of the engine is one more caller
PASSES_ARE_SEEN = {"weak_references", "hooks", "compiled"}


@pytest.fixture
def ran(tmp_path):
    """ran(text, *onlookers): exit code, output and errors of a script, run inside these."""
    script = tmp_path / "script.py"
    state = torch.get_rng_state(), signal.getsignal(signal.SIGALRM)

    def run_script(source, *onlookers):
        script.write_text(source, "utf-8")
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            for context in (contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors)):
                stack.enter_context(context)
            stack.enter_context(warnings.catch_warnings())
            for onlooker in onlookers:
                stack.enter_context(onlooker)
            code, error, variables = run(script)
        for onlooker in onlookers[:1]:
            assert onlooker.findings(error) == []
        variables.clear()
        return code, out.getvalue(), errors.getvalue()

    yield run_script
    torch.set_rng_state(state[0])
    signal.signal(signal.SIGALRM, state[1])
    torch.set_grad_enabled(True)
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_legal_script_runs_as_without_the_watcher(name, ran):
    ran(BEGIN + SCRIPTS[name])  # some warnings and imports come only once in a process
    alone = ran(BEGIN + SCRIPTS[name])
    watcher = Watcher()
    assert ran(BEGIN + SCRIPTS[name], watcher) == alone
    assert watcher.failure == ""
    if name not in PASSES_ARE_SEEN:
        watcher = Watcher()
        passes = RunPasses(watcher)
        assert ran(BEGIN + SCRIPTS[name], watcher, passes) == alone
        assert (watcher.failure, passes.failure) == ("", "")


A_TENSOR_DIES = """
import _thread, operator, signal
from functools import partial
def handler(number, frame):
    raise TimeoutError
signal.signal(signal.SIGALRM, handler)
kept = [torch.ones(2)]
try:
    list(map(operator.call, (partial(_thread.interrupt_main, signal.SIGALRM), kept.clear)))
    print("lost")
except TimeoutError:
    print("stopped")
"""


def test_a_signal_that_comes_as_a_tensor_dies_stops_the_script(ran):
    """Python drops the error of a handler that it calls in what a weak reference calls."""
    assert ran(BEGIN + A_TENSOR_DIES, Watcher()) == (0, "stopped\n", "")


def test_a_tensor_may_die_while_the_records_are_looked_through():
    """The garbage collector deletes it, at any time, and its record with it."""
    leaves = {}
    leaves |= {key: Leaf(lambda: leaves.clear(), NOWHERE, ()) for key in range(3)}
    assert (
        leaves_with_gradient(types.SimpleNamespace(tensors=types.SimpleNamespace(leaves=leaves)), torch.ones(1)) == []
    )


def patched():
    """What the watcher patches, from its own table: owner and name."""
    with Watcher() as watcher:
        return [(owner, name) for owner, name, *_ in watcher.patched]


PATCHED = patched()
# Values for the parameters of what is patched, by name
VALUES = {
    "cls": "nn.Parameter",
    "data": "torch.ones(2)",
    "requires_grad": "False",
    "params": "[w]",
    "lr": "0.1",
    "defaults": "{'lr': 0.1}",
    "set_to_none": "False",
    "mode": "False",
    "epoch": "3",
    "func": "lambda x: (x * 2).sum()",
    "inputs": "(torch.ones(2, dtype=torch.double, requires_grad=True),)",
    "eps": "1e-6",
    "parameters": "[w]",
    "max_norm": "0.5",
    "norm_type": "1.0",
    "error_if_nonfinite": "True",
    "foreach": "False",
    "clip_value": "0.1",
    "outputs": "[torch.ones(2)]",
    "model": "lambda x: x * 2",
    "backend": "'eager'",
    "grad_outputs": "None",
    "exc_type": "None",
    "exc_value": "None",
    "traceback": "None",
}
SELF = {
    "Optimizer": "torch.optim.SGD([w], lr=0.1)",
    "Module": "net",
    "set_grad_enabled": "torch.set_grad_enabled(True)",
    "LRScheduler": "torch.optim.lr_scheduler.StepLR(torch.optim.SGD([w], lr=0.1), 1)",
    "no_grad": "torch.no_grad()",
    "GradScaler": "torch.amp.GradScaler('cpu')",
    "inference_mode": "entered(torch.inference_mode(False))",
}
CALL = """
import warnings
def entered(mode):
    mode.__enter__()
    return mode
(w * 2).sum().backward()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for call in ({calls}):
        try:
            result = call()
            print(type(result), result if isinstance(result, (torch.Tensor, bool)) else "")
        except Exception as error:
            print(type(error), error)
        torch._C._set_grad_enabled(True)
print(w, w.grad, torch.rand(1), [(str(one.message), one.lineno) for one in caught])
"""


def call_forms(owner, name):
    """Calls of a function with one parameter more each, by position and by name, and calls that it refuses."""
    function = inspect.getattr_static(owner, name)
    function = getattr(function, "__func__", function)
    where = f"torch.{owner.__name__}" if owner in (torch.no_grad, torch.inference_mode, torch.set_grad_enabled) else ""
    where = where or (owner.__name__ if inspect.ismodule(owner) else f"{owner.__module__}.{owner.__qualname__}")
    where = (
        f"__import__('sys').modules[{where!r}]"
        if inspect.ismodule(owner)
        else where.replace("torch.nn.parameter", "nn")
    )
    values = VALUES | {"self": SELF.get(getattr(owner, "__name__", ""), "")}
    named = [
        (parameter.name, values.get(parameter.name, "None"), parameter.kind is parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    forms = {"", ", ".join(f"{parameter}={value}" for parameter, value, _ in named), "no_such_name=1"}
    for count in range(1, len(named) + 1):
        for by_name in {0, 1, count}:
            parts = [
                f"{parameter}={value}" if only or index >= by_name else value
                for index, (parameter, value, only) in enumerate(named[:count])
            ]
            forms.add(", ".join(parts))
    return [f"lambda: {where}.{name}({form})" for form in sorted(forms)]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("owner", "name"), PATCHED, ids=lambda part: getattr(part, "__name__", part))
def test_each_parameter_of_what_is_patched_is_taken_as_ever(owner, name, ran):
    if name == "has_torch_function":
        pytest.skip("it only leaves the mode")
    source = BEGIN + CALL.format(calls=",".join(call_forms(owner, name)) + ",")
    ran(source)
    alone = ran(source)
    assert alone[0] == 0, alone
    watcher = Watcher()
    assert ran(source, watcher) == alone
    assert watcher.failure == ""


TRAINING = (
    BEGIN
    + """
opt = torch.optim.SGD(net.parameters(), lr=0.01)
rate = torch.optim.lr_scheduler.StepLR(opt, 1)
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
for _ in range(2):
    opt.zero_grad()
    loss = Double.apply(net(torch.ones(4, 3))).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    rate.step()
    net.eval()
    with torch.no_grad():
        net[0].bias.mul_(1)
        print(net(torch.ones(1, 3)), loss.item())
    net.train()
    net(torch.ones(1, 3)).sum().item()
print(torch.autograd.grad(w.sum(), w))
w.grad = None
torch.set_grad_enabled(True)
torch.autograd.gradcheck(lambda x: x, torch.ones(1, dtype=torch.double, requires_grad=True))
"""
)


def hooks():
    """All functions and methods that run inside a script, by what holds them, but those that read names alone."""
    rooms = "backward_passes cuts event_order gradient_sizes graph learning_rates operations "
    rooms += "records shapes training_events torch_recorder unreached_parameters updates values"
    holders = [importlib.import_module(f"lab.watch.{name}") for name in rooms.split()]
    holders += [Watcher, RunPasses, TorchRecorder, TorchPass]
    left = {"findings", "notes", "forget", "cards", "pass_number", "report", "concerns"}
    return [
        (holder, name)
        for holder in holders
        for name, value in vars(holder).items()
        if inspect.isfunction(value) and value.__module__.startswith("lab.watch.") and not name.startswith("__")
        if inspect.isclass(holder) or value.__module__ == holder.__name__
        if name not in left
    ]


def inject(patch, holder, name, function):
    """Put a function in the place of a hook, in all modules that imported it."""
    for place in [holder] if inspect.isclass(holder) else modules_with(name, vars(holder)[name]):
        patch.setattr(place, name, function)


def counted(called, key, function):
    def call(*args, **kwargs):
        called.add(key)
        return function(*args, **kwargs)

    return call


def test_a_fault_in_any_hook_never_reaches_the_script(ran):
    alone, called = ran(TRAINING), set()
    watcher = Watcher()
    with pytest.MonkeyPatch.context() as patch:
        for holder, name in hooks():
            inject(patch, holder, name, counted(called, (holder, name), vars(holder)[name]))
        assert ran(TRAINING, watcher, RunPasses(watcher)) == alone
    assert len(called) > 80
    for holder, name in sorted(called, key=str):
        with pytest.MonkeyPatch.context() as patch:
            inject(patch, holder, name, lambda *_, **__: {}["a fault"])
            watcher = Watcher()
            passes = RunPasses(watcher)
            assert ran(TRAINING, watcher, passes) == alone, (holder, name)
        failures = [one.failure for one in (watcher, passes) if one.failure]
        assert failures, (holder, name)
        assert all("a fault" in failure for failure in failures), failures
        said = text([], watcher.notes())
        assert said.count("stopped watching") == bool(watcher.failure)
        assert ("no failure found" in said) != bool(watcher.failure)


def test_after_a_fault_nothing_is_claimed(ran, monkeypatch):
    """What was seen until then is half the truth: an optimizer whose steps were not seen was not idle."""
    monkeypatch.setattr("lab.watch.updates.before_step", lambda *_: 1 / 0)
    watcher = Watcher()
    code, *_ = ran(TRAINING, watcher)
    assert code == 0
    assert "ZeroDivisionError" in watcher.failure
    assert watcher.notes()[-1].count("stopped watching") == 1


def test_watcher_and_recorder_listen_to_one_mode():
    with Watcher() as watcher, RunPasses(watcher) as passes:
        assert watcher.mode is passes.mode
        assert torch.overrides._len_torch_function_stack() == 1
    assert torch.overrides._len_torch_function_stack() == 0


def test_nothing_stays_patched():
    clip = sys.modules["torch.nn.utils.clip_grad"]  # which torch.nn.utils imports from
    owners = {id(owner): owner for owner, _ in PATCHED} | {id(clip): clip}
    before = [dict(vars(owner)) for owner in owners.values()]
    for onlooker in (Watcher(), RunPasses(Watcher())):
        with onlooker:
            assert [dict(vars(owner)) for owner in owners.values()] != before
            late = types.ModuleType("late")  # a module that the script imports
            late.clip_grad_norm_ = clip.clip_grad_norm_
            sys.modules["late"] = late
        assert [dict(vars(owner)) for owner in owners.values()] == before
        assert sys.modules.pop("late").clip_grad_norm_ is clip.clip_grad_norm_


WRITES = {
    "h = F.relu(h, inplace=True)": 8,
    "torch.mul(h.detach(), 2, out=h.detach())": 8,
    "h[0:1].mul_(2)": 8,
    "nn.LeakyReLU(inplace=True)(h)": 8,
    "opt.step()": 8,
    "thread.start(); thread.join()": 0,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("write", WRITES)
def test_only_a_write_that_was_seen_is_blamed(write, tmp_path):
    script = tmp_path / "script.py"
    lines = [
        "import torch, threading; from torch import nn; import torch.nn.functional as F",
        "w = torch.ones(3, requires_grad=True)",
        "opt = torch.optim.SGD([w], lr=0.1)",
        "w.sum().backward(); other = torch.zeros(3); other.mul_(2)",
        "h = w.exp(); other.mul_(3)",
        "loss = (h * w).square().sum(); other.mul_(4)",
        "thread = threading.Thread(target=lambda: h.data.set_() if False else h.detach().mul_(2))",
        write,
        "loss.backward()",
    ]
    script.write_text("\n".join(lines), "utf-8")
    quiet = io.StringIO()
    with contextlib.redirect_stderr(quiet), Watcher() as watcher:
        code, error, variables = run(script)
    found = watcher.findings(error)
    variables.clear()
    assert (code, [finding.failure for finding in found]) == (1, [1])
    (finding,) = found
    line = WRITES[write]
    assert finding.line == (line or 9)
    assert ("This line wrote" in finding.evidence) == bool(line)
    assert line or "what wrote to it was not seen" in finding.evidence
