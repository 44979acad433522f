"""Look on while a script runs: one mode, whose listeners are the watcher and the recorder.

A look is a generator: what stands before its `yield` runs before a function of the script, `yield` gives the function's
result, and what follows runs after it. All code of this package that runs inside a script goes through
`Listener.guarded`, so an error in it ends the looking and never reaches the script.
"""

import inspect
import multiprocessing.util
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial, wraps
from types import FrameType, FunctionType, ModuleType
from typing import Any, TypeAlias

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _len_torch_function_stack

from lab.watch.records import has_numbers, writes_in_place
from lab.watch.sites import CALL, Site, outer_frame, site, without_us

Look = Generator[Any, Any, Any]
Function: TypeAlias = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Starter: TypeAlias = "tuple[Listener, Callable[..., Look | None]]"  # a listener, and what starts its look
UNWATCHED = frozenset(("size", "dim", "numel", "stride", "data_ptr", "is_floating_point"))
UNWATCHED |= {"__len__", "__format__", "__repr__", "__hash__", "__bool__"}
UNWATCHED |= {"_record_function_enter_new", "_record_function_exit", "_record_function_exit._RecordFunction"}
VIEW_ATTRIBUTES = frozenset(("T", "mT", "H", "mH", "real", "imag", "data"))  # attributes whose read is an operation
ATTRIBUTES = {"__get__": VIEW_ATTRIBUTES | {"grad"}, "__set__": {"data", "grad", "requires_grad"}}  # looked at


class Mode(TorchFunctionMode):
    """The one function mode of this package. It calls each operation of the script, and its listeners look on."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners: list[Listener] = []
        self.calls: dict[tuple[str, int, int], Any] = {}  # file, line, id of its globals -> function that calls there
        self.thread = threading.get_ident()  # the only one that it looks at
        self.steps: list[FrameType] = []  # running calls of an optimizer's step, the innermost last
        self.left_at = -1  # number of modes beside this one when it left their stack; -1 while it is there
        self.handles: list[Any] = []  # of hooks

    def begin(self) -> None:
        self.handles = [
            register_optimizer_step_pre_hook(self.step_begins),
            register_optimizer_step_post_hook(self.step_ends),
        ]
        self.__enter__()  # type: ignore[no-untyped-call]

    def end(self) -> None:
        for handle in self.handles:
            handle.remove()
        if _get_current_function_mode() is self:  # type: ignore[no-untyped-call]
            self.__exit__(None, None, None)  # else a signal has cost it its place, or the script has left a mode on it

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Look away while an optimizer steps, unless it calls a function of the script; a hook of PyTorch."""
        if has_closure(args, kwargs) or threading.get_ident() != self.thread:
            return
        self.steps.append(outer_frame())
        if _get_current_function_mode() is self:  # type: ignore[no-untyped-call]
            self.__exit__(None, None, None)
            self.left_at = _len_torch_function_stack()

    def step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not has_closure(args, kwargs) and threading.get_ident() == self.thread:
            del self.steps[-1:]
            self.come_back()

    def stepping(self) -> bool:
        """Return whether an optimizer steps."""
        while self.steps:
            if any(frame is self.steps[-1] for frame, _ in traceback.walk_stack(sys._getframe())):
                return True
            self.steps.pop()  # it raised an error
            self.come_back()
        return False

    def come_back(self) -> None:
        """Look on again after a step, unless the script has entered a mode since or left one."""
        if not self.steps and self.left_at == _len_torch_function_stack():
            self.__enter__()  # type: ignore[no-untyped-call]
            self.left_at = -1

    def __torch_function__(self, func: Function, types: Any, args: Args = (), kwargs: Kwargs | None = None) -> Any:
        try:
            name = getattr(func, "__name__", "")
            if name in UNWATCHED:
                return func(*args, **(kwargs or {}))
            looks = [(one, one.look) for one in self.listeners if one.concerns(name, func)]
            if not looks:
                return self.call(sys._getframe(1), func, args, kwargs or {})
            return self.attend(sys._getframe(1), looks, func, args, kwargs or {})
        except BaseException as error:
            error.__traceback__ = without_us(error.__traceback__)
            raise

    def attend(
        self, caller: FrameType, looks: Sequence[Starter], function: Function, args: Args, kwargs: Kwargs
    ) -> Any:
        """Call a function of the script, and look on. A look may `yield` other arguments and return another result."""
        lookings: list[tuple[Listener, Look]] = []
        for listener, look in looks:
            looking, given = listener.guarded(begin, look, function, args, kwargs) or (None, None)
            args, kwargs = given or (args, kwargs)
            if looking is not None:
                lookings.append((listener, looking))
        if not lookings:
            return self.call(caller, function, args, kwargs)
        try:
            result = self.call(caller, function, args, kwargs)
        except BaseException as error:
            trace = error.__traceback__
            for listener, looking in lookings:
                listener.guarded(looking.throw, error)
            error.__traceback__ = trace
            raise
        for listener, looking in lookings:
            other = listener.guarded(looking.send, result)
            result = result if other is None else other
        return result

    def call(self, caller: FrameType, function: Function, args: Args, kwargs: Kwargs) -> Any:
        """Call a function as the line of the script does, so that a warning names that line and is filtered by it."""
        if sys.gettrace() is not None or sys.getprofile() is not None:  # would see the call
            return function(*args, **kwargs)
        frame = outer_frame(caller)
        if frame.f_code is HANDLER and frame.f_back is not None and frame.f_back.f_back is not None:
            frame = frame.f_back.f_back  # the call of the function that asked for the mode
        key = frame.f_code.co_filename, frame.f_lineno, id(frame.f_globals)
        call = self.calls.get(key)
        if call is None:
            code = _call.__code__.replace(co_filename=key[0], co_firstlineno=max(key[1] - 1, 1), co_name=CALL)
            call = self.calls[key] = FunctionType(code, frame.f_globals)
        return call(function, args, kwargs)


