"""Records one forward and one backward pass of a learner's own engine, in the process of the learner's code.

This file is sent there as the text of a program (see lab/practice/learner_engine.py) and uses nothing of the project.
It relies only on what the tasks ask for. `LineWatch` needs `data`, `grad`, `_children`, `_op` and `_backward` of a
class; it watches each new object, each closure that runs, and each gradient that is set. `FunctionsWatch` needs `data`,
`grad` and `grad_fn` of a Tensor, `inputs` and `saved_tensors` of a context; it watches `forward` and `backward` of each
Function, and each gradient that is set.
"""

import sys
from collections.abc import Callable, Mapping
from inspect import getattr_static
from types import FrameType, FunctionType
from typing import Any

import numpy as np

NOTHING: Any = object()  # stands for a missing class attribute


def follow(watch: "LineWatch", build: Callable[..., Any], leaves: dict[str, Any], upstream: Any) -> dict[str, Any]:
    """Run `build(**leaves)` and its backward pass; return the recorded pass as plain data for lab.trace.

    build     computes the result from objects of the watched class
    leaves    name -> number or array
    upstream  the argument of `backward`, or None if it takes none
    """
    try:
        tensors = {name: watch.engine(value) for name, value in leaves.items()}
        output = build(**tensors)
        watch.forward_is_over(output, tensors)
        output.backward(*(() if upstream is None else (upstream,)))
    finally:
        watch.end()
    return watch.recorded(output, tensors)


