"""Rules about layers: what stands before the loss, layers in a row, initial weights."""

import ast
import itertools
import math
import re
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import LOSS_FUNCTIONS
from lab.failures.analysis.facts import LAYERS, NORMS, Value, graph_of, modules, reach, traverse, without
from lab.failures.analysis.kinds import Act, Kind
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import argument, called, inside, method, receiver
from lab.failures.analysis.work import walk


def activation_before_loss(case: Case) -> Iterator[RuleHit]:
    """Report failure 25: softmax or sigmoid before a loss that applies it; and failure 14: relu before such a loss."""
    for event in case.events_of(Act.LOSS):
        value = unscaled(event.value)
        if event.detail not in {"cross_entropy", "binary_cross_entropy_with_logits", "nll_loss"}:
            continue
        by_hand = event.detail == "nll_loss" and value.op == "log_softmax"  # the two steps of cross_entropy
        value = unscaled(value.parents[0]) if by_hand else value
        node = value.node
        if by_hand and value.op != "softmax":
            continue
        if value.op == "/" and event.detail == "cross_entropy":
            yield from softmax_by_hand(case, value, event)
        if value.op not in {"softmax", "sigmoid", "relu"} or node is None or not isinstance(node, ast.Call):
            continue
        if event.detail == "nll_loss" and not by_hand:
            if value.op == "softmax":
                new = case.text.of(node).replace("softmax", "log_softmax", 1).replace("Softmax", "LogSoftmax", 1)
                yield case.hit("probabilities_into_nll", node, new, event)
            continue
        if value.op == "softmax" and (wanted := other_use(case, node, event)) and (given := first_input(event)):
            change = [(given, f"{case.text.operand(given)}.clamp(min=1e-8).log()")]
            yield case.hit("probabilities_used_twice", event.node, change, given=given, made=node.lineno, wanted=wanted)
            continue
        edit = unwrap(case, node)
        if edit is None:
            continue
        if value.op == "relu":
            yield case.hit("relu_before_loss", node, edit, event)
        else:
            yield case.hit("activation_twice", node, edit, event, layer=value.op)


def unscaled(value: Value) -> Value:
    """Strip views, factors and the mean of a stack from a value, and return what is left."""
    while value.parents:
        multiple = value.op in {"*", "/"} and any(part.kind == Kind.NUMBER for part in value.parents)
        several = value.op == "mean" and value.parents[0].op == "stack"
        if not (multiple or several or value.op in {"view", "stack"}):
            break
        value = next((part for part in value.parents if part.kind != Kind.NUMBER), value.parents[0])
    return value


def softmax_by_hand(case: Case, value: Value, loss: Event) -> Iterator[RuleHit]:
    """Report failure 25: exponentials divided by their sum go into a loss that applies softmax."""
    power, total = value.parents
    node, made = value.node, power.node
    divided = node.left if isinstance(node, ast.BinOp) else receiver(node) if node is not None else None
    if power.op != "exp" or total.op != "sum" or divided is None or node is None or not isinstance(made, ast.Call):
        return
    same = total.parents[0]
    if same is not power and (same.node is None or case.text.of(same.node) != case.text.of(made)):
        return
    scores = made.args[0] if made.args else receiver(made)
    new = case.text.of(scores) if scores is not None else ""
    if new == power.name:  # x of x = x.exp()
        new = f"{case.text.operand(divided)}.log()"
    here = any(isinstance(f, ast.FunctionDef) and inside(f, node) and inside(f, made) for f in walk(case.program.tree))
    if scores is not None and (here or made.lineno == node.lineno or loss.function is None):
        yield case.hit("softmax_by_hand", node, new, loss)


def other_use(case: Case, softmax: ast.Call, loss: Event) -> int:
    """Return the line that needs the probabilities of this softmax as they are; 0 if there is none.
    It makes a distribution of them, or calls the function that returns them. What `forward` returns is for the loss."""
    drawn = [e.line for e in case.events_of(Act.DRAW) if e.value.node is softmax]
    homes = {f.name for f in case.nodes(ast.FunctionDef) if f.name != "forward" and softmax in walk(f)}
    around = loss.function or loss.statement
    losses = set(range(around.lineno, (around.end_lineno or around.lineno) + 1))  # type: ignore[attr-defined]
    names = [(node.lineno, getattr(node.func, "attr", getattr(node.func, "id", ""))) for node in case.nodes(ast.Call)]
    asked = [line for line, name in names if name in homes and line not in losses]
    through_it = any(name in homes and line in losses for line, name in names)
    return next(iter(drawn + (asked if through_it else [])), 0)