class Listener:
    """Looks at operations, patched functions and hooks for a `with` block, which a script cannot tell from a run
    without it. Several share the mode of the outermost."""

    def __init__(self) -> None:
        self.mode = Mode()
        self.active = False
        self.failure = ""  # why it stopped looking before the block ended
        self.looking = False  # own code is running
        self.depth = 0  # above 0 inside a function whose operations are not the script's
        self.unwatched: dict[str, Site] = {}  # what runs unwatched -> the first line that did
        self.patched: list[tuple[Any, str, Any, Any]] = []  # owner, name, original, replacement
        self.handles: list[Any] = []  # of hooks

    def install(self) -> None:
        """Patch functions and register hooks; `__exit__` removes them."""

    def concerns(self, name: str, function: Function) -> bool:
        """Return from its name alone whether an operation may get a look now: most get none. This runs unguarded."""
        if not self.active or self.looking or self.depth:
            return False
        if name in ATTRIBUTES and attribute_of(function) not in ATTRIBUTES[name]:
            return False
        return threading.get_ident() == self.mode.thread and not (self.mode.steps and self.mode.stepping())

    def look(self, function: Function, args: Args, kwargs: Kwargs) -> Look | None:
        """Return the look for a function that the mode saw, or None."""
        return None if self.left_alone() else self.look_at(name_of(function), function, args, kwargs)

    def look_at(self, name: str, function: Function, args: Args, kwargs: Kwargs) -> Look | None:
        """Return the look for an operation, if its operands have numbers."""
        given = in_order(args, kwargs)
        operands = tensors_in(given)
        if not all(map(has_numbers, operands)):
            return None
        in_place = writes_in_place(name) and bool(operands) and operands[0] is given[0]
        return (self.write if in_place else self.operation)(name, given, operands)

    def operation(self, name: str, given: Args, operands: list[torch.Tensor]) -> Look:
        """Look at an operation; `given` are all its arguments, in their order."""
        raise NotImplementedError

    def write(self, name: str, given: Args, operands: list[torch.Tensor]) -> Look:
        """Look at an operation that writes to its first operand."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        self.active = True
        multiprocessing.util.register_after_fork(self, Listener.leave)  # a worker process is not the script
        running = _get_current_function_mode()  # type: ignore[no-untyped-call]
        self.mode = running if isinstance(running, Mode) else Mode()
        self.guarded(self.install)
        if self.mode is not running:
            self.mode.begin()
        self.mode.listeners.append(self)
        return self

    def __exit__(self, *ended: object) -> None:
        self.mode.listeners.remove(self)
        if not self.mode.listeners:
            self.mode.end()
        self.active = False
        for owner, name, old, new in reversed(self.patched):
            for holder in [owner] if isinstance(owner, type) else modules_with(name, new):  # others may import it since
                if vars(holder).get(name) is new:  # the script may have put something else there
                    setattr(holder, name, old)
        for handle in self.handles:
            handle.remove()
        for store in (self.patched, self.handles):
            store.clear()

    def leave(self) -> None:
        self.active = False

    # Own code

    def guarded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run own code; the script's modes, subclasses and profilers do not see its operations.

        Returns None if it fails, which ends the looking. A look that is given an error of the script raises it again.
        """
        if not self.active or self.looking or threading.get_ident() != self.mode.thread:
            return None
        self.looking = True
        try:
            with torch._C.DisableTorchFunction():
                if torch._C._len_torch_dispatch_stack() or torch._C._autograd._profiler_enabled():
                    with hidden():
                        return function(*args)
                return function(*args)
        except StopIteration as ended:
            return ended.value
        except Exception as error:
            if not any(error is given for given in args):
                if runs_signal_handler(error):
                    raise
                self.active = False
                last = traceback.extract_tb(error.__traceback__)[-1]
                self.failure = f"{type(error).__name__} in {last.filename}:{last.lineno}: {error}"
            return None
        finally:
            self.looking = False

    # Patches and hooks

    def patch(self, *rows: tuple[Any, str, Callable[..., Look]]) -> None:
        """Let calls of functions be looked at: of a class, or of a module and of all that imported it from there."""
        for owner, name, look in rows:
            old = vars(owner)[name]
            function = old.__func__ if isinstance(old, (staticmethod, classmethod)) else old
            new = self.looked_at(function, look, isinstance(owner, type))
            for holder in [owner] if isinstance(owner, type) else modules_with(name, old):
                self.replace(holder, name, type(old)(new) if function is not old else new)

    def looked_at(self, function: Function, look: Callable[..., Look], is_method: bool) -> Any:
        """Return a function that calls another one and looks on."""

        @wraps(function)
        def new(*args: Any, **kwargs: Any) -> Any:
            try:
                lacks_object = is_method and not args  # it refuses the call
                if lacks_object or (self.mode.steps and self.mode.stepping()):
                    return self.mode.call(sys._getframe(1), function, args, kwargs)
                return self.mode.attend(sys._getframe(1), [(self, look)], function, args, kwargs)
            except BaseException as error:
                error.__traceback__ = without_us(error.__traceback__)
                raise

        return new

    def replace(self, owner: Any, name: str, new: Any) -> None:
        """Replace an attribute for the block."""
        self.patched.append((owner, name, vars(owner)[name], new))
        setattr(owner, name, new)

    def hook(self, register: Callable[..., Any], function: Callable[..., None], **options: Any) -> None:
        """Register a hook of PyTorch for the block."""
        self.handles.append(register(partial(self.guarded, function), **options))

    # What is not the script's, or is not to be touched

    @contextmanager
    def away(self) -> Iterator[None]:
        """Look at no operation in a block: those of the function that runs are not the script's."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def paused(self) -> bool:
        """Return whether an optimizer, or another function whose operations are not the script's, is running."""
        return self.depth > 0 or self.mode.stepping()

    def left_alone(self) -> bool:
        """Return whether the operations that run are transformed or traced: they have no numbers of their own. Note the
        first line of each kind."""
        if torch._C._functorch.peek_interpreter_stack() is not None:
            kind = "torch.func transforms"
        elif torch._C._get_tracing_state():
            kind = "torch.jit traces"
        elif torch.compiler.is_compiling():
            kind = "torch.compile or torch.export compiles"
        else:
            return False
        if not self.unwatched.get(kind):
            self.unwatched[kind] = site()
        return True


