"""What the mode does not see: how parameters, optimizers and layers are made, and where gradients are switched off."""

import sys
import warnings
import weakref
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import _get_current_function_mode, _pop_mode_temporarily

from lab.watch import differences, steps
from lab.watch.order import clipped
from lab.watch.sites import NOWHERE, Site, site, tree, user_frame
from lab.watch.tracks import Made, made, node_of

GRAD_MODES = (torch.no_grad, torch.inference_mode)
MAX_KEPT = 100  # results of one line
BLOCKS = torch.no_grad.__exit__.__code__.co_filename


class Patches:
    """Functions of PyTorch that also tell a watcher; `take_out` puts the old ones back."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.old: list[tuple[Any, str, Any]] = []
        self.handles: list[Any] = []
        self.evaluations: Any = None  # the hook on what modules in eval mode give

    def put_in(self) -> None:
        self.handles = [
            register_optimizer_step_pre_hook(partial(steps.before_step, self.watcher)),
            register_optimizer_step_post_hook(partial(steps.after_step, self.watcher)),
        ]
        self.replace(torch.nn.Parameter, "__new__", self.parameter)
        self.replace(torch.optim.Optimizer, "__init__", self.optimizer)
        self.replace(torch.nn.Module, "__init__", self.module)
        self.replace(torch.optim.Optimizer, "zero_grad", self.clear)
        self.replace(torch.nn.Module, "zero_grad", self.clear)
        self.replace(torch.nn.Module, "train", self.train)
        self.replace(torch.optim.lr_scheduler.LRScheduler, "step", self.scheduler)
        self.replace(torch.autograd, "gradcheck", self.gradcheck)
        self.replace(torch.autograd, "gradgradcheck", self.gradcheck)
        self.replace(torch.nn.utils, "clip_grad_norm_", self.clip)
        self.replace(torch.nn.utils, "clip_grad_value_", self.clip)
        self.replace(torch.amp.GradScaler, "scale", self.scale)
        self.replace(torch, "compile", self.compiler)
        self.replace(torch.set_grad_enabled, "__init__", self.switch)
        self.replace(warnings, "showwarning", self.warning)
        for mode in GRAD_MODES:
            self.replace(mode, "__enter__", self.enter)
            self.replace(mode, "__exit__", self.leave)

    def take_out(self) -> None:
        for owner, name, old in reversed(self.old):
            setattr(owner, name, old)
        if self.evaluations is not None:
            self.handles.append(self.evaluations)
            self.evaluations = None
        for handle in self.handles:
            handle.remove()
        self.old.clear()
        self.handles.clear()

    def replace(self, owner: Any, name: str, wrapped: Callable[[Any], Any]) -> None:
        old = vars(owner)[name]
        function = old.__func__ if isinstance(old, staticmethod) else old
        new = wrapped(function)
        new.__name__, new.__doc__, new.__wrapped__ = name, function.__doc__, function
        self.old.append((owner, name, old))
        setattr(owner, name, staticmethod(new) if name == "__new__" else new)

    def parameter(self, old: Any) -> Any:
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            made = old(cls, *args, **kwargs)
            here = site(2)
            if made.requires_grad:
                self.watcher.leaf(made, here)
            return made

        return __new__

    def optimizer(self, old: Any) -> Any:
        def __init__(optimizer: Any, params: Any, *args: Any, **kwargs: Any) -> None:
            params = params if isinstance(params, (torch.Tensor, dict)) else list(params)
            self.watcher.last_params = params
            old(optimizer, params, *args, **kwargs)
            steps.track_of(self.watcher, optimizer)

        return __init__

    def module(self, old: Any) -> Any:
        modules = self.watcher.modules

        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
            if id(module) not in modules or modules[id(module)][0]() is not module:
                modules[id(module)] = (weakref.ref(module), site(2))
            old(module, *args, **kwargs)

        return __init__

    def clear(self, old: Any) -> Any:
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            steps.clears(self.watcher, owner, site(2))
            return old(owner, *args, **kwargs)

        return zero_grad

    def train(self, old: Any) -> Any:
        def train(module: Any, mode: bool = True) -> Any:
            """Module.eval() calls this with False; only while a model is in eval mode its calls are looked at."""
            if self.evaluations is not None and mode:
                self.evaluations.remove()
                self.evaluations = None
            elif self.evaluations is None and not mode:
                self.evaluations = register_module_forward_hook(self.evaluated)
            return old(module, mode)

        return train

    def evaluated(self, module: Any, args: Any, result: Any) -> None:
        """A module in eval mode has run."""
        if not torch.is_grad_enabled() or module.training or not isinstance(result, torch.Tensor):
            return
        frame, calls = sys._getframe(1), 0
        while frame is not None and calls < 2:
            calls += frame.f_code.co_name == "_call_impl"
            frame = frame.f_back  # type: ignore[assignment]
        node, leaves = node_of(result), self.watcher.leaves
        entry = None if node is None or calls > 1 else made(node)  # another module called this one
        if entry is None:
            return
        owned = frozenset(map(id, module.parameters()))
        runs = self.watcher.evaluations.setdefault(site(2), [])
        if len(runs) < MAX_KEPT and any(key in leaves and leaves[key].got for key in owned):
            runs.append((entry, self.watcher.turn, owned))
            node.register_prehook(partial(note_pass, entry))

    def scheduler(self, old: Any) -> Any:
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            here = site(2)
            if caller == here.file:
                steps.scheduled(self.watcher, scheduler, here)
            return old(scheduler, *args, **kwargs)

        return step

    def gradcheck(self, old: Any) -> Any:
        def gradcheck(function: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            return differences.checked(self.watcher, old, function, inputs, args, kwargs)

        return gradcheck

    def clip(self, old: Any) -> Any:
        def clip(parameters: Any, limit: Any, *args: Any, **kwargs: Any) -> Any:
            parameters = parameters if isinstance(parameters, torch.Tensor) else list(parameters)
            clipped(self.watcher, parameters, limit, site(2))
            return old(parameters, limit, *args, **kwargs)

        return clip

    def scale(self, old: Any) -> Any:
        def scale(scaler: Any, outputs: Any) -> Any:
            result = old(scaler, outputs)
            steps.scaled_loss(self.watcher, result)
            return result

        return scale

    def compiler(self, old: Any) -> Any:
        def unwatched_compile(model: Any = None, **kwargs: Any) -> Any:
            here = site(2)
            if model is None:
                return lambda function: unwatched_compile(function, **kwargs)
            compiled = old(model, **kwargs)
            self.watcher.compiled.append(here)
            if isinstance(compiled, torch.nn.Module):
                vars(compiled)["forward"] = unwatched(self.watcher, compiled.forward)
                return compiled
            return unwatched(self.watcher, compiled)

        return unwatched_compile

    def warning(self, old: Any) -> Any:
        def showwarning(message: Any, category: Any, file: str, line: int, *rest: Any) -> None:
            """PyTorch warns of the line that called it. Here that is one of the mode's: name the script's own."""
            here = site(2) if Path(file).parent == Path(__file__).parent else NOWHERE
            old(message, category, here.file or file, here.line or line, *rest)

        return showwarning

    def switch(self, old: Any) -> Any:
        def __init__(mode: Any, enabled: bool) -> None:
            if sys._getframe(1).f_code.co_filename == BLOCKS:
                pass  # no_grad switches with it; its block is known
            elif not enabled:
                self.watcher.grad_modes.append(("switch", site(2)))
            else:
                self.watcher.grad_modes[:] = [entry for entry in self.watcher.grad_modes if entry[0] != "switch"]
            old(mode, enabled)

        return __init__

    def enter(self, old: Any) -> Any:
        def __enter__(mode: Any) -> Any:
            here = entered()
            self.watcher.grad_modes.append(("block", here))
            if isinstance(mode, torch.inference_mode):
                self.watcher.inference = here
            return old(mode)

        return __enter__

    def leave(self, old: Any) -> Any:
        def __exit__(mode: Any, *ended: Any) -> Any:
            modes = self.watcher.grad_modes
            for index in range(len(modes) - 1, -1, -1):
                if modes[index][0] == "block":
                    del modes[index]
                    break
            return old(mode, *ended)

        return __exit__


def note_pass(entry: Made, gradients: Any) -> None:
    """A backward pass goes through a node."""
    entry.passed = entry.passed or 1


def unwatched(watcher: Any, function: Any) -> Any:
    """A function that runs outside the mode: a compiler would compile the watcher, too."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _get_current_function_mode() is not watcher:  # type: ignore[no-untyped-call]
            return function(*args, **kwargs)
        with _pop_mode_temporarily():
            return function(*args, **kwargs)

    return call


def entered() -> Site:
    """Where gradients are switched off: the `with`, or the decorator of the function that is called."""
    caller = sys._getframe(2)
    function = caller.f_locals.get("func") if caller.f_code.co_name == "decorate_context" else None
    if function is not None and hasattr(function, "__code__"):
        code = function.__code__
        return Site(code.co_filename, decorator_line(code.co_filename, code.co_firstlineno))
    frame = user_frame(caller)
    return Site("", 0) if frame is None else Site(frame.f_code.co_filename, frame.f_lineno, frame.f_lasti)


def decorator_line(filename: str, first: int) -> int:
    """The line of the decorator that switches gradients off, of the function that begins in line `first`."""
    import ast

    for node in ast.walk(tree(filename)):
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.decorator_list[0].lineno == first:
            for decorator in node.decorator_list:
                if any(word in ast.dump(decorator) for word in ("no_grad", "inference_mode")):
                    return decorator.lineno
    return first