def first_input(event: Event) -> ast.expr | None:
    """Return the first argument of the loss."""
    return event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None


def unwrap(case: Case, node: ast.Call) -> Edit | None:
    """Return the edit that replaces a call by its argument, or a layer in a list by Identity(); None if neither
    fits."""
    last = called(node)
    if last in {"Softmax", "Sigmoid", "ReLU"}:
        prefix = case.text.of(node.func)[: -len(last)]
        return case.text.replace([(node, f"{prefix}Identity()")]) if prefix else None
    axis = not node.args or isinstance(node.args[0], ast.Constant | ast.UnaryOp)  # of a method: x.softmax(1)
    source = receiver(node) if axis else node.args[0]
    return case.text.replace([(node, case.text.of(source))]) if source is not None else None


def dead_by_bias(case: Case) -> Iterator[RuleHit]:
    """Report failure 14: a bias far below 0 in front of a relu. Reports nothing unless a relu follows the layer."""
    for event in case.events_of(Act.INIT, Act.WRITE, Act.UPDATE):
        number, bias = fill_value(event), event.value
        if number is None or number > DEAD_BIAS or bias.name != "bias" or bias.base not in case.program.rectified:
            continue
        node = event.node if isinstance(event.node, ast.Call) else event.statement
        written = [n for n in walk(node) if isinstance(n, ast.Constant | ast.UnaryOp) and is_number(n, number)]
        yield case.hit(
            "bias_too_low", node, [(written[0], "0.0")] if written else [(event.statement, "pass")], number=number
        )


def is_number(node: ast.expr, number: float) -> bool:
    """Tell whether an expression is this number, as it may be written."""
    return ast.unparse(node).replace(" ", "") in {f"{number:g}", str(number), str(int(number))}


def fill_value(event: Event) -> float | None:
    """Return the number that an event writes to every element of a tensor; None if it does anything else."""
    node, other = event.node, event.other or Value()
    name = method(node) or event.detail
    if event.detail == "part":
        return None
    if name in {"zeros_", "zero_", "ones_"}:
        return float(name == "ones_")
    constant = other.constant if other.constant is not None else constant_value(other)
    whole = isinstance(node, ast.Subscript) and ast.unparse(node.slice) in {":", "..."}
    if not isinstance(constant, int | float) or not (name in {"constant_", "fill_", "copy_", "="} or whole):
        return 0.0 if name in {"mul_", "*"} and other.constant in (0, 0.0) else None
    return float(constant)


def constant_value(value: Value) -> float | None:
    """Return the number that every element of a tensor has, or None."""
    return value.moments[0] if value.moments is not None and value.moments[1] == 0.0 else None


def moved_below_zero(case: Case) -> Iterator[RuleHit]:
    """Report failure 14: a bias in front of a relu is moved far below 0, or a leaf used as one starts there."""
    for event in case.events_of(Act.WRITE, Act.UPDATE):
        layer, statement = event.value.base, event.statement
        number = event.other.constant if event.other is not None else None
        moved = {"+": 1, "-": -1}.get(event.detail, 0)
        here = isinstance(statement, ast.AugAssign) and event.value.name == "bias" and layer in case.program.rectified
        if here and isinstance(number, int | float) and moved * number <= DEAD_BIAS:
            yield case.hit("moved_below_zero", statement, "pass", bias=Value())
    for value in dict.fromkeys(v for e in case.events_of(Act.BACKWARD) for v in reach(e.value)):
        mean, variance = value.moments or (0.0, 0.0)
        below = value in case.program.rectified and value.leaf and mean <= 4 * DEAD_BIAS and variance <= 1
        calls = [n for n in walk(value.node) if isinstance(n, ast.Call)] if below and value.node else []
        made = next((n for n in calls if len(n.args) > 1 and called(n) == "full"), None)
        if made is not None:
            yield case.hit("moved_below_zero", value.node or made, [(made.args[1], "0.0")], bias=value)


DEAD_BIAS = -3.0


SERIAL = (LAYERS - NORMS) | LOSS_FUNCTIONS | {"view", "mean", "sum"}  # operations that pass their input on


