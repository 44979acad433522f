"""Follows a learner's own engine through one forward and one backward pass, in the process of the learner's code.

This file is sent there as the text of a program (see lab/practice/learner_engine.py) and knows nothing of the project.
It relies on what the tasks ask for and on nothing that the learner wrote besides. `LineWatch`: `data`, `grad`,
`_children`, `_op` and `_backward` of a class; it watches each new object, each closure that runs, and each gradient
that is set.
`FunctionsWatch`: `data`, `grad` and `grad_fn` of a Tensor, `inputs` and `saved_tensors` of a context; it watches
`forward` and `backward` of each Function, and each gradient that is set.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from inspect import getattr_static
from types import FrameType, FunctionType
from typing import Any

import numpy as np

NOTHING: Any = object()  # in place of a class attribute that is not there


def follow(watch: "LineWatch", build: Callable[..., Any], leaves: dict[str, Any], upstream: Any) -> dict[str, Any]:
    """Run `build(**leaves)` and its backward pass; what happened, as plain data for lab.trace.

    build     makes the result of objects of the class that is watched
    leaves    name -> number or array
    upstream  what `backward` is given, or None where it takes nothing
    """
    try:
        tensors = {name: watch.engine(value) for name, value in leaves.items()}
        output = build(**tensors)
        watch.forward_is_over(output, tensors)
        output.backward(*(() if upstream is None else (upstream,)))
    finally:
        watch.end()
    return watch.told(output, tensors)


class LineWatch:
    """Changes the learner's class so that it reports; `end` takes the changes back.

    engine  the class; file: the name of the learner's file in tracebacks
    """

    def __init__(self, engine: Any, file: str) -> None:
        self.engine, self.file = engine, file
        self.made: list[
            tuple[Any, str, int]
        ] = []  # every object in the order of creation, with the function and line where it was made
        self.ids: dict[int, int] = {}  # id() of an object -> its number, once the forward pass is over
        self.events: list[dict[str, Any]] = []
        self.functions: dict[str, int] = {}  # qualified name -> its first line
        self.running: list[tuple[int, np.ndarray]] = []  # numbers of the nodes whose closures run
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
        """The function of the learner's file in which something happens, and the line; ("", 0) where there is none."""
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
        """A gradient is `value` now: by a message of the closure that runs, or else as the seed."""
        number, before = self.ids[id(tensor)], self.known.get(id(tensor))
        after = None if value is None else np.array(value, float)
        # A gradient that is set to 0 beside the closures is none: nothing has arrived.
        self.known[id(tensor)] = None if after is None or not (self.running or after.any()) else after
        where = {"source": source, "line": line}
        if self.running and after is not None:
            sender, given = self.running[-1]
            first = before is None
            start = np.zeros_like(after) if before is None else before
            message = after - start if start.shape == after.shape else after
            self.events.append(
                {
                    "kind": "message",
                    "node": sender,
                    "child": number,
                    "upstream": given,
                    "contribution": message,
                    **where,
                }
            )
            self.events.append(
                {
                    "kind": "accumulate",
                    "node": number,
                    "before": start,
                    "message": message,
                    "after": after,
                    "first": first,
                    **where,
                }
            )
        elif after is not None and after.any():
            self.events.append({"kind": "seed", "node": number, "grad": after, **where})

    def unseen(self, tensor: Any, source: str, line: int) -> None:
        """Report a gradient that has changed although nobody set it: some engines compute it when it is asked for."""
        now, known = tensor.grad, self.known.get(id(tensor))
        if not np.array_equal(0.0 if now is None else now, 0.0 if known is None else known, equal_nan=True):
            self.changed(tensor, now, source, line)

    # -- the forward pass is over

    def forward_is_over(self, output: Any, tensors: dict[str, Any]) -> None:
        """Number what the result was computed from, and watch its closures."""
        reached: set[int] = set()
        waiting = [output]
        while waiting:
            node = waiting.pop()
            if id(node) not in reached:
                reached.add(id(node))
                waiting.extend(node._children)
        reached |= {id(leaf) for leaf in tensors.values()}
        self.nodes = [entry for entry in self.made if id(entry[0]) in reached]
        self.ids = {id(entry[0]): number for number, entry in enumerate(self.nodes)}
        self.captured: dict[int, list[dict[str, Any]]] = {}
        for number, (node, name, line) in enumerate(self.nodes):
            # A gradient that was 0 from the start counts as none: nothing has arrived.
            start = getattr(node, "grad", None)
            self.known[id(node)] = None if start is None or not np.any(start) else np.array(start, float)
            if node._children:
                self.events.append({"kind": "forward", "node": number, "source": name, "line": line})
                self.captured[number] = self.variables(node._backward)
                node._backward = self.watched(number, node, node._backward, name, line)

    def watched(self, number: int, node: Any, closure: Any, source: str, line: int) -> Callable[..., Any]:
        def watched(*arguments: Any) -> Any:
            self.unseen(node, source, line)
            self.running.append((number, np.array(node.grad, float)))
            try:
                closure(*arguments)
                for child in node._children:
                    self.unseen(child, source, line)
            finally:
                self.running.pop()

        return watched

    def variables(self, closure: Any) -> list[dict[str, Any]]:
        """What a closure holds: names with the number of a node, with numbers, or with what Python writes for them."""
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

    def told(self, output: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        names = {id(tensor): name for name, tensor in tensors.items()}
        nodes = []
        for number, (node, name, _) in enumerate(self.nodes):
            nodes.append(
                {
                    "op": str(node._op) if node._children else "",
                    "label": names.get(id(node), ""),
                    "children": [self.ids[id(child)] for child in node._children],
                    "value": np.array(node.data, float),
                    "source": name,
                    "captured": self.captured.get(number, []),
                }
            )
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


class Unfollowed(Exception):
    """What the engine did cannot be followed; the message is a sentence for the learner."""


# What the player knows a Function of the course as; any other has its own name.
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
    """The same for an engine whose operations are subclasses of `function`.

    What their `backward` returns are the messages. One has arrived as soon as a gradient is set that tells of it.

    names  the names of the learner's file
    """

    def __init__(self, engine: Any, file: str, function: Any, names: Mapping[str, Any]) -> None:
        super().__init__(engine, file)
        # id() of a context -> it, the operation, and where `forward` ran
        self.uses: dict[int, tuple[Any, str, str, int]] = {}
        self.numbers: dict[int, int] = {}  # id() of a context -> the number of its node
        self.sending: list[int] = []  # id() of the contexts whose `backward` runs
        self.waiting: list[dict[str, Any]] = []  # messages that have not arrived
        called = {id(names[name]): name for name in (*names, *OPERATIONS) if isinstance(names.get(name), type)}
        ways = [
            (one, way, getattr_static(one, way), getattr(one, way))
            for one in below(function)
            for way in ("forward", "backward")
            if hasattr(one, way)
        ]  # all of them as they were: what a class inherits is not to be watched twice
        for one, way, raw, run in ways:
            watched = getattr(self, way)(called.get(id(one), one.__name__), run)
            setattr(one, way, watched if isinstance(raw, FunctionType) else staticmethod(watched))

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
            if id(ctx) not in self.numbers or id(ctx) in self.sending:  # another graph; a call of super()
                return run(ctx, grad)
            number = self.numbers[id(ctx)]
            self.missed(self.tensors[number])
            upstream = np.array(grad, float)
            self.sending.append(id(ctx))
            frame, places = sys._getframe(1), []
            try:
                with Returns(self.file) as returns:
                    result = run(ctx, grad)
                    places.append(self.where(returns, f"{name}.backward", frame))
                    if isinstance(result, Iterator):  # `yield`: each message has a line of its own
                        result, drawn = [], result
                        for each in drawn:
                            result.append(each)
                            places.append(self.where(returns, f"{name}.backward", frame))
                        del places[0]
            finally:
                self.sending.pop()
            messages = result if isinstance(result, (list, tuple)) else (result,)
            for position, (x, message) in enumerate(zip(ctx.inputs, messages, strict=False)):
                if id(x) in self.ids and message is not None:
                    source, line = places[min(position, len(places) - 1)]
                    self.waiting.append(
                        {
                            "kind": "message",
                            "node": number,
                            "child": self.ids[id(x)],
                            "upstream": upstream,
                            "contribution": np.array(message, float),
                            "source": source,
                            "line": line,
                        }
                    )
            return result

        return watched

    def where(self, returns: "Returns", name: str, frame: FrameType) -> tuple[str, int]:
        if returns.line is None:  # nothing of their file has run, such as in `forward = np.add`
            return self.place(frame)
        self.functions[name] = min(returns.first, self.functions.get(name, 10**9))
        return name, returns.line

    # -- a gradient is set

    def changed(self, tensor: Any, value: Any, source: str, line: int) -> None:
        """A gradient is `value` now: by the one message that makes the difference, or else by all that wait for it."""
        key, after = id(tensor), None if value is None else np.array(value, float)
        if after is None:
            self.known[key] = None
            return
        before = self.known.get(key)
        start = np.zeros_like(after) if before is None else before
        coming = self.coming(tensor)
        alone = [message for message in coming if alike(added(start, message["contribution"]), after)]
        if alone:
            self.arrive(tensor, alone[:1], after, source, line)
        elif alike(start, after):  # such as zeros to begin with: nothing has arrived
            return
        elif coming:
            self.arrive(tensor, coming, after, source, line)
        else:
            self.known[key] = after
            where = {"source": source, "line": line}
            self.events.append({"kind": "seed", "node": self.ids[key], "grad": after, **where})

    def coming(self, tensor: Any) -> list[dict[str, Any]]:
        """The messages to a tensor that have not arrived."""
        return [message for message in self.waiting if message["child"] == self.ids[id(tensor)]]

    def arrive(self, tensor: Any, messages: list[dict[str, Any]], after: np.ndarray, source: str, line: int) -> None:
        """These have made the gradient what it is now."""
        before = self.known.get(id(tensor))
        for message in messages:
            start = np.zeros_like(after) if before is None else before
            then = after if message is messages[-1] else added(start, message["contribution"])
            fits = message["contribution"].shape == then.shape
            self.events += [
                message,
                {
                    "kind": "accumulate",
                    "node": self.ids[id(tensor)],
                    "before": start,
                    "message": message["contribution"] if fits else then - start,
                    "after": then,
                    "first": before is None,
                    "source": source,
                    "line": line,
                },
            ]
            before = then
            self.waiting = [one for one in self.waiting if one is not message]
        self.known[id(tensor)] = after

    def missed(self, tensor: Any) -> None:
        """Report messages whose arrival was not seen: nobody set the gradient in sight, or the engine dropped them."""
        if tensor.grad is not None and (coming := self.coming(tensor)):
            self.arrive(tensor, coming, np.array(tensor.grad, float), coming[-1]["source"], coming[-1]["line"])

    # -- the forward pass is over

    def forward_is_over(self, output: Any, tensors: dict[str, Any]) -> None:
        """Number the leaves, and then what the result was computed from, in the order in which it was computed."""
        reached: dict[int, Any] = {}  # id() of a context -> the tensor that was made in it
        waiting = [output]
        while waiting:
            ctx = waiting[-1].grad_fn
            tensor = waiting.pop()
            if ctx is not None and id(ctx) not in reached:
                reached[id(ctx)] = tensor
                waiting += [x for x in ctx.inputs if isinstance(x, self.engine)]
        made = output.grad_fn is not None or any(output is leaf for leaf in tensors.values())
        if not made or not reached.keys() <= self.uses.keys():
            raise Unfollowed(
                "Your engine cannot be followed: let grad_fn of each result be the ctx that its forward was given."
            )
        self.tensors: list[Any] = []  # and numbers, which are inputs as well
        self.told_of: list[dict[str, Any]] = []
        for name, leaf in tensors.items():
            self.add(leaf, name)
        for key, (ctx, op, source, line) in self.uses.items():
            if key in reached:
                operands = [x for x in ctx.inputs if isinstance(x, (self.engine, *NUMBERS))]
                children = [self.add(x) for x in operands]
                self.numbers[key] = number = self.add(reached[key])
                self.events.append({"kind": "forward", "node": number, "source": source, "line": line})
                kept = held(ctx, operands, reached[key])
                self.told_of[number] |= {"op": op, "children": children, "source": source, "captured": kept}

    def add(self, x: Any, label: str = "") -> int:
        """The number of the node of an input: a tensor has one, a plain number a new one for each use."""
        if id(x) in self.ids:
            return self.ids[id(x)]
        number, constant = len(self.tensors), not isinstance(x, self.engine)
        if not constant:
            self.ids[id(x)] = number
            self.known[id(x)] = None
        self.tensors.append(x)
        value = np.array(x if constant else x.data, float)
        self.told_of.append(
            {
                "op": "",
                "label": label,
                "children": [],
                "value": value,
                "source": "",
                "captured": [],
                "constant": constant,
            }
        )
        return number

    def told(self, output: Any, tensors: dict[str, Any]) -> dict[str, Any]:
        for tensor in self.tensors:
            if id(tensor) in self.ids:
                self.missed(tensor)
        return {
            "nodes": self.told_of,
            "events": self.events,
            "output": self.ids[id(output)],
            "functions": self.functions,
            "gradients": {name: self.gradient(tensor) for name, tensor in tensors.items()},
        }


class Returns:
    """While it is entered: where a function of a file has returned or yielded last, which is `line`; its first line."""

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


def below(function: Any) -> list[Any]:
    """Every class that is derived from this one, each once."""
    found: dict[Any, None] = {}
    for one in function.__subclasses__():
        found |= dict.fromkeys([one, *below(one)])
    return [*found]


def held(ctx: Any, operands: list[Any], result: Any) -> list[dict[str, Any]]:
    """What was saved for the way back: the very array of an operand or of the result, another one, or anything else."""
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
    """Their sum; the start where the two have not the same shape."""
    return start + message if start.shape == message.shape else start


def alike(one: np.ndarray | None, other: np.ndarray) -> bool:
    return one is not None and one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True)
