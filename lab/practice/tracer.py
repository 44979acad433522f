"""Follows a learner's own engine through one forward and one backward pass, in the process of the learner's code.

This file is sent there as the text of a program (see lab/practice/own_engine.py) and knows nothing of the project. It
relies on what the tasks ask for: `data`, `grad`, `_children`, `_op` and `_backward` of a class, and on nothing that the
learner wrote besides: it watches each new object, each closure that runs, and each gradient that is set.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np


def follow(engine: Any, file: str, build: Callable[..., Any], leaves: dict[str, Any], upstream: Any) -> dict[str, Any]:
    """Run `build(**leaves)` and its backward pass; what happened, as plain data for lab.trace.

    engine    the learner's class; file: the name of their file in tracebacks
    build     makes the result of objects of that class
    leaves    name -> number or array
    upstream  what `backward` is given, or None where it takes nothing
    """
    watch = Watch(engine, file)
    try:
        tensors = {name: engine(value) for name, value in leaves.items()}
        output = build(**tensors)
        watch.forward_is_over(output, tensors)
        output.backward(*(() if upstream is None else (upstream,)))
    finally:
        watch.end()
    return watch.told(output, tensors)


class Watch:
    """Changes the learner's class so that it reports; `end` takes the changes back."""

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
        self.init, self.own = engine.__init__, vars(engine).get("grad")
        watch = self

        def __init__(self: Any, *arguments: Any, **named: Any) -> None:
            frame = sys._getframe(1)
            watch.init(self, *arguments, **named)
            watch.made.append((self, *watch.place(frame)))

        engine.__init__ = __init__
        engine.grad = property(self.read, self.write)

    def end(self) -> None:
        self.engine.__init__ = self.init
        if self.own is None:
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
        if "grad" not in vars(tensor):
            raise AttributeError("grad")
        return vars(tensor)["grad"]

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
            self.events.append({"kind": "message", "node": sender, "child": number, "upstream": given,
                                "contribution": message, **where})  # fmt: skip
            self.events.append({"kind": "accumulate", "node": number, "before": start,
                                "message": message, "after": after, "first": first, **where})  # fmt: skip
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
            nodes.append({
                "op": str(node._op) if node._children else "",
                "label": names.get(id(node), ""),
                "children": [self.ids[id(child)] for child in node._children],
                "value": np.array(node.data, float),
                "source": name,
                "captured": self.captured.get(number, []),
            })  # fmt: skip
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