def many_sigmoids(case: Case) -> Iterator[RuleHit]:
    """Report failure 15: five or more sigmoids in a row in a Sequential. Reports nothing with a normalisation
    between."""
    for value in case.program.objects:
        items = flat_layers(value)
        if value.op != "Sequential" or any(i.op in NORMS for i in items) or value.node is None:
            continue
        alike = [i for i in items[:-1] if is_sigmoid(i) and isinstance(i.node, ast.Call)]
        count = sum(i.constant for i in alike if isinstance(i.constant, int))
        if count >= 5:
            places = [node for node in dict.fromkeys(i.node for i in alike) if node is not None]
            here = all(n in walk(value.node) for n in places)
            relu = f"{case.imports.get('torch.nn', 'torch.nn')}.ReLU()"
            edit = case.text.replace([(n, relu) for n in places])
            most = max(places, key=lambda node: sum(int(str(i.constant or 0)) for i in alike if i.node is node))
            default = case.default(most.func) if isinstance(most, ast.Call) else None
            if default is not None and not here:
                edit = case.text.replace([(default, relu.removesuffix("()"))])
            place = value.node if here else default or most
            yield case.hit("many_sigmoids", place, edit, count=count, network=value, share=4**count)


SIGMOID = re.compile(
    r"1(\.0)? / \(1(\.0)? \+ (torch\.exp\(-\w+\)|\(-\w+\)\.exp\(\))\)|(torch|F)\.sigmoid\(\w+\)|\w+\.sigmoid\(\)"
)


def is_sigmoid(layer: Value) -> bool:
    """Tell whether a layer is torch's Sigmoid, or a class of the program whose `forward` is a sigmoid only."""
    if layer.op == "Sigmoid" or layer.body is None:
        return layer.op == "Sigmoid"
    methods = layer.body.functions
    given = methods[0].body[-1] if len(methods) == 1 and methods[0].name == "forward" else None
    written = ast.unparse(given.value) if isinstance(given, ast.Return) and given.value is not None else ""
    return SIGMOID.fullmatch(written) is not None


def flat_layers(network: Value) -> list[Value]:
    """Return the layers of a Sequential, including those of nested ones."""
    parts = [flat_layers(part) if part.op == "Sequential" else [part] for part in network.items or []]
    return [layer for part in parts for layer in part]


def sigmoids_in_forward(case: Case) -> Iterator[RuleHit]:
    """Report failure 15: five or more nested sigmoid calls with layers between, as `forward` writes them.
    Reports nothing with a normalisation or a sum between, or if the number of layers in a loop is unknown."""
    for event in case.events_of(Act.LOSS, Act.BACKWARD):
        calls: dict[ast.Call, int] = {}
        met: list[ast.Call] = []  # one entry for each call of a node
        value = prediction_in(event.value)
        while value.op == "sigmoid" or value.op in SERIAL:
            node = value.node
            if value.op == "sigmoid" and isinstance(node, ast.Call) and applies_sigmoid(node):
                loops = dict(value.turns)
                times = math.prod(n for loop, n in case.program.layers_in.items() if loop in loops)
                met.append(node)
                calls[node] = max(times, met.count(node))
            if not value.parents:
                break
            value = value.parents[0]
        count = sum(calls.values())
        if count < 5:
            continue
        most = max(calls, key=lambda call: calls[call])
        names = [case.text.of(call.func) for call in calls]
        relus = [f"{s.removesuffix('sigmoid')}relu" if s.endswith("sigmoid") else "torch.relu" for s in names]
        edit = case.text.replace([(call.func, relu) for call, relu in zip(calls, relus, strict=True)])
        yield case.hit("many_sigmoids_in_forward", most, edit, count=count, share=4**count)


def prediction_in(loss: Value) -> Value:
    """Return what a loss written out by hand compares with its target."""
    while loss.op in {"mean", "sum", "-", "**", "pow", "square", "abs", "sqrt"} and loss.parents:
        loss = next((part for part in loss.parents if part.graph), loss.parents[0])
    return loss


def applies_sigmoid(node: ast.Call) -> bool:
    """Tell whether a node applies a sigmoid, as a function, method or layer, rather than creates the layer."""
    return bool(node.args) or method(node) == "sigmoid"


