"""Legal scripts, each of which prints what a run without the watcher prints: name -> text. `w` is a leaf, `net` a layer."""

BEGIN = """import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
w = torch.ones(3, requires_grad=True)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
"""

SCRIPTS = {
    "autograd_backward": """
torch.autograd.backward((w * 2).sum())
torch.autograd.backward([(w * 2).sum(), (w * 3).sum()])
torch.autograd.backward(tensors=(w * 2), grad_tensors=torch.ones(3), retain_graph=False)
(w * w).backward(gradient=torch.ones(3), inputs=[w])
print(w.grad)
""",
    "autograd_grad": """
y = (w**3).sum()
(g,) = torch.autograd.grad(outputs=y, inputs=w, create_graph=True)
print(torch.autograd.grad(g.sum(), [w], None, True, False), torch.autograd.grad(g.sum(), {"w": w}))
""",
    "clip": """
(w * 2).sum().backward()
print(nn.utils.clip_grad_norm_(w, max_norm=1.0), nn.utils.clip_grad_norm_([w], float("inf")))
print(nn.utils.clip_grad_norm_((p for p in [w]), 0.5, norm_type=1), nn.utils.clip_grad_norm_(iter([w]), 0.5))
nn.utils.clip_grad_value_(clip_value=0.1, parameters=[w])
nn.utils.clip_grad_value_(map(lambda p: p, [w]), 0.05)
nn.utils.clip_grad_norm_((p for p in []), 1.0)
print(w.grad)
""",
    "clip_refused": """
for call in (lambda: nn.utils.clip_grad_norm_([w]), lambda: nn.utils.clip_grad_value_(), lambda: net.train(1)):
    try:
        print(call())
    except Exception as error:
        print(type(error), error)
""",
    "grad_modes": """
with torch.set_grad_enabled(mode=False):
    print((w * 2).requires_grad)
@torch.no_grad()
def f(x):
    return x * 2
@torch.inference_mode(mode=False)
def g(x):
    return x * 2
torch.set_grad_enabled(False)
print((w * 2).requires_grad)
torch.set_grad_enabled(True)
print(f(w).requires_grad, g(w).requires_grad)
try:
    torch.set_grad_enabled()
except TypeError as error:
    print(error)
""",
    "sharded": """
import tempfile
import torch.distributed as dist
try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # an older version
    fully_shard = lambda *_, **__: None
dist.init_process_group("gloo", init_method=f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)
mesh = dist.device_mesh.init_device_mesh("cpu", (1,))
for part in (net[0], net[2], net):
    fully_shard(part, mesh=mesh)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    loss = net(torch.randn(8, 3)).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    print(loss.item())
dist.destroy_process_group()
""",
    "gradcheck": """
x = torch.rand(2, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(func=lambda a: a.exp(), inputs=(x,), eps=1e-6))
print(torch.autograd.gradgradcheck(lambda a: a.exp(), inputs=x))
try:
    torch.autograd.gradcheck(lambda a: a.detach() * a, (x,))
except Exception as error:
    print(type(error).__name__)
""",
    "jit": """
traced = torch.jit.trace(net, torch.rand(2, 3))
print(traced(torch.ones(1, 3)))
@torch.jit.script
def f(x, n: int):
    for _ in range(n):
        x = x * 2
    return x
print(f(w, 3), torch.jit.script(net)(torch.ones(1, 3)).shape)
""",
    "transforms": """
from torch.func import functional_call, grad, hessian, jacrev, jvp, vjp, vmap
print(grad(lambda x: (x**2).sum())(w), jacrev(torch.sin)(w).shape, hessian(lambda x: x.prod())(w).shape)
params = dict(net.named_parameters())
per = vmap(grad(lambda p, x: functional_call(net, p, (x,)).sum()), (None, 0))(params, torch.rand(5, 3))
print({k: v.shape for k, v in per.items()}, jvp(torch.sin, (w,), (w,)), vjp(torch.sin, w)[1](w))
""",
    "checkpoint": """
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
x = torch.rand(2, 3, requires_grad=True)
for reentrant in (True, False):
    checkpoint(net, x, use_reentrant=reentrant).sum().backward()
checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
print(x.grad)
""",
    "copies": """
import copy, io, pickle
both = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
net(torch.ones(1, 3)).sum().backward()
opt.step()
again = copy.deepcopy(opt)
again.load_state_dict(pickle.loads(pickle.dumps(opt.state_dict())))
for thing in (nn.utils.clip_grad_norm_, torch.autograd.gradcheck, torch.compile, torch.no_grad, nn.Parameter, net.train):
    pickle.dumps(thing)
file = io.BytesIO()
torch.save(net, file)
file.seek(0)
print([torch.equal(m[0].weight, both[0][0].weight) for m in both], torch.load(file, weights_only=False))
""",
    "what_is_patched_looks_as_ever": """
import inspect
from torch.nn.utils.clip_grad import clip_grad_norm_
for thing in (clip_grad_norm_, nn.Module.train, nn.Module.zero_grad, torch.optim.Optimizer.__init__, torch.compile):
    print(thing.__name__, thing.__qualname__, thing.__module__, inspect.signature(thing), bool(thing.__doc__))
print(clip_grad_norm_ is nn.utils.clip_grad_norm_, inspect.signature(torch.set_grad_enabled), callable(nn.Parameter))
print(isinstance(nn.Parameter(w.detach()), nn.Parameter), inspect.isfunction(clip_grad_norm_))
print(inspect.getsource(nn.Module.zero_grad)[:20], torch.no_grad.__enter__.__qualname__)
""",
    "subclasses": """
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})
a = torch.ones(2).as_subclass(Mine)
b = a * 2 + a.sum()
print(type(b), b.tolist())
class Down(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])
opt = Down([w])
(w * 2).sum().backward()
opt.step()
print(w)
class Odd(nn.Module):
    def __init__(self, *, n):
        nn.Module.__init__(self)
        self.p = nn.Parameter(torch.ones(n))
    def train(self, mode=True):
        print("train", mode)
        return super().train(mode)
    def zero_grad(self, set_to_none=True):
        print("zero")
        super().zero_grad(set_to_none=set_to_none)
odd = Odd(n=2)
odd.eval()
odd.zero_grad()
""",
    "function_modes": """
from torch.overrides import TorchFunctionMode
class Count(TorchFunctionMode):
    def __init__(self):
        self.names = []
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))
with Count() as count:
    loss = F.mse_loss(input=net(torch.ones(2, 3)), target=torch.zeros(2, 1))
    loss.backward()
    torch.optim.SGD(net.parameters(), lr=0.1).step()
print(count.names)
""",
    "dispatch_modes": """
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func)
        return func(*args, **(kwargs or {}))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with Log():
    for _ in range(2):
        opt.zero_grad()
        loss = F.cross_entropy(net(torch.ones(8, 3)).exp().sqrt().expand(8, 2), torch.zeros(8).long())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        loss.item()
with FlopCounterMode(display=False) as flops:
    net(torch.ones(8, 3)).sum().backward()
print(flops.get_total_flops())
""",
    "fake_and_meta": """
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode():
    layer = nn.Linear(3, 2)
    out = layer(torch.rand(4, 3))
    out.log().sum().backward()
    print(out.shape, type(out).__name__)
with torch.device("meta"):
    layer = nn.Linear(3, 2)
layer(torch.rand(4, 3, device="meta")).sum().backward()
print(layer.weight.grad.device)
""",
    "fx_and_export": """
from torch.fx import symbolic_trace
from torch.fx.experimental.proxy_tensor import make_fx
print(symbolic_trace(net).code)
print(make_fx(lambda x: (x * 2).relu().sum())(torch.ones(3)).code)
""",
    "profilers": """
from torch.profiler import ProfilerActivity, profile, record_function
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with profile(activities=[ProfilerActivity.CPU], acc_events=True) as prof:
    for _ in range(3):
        with record_function("step"):
            opt.zero_grad()
            net(torch.ones(8, 3)).exp().log().mean().backward()
            opt.step()
print(sorted((e.key, e.count) for e in prof.key_averages()))
""",
    "hooks": """
seen = []
net.register_forward_hook(lambda m, a, out: seen.append("forward"))
net.register_forward_pre_hook(lambda m, args: seen.append("pre"))
net.register_full_backward_hook(lambda m, gi, go: seen.append("backward"))
net[0].weight.register_hook(lambda g: seen.append("grad") or g * 2)
net[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append("accumulated"))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.register_step_pre_hook(lambda o, a, k: seen.append("step"))
net(torch.ones(2, 3)).sum().backward()
opt.step()
print(seen)
""",
    "saved_tensor_hooks": """
from torch.autograd.graph import saved_tensors_hooks, save_on_cpu
count = []
with saved_tensors_hooks(lambda t: count.append("pack") or t, lambda t: count.append("unpack") or t):
    kept = [(w * 2).exp().sum() for _ in range(4)]
sum(kept).backward()
with save_on_cpu():
    (w * w).sum().backward()
print(count, w.grad)
""",
    "custom_function": """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, k=2):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k
print(Double.apply(w), Double.apply(w).grad_fn.name(), callable(Double.apply))
Double.apply(w).sum().backward()
print(w.grad)
""",
    "nested_sparse_quantized": """
n = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
(n * 2).to_padded_tensor(0.0).sum().backward()
j = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(3, 3)], layout=torch.jagged, requires_grad=True)
F.linear(j, net[0].weight).values().sum().backward()
print(n.grad is not None, j.grad is not None)
s = torch.eye(3).to_sparse().requires_grad_()
torch.sparse.mm(s, torch.ones(3, 1)).sum().backward()
print(s.grad, torch.eye(3).to_sparse_csr().sum())
q = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
print(q.dequantize() + q.int_repr())
""",
    "modules_of_all_kinds": """
x = torch.rand(4, 5, 8)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
print(layer(x).sum(), nn.LSTM(8, 3)(x)[0].shape, nn.GRU(8, 3)(x)[1].shape)
layer.eval()
with torch.no_grad():
    print(layer(x).sum(), nn.MultiheadAttention(8, 2).eval()(x, x, x)[0].sum())
encoder = nn.TransformerEncoder(layer, 2).eval()
with torch.inference_mode():
    print(encoder(x, src_key_padding_mask=torch.zeros(4, 5, dtype=torch.bool)).sum())
print(nn.Embedding(5, 2, max_norm=1.0)(torch.tensor([1, 2])).shape, nn.LazyLinear(2)(x).shape)
print(nn.DataParallel(net)(torch.ones(2, 3)).shape, nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)))
print(nn.BatchNorm1d(5)(x).std(), nn.Dropout(0.5)(x).sum(), nn.Bilinear(8, 8, 1)(x, x).shape)
""",
    "randomness": """
opt = torch.optim.AdamW(net.parameters())
for _ in range(4):
    opt.zero_grad()
    F.dropout(net(torch.randn(8, 3)).exp()).mean().backward()
    opt.step()
import random
import numpy as np
print(torch.rand(2), random.Random(1).random(), np.random.default_rng(0).random(), torch.initial_seed())
""",
    "warnings_of_each_line": """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    F.softmax(w * 1)
    float(w[:1])
    torch.optim.lr_scheduler.StepLR(torch.optim.SGD([w], lr=0.1), 1).step()
    F.mse_loss(torch.ones(2, 1), torch.ones(2))
    nn.utils.clip_grad_norm_((p for p in []), 1.0)
print([(one.category.__name__, one.filename == __file__, one.lineno, str(one.message)[:30]) for one in caught])
warnings.filterwarnings("error", module="__main__")
try:
    F.softmax(w * 1)
except UserWarning as warning:
    print("raised", str(warning)[:30])
""",
    "errors": """
import traceback
for wrong in (lambda: w.view(7), lambda: w @ torch.ones(4), lambda: bool(w), lambda: w.numpy(), lambda: w.add_(1)):
    try:
        wrong()
    except RuntimeError as error:
        print(error, [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)], error.__context__)
        traceback.print_exc()
loss = (w * 2).sum()
loss.backward()
for wrong in (loss.backward, (w * 2).backward, torch.ones(1).backward):
    try:
        wrong()
    except RuntimeError as error:
        print(str(error)[:50], error.__cause__)
""",
    "step_that_fails": """
class Bad(torch.optim.SGD):
    def step(self, closure=None):
        raise ValueError("no step")
opt = Bad([w], lr=0.1)
for _ in range(8):
    opt.zero_grad()
    (w * 2).sum().backward()
    try:
        opt.step()
    except ValueError as error:
        print(error)
""",
    "schedulers_and_averages": """
opt = torch.optim.SGD(params=net.parameters(), lr=0.1, momentum=0.9)
schedulers = [
    torch.optim.lr_scheduler.StepLR(optimizer=opt, step_size=2),
    torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0),
    torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=20),
]
average = torch.optim.swa_utils.AveragedModel(net)
for _ in range(3):
    opt.zero_grad(set_to_none=False)
    net(torch.ones(2, 3)).square().sum().backward()
    opt.step()
    schedulers[0].step()
    schedulers[1].step(metrics=1.0)
    schedulers[2].step()
    average.update_parameters(net)
print(opt.param_groups[0]["lr"], schedulers[0].get_last_lr(), average.n_averaged)
""",
    "optimizers": """
for kind in (torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.LBFGS, torch.optim.Rprop):
    p = nn.Parameter(torch.ones(3))
    opt = kind([{"params": [p]}] if kind is torch.optim.Adam else (q for q in [p]))
    def closure():
        opt.zero_grad()
        loss = (p - 2).square().sum()
        loss.backward()
        return loss
    for _ in range(3):
        print(opt.step(closure=closure))
for wrong in ([], [w * 2], w, ["w"], [{"params": w, "lr": -1.0}]):
    try:
        torch.optim.SGD(wrong, lr=0.1)
    except Exception as error:
        print(type(error).__name__, error)
""",
    "amp": """
scaler = torch.amp.GradScaler(device="cpu", enabled=False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
    loss = net(torch.ones(2, 3)).float().mean()
scaler.scale(outputs=loss).backward()
scaler.unscale_(opt)
scaler.step(opt)
scaler.update()
print(loss, scaler.scale([loss, loss]))
""",
    "threads": """
import threading
def train(k):
    layer = nn.Linear(3, 1)
    nn.init.constant_(layer.weight, k)
    opt = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(6):
        with torch.no_grad():
            layer.bias.zero_()
        opt.zero_grad()
        layer(torch.ones(2, 3)).sum().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        opt.step()
    done.append(round(layer.weight.sum().item(), 4))
done = []
threads = [threading.Thread(target=train, args=(k,)) for k in range(3)]
for thread in threads:
    thread.start()
for _ in range(6):
    net(torch.ones(2, 3)).sum().backward()
    net.zero_grad()
for thread in threads:
    thread.join()
print(sorted(done))
""",
    "workers": """
from torch.utils.data import DataLoader, Dataset
class Squares(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.tensor(float(i)) ** 2
print([batch.tolist() for batch in DataLoader(Squares(), batch_size=4, num_workers=2)])
""",
    "weak_references": """
import gc, weakref
t = w * 2
ref = weakref.ref(t)
loss = t.sum()
loss.backward()
del t, loss
print(ref())
def kept():
    loss = (w * 2).sum()
    loss.backward()
    return weakref.ref(loss)
print(kept()())
layer = nn.Linear(2, 2)
ref = weakref.ref(layer), weakref.ref(layer.weight)
del layer
gc.collect()
print([r() for r in ref])
""",
    "settrace": """
import sys
lines = []
def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        lines.append((event, frame.f_lineno))
    return tracer
def f():
    a = w * 2
    return a.sum()
sys.settrace(tracer)
f()
sys.settrace(None)
print(lines)
""",
    "signals": """
import gc, signal
gc.collect()  # else it may be raised where an earlier onlooker dies, which hides it
class Late(Exception):
    pass
def handler(number, frame):
    raise Late
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        net(torch.ones(2, 3)).sum().backward()
except Late:
    print("late")
""",
    "main_module": """
import dataclasses, pathlib, pickle, sys
@dataclasses.dataclass
class Config:
    n: int = 1
print(pickle.loads(pickle.dumps(Config(3))), sys.modules["__main__"].Config is Config, __name__, __file__)
print(__spec__, __package__, __doc__, __cached__, type(__loader__).__name__, sorted(globals())[:12])
try:
    from . import other
except ImportError as error:
    print(error)
""",
    "defaults": """
torch.set_default_dtype(torch.float64)
torch.set_default_device("cpu")
print((torch.ones(2) / 3), torch.get_default_device())
torch.set_default_device(None)
torch.set_default_dtype(torch.float32)
torch.use_deterministic_algorithms(True)
net(torch.ones(2, 3)).sum().backward()
torch.use_deterministic_algorithms(False)
with torch.autograd.set_detect_anomaly(True):
    (w * 2).sum().backward()
print(w.grad, torch.overrides.has_torch_function((w,)), torch.is_grad_enabled())
""",
    "keyword_operations": """
x, y = torch.ones(2, 3), torch.zeros(2, 3)
print(torch.add(input=x, other=y, alpha=2), torch.where(condition=x > 0, input=x, other=y), torch.argmax(input=x))
print(F.mse_loss(target=y, input=x), torch.clamp(input=x, max=0.5), torch.cat(tensors=[x, y], dim=0).shape)
print(F.cross_entropy(target=torch.tensor([0, 1]), input=x, reduction="sum"), torch.tensor(data=[1.0]))
h = w * 2
h.add_(other=1.0)
nn.init.constant_(tensor=net[0].bias, val=0.0)
h.requires_grad_(requires_grad=True)
torch.mul(input=x, other=2, out=y)
h[0:1].mul_(other=2)
h.sum().backward(retain_graph=True)
print(y, w.grad, x.detach().numpy(), torch.stack(tensors=(w, w)).sum(dim=0))
""",
    "monkeypatched": """
real = nn.utils.clip_grad_norm_
def mine(*args, **kwargs):
    print("mine")
    return real(*args, **kwargs)
nn.utils.clip_grad_norm_ = mine
(w * 2).sum().backward()
print(nn.utils.clip_grad_norm_([w], 1.0))
nn.utils.clip_grad_norm_ = real
init = nn.Module.__init__
nn.Module.__init__ = lambda self, *a, **k: init(self, *a, **k)
nn.Linear(2, 2)
nn.Module.__init__ = init
""",
    "exit": """
import sys
try:
    (w * 2).sum().backward()
    sys.exit(3)
finally:
    print("finally", w.grad)
""",
    "exit_with_a_message": """
raise SystemExit("the message")
""",
    "uncaught": """
def f(x):
    return x.view(7)
print("before")
f(w)
""",
    "lazy_parameters": """
lazy = nn.Sequential(nn.LazyLinear(2), nn.ReLU())
opt = torch.optim.SGD(lazy.parameters(), lr=0.1)
opt.zero_grad()
lazy(torch.ones(2, 3)).sum().backward()
opt.step()
print(lazy[0].weight)
""",
    "a_step_that_fails": """
class Failing(torch.optim.SGD):
    def step(self, closure=None):
        raise ValueError("no step")
class Own(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
opt = Failing(net.parameters(), lr=0.1)
for _ in range(2):
    try:
        opt.step()
    except ValueError as error:
        print(error)
    with Own():
        opt.zero_grad()
        print(type(torch.overrides._get_current_function_mode()).__name__)
    net(torch.ones(2, 3)).sum().backward()
    print(net[0].bias.grad)
""",
    "compiled": """
f = torch.compile(model=lambda x: (x * 2).relu(), backend="eager")
print(f(w))
@torch.compile(backend="eager")
def g(x):
    return x.sin()
print(g(w), g.__name__)
layer = torch.compile(net, backend="eager")
layer(torch.ones(2, 3)).sum().backward()
print(net[0].weight.grad is not None, type(layer).__name__)
""",
}