def attribute_of(function: Function) -> str:
    """Return the name of the attribute that a function reads or sets."""
    return str(getattr(function, "__self__", function).__name__)


def name_of(function: Function) -> str:
    """Return the name of an operation: of the attribute, if it reads one that is a view of the tensor."""
    name: str = getattr(function, "__name__", "")
    attribute = attribute_of(function) if name == "__get__" else ""
    return attribute if attribute in VIEW_ATTRIBUTES else name


def in_order(args: Args, kwargs: Kwargs) -> Args:
    """Return the arguments of an operation in their order, that by the name of `input`, the first of most, first."""
    return (*args, *(kwargs[name] for name in sorted(kwargs, key="input".__ne__))) if kwargs else args


def tensors_in(values: Args) -> list[torch.Tensor]:
    """Return the tensors among the arguments of an operation, also those in lists and tuples."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [part for part in value if isinstance(part, torch.Tensor)]
    return found


HANDLER = torch.overrides.handle_torch_function.__code__


def _call(function, args, kwargs):  # type: ignore[no-untyped-def]  # its code is copied for each line of a script
    return function(*args, **kwargs)


def begin(look: Callable[..., Look | None], function: Function, args: Any, kwargs: Any) -> tuple[Look, Any] | None:
    """Start a look; return it, and the arguments to call the function with, or None for those given."""
    looking = look(function, args, kwargs)
    return None if looking is None else (looking, next(looking))


def has_closure(args: Args, kwargs: Kwargs) -> bool:
    """Return whether a step got a function that computes the loss again."""
    return callable(args[1] if len(args) > 1 else kwargs.get("closure"))


@contextmanager
def hidden() -> Iterator[None]:
    """Hide the operations of a block from dispatch modes and profilers."""
    profiled = torch._C._autograd._profiler_enabled()
    with torch._C._DisableTorchDispatch():
        if profiled:
            torch._C._autograd._enable_record_function(False)
        try:
            yield
        finally:
            if profiled:
                torch._C._autograd._enable_record_function(True)


def runs_signal_handler(error: BaseException) -> bool:
    """Return whether an error was raised by a signal handler of the script, which may run in the middle of own code."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = [getattr(handler, "__code__", None) for handler in handlers]
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def modules_with(name: str, value: Any) -> list[ModuleType]:
    """Return the modules that have this very object by this name."""
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    return [module for module in modules if vars(module).get(name) is value]


@cache
def defaults_of(function: Function) -> dict[str, Any]:
    """Return the parameters of a function by name, with their defaults; none if it does not tell them."""
    try:
        return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    except (TypeError, ValueError):
        return {}


def arguments(function: Function, args: Args, kwargs: Kwargs) -> dict[str, Any]:
    """Return the arguments of a call by name, with defaults. Whether they fit, the function itself will say."""
    defaults = defaults_of(function)
    return defaults | dict(zip(defaults, args, strict=False)) | kwargs


def outside(function: Function) -> Any:
    """Return a function that runs outside the modes of this package."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as stack:
            while isinstance(_get_current_function_mode(), Mode):  # type: ignore[no-untyped-call]
                stack.enter_context(torch.overrides._pop_mode_temporarily())
            return function(*args, **kwargs)

    return call
