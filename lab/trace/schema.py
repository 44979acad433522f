"""The types of a trace's plain data, with the keys of its JSON. static/types.d.ts repeats them for the player."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from lab.operation_table import Kind

Value: TypeAlias = float | list["Value"]  # a number, or nested lists in the shape of an array
Role = Literal["leaf", "constant", "operation", "output"]


class Captured(TypedDict):
    """A variable that the closure of an operation has captured.

    holds    "operand": the tensor with id `node`, to send a message to. "output", "value of operand 0", ..., "array":
             an array. "setting": anything else, such as an axis; `type` is the name of its type
    value    the numbers of an array, or the repr of a setting, as they were in the forward pass
    written  whether that had changed when the closure ran; missing for an operand and until the closure has run
    now      the numbers of an array that was written to between the passes
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
    """A summary of an array of which only some evenly spaced cells are in the trace: min, max and mean of all its
    finite numbers."""

    shape: list[int]
    min: float
    max: float
    mean: float
    not_finite: int


class Write(TypedDict):
    """A write in place: the version number after it, the line of the user's code, and the operation."""

    version: int
    line: int
    op: str


class Node(TypedDict):
    """A tensor. The keys from `kind` on belong to an operation that made a node of the graph.

    op        the operation that computed it; "" for a leaf
    children  ids of the tensors that it was computed from, in operand order, repeats kept
    kind      what the operation does with the cells of its operands: see lab/operation_table.py
    symbol    the operator sign, written between two operands or before one; None if the operation is called by name
    source    a key of `Trace.sources`
    now       its values after a write between the passes; missing if nothing was written
    due       the correct gradient, if the pass is known to have computed a wrong one
    calls     the functions of the engine that called the operation, such as a layer or a mean, outermost first
    index     the text between the brackets of an indexing
    paths     for each operand, and each cell of the message to it: all (cell of the result, local derivative) that are
              not 0. Only if lab/operation_table.py has no numbers for the operation; None for an operand whose paths
              are unknown

    The keys from `precision` on belong to a pass that was recorded in a running program (lab/watch).

    precision "eps": the distance from 1 to the next number of its dtype, "least" and "most": the smallest number above
              0 and the largest. Only if PyTorch computed it
    large     summary of an array of which only some cells are here: `shape`, `value` and all gradients have these cells
    sizes     its numbers and gradients are complex, and only their absolute values are here, which need not add up
    version   how often its memory had been written to when it was made
    writes    all writes to its memory up to the end of the pass
    hides     the nodes of PyTorch's graph that this one operation stands for
    cut       the graph ends here: no gradient passes
    unseen    its numbers were never visible to Python: they are nan here
    shares    the id of another result of the same call, which sends the message for all of them
    earlier   its gradient from an earlier pass, to which this one adds
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
    precision: NotRequired[dict[str, float]]
    large: NotRequired[Large]
    sizes: NotRequired[bool]
    version: NotRequired[int]
    writes: NotRequired[list[Write]]
    hides: NotRequired[list[str]]
    cut: NotRequired[bool]
    unseen: NotRequired[bool]
    shares: NotRequired[int]
    earlier: NotRequired[Value]


class CodeLine(TypedDict):
    """A line of code: a key of `Trace.sources`, and the line's number in that file."""

    source: str
    line: int


class Step(CodeLine):
    """The line that made an event. engine: the line of the engine that ran for it, if that was another one, in a pass
    that was recorded in a running program."""

    engine: NotRequired[CodeLine]


class Forward(Step):
    """An operation has computed a node."""

    kind: Literal["forward"]
    node: int


class Seed(Step):
    """A gradient was set without a message: the upstream gradient that the pass starts from, or what a hook of a
    recorded program returned.

    replaced  what the messages had added up to before the hook
    """

    kind: Literal["seed"]
    node: int
    grad: Value
    replaced: NotRequired[Value]


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
    """A node has added a message to its gradient: before + message = after, in its shape, unless the engine is broken.

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
    node         the node that sent it, to its operand number `operand`
    sends        who sends it, with a verb: "v1 (*) sends", "h and c (lstm) send"
    text         the local derivative in symbols, or the whole message if `local` is None
    rule         the same text with {g}, {a}, {b} and {y} in place of names; `used` maps a, b and y to node ids
    local        the local derivative in numbers; None if lab/operation_table.py does not give them, or
                 the message is no product: 0 from an infinite gradient to an element that was not chosen
    agrees       whether the message equals upstream gradient times local derivative; None if `local` is None
    """

    event: int
    node: int
    operand: int
    sends: str
    text: str
    rule: str
    used: dict[str, int]
    local: Value | None
    agrees: bool | None


class DueTerm(TypedDict):
    """A message that was not sent: the pass has not got so far, it stopped, or the engine is broken."""

    event: None
    node: int
    operand: int


class Derived(TypedDict):
    """The derivation of the gradient of a node.

    name   its label; else "v1", "v2", ... for an operation, "out" for the result, a constant's number or "const1", ...
    why    why the gradient is not a sum of messages (the seed, no path, a constant), in words; "" if it is one
    terms  the messages that the node received, in order; if it received none, those that are due
    """

    name: str
    kind: Role
    why: str
    terms: list[SentTerm | DueTerm]