def fading_recurrence(case: Case) -> Iterator[RuleHit]:
    """Report failure 15: recurrent weights shrink every vector by a known factor, over a known number of steps.
    Reports nothing for gated layers, for sequences of unknown length, and if the loss reads more than one step."""
    for event in case.events_of(Act.INIT):
        layer, node, gain = event.value.base, event.node, event.other.constant if event.other else None
        recurrent = event.detail == "orthogonal_" and event.value.name.startswith("weight_hh")
        if not recurrent or layer is None or layer.op != "RNN" or not isinstance(node, ast.Call):
            continue
        if not isinstance(gain, int | float) or not 0 < gain < 1 or not isinstance(layer.node, ast.Call):
            continue
        batch_first = argument(layer.node, "batch_first")
        first = batch_first is not None and ast.unparse(batch_first) == "True"
        outputs = [v for e in case.events_of(Act.LOSS) for v in reach(e.value) if v.op == "RNN" and layer in v.parents]
        shapes = [v.parents[0].shape or () for v in outputs if uses_one_step(v, case)]
        steps = next((shape[first] for shape in shapes if len(shape) == 3), None)
        if steps and gain**steps < VANISHED:
            given = argument(node, "gain", 1)
            change = [(given, "1.0")] if given is not None else []
            yield case.hit("fading_recurrence", node, change, gain=gain, steps=steps, left=gain**steps)


def drawn_too_small(case: Case) -> Iterator[RuleHit]:
    """Report failure 15: Linear layers in a row start with weights too small for their width to let anything through.
    Reports nothing with a sum or a normalisation between them, and for layers of unknown width."""
    drawn = {e.value.base: e for e in case.events_of(Act.INIT) if e.value.name == "weight" and drawn_std(e) is not None}
    for event in case.events_of(Act.LOSS):
        layers, value = [], event.value
        while value.parents and (value.op in SERIAL or value.op in PASSING):
            layers += [value.parents[-1]] if value.op == "Linear" else []
            value = value.parents[0]
        shrinking: list[tuple[Event, float]] = []
        for layer, before in itertools.pairwise(layers):
            width, made = before.attributes.get("out", Value()).constant, drawn.get(layer)
            if made is not None and isinstance(width, int):
                shrinking.append((made, (drawn_std(made) or 0.0) * width**0.5))
        left = math.prod(scale for _, scale in shrinking)
        node = shrinking[0][0].node if shrinking else None
        if left < VANISHED and isinstance(node, ast.Call):
            start = f"{case.text.of(node.func).rsplit('.', 1)[0]}.kaiming_normal_({case.text.of(node.args[0])})"
            yield case.hit("drawn_too_small", node, start, count=len(shrinking), scale=shrinking[0][1], left=left)


PASSING = {"relu", "tanh", "leaky_relu", "gelu"}  # activations that do not enlarge small numbers


def drawn_std(drawing: Event) -> float | None:
    """Return the standard deviation of a normal initialisation; None for any other event."""
    node = drawing.node
    if drawing.detail not in {"normal_", "trunc_normal_"} or not isinstance(node, ast.Call):
        return None
    given = argument(node, "std", 2)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, float) else None


def uses_one_step(output: Value, case: Case) -> bool:
    """Tell whether the loss uses a single step of a sequence: one index, or the last state."""
    behind = [v for e in case.events_of(Act.LOSS) for v in reach(e.value)]
    users = [v for v in behind if output in v.parents]
    return all(v.op == "RNN" or (v.op == "index" and v.shape is not None and len(v.shape) == 2) for v in users)


VANISHED = 1e-6  # share of a gradient that is too small to change a float32 weight