class LineWatch:
    """A recorder that patches the learner's class; `end` removes the patches.

    engine  the class
    file    the name of the learner's file in tracebacks
    """

    def __init__(self, engine: Any, file: str) -> None:
        self.engine, self.file = engine, file
        # every object in the order of creation, with the function and line where it was made
        self.made: list[tuple[Any, str, int]] = []
        self.ids: dict[int, int] = {}  # id() of an object -> its number, once the forward pass is over
        self.events: list[dict[str, Any]] = []
        self.functions: dict[str, int] = {}  # qualified name -> its first line
        self.running: list[tuple[int, np.ndarray]] = []  # (node, upstream gradient) of each closure that runs
        self.known: dict[int, np.ndarray | None] = {}  # id() of an object -> a copy of the gradient as it was last set
        self.init, self.own = engine.__init__, vars(engine).get("grad", NOTHING)
        watch = self

        def __init__(self: Any, *arguments: Any, **named: Any) -> None:
            frame = sys._getframe(1)
            watch.init(self, *arguments, **named)
            watch.made.append((self, *watch.place(frame)))

        engine.__init__ = __init__
        engine.grad = property(self.read, self.write)

    def end(self) -> None:
        self.engine.__init__ = self.init
        if self.own is NOTHING:
            del self.engine.grad
        else:
            self.engine.grad = self.own

    def place(self, frame: FrameType | None) -> tuple[str, int]:
        """Find the innermost function of the learner's file in the stack, and its line; ("", 0) if there is none."""
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        if frame is None or frame.f_code.co_name == "<module>":
            return "", 0
        name = frame.f_code.co_qualname.split(".<locals>")[0]
        self.functions[name] = min(frame.f_code.co_firstlineno, self.functions.get(name, 10**9))
        return name, frame.f_lineno

    # -- a gradient is read or set

    def read(self, tensor: Any) -> Any:
        if hasattr(self.own, "__get__"):  # a slot, or a property of the learner's
            return self.own.__get__(tensor, type(tensor))
        if "grad" not in vars(tensor) and self.own is NOTHING:
            raise AttributeError("grad")
        return vars(tensor).get("grad", self.own)

    def write(self, tensor: Any, value: Any) -> None:
        if hasattr(self.own, "__set__"):
            self.own.__set__(tensor, value)
        else:
            vars(tensor)["grad"] = value
        if id(tensor) not in self.ids:
            return
        self.changed(tensor, value, *self.place(sys._getframe(1)))

    def changed(self, tensor: Any, value: Any, source: str, line: int) -> None:
        """Record that a gradient became `value`: by a message of the running closure, or else as the seed."""
        number, before = self.ids[id(tensor)], self.known.get(id(tensor))
        after = None if value is None else np.array(value, float)
        # A gradient set to 0 outside of a closure counts as None: nothing has arrived.
        self.known[id(tensor)] = None if after is None or not (self.running or after.any()) else after
        where = {"source": source, "line": line}
        if self.running and after is not None:
            sender, given = self.running[-1]
            start = np.zeros_like(after) if before is None else before
            message = after - start if start.shape == after.shape else after
            sent = {"node": sender, "child": number, "upstream": given, "contribution": message}
            added = {"before": start, "message": message, "after": after, "first": before is None}
            self.events += [
                {"kind": "message", **sent, **where},
                {"kind": "accumulate", "node": number, **added, **where},
            ]
        elif after is not None and after.any():
            self.events.append({"kind": "seed", "node": number, "grad": after, **where})

    def catch_up(self, tensor: Any, source: str, line: int) -> None:
        """Record a gradient that changed without being set, as some engines compute it only when it is read."""
        grad, known = tensor.grad, self.known.get(id(tensor))
        if not np.array_equal(0.0 if grad is None else grad, 0.0 if known is None else known, equal_nan=True):
            self.changed(tensor, grad, source, line)

    # -- the forward pass is over

    def forward_is_over(self, output: Any, tensors: dict[str, Any]) -> None:
        """Assign a number to each node that the result was computed from, and watch the closures."""
        reached: set[int] = set()
        stack = [output]
        while stack:
            node = stack.pop()
            if id(node) not in reached:
                reached.add(id(node))
                stack.extend(node._children)
        reached |= {id(leaf) for leaf in tensors.values()}
        self.nodes = [entry for entry in self.made if id(entry[0]) in reached]
        self.ids = {id(entry[0]): number for number, entry in enumerate(self.nodes)}
        self.captured: dict[int, list[dict[str, Any]]] = {}
        for number, (node, name, line) in enumerate(self.nodes):
            # A gradient that was 0 from the start counts as None: nothing has arrived.
            start = getattr(node, "grad", None)
            self.known[id(node)] = None if start is None or not np.any(start) else np.array(start, float)
            if node._children:
                self.events.append({"kind": "forward", "node": number, "source": name, "line": line})
                self.captured[number] = self.variables(node._backward)
                node._backward = self.watched(number, node, node._backward, name, line)

    def watched(self, number: int, node: Any, closure: Any, source: str, line: int) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self.catch_up(node, source, line)
            self.running.append((number, np.array(node.grad, float)))
            try:
                closure(*arguments)
                for child in node._children:
                    self.catch_up(child, source, line)
            finally:
                self.running.pop()

        return watched

    def variables(self, closure: Any) -> list[dict[str, Any]]:
        """List the variables that a closure captured: each name with its node, its numbers, or its type."""
        code = getattr(closure, "__code__", None)
        entries: list[dict[str, Any]] = []
        for name, cell in zip(
            code.co_freevars if code else (), getattr(closure, "__closure__", None) or (), strict=True
        ):
            value = cell.cell_contents
            if id(value) in self.ids:
                entries.append({"name": name, "node": self.ids[id(value)]})
            elif isinstance(value, (int, float, np.ndarray, np.generic)):
                entries.append({"name": name, "value": np.array(value, float)})
            else:
                entries.append({"name": name, "type": type(value).__name__})
        return entries

    def recorded(self, output: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        names = {id(tensor): name for name, tensor in tensors.items()}
        nodes = [
            {
                "op": str(node._op) if node._children else "",
                "label": names.get(id(node), ""),
                "children": [self.ids[id(child)] for child in node._children],
                "value": np.array(node.data, float),
                "source": name,
                "captured": self.captured.get(number, []),
            }
            for number, (node, name, _) in enumerate(self.nodes)
        ]
        return self.report(nodes, output, tensors)

    def report(self, nodes: list[dict[str, Any]], output: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        return {
            "nodes": nodes,
            "events": self.events,
            "output": self.ids[id(output)],
            "functions": self.functions,
            "gradients": {name: self.gradient(tensor) for name, tensor in tensors.items()},
        }

    @staticmethod
    def gradient(tensor: Any) -> np.ndarray | None:
        return None if tensor.grad is None else np.array(tensor.grad, float)


NUMBERS = (int, float, np.ndarray, np.generic)


class RecordingError(Exception):
    """The pass cannot be recorded; the message is a sentence for the learner."""


# The lab's names of the course's Functions; any other Function keeps its own name.
OPERATIONS = {
    "Add": "+",
    "AddRow": "+",
    "Mul": "*",
    "Pow": "**",
    "MatMul": "@",
    "ReLU": "relu",
    "Sigmoid": "sigmoid",
    "Sum": "sum",
}


class FunctionsWatch(LineWatch):
    """A recorder for an engine whose operations are subclasses of `function`.

    The messages are what their `backward` returns. A message has arrived once a gradient is set that includes it.

    names  the namespace of the learner's file
    """

    def __init__(self, engine: Any, file: str, function: Any, names: Mapping[str, Any]) -> None:
        super().__init__(engine, file)
        # id() of a context -> (context, operation, function and line where `forward` returned)
        self.uses: dict[int, tuple[Any, str, str, int]] = {}
        self.numbers: dict[int, int] = {}  # id() of a context -> the number of its node
        self.sending: list[int] = []  # id() of the contexts whose `backward` runs
        self.undelivered: list[dict[str, Any]] = []  # messages that have not arrived
        class_names = {id(names[name]): name for name in (*names, *OPERATIONS) if isinstance(names.get(name), type)}
        methods = [
            (one, name, getattr_static(one, name), getattr(one, name))
            for one in subclasses(function)
            for name in ("forward", "backward")
            if hasattr(one, name)
        ]  # collected before any is replaced: an inherited method must not be watched twice
        for one, name, raw, run in methods:
            watched = getattr(self, name)(class_names.get(id(one), one.__name__), run)
            setattr(one, name, watched if isinstance(raw, FunctionType) else staticmethod(watched))

    def forward(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(ctx: Any, *arguments: Any, **named: Any) -> Any:
            with Returns(self.file) as returns:
                result = run(ctx, *arguments, **named)
            where = self.where(returns, f"{name}.forward", sys._getframe(1))
            self.uses[id(ctx)] = (ctx, OPERATIONS.get(name, name)[:24], *where)
            return result

        return watched

    def backward(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(ctx: Any, grad: Any) -> Any:
            if id(ctx) not in self.numbers or id(ctx) in self.sending:  # another graph, or a call of super()
                return run(ctx, grad)
            number = self.numbers[id(ctx)]
            self.flush(self.tensors[number])
            upstream = np.array(grad, float)
            self.sending.append(id(ctx))
            try:
                with Returns(self.file) as returns:
                    result = run(ctx, grad)
            finally:
                self.sending.pop()
            source, line = self.where(returns, f"{name}.backward", sys._getframe(1))
            messages = result if isinstance(result, (list, tuple)) else (result,)
            for x, message in zip(ctx.inputs, messages, strict=False):
                if id(x) in self.ids and message is not None:
                    sent = {"child": self.ids[id(x)], "upstream": upstream, "contribution": np.array(message, float)}
                    sent |= {"source": source, "line": line}
                    self.undelivered.append({"kind": "message", "node": number, **sent})
            return result

        return watched

    def where(self, returns: "Returns", name: str, frame: FrameType) -> tuple[str, int]:
        if returns.line is None:  # no function of the learner's file ran, as for `forward = np.add`
            return self.place(frame)
        self.functions[name] = min(returns.first, self.functions.get(name, 10**9))
        return name, returns.line

    # -- a gradient is set

    def changed(self, tensor: Any, value: Any, source: str, line: int) -> None:
        """Record that a gradient became `value`: by the one message that explains it, or else by all that wait."""
        key, after = id(tensor), None if value is None else np.array(value, float)
        if after is None:
            self.known[key] = None
            return
        before = self.known.get(key)
        start = np.zeros_like(after) if before is None else before
        pending = self.pending(tensor)
        alone = [message for message in pending if close(added(start, message["contribution"]), after)]
        if alone:
            self.arrive(tensor, alone[:1], after, source, line)
        elif close(start, after):  # such as initial zeros: nothing has arrived
            return
        elif pending:
            self.arrive(tensor, pending, after, source, line)
        else:
            self.known[key] = after
            where = {"source": source, "line": line}
            self.events.append({"kind": "seed", "node": self.ids[key], "grad": after, **where})

    def pending(self, tensor: Any) -> list[dict[str, Any]]:
        """Return the messages to a tensor that have not arrived."""
        return [message for message in self.undelivered if message["child"] == self.ids[id(tensor)]]

    def arrive(self, tensor: Any, messages: list[dict[str, Any]], after: np.ndarray, source: str, line: int) -> None:
        """Record that these messages changed a tensor's gradient to `after`."""
        before = self.known.get(id(tensor))
        for message in messages:
            start = np.zeros_like(after) if before is None else before
            then = after if message is messages[-1] else added(start, message["contribution"])
            part = message["contribution"] if message["contribution"].shape == then.shape else then - start
            sums = {"before": start, "message": part, "after": then, "first": before is None}
            where = {"source": source, "line": line}
            self.events += [message, {"kind": "accumulate", "node": self.ids[id(tensor)], **sums, **where}]
            before = then
            self.undelivered = [one for one in self.undelivered if one is not message]
        self.known[id(tensor)] = after

    def flush(self, tensor: Any) -> None:
        """Record the arrival of pending messages that was not seen, as with in-place addition or lost messages."""
        if tensor.grad is not None and (pending := self.pending(tensor)):
            self.arrive(tensor, pending, np.array(tensor.grad, float), pending[-1]["source"], pending[-1]["line"])

    # -- the forward pass is over

    def forward_is_over(self, output: Any, tensors: dict[str, Any]) -> None:
        """Assign numbers to the leaves, then to the nodes that the result was computed from, in their order."""
        reached: dict[int, Any] = {}  # id() of a context -> the tensor that was made in it
        stack = [output]
        while stack:
            ctx = stack[-1].grad_fn
            tensor = stack.pop()
            if ctx is not None and id(ctx) not in reached:
                reached[id(ctx)] = tensor
                stack += [x for x in ctx.inputs if isinstance(x, self.engine)]
        made = output.grad_fn is not None or any(output is leaf for leaf in tensors.values())
        if not made or not reached.keys() <= self.uses.keys():
            raise RecordingError(
                "Your engine cannot be followed: let grad_fn of each result be the ctx that its forward was given."
            )
        self.tensors: list[Any] = []  # one for each node; a plain number is also a node
        self.rows: list[dict[str, Any]] = []  # what is recorded of each node
        for name, leaf in tensors.items():
            self.add(leaf, name)
        for key, (ctx, op, source, line) in self.uses.items():
            if key in reached:
                operands = [x for x in ctx.inputs if isinstance(x, (self.engine, *NUMBERS))]
                children = [self.add(x) for x in operands]
                self.numbers[key] = number = self.add(reached[key])
                self.events.append({"kind": "forward", "node": number, "source": source, "line": line})
                saved = saved_values(ctx, operands, reached[key])
                self.rows[number] |= {"op": op, "children": children, "source": source, "captured": saved}

    def add(self, x: Any, label: str = "") -> int:
        """Return the number of an input's node, which is added if new; a plain number is a new node at each use."""
        if id(x) in self.ids:
            return self.ids[id(x)]
        number, constant = len(self.tensors), not isinstance(x, self.engine)
        if not constant:
            self.ids[id(x)] = number
            self.known[id(x)] = None
        self.tensors.append(x)
        value = np.array(x if constant else x.data, float)
        row = {"op": "", "label": label, "children": [], "value": value, "source": "", "captured": []}
        self.rows.append({**row, "constant": constant})
        return number

    def recorded(self, output: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        for tensor in self.tensors:
            if id(tensor) in self.ids:
                self.flush(tensor)
        return self.report(self.rows, output, tensors)


class Returns:
    """A context that remembers the last function of a file that returned: its first line and that line."""

    def __init__(self, file: str) -> None:
        self.file, self.first = file, 0
        self.line: int | None = None

    def __enter__(self) -> "Returns":
        self.before = sys.getprofile()
        sys.setprofile(self.look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self.before)

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code.co_filename == self.file:
            self.first, self.line = frame.f_code.co_firstlineno, frame.f_lineno


def subclasses(function: Any) -> list[Any]:
    """Return all direct and indirect subclasses, each once."""
    found: dict[Any, None] = {}
    for one in function.__subclasses__():
        found |= dict.fromkeys([one, *subclasses(one)])
    return [*found]


def saved_values(ctx: Any, operands: list[Any], result: Any) -> list[dict[str, Any]]:
    """List what a context saved for the backward pass: an operand's array, the result's, another one, or a type."""
    arrays = [x if isinstance(x, NUMBERS) else x.data for x in operands]
    known = {id(array): f"value of operand {position}" for position, array in enumerate(arrays)}
    known[id(result.data)] = "output"
    return [
        {"name": f"saved_tensors[{position}]", "value": np.array(value, float), "holds": known.get(id(value), "array")}
        if isinstance(value, NUMBERS)
        else {"name": f"saved_tensors[{position}]", "type": type(value).__name__}
        for position, value in enumerate(ctx.saved_tensors)
    ]


def added(start: np.ndarray, message: np.ndarray) -> np.ndarray:
    """Add a message to a gradient; return the gradient unchanged if the shapes differ."""
    return start + message if start.shape == message.shape else start


def close(one: np.ndarray | None, other: np.ndarray) -> bool:
    return one is not None and one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True)
