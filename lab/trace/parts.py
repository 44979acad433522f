"""What a trace is made of: plain data, by the names of its JSON. static/types.d.ts says the same to the player."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from lab.ops import Kind

Value: TypeAlias = float | list["Value"]  # a number, or nested lists in the shape of an array
Role = Literal["leaf", "constant", "operation", "output"]


class Captured(TypedDict):
    """A variable that the closure of an operation holds.

    holds    "operand": a tensor, number `node`, to send a message to. "output", "value of operand 0", ..., "array": an
             array. "setting": anything else, such as an axis, of the `type` of that name
    value    of an array its numbers; of a setting what Python writes for it; both as they were in the forward pass
    written  whether that had changed when the closure ran; not there before it has, or for an operand
    now      of an array that was written to between the passes: its numbers since then
    """

    name: str
    holds: str
    shape: list[int]
    node: NotRequired[int]
    type: NotRequired[str]
    value: NotRequired[Value | str]
    written: NotRequired[bool]
    now: NotRequired[Value]


class Large(TypedDict):
    """What is said of an array of which only some cells are in a trace, evenly spaced: min, max and mean are those of
    all its finite numbers."""

    shape: list[int]
    min: float
    max: float
    mean: float
    not_finite: int


class Write(TypedDict):
    """A write in place: the version that it made, the line of the user's code, and the operation."""

    version: int
    line: int
    op: str


class Node(TypedDict):
    """A tensor. The keys from `kind` on belong to an operation that made a node of the graph.

    op        the operation that computed it; "" for a leaf
    children  ids of the tensors that it was computed from, in operand order, repeats kept
    kind      what the operation does with the cells of its operands: see lab/ops.py
    symbol    the sign that the operation is written with, between two operands or before one; None if it has a name
    source    a key of `Trace.sources`
    now       what it holds since a write between the passes; not there where nothing was written
    due       the gradient that is due, where the pass is known to have given another one
    calls     the functions of the engine that called the operation, such as a layer or a mean, outermost first
    index     of an indexing, what stands between the brackets
    paths     for each operand, and each cell of the message to it, (cell of the result, local derivative) where that is
              not 0. Only where the table of derivatives cannot tell; None for an operand where nobody can

    Those from `large` on are of a pass that was recorded in a running program (lab/watch).

    large     of an array of which only some cells are here: `shape`, `value` and all gradients are those cells
    version   how often its memory had been written to when it was made
    writes    all writes to its memory up to the end of the pass
    hides     the parts of PyTorch's graph that ran behind this one operation
    cut       the graph ends here: no gradient passes
    unseen    its numbers were never in Python: they are nan here
    shares    one of several results of a call: another one sends the message for all of them
    added     its gradient was added to one of an earlier pass
    """

    id: int
    op: str
    label: str
    children: list[int]
    shape: list[int]
    value: Value
    requires_grad: bool
    now: NotRequired[Value]
    due: NotRequired[Value]
    kind: NotRequired[Kind]
    symbol: NotRequired[str | None]
    source: NotRequired[str]
    captured: NotRequired[list[Captured]]
    calls: NotRequired[list[str]]
    index: NotRequired[str]
    paths: NotRequired[list[list[list[tuple[int, float]]] | None]]
    large: NotRequired[Large]
    version: NotRequired[int]
    writes: NotRequired[list[Write]]
    hides: NotRequired[list[str]]
    cut: NotRequired[bool]
    unseen: NotRequired[bool]
    shares: NotRequired[bool]
    added: NotRequired[bool]


class Step(TypedDict):
    """Where the code of an event stands: a key of `Trace.sources`, and a line of that file."""

    source: str
    line: int


class Forward(Step):
    """An operation made a node."""

    kind: Literal["forward"]
    node: int


class Seed(Step):
    """A gradient was set without a message: the upstream gradient that the pass starts from."""

    kind: Literal["seed"]
    node: int
    grad: Value


class Message(Step):
    """A node sent a message to its operand number `operand`, which is `child`.

    upstream, contribution  in the shape of the node
    """

    kind: Literal["message"]
    node: int
    child: int
    operand: int
    upstream: Value
    contribution: Value


class Accumulate(Step):
    """A message arrived: before + message = after, in the shape of the node, unless the engine is broken just there.

    first  there was no gradient before; then before is 0
    """

    kind: Literal["accumulate"]
    node: int
    before: Value
    message: Value
    after: Value
    first: bool


Event: TypeAlias = Forward | Seed | Message | Accumulate


class Code(TypedDict):
    """The source of a function, as it ran; `first` is the number of its first line."""

    file: str
    first: int
    lines: list[str]


class SentTerm(TypedDict):
    """A message in the derivation of a gradient.

    event        the index of its event
    node         where it came from, as its operand number `operand`
    text, latex  the local derivative in symbols, or the whole message where `local` is None
    rule         the same text with {g}, {a}, {b} and {y} in place of names; of these, `used` says which nodes they are
    local        the local derivative in numbers; None where the table of operations cannot tell
    message      what the engine sent, in the shape of the receiver
    agrees       whether the message is what the rule says; None where the table cannot tell
    """

    event: int
    node: int
    operand: int
    text: str
    latex: str
    rule: str
    used: dict[str, int]
    upstream: Value
    local: Value | None
    message: Value
    agrees: bool | None


class DueTerm(TypedDict):
    """A message that has not come: the pass has not come so far, or it stopped, or the engine is broken."""

    event: None
    node: int
    operand: int


class Derived(TypedDict):
    """The derivation of the gradient of a node.

    name   its label; else "v1", "v2", ... for an operation, "out" for the result, a constant's number or "const1", ...
    latex  the same name for LaTeX
    why    the reason, in words, when the gradient is not a sum of messages: the seed, no path, a constant. Else ""
    terms  one for each message the node received, in order; one for each that is due where none has come
    """

    name: str
    latex: str
    kind: Role
    why: str
    terms: list[SentTerm | DueTerm]
