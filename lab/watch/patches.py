"""Patch what the mode does not see: new parameters, optimizers and layers, and blocks without gradients."""

import ast
import re
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
from lab.watch.operations import note_pass
from lab.watch.order import check_late_clip
from lab.watch.records import node_of, origin_of
from lab.watch.sites import NOWHERE, Site, is_library, nodes_of, site, site_of, user_frame

GRAD_MODES = (torch.no_grad, torch.inference_mode)
MAX_RUNS = 100  # results in eval mode that are kept for one line
GRAD_MODE_FILE = torch.no_grad.__exit__.__code__.co_filename


class Patches:
    """Functions of PyTorch that also inform a watcher; `remove` restores the originals."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.originals: list[tuple[Any, str, Any]] = []
        self.handles: list[Any] = []
        self.eval_hook: Any = None  # hook on the results of modules in eval mode

    def install(self) -> None:
        self.handles = [
            register_optimizer_step_pre_hook(partial(steps.before_step, self.watcher)),
            register_optimizer_step_post_hook(partial(steps.after_step, self.watcher)),
        ]
        self.replace(torch.nn.Parameter, "__new__", self.new_parameter)
        self.replace(torch.optim.Optimizer, "__init__", self.optimizer_init)
        self.replace(torch.nn.Module, "__init__", self.module_init)
        self.replace(torch.optim.Optimizer, "zero_grad", self.zero_grad)
        self.replace(torch.nn.Module, "zero_grad", self.zero_grad)
        self.replace(torch.nn.Module, "train", self.train)
        self.replace(torch.optim.lr_scheduler.LRScheduler, "step", self.scheduler_step)
        self.replace(torch.autograd, "gradcheck", self.gradcheck)
        self.replace(torch.autograd, "gradgradcheck", self.gradcheck)
        self.replace(torch.nn.utils, "clip_grad_norm_", self.clip)
        self.replace(torch.nn.utils, "clip_grad_value_", self.clip)
        self.replace(torch.amp.GradScaler, "scale", self.scale)
        self.replace(torch, "compile", self.torch_compile)
        self.replace(torch.set_grad_enabled, "__init__", self.set_grad_enabled)
        self.replace(warnings, "showwarning", self.showwarning)
        for mode in GRAD_MODES:
            self.replace(mode, "__enter__", self.enter)
            self.replace(mode, "__exit__", self.exit)

    def remove(self) -> None:
        for owner, name, old in reversed(self.originals):
            setattr(owner, name, old)
        if self.eval_hook is not None:
            self.handles.append(self.eval_hook)
            self.eval_hook = None
        for handle in self.handles:
            handle.remove()
        self.originals.clear()
        self.handles.clear()

    def replace(self, owner: Any, name: str, method: Callable[..., Any]) -> None:
        """Let calls of a function of a class or module go to `method(function, ...)`, until `remove`."""
        old = vars(owner)[name]
        function = old.__func__ if isinstance(old, staticmethod) else old

        def new(*args: Any, **kwargs: Any) -> Any:
            return method(function, *args, **kwargs)

        new.__name__, new.__doc__, new.__wrapped__ = name, function.__doc__, function  # type: ignore[attr-defined]
        self.originals.append((owner, name, old))
        setattr(owner, name, staticmethod(new) if name == "__new__" else new)

    def new_parameter(self, old: Any, cls: Any, *args: Any, **kwargs: Any) -> Any:
        parameter = old(cls, *args, **kwargs)
        if parameter.requires_grad:
            leaf, caller = self.watcher.leaf(parameter, site(2)), sys._getframe(2)
            copied = caller.f_locals.get("self") if caller.f_code.co_name == "__deepcopy__" else None
            if id(copied) in self.watcher.leaves:
                leaf.init_site = self.watcher.leaves[id(copied)].init_site
        return parameter

    def optimizer_init(self, old: Any, optimizer: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        params = params if isinstance(params, (torch.Tensor, dict)) else list(params)
        self.watcher.last_optimizer_params = params
        old(optimizer, params, *args, **kwargs)
        steps.watched_optimizer(self.watcher, optimizer)

    def module_init(self, old: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        modules = self.watcher.modules
        if id(module) not in modules or modules[id(module)][0]() is not module:
            modules[id(module)] = (weakref.ref(module), site(2))
        old(module, *args, **kwargs)

    def zero_grad(self, old: Any, owner: Any, *args: Any, **kwargs: Any) -> Any:
        steps.note_zero_grad(self.watcher, owner, site(2))
        return old(owner, *args, **kwargs)

    def train(self, old: Any, module: Any, mode: bool = True) -> Any:
        """Watch calls of the model only in eval mode, which Module.eval() starts by train(False)."""
        if self.eval_hook is not None and mode:
            self.eval_hook.remove()
            self.eval_hook = None
        elif self.eval_hook is None and not mode:
            self.eval_hook = register_module_forward_hook(self.after_eval_forward)
        return old(module, mode)

    def after_eval_forward(self, module: Any, args: Any, result: Any) -> None:
        """Record that the script called a trained model in eval mode, with a graph."""
        if not torch.is_grad_enabled() or module.training or not isinstance(result, torch.Tensor):
            return
        frame, calls = sys._getframe(1), 0
        while frame is not None and calls < 2:
            calls += frame.f_code.co_name == "_call_impl"
            frame = frame.f_back  # type: ignore[assignment]
        node, leaves = node_of(result), self.watcher.leaves
        entry = None if node is None or calls > 1 else origin_of(node)  # another module called this one
        if entry is None:
            return
        owned = frozenset(map(id, module.parameters()))
        runs = self.watcher.eval_runs.setdefault(site(2), [])
        if len(runs) < MAX_RUNS and any(key in leaves and leaves[key].backward_count for key in owned):
            runs.append((entry, self.watcher.iteration, owned))
            node.register_prehook(partial(note_pass, entry))

    def scheduler_step(self, old: Any, scheduler: Any, *args: Any, **kwargs: Any) -> Any:
        here = site(2)
        if sys._getframe(2).f_code.co_filename == here.file:
            steps.note_scheduler_step(self.watcher, scheduler, here)
        return old(scheduler, *args, **kwargs)

    def gradcheck(self, old: Any, function: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return differences.run_gradcheck(self.watcher, old, function, inputs, args, kwargs)

    def clip(self, old: Any, parameters: Any, limit: Any, *args: Any, **kwargs: Any) -> Any:
        parameters = parameters if isinstance(parameters, torch.Tensor) else list(parameters)
        check_late_clip(self.watcher, parameters, limit, site(2))
        return old(parameters, limit, *args, **kwargs)

    def scale(self, old: Any, scaler: Any, outputs: Any) -> Any:
        result = old(scaler, outputs)
        steps.note_scaled_loss(self.watcher, result)
        return result

    def torch_compile(self, old: Any, model: Any = None, **kwargs: Any) -> Any:
        here = site(2)
        if model is None:
            return lambda function: self.torch_compile(old, function, **kwargs)
        compiled = old(model, **kwargs)
        self.watcher.compile_sites.append(here)
        if isinstance(compiled, torch.nn.Module):
            vars(compiled)["forward"] = without_watcher(self.watcher, compiled.forward)
            return compiled
        return without_watcher(self.watcher, compiled)

    def showwarning(self, old: Any, message: Any, category: Any, file: str, line: int, *rest: Any) -> None:
        """Show PyTorch's warning for the script's line, not for the watcher's line that called PyTorch."""
        here = site(2) if Path(file).parent == Path(__file__).parent else NOWHERE
        old(message, category, here.file or file, here.line or line, *rest)

    def set_grad_enabled(self, old: Any, mode: Any, enabled: bool) -> None:
        if sys._getframe(2).f_code.co_filename == GRAD_MODE_FILE:
            pass  # no_grad calls it too; its block is already recorded
        elif not enabled:
            self.watcher.grad_modes.append(("switch", site(2)))
        else:
            self.watcher.grad_modes[:] = [entry for entry in self.watcher.grad_modes if entry[0] != "switch"]
        old(mode, enabled)

    def enter(self, old: Any, mode: Any) -> Any:
        here = no_grad_site()
        self.watcher.grad_modes.append(("block", here))
        code = sys._getframe(2).f_code  # of the function with the block
        if is_library(code.co_filename) and code.co_name != "decorate_context":
            self.watcher.library_blocks[here] = code.co_name
        if isinstance(mode, torch.inference_mode):
            self.watcher.inference_mode_site = here
        return old(mode)

    def exit(self, old: Any, mode: Any, *ended: Any) -> Any:
        modes = self.watcher.grad_modes
        for index in range(len(modes) - 1, -1, -1):
            if modes[index][0] == "block":
                del modes[index]
                break
        return old(mode, *ended)


def without_watcher(watcher: Any, function: Any) -> Any:
    """Return a function that runs outside the mode, or a compiler would compile the watcher too."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _get_current_function_mode() is not watcher:  # type: ignore[no-untyped-call]
            return function(*args, **kwargs)
        with _pop_mode_temporarily():
            return function(*args, **kwargs)

    return call


def no_grad_site() -> Site:
    """Return where gradients are switched off: the `with`, or the decorator of the called function."""
    caller = sys._getframe(3)
    function = caller.f_locals.get("func") if caller.f_code.co_name == "decorate_context" else None
    if function is not None and hasattr(function, "__code__"):
        code = function.__code__
        return Site(code.co_filename, decorator_line(code.co_filename, code.co_firstlineno))
    return site_of(user_frame(caller))


def decorator_line(filename: str, first: int) -> int:
    """Return the line of the decorator that switches gradients off, for a function that begins in line `first`."""
    functions = [node.decorator_list for node in nodes_of(filename, ast.FunctionDef) if node.decorator_list]
    decorators = [part for parts in functions if parts[0].lineno == first for part in parts]
    off = (part.lineno for part in decorators if re.search("no_grad|inference_mode", ast.dump(part)))
    return next(off, first)