def zeroed_by_kind(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: the weights of a hidden layer start at zero. Reports nothing for biases and a single layer."""
    for event in case.events_of(Act.INIT, Act.WRITE, Act.UPDATE):
        value, number = event.value, fill_value(event)
        around = next((s for _, s in reversed(event.path) if isinstance(s, ast.If)), None)
        if around is None or event.arms[-1:] != ((around, 0),) or number != 0:
            continue
        weight = value.parents[0] if value.op == "detach" and value.parents else value
        named = weight.name == "weight" or (event.kind == Act.INIT and value.op == "parameter")
        if tests_for_layer(around.test) and named and not initialised_later(case, event):
            yield same_weights_hit(case, event)


def zero_matrices(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: two matrices of the program, applied one after the other, start at zero."""
    for event in case.events_of(Act.MATMUL):
        second = event.other
        if second is not None and zero_matrix(second):
            for first in traverse(event.value, in_series):
                if zero_matrix(first) and untransposed(first) is not untransposed(second):
                    yield from two_zero_matrices(case, untransposed(first), untransposed(second))


def zero_layers(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: a network of this project's engine is made with init="zeros"."""
    for event in case.events_of(Act.ZERO_LAYER):
        if isinstance(event.node, ast.Call) and event.detail == "MLP":
            yield case.hit("zero_layers", event.node, case.text.with_keyword(event.node, "init", '"xavier"'))


def initialised_later(case: Case, event: Event) -> bool:
    """Tell whether something else writes to the same weights after an event and before any backward pass."""
    for later in case.program.events[case.order[event] + 1 :]:
        if later.kind == Act.BACKWARD:
            return False
        same = later.value.base is event.value.base and later.value.name == event.value.name
        if same and later.kind in {Act.INIT, Act.WRITE, Act.UPDATE} and later.node is not event.node:
            return True
    return False


def identical_layers(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: the weights of a layer and of the next one are each set to one number before training.
    Reports nothing if the layers draw their weights again, or if dropout tells units with a number other than 0
    apart."""
    if "reset_parameters" in case.names:
        return
    filled = filled_layers(case)
    rows = [flat_layers(v) for v in case.program.objects if v.op == "Sequential"]
    weighty = [[layer for layer in row if layer.op in LAYERS - NORMS] for row in rows]
    following = {pair for row in weighty for pair in itertools.pairwise(row)}
    for first, second in [*case.program.layer_pairs, *following]:
        if first in filled and second in filled:
            yield same_weights_hit(case, filled[first])


def identical_matrices(case: Case) -> Iterator[RuleHit]:
    """Report failure 16: two matrices of a network, one after the other, are each filled with one number.
    Reports nothing if other weights on the way differ from unit to unit, or with dropout."""
    filled = filled_layers(case)
    products = [(event, untransposed(event.other)) for event in case.events_of(Act.MATMUL) if event.other is not None]
    matrices = {matrix for _, matrix in products}
    for event, second in products:
        before = [untransposed(v) for v in traverse(event.value, in_series)] if second in filled else []
        first = next((v for v in before if v in filled.keys() & matrices and v is not second), None)
        learned = [v for v in before if v.leaf and graph_of(v) is True]
        apart = any(v not in filled and constant_value(v) is None for v in learned)
        apart = apart or any(v.op in LAYERS or v.op == "call" for v in before)  # other weights tell the units apart
        narrow = first is not None and first.shape is not None and first.shape[-1:] == (1,)
        if first is not None and not apart and not narrow:
            yield same_weights_hit(case, filled[first])


def same_weights_hit(case: Case, event: Event) -> RuleHit:
    """Return the hit for failure 16, with random numbers in place of the one that all weights were set to."""
    node = event.node if isinstance(event.node, ast.Call) else event.statement
    source = receiver(event.node)
    if event.kind == Act.INIT and isinstance(event.node, ast.Call):
        new = f"{case.text.of(event.node.func).rsplit('.', 1)[0]}.normal_({case.text.of(event.node.args[0])}, 0, 0.1)"
    else:
        target = event.node.value if isinstance(event.node, ast.Subscript) else event.node
        new = f"{case.text.of(source if source is not None else target)}.normal_(0, 0.1)"
    return case.hit("same_weights", node, new)


def filled_layers(case: Case) -> dict[Value, Event]:
    """Return the layers whose weights are one number at the first pass through them, with the event that set it."""
    filled: dict[Value, Event] = {}
    found: dict[Value, Event] = {}
    passes = case.events_of(Act.BACKWARD)
    for event in case.program.events:
        if event.kind == Act.BACKWARD:
            met = list(reach(event.value))
            found |= {part: filled[part] for part in met if part in filled}
        elif event.kind == Act.EVAL and event.detail == "load_state_dict":
            filled.clear()
        elif event.kind in {Act.INIT, Act.WRITE, Act.UPDATE}:
            weight = event.value.name == "weight" or event.value.op == "parameter"
            owner = event.value.base if weight and event.value.kind == Kind.PARAMETER else None
            alone = event.value.kind == Kind.PARAMETER and event.value.base is None  # of the program's own module
            parts = [event.value] if alone else list(modules(owner)) if owner is not None else []
            for part in parts:
                filled.pop(part, None)
            if fills_layers(case, event):
                filled |= dict.fromkeys(parts, event)
    return found if passes else filled


def fills_layers(case: Case, event: Event) -> bool:
    """Tell whether an event sets all numbers of a weight to the same one, for every layer of a kind."""
    number, constant = fill_value(event), fills_by_name(event)  # one number, even if unknown
    chosen = any(not tests_for_kind(test.test) for test in event.tests)  # a test may pick the biases only
    return (number is not None or constant) and not chosen and (number == 0 or not case.names & DROPOUTS)


DROPOUTS = {"Dropout", "dropout", "AlphaDropout", "Dropout1d", "Dropout2d"}


def fills_by_name(event: Event) -> bool:
    """Tell whether an event is a call that writes one number to all elements of a whole tensor."""
    return event.detail == "constant_" or (method(event.node) == "fill_" and event.detail != "part")


def two_zero_matrices(case: Case, first: Value, second: Value) -> Iterator[RuleHit]:
    """Report failure 16 for two matrices, with random numbers in place of the zeros of the first one."""
    learned = first.kind == Kind.PARAMETER
    made = first.node
    if learned and isinstance(made, ast.Call) and made.args:  # zeros of Parameter(zeros)
        made = made.args[0]
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or not case.torch:
        return
    shape = ", ".join(case.text.of(a) for a in made.args)
    library = "torch" if made.func.attr == "new_zeros" else case.text.of(made.func.value)
    new = f"{library}.randn({shape}) * 0.1"
    if first.op != "zeros" and isinstance(inner := made.args[0], ast.Call) and isinstance(inner.func, ast.Attribute):
        shape = ", ".join(case.text.of(a) for a in inner.args)
        made, new, learned = inner, f"0.1 * {case.text.of(inner.func.value)}.random.standard_normal({shape})", True
    new = new if learned else f"({new}).requires_grad_()"
    names = f"{first:These weights} and {second:those}"
    if first.node is second.node:
        names = f"{first:The weights} of both layers"
    yield case.hit("zero_matrices", made, new, names=names)


def in_series(value: Value) -> tuple[Value, ...]:
    """Return what a value was computed from, or nothing for a sum of two computed values: there, what starts at zero is
    only a correction, and the other summand differs from unit to unit."""
    computed = [parent for parent in value.parents if any(not part.leaf for part in parent.parents)]
    return () if value.op == "+" and len(computed) > 1 else value.parents + value.branches


def untransposed(value: Value) -> Value:
    return without(value, {"T", "view", "transpose"})


def tests_for_layer(test: ast.expr) -> bool:
    """Tell whether a test only checks for a Linear or a convolution."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return False
    names = {node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in walk(test)}
    return bool(names & {"isinstance", "type"}) and any(name in LAYERS and name not in NORMS for name in names)


def tests_for_kind(test: ast.expr) -> bool:
    """Tell whether a test checks the kind of a layer, or picks out weights."""
    if re.fullmatch(
        r"""['"]weight['"] in .*|.*\.(dim\(\)|ndim) (> 1|>= 2|== 2)|.*\.endswith\(['"]\.?weight['"]\)""",
        ast.unparse(test),
    ):
        return True
    if isinstance(test, ast.Compare):  # type(m) is nn.Linear
        return (
            tests_for_layer(test)
            and isinstance(test.left, ast.Call)
            and isinstance(test.ops[0], ast.Is | ast.Eq | ast.In)
        )
    return called(test) in {"isinstance", "hasattr"}


def zero_matrix(value: Value) -> bool:
    value = untransposed(value)
    wide = value.shape is not None and len(value.shape) == 2
    wrapped = value.op in {"tensor", "from_numpy", "as_tensor"} and [part.op for part in value.parents] == ["zeros"]
    return value.leaf and (value.op == "zeros" or wrapped) and graph_of(value) is True and wide


RULES = (
    activation_before_loss,
    dead_by_bias,
    moved_below_zero,
    many_sigmoids,
    sigmoids_in_forward,
    fading_recurrence,
    drawn_too_small,
    zeroed_by_kind,
    zero_matrices,
    identical_layers,
    identical_matrices,
    zero_layers,
)
