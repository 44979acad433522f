"""Patch what the mode does not see: new parameters, optimizers and layers, and blocks without gradients.

A patch gives a look (see onlooker.py) the function, and its arguments as they were given.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import GeneratorType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from lab.watch import cuts, differences, steps
from lab.watch.onlooker import Listener, Look, arguments, outside
from lab.watch.order import check_clip
from lab.watch.records import node_of, origin_of
from lab.watch.run import WatchedRun
from lab.watch.sites import outer_frame, site

MAX_RUNS = 100  # results in eval mode that are kept for one line


class Patches:
    """Functions of PyTorch that also inform a watcher."""

    def __init__(self, watcher: Listener, run: WatchedRun) -> None:
        self.watcher, self.run = watcher, run
        self.eval_hook: Any = None  # hook on the results of modules in eval mode

    def install(self) -> None:
        """Patch the functions in a table, and register the hooks, for the watcher's block."""
        watcher = self.watcher
        watcher.hook(register_optimizer_step_pre_hook, partial(steps.before_step, self.run))
        watcher.hook(register_optimizer_step_post_hook, partial(steps.after_step, self.run))
        watcher.patch(
            (torch.nn.Parameter, "__new__", self.new_parameter),
            (torch.optim.Optimizer, "__init__", self.optimizer_init),
            (torch.nn.Module, "__init__", self.module_init),
            (torch.optim.Optimizer, "zero_grad", self.zero_grad),
            (torch.nn.Module, "zero_grad", self.zero_grad),
            (torch.nn.Module, "train", self.train),
            (torch.optim.lr_scheduler.LRScheduler, "step", self.scheduler_step),
            (torch.autograd, "gradcheck", self.gradcheck),
            (torch.autograd, "gradgradcheck", self.gradcheck),
            (torch.nn.utils, "clip_grad_norm_", self.clip),
            (torch.nn.utils, "clip_grad_value_", self.clip),
            (torch.amp.GradScaler, "scale", self.scale),
            (torch, "compile", self.torch_compile),
            (torch.inference_mode, "__enter__", self.enter_inference),
        )
        # Some layers choose a faster kernel if nobody looks on
        watcher.replace(torch.overrides, "has_torch_function", outside(torch.overrides.has_torch_function))

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Look at no operation in a block: those of a patched function are not the script's."""
        self.watcher.depth += 1
        try:
            yield
        finally:
            self.watcher.depth -= 1

    def new_parameter(self, old: Any, args: Any, kwargs: Any) -> Look:
        parameter = yield
        if parameter.requires_grad:
            leaf, caller = self.run.leaf(parameter, site()), outer_frame()
            copied = caller.f_locals.get("self") if caller.f_code.co_name == "__deepcopy__" else None
            if id(copied) in self.run.tensors.leaves:
                leaf.init_site = self.run.tensors.leaves[id(copied)].init_site

    def optimizer_init(self, old: Any, args: Any, kwargs: Any) -> Look:
        yield
        steps.watched_optimizer(self.run, arguments(old, args, kwargs)["self"])

    def module_init(self, old: Any, args: Any, kwargs: Any) -> Look:
        modules, module = self.run.tensors.modules, args[0]
        if id(module) not in modules or modules[id(module)][0]() is not module:
            modules[id(module)] = (weakref.ref(module), site())
        yield

    def zero_grad(self, old: Any, args: Any, kwargs: Any) -> Look:
        steps.note_zero_grad(self.run, args[0], site())
        with self.unwatched():
            yield

    def train(self, old: Any, args: Any, kwargs: Any) -> Look:
        """Watch calls of the model only in eval mode, which Module.eval() starts by train(False)."""
        yield
        mode = arguments(old, args, kwargs)["mode"]
        self.run.clock.evaluating = not mode
        if self.eval_hook is not None and mode:
            self.eval_hook.remove()
            self.eval_hook = None
        elif self.eval_hook is None and not mode:
            self.watcher.hook(register_module_forward_hook, self.after_eval_forward)
            self.eval_hook = self.watcher.handles[-1]

    def after_eval_forward(self, module: Any, args: Any, result: Any) -> None:
        """Record that the script called a trained model in eval mode, with a graph."""
        if not torch.is_grad_enabled() or module.training or not isinstance(result, torch.Tensor):
            return
        frame, calls = outer_frame(), 0
        while frame is not None and calls < 2:
            calls += frame.f_code.co_name == "_call_impl"
            frame = frame.f_back  # type: ignore[assignment]
        entry, leaves = origin_of(node_of(result)), self.run.tensors.leaves
        if entry is None or calls > 1:  # another module called this one
            return
        owned = frozenset(map(id, module.parameters()))
        runs = self.run.graphs.evaluations.setdefault(site(), [])
        if len(runs) < MAX_RUNS and any(key in leaves and leaves[key].backward_count for key in owned):
            runs.append((entry, self.run.clock.iteration, owned))

    def scheduler_step(self, old: Any, args: Any, kwargs: Any) -> Look:
        here = site()
        steps.note_scheduler_step(self.run, args[0], here, made=outer_frame().f_code.co_filename != here.file)
        yield

    def gradcheck(self, old: Any, args: Any, kwargs: Any) -> Look:
        with self.unwatched():
            yield from differences.look_at_gradcheck(self.run, old, args, kwargs)

    def clip(self, old: Any, args: Any, kwargs: Any) -> Look:
        """Look at what is clipped; a generator is passed on item by item."""
        seen: list[torch.Tensor] = []
        name = "parameters"
        given = args[0] if args else kwargs.get(name)
        if isinstance(given, GeneratorType):
            passed = passed_on(given, seen)
            yield ((passed, *args[1:]), kwargs) if args else (args, {**kwargs, name: passed})
        else:
            yield
            once = isinstance(given, Iterator)  # it is used up
            seen += [given] if isinstance(given, torch.Tensor) else [] if once else list(given)
        _, limit, *_ = arguments(old, args, kwargs).values()
        check_clip(self.run, seen, limit, site())

    def scale(self, old: Any, args: Any, kwargs: Any) -> Look:
        result = yield
        steps.note_scaled_loss(self.run, result)

    def torch_compile(self, old: Any, args: Any, kwargs: Any) -> Look:
        """Let what is compiled run outside the mode, or a compiler would compile the watcher too."""
        compiled = yield
        if arguments(old, args, kwargs)["model"] is None:  # a decorator, which calls this function again
            return None
        self.watcher.unwatched.setdefault("torch.compile made here", site())
        if isinstance(compiled, torch.nn.Module):
            vars(compiled)["forward"] = outside(compiled.forward)
            return None
        return outside(compiled)

    def enter_inference(self, old: Any, args: Any, kwargs: Any) -> Look:
        self.run.cuts.inference_site = site()
        cuts.note_grad_mode(self.run, False)
        yield


def passed_on(items: Iterator[Any], seen: list[Any]) -> Iterator[Any]:
    """Yield items, and note them."""
    for item in items:
        seen.append(item)
        yield item
