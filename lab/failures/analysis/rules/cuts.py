"""Rules about cuts in the graph (detach, no_grad, item, NumPy, choices) and the parameters behind them."""

import ast
import itertools
import re
from collections.abc import Iterator

from lab.failures.analysis.edits import Edit
from lab.failures.analysis.effects import CHOICES, ELEMENTWISE, LOSS_FUNCTIONS, REDUCTIONS
from lab.failures.analysis.facts import (
    ARITHMETIC,
    BROADCASTING_LOSSES,
    CREATORS,
    LAYERS,
    MISNAMED_SWITCHES,
    TENSORS,
    Value,
    graph_of,
    has_parameters,
    is_network_output,
    is_unknown_call,
    is_unknown_loss,
    modules,
    moved_by,
    reach,
    surely_reached,
    traverse,
)
from lab.failures.analysis.kinds import Act, Cut, Kind, Tag
from lab.failures.analysis.program import Event
from lab.failures.analysis.rules.case import Case, RuleHit
from lab.failures.analysis.syntax import is_simple, method, names_in, receiver, short
from lab.failures.analysis.work import walk

DATA = re.compile(
    r"^(train_|test_|batch_)?(x|y|t|targets?|labels?|gold|truth|masks?|batch|data|weights?)(_?(train|true|batch|b))?$"
)


def no_gradient(case: Case) -> Iterator[RuleHit]:
    """Report failures 4, 11, 12, 13 and 21: backward() starts from a value without a graph; the hit is at the cut.
    Reports nothing if anything on the way is unknown."""
    for event in case.events_of(Act.BACKWARD):
        value = event.value
        remade = (value.cut == Cut.WRAPPED and value.leaf) or only_rewrapped(value)
        cut_off = value.graph is None and only_data(value)
        if value.leaf and value.graph and value.parents:  # requires_grad was set after the value was computed
            remade = remade or any(v.cut == Cut.WRAPPED for v in reach(value, live=False))
        number = value.kind == Kind.NUMBER and any(v.op == "item" for v in reach(value, live=False))
        without_graph = value.graph is False and value.kind in TENSORS | {Kind.UNKNOWN, Kind.NUMBER}
        if without_graph or remade or cut_off or number:
            yield from report_cut(case, event)
            yield from forced_requires_grad(case, event)
        elif value.graph is None and value.kind == Kind.TENSOR:
            yield from all_frozen(case, event)
    for event in case.events_of(Act.USED):
        if event.value.cut == Cut.DERIVATIVE:
            yield from report_cut(case, event)
    for event in case.events_of(Act.DIFFERENTIATE):
        yield from derivative_without_requires_grad(case, event)


def all_frozen(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report failure 4: every layer on the way is frozen. Reports nothing if anything else there could learn, or if
    the program may put other layers into the network, such as adapters next to the frozen ones."""
    if case.names & REPLACES_LAYERS:
        return
    behind = list(reach(event.value))
    layers = [v for v in behind if v.kind == Kind.MODULE and v.op in LAYERS]
    others = [
        v for v in behind if v.kind == Kind.PARAMETER or (v.leaf and v.graph) or v.branches or v.op in {"call", "any"}
    ]
    if not layers or others or any(Tag.FROZEN not in v.tags or Tag.PARTLY_FROZEN in v.tags for v in layers):
        return
    wanted = [e.value for e in case.events_of(Act.READ_GRAD)]
    wanted += [v for e in case.events_of(Act.OPTIMIZER) for v in e.value.items or [] if v.kind == Kind.TENSOR]
    inputs = {v for v in wanted if v.graph is False and v in behind}
    if len(inputs) == 1 and isinstance(made := (value := inputs.pop()).statement, ast.Assign):
        change = [(made.value, f"{case.text.operand(made.value)}.requires_grad_()")]
        yield case.hit("frozen_input", made, change, event, value=value)
        return
    freezing = [e for e in case.events_of(Act.FROZEN) if any(v is part for part in modules(e.value) for v in layers)]
    if len({e.statement for e in freezing}) == 1 and is_simple(freezing[0].statement):
        yield case.hit("all_frozen", freezing[0].statement, "pass", event)


REPLACES_LAYERS = {"setattr", "_modules", "set_submodule", "register_parametrization"}


def still_frozen(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: frozen parameters are to learn again, but what is set is not their requires_grad.
    Reports nothing if something else switches them on, and for an object's own flag."""
    for event in case.events_of(Act.ATTRIBUTE):
        owner, node, word = event.value, event.node, event.detail
        switch = word in MISNAMED_SWITCHES or (word == "requires_grad" and owner.kind == Kind.MODULE)
        on = event.other is not None and event.other.constant is True
        frozen = Tag.FROZEN in (owner.base or owner).tags
        if not (switch and on and frozen and isinstance(node, ast.Attribute)) or not is_simple(event.statement):
            continue
        name = case.text.of(node.value)
        if name == "self":  # a flag of the program's own class, perhaps
            continue
        layer = owner.kind == Kind.MODULE
        key = "frozen_by_assigned_method" if word == "requires_grad_" else "frozen_by_unknown_switch"
        switch_on = f"{name}.requires_grad_(True)" if layer else f"{name}.requires_grad"
        advice = "Call `requires_grad_(True)`." if layer else f"Set `{name}.requires_grad`."
        change = [(event.statement if layer else node, switch_on)]
        yield case.hit(key, event.statement, change, word=word, name=name, advice=advice)


def forced_requires_grad(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report failure 4: requires_grad is set on a loss that no parameter leads to."""
    ask = next((e for e in case.events_of(Act.ASK) if e.value is event.value), None)
    if ask is None or not is_simple(ask.statement):
        return
    node, source = ask.node, receiver(ask.node)
    alone = isinstance(ask.statement, ast.Expr)
    change = (ask.statement, "pass") if source is None or alone else (node, case.text.operand(source))
    yield case.hit("forced_requires_grad", node, [change], event)


def only_rewrapped(value: Value) -> bool:
    """Tell whether every path ends at a tensor rewrapped from plain numbers, and none at a parameter."""
    alive = list(reach(value))
    wrapped = [v for v in alive if v.cut == Cut.WRAPPED and v.leaf and v.graph]
    others = [v for v in alive if v not in wrapped]
    learned = any(v.kind in {Kind.MODULE, Kind.PARAMETER, Kind.UNKNOWN} or v.op == "call" or v.branches for v in others)
    return bool(wrapped) and not learned and not any(v.leaf and v.graph for v in others)


def only_data(value: Value) -> bool:
    """Tell whether no live path leads to a parameter: only batches, targets, and cuts with layers behind them."""
    alive = list(reach(value))
    judges = {v.base for v in alive if is_unknown_loss(v)}
    strangers = [v for v in alive if v.kind == Kind.UNKNOWN and not v.cut and not v.parents and v not in judges]
    learned = any(
        v.kind in {Kind.MODULE, Kind.PARAMETER} or (v.op == "call" and not is_unknown_loss(v)) or v.branches or v.graph
        for v in alive
        if not v.cut
    )
    named = all(v.op == "" and not re.search("loss|log|grad|out|pred", v.name) for v in strangers)
    if learned or not named:
        return False
    behind = [v for c in alive if c.cut for v in reach(c, live=False)]
    if any(v.kind == Kind.MODULE and v.op in LAYERS for v in behind):
        return True
    return any(v.op == "call" for v in behind) and all(
        v.turns or DATA.search(v.name.split(".")[-1].lower()) for v in strangers
    )


def report_cut(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report the cut behind which the parameters of a loss lie, or the tensors that lack requires_grad."""
    found = list(reach(event.value, live=False))
    cuts = [v for v in found if v.cut and v.cut_by is not None]
    if event.value.kind == Kind.NUMBER and not cuts:  # only the .item() call is known
        number = next((v for v in found if v.op == "item" and isinstance(v.node, ast.Call)), None)
        if number is not None:
            yield from report_plain_number(case, number.node, number, event)
        return
    for value in sorted(cuts, key=lambda v: v.cut == Cut.WRAPPED):
        behind = list(reach(value, live=False))[1:]
        if value.cut != Cut.NO_GRAD and not any(v.graph or graph_of(v) or v.cut or v.op == "call" for v in behind):
            continue
        hits = list(hits_of_cut(case, event, value, found))
        if hits or value.cut in {Cut.ITEM, Cut.NUMPY, Cut.CHOICE}:
            yield from hits
            return
    yield from nothing_requires_grad(case, event, found)


def hits_of_cut(case: Case, event: Event, value: Value, found: list[Value]) -> Iterator[RuleHit]:
    """Yield the hits for a value that cuts what a pass starts from off; `found` is all behind that."""
    node = value.cut_by
    wraps = [v.cut_by for v in found if v.cut == Cut.WRAPPED and isinstance(v.cut_by, ast.Call)]
    if value.cut == Cut.NO_GRAD and isinstance(node, ast.expr):
        yield from report_disabled_gradients(case, event, node, found)
    elif value.cut in {Cut.ITEM, Cut.NUMPY}:
        yield from report_plain_number(case, node, value, event, wraps[0] if wraps else None)
    elif value.cut == Cut.DETACH and isinstance(node, ast.Attribute) and not case.torch:
        yield case.hit("array_of_numpy", node, None, event)
    elif value.cut == Cut.DETACH and node is not None and not any(v.cut == Cut.NUMPY for v in found):
        source = node.value if isinstance(node, ast.Attribute) else receiver(node)
        if source is not None:
            yield case.hit("detached_loss", node, case.text.of(source), event)
    elif value.cut == Cut.CHOICE and isinstance(node, ast.expr):
        yield from report_choice(case, node, event)
    elif value.cut == Cut.DERIVATIVE and isinstance(node, ast.Call):
        yield from missing_create_graph(case, node, event)
    elif value.cut == Cut.WRAPPED and isinstance(node, ast.Call) and node.args:
        given = case.text.of(node.args[0])
        several = [part for part in value.parents if part.kind == Kind.LIST]
        numbers = any(item.kind == Kind.NUMBER for part in several for item in part.items or [])
        change = None if numbers else f"torch.stack({given})" if several else given
        yield case.hit("made_from_number", node, change, event)


def missing_create_graph(case: Case, node: ast.Call, event: Event) -> Iterator[RuleHit]:
    """Report failure 4: a loss or a second derivative is computed from a derivative without create_graph=True."""
    if event.kind != Act.BACKWARD:
        key = "derivative_of_derivative"
    else:
        key = "loss_of_derivative" if event.value.graph is False else "term_of_derivative"
    yield case.hit(key, node, case.text.with_keyword(node, "create_graph", "True"), event)


def report_disabled_gradients(case: Case, event: Event, node: ast.expr, found: list[Value]) -> Iterator[RuleHit]:
    """Report failure 12, or 4: gradients are disabled for a loss, by a block around it or in a function that it
    calls."""
    misused, network = predicting_in_training(case, event, node), wrapped_network(case, node)
    misplaced = misplaced_statement(case, node, found)
    edit = enable_gradients(case, node)
    if misused is not None and network is not None:
        change = [(misused.func, case.text.of(network))]
        yield case.hit("prediction_function", misused, change, event, function=misused.func, mode=node)
    elif misplaced is not None:
        yield case.hit("misplaced_in_no_grad", misplaced[0], case.text.dedented(*misplaced), event, mode=node)
    elif edit is not None:
        yield case.hit("gradients_off", node, edit, event)


def block_under(case: Case, mode: ast.AST) -> ast.With | None:
    """Return the `with` block that has a mode as its only item; None if there is none."""
    blocks = case.nodes(ast.With)
    return next((block for block in blocks if len(block.items) == 1 and block.items[0].context_expr is mode), None)


def enable_gradients(case: Case, node: ast.expr) -> Edit | None:
    """Return the edit that enables gradients: without the decorator, outside of the `with`, or by enable_grad."""
    if (around := block_under(case, node)) is not None:
        return case.text.unindented(around)
    asynchronous = any(node in place.decorator_list for place in case.nodes(ast.AsyncFunctionDef))
    if asynchronous or decorated_function(case, node) is not None:
        return case.text.without(node)
    written = case.text.of(node)
    new = re.sub(r"\.(no_grad|inference_mode)\b", ".enable_grad", written).replace(
        "set_grad_enabled(False)", "set_grad_enabled(True)"
    )
    return case.text.replace([(node, new)]) if new != written else None


def report_plain_number(
    case: Case, node: ast.AST | None, value: Value, event: Event, wrap: ast.AST | None = None
) -> Iterator[RuleHit]:
    """Report failure 13, with the tensor itself in place of its number. What was computed from NumPy's numbers has no
    edit."""
    source = tensor_behind(case, node) if isinstance(node, ast.Call) else None
    if node is not None and source is not None:
        alone = value.cut == Cut.ITEM and wrap is None and not math_function(case, node)
        yield case.hit("plain_number", node, case.text.of(source) if alone else None, event)


def math_function(case: Case, node: ast.AST | None) -> bool:
    """Tell whether a node is a call of a function of math."""
    return isinstance(node, ast.Call) and case.text.of(node.func).startswith("math.")


def tensor_behind(case: Case, node: ast.Call) -> ast.expr | None:
    """Return x of x.item(), float(x) or x.detach().cpu().numpy()."""
    source = (None if math_function(case, node) else receiver(node)) or (node.args[0] if node.args else None)
    while method(source) in {"detach", "cpu"}:
        source = receiver(source)
    return source


def report_choice(case: Case, node: ast.expr, event: Event, key: str = "choice") -> Iterator[RuleHit]:
    """Report failure 21 at the choice. What to put in its place, only the learner knows."""
    if choice_source(node) is not None:
        function = f"`{short(case.text.of(node.func))}`" if isinstance(node, ast.Call) else "It"
        what = "A comparison" if isinstance(node, ast.Compare) else function
        yield case.hit(key, node, None, event, what=what)


def choice_source(node: ast.expr) -> ast.expr | None:
    """Return x of x.argmax(1), torch.argmax(x, 1) or x > 0.5; the condition of torch.where(x > 0.5, 1, 0)."""
    if isinstance(node, ast.Compare):
        return node.left
    names = {*CHOICES, "max", "min", "topk", "sort", "where", "long", "int", "bool", "byte"}
    if not isinstance(node, ast.Call) or method(node) not in names:
        return None
    owner = receiver(node)
    library = isinstance(owner, ast.Name) and owner.id in {"torch", "np", "F", "nn"}
    return node.args[0] if library and node.args else owner


def nothing_requires_grad(case: Case, event: Event, found: list[Value]) -> Iterator[RuleHit]:
    """Report failure 4: the program itself creates every tensor on the way, and none requires a gradient."""
    known = {Kind.TENSOR, Kind.NUMBER, Kind.FLAG, Kind.TEXT, Kind.LIST}
    if any(v.kind not in known or v.branches or v.cut or v.op == "item" for v in found):
        return
    made = [v for v in found if v.leaf and isinstance(v.node, ast.Call) and v.op in CREATORS and not v.integer]
    if not made or event.value.kind != Kind.TENSOR:
        return
    read = {e.value for e in case.events_of(Act.READ_GRAD)}
    value = next((v for v in made if v in read), None) or min(made, key=lambda v: v.node.lineno if v.node else 0)
    node = value.node
    assert isinstance(node, ast.Call)
    asked = case.text.with_keyword(node, "requires_grad", "True")
    yield case.hit("nothing_requires_grad", node, asked, event, other=value)


def choice_as_loss_term(case: Case) -> Iterator[RuleHit]:
    """Report failure 21: one term of the loss is made of choices alone, while another term has a gradient.
    Reports nothing if the loss contains a detach: a straight-through estimator gives a choice a gradient that way."""
    for event in case.events_of(Act.BACKWARD):
        if graph_of(event.value) is not True:
            continue
        parts = summands(event.value)
        if any(part.cut not in {Cut.NONE, Cut.CHOICE} for part in parts):
            continue
        for term in parts:
            found = list(reach(term)) if term.kind == Kind.TENSOR and graph_of(term) is False else []
            cuts = [v for v in found if any(graph_of(p) is True for p in v.parents) and v.cut]
            by = cuts[0].cut_by if cuts and all(v.cut == Cut.CHOICE for v in cuts) else None
            if isinstance(by, ast.expr):
                yield from report_choice(case, by, event, "choice_in_term")


SUMMING = {"+", "-", "neg", "mean", "sum"}


def summands(loss: Value) -> list[Value]:
    """Return a loss with the sums that it consists of and their terms; a sum behind a cut is not taken apart."""
    return list(traverse(loss, lambda v: () if v.cut or v.op not in SUMMING else v.parents))


def unrecorded_loss_term(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: one term of the loss is computed under no_grad from what the network made, while another term
    has a gradient. Reports nothing if the term also has another origin."""
    for event in case.events_of(Act.BACKWARD):
        if graph_of(event.value) is not True:
            continue
        for term in summands(event.value):
            found = list(reach(term, live=False)) if term.kind == Kind.TENSOR and graph_of(term) is False else []
            modes = {v.cut_by for v in found if v.cut == Cut.NO_GRAD and any(graph_of(p) is True for p in v.parents)}
            mode = modes.pop() if len(modes) == 1 else None
            edit = enable_gradients(case, mode) if isinstance(mode, ast.expr) else None
            if edit is not None and isinstance(mode, ast.expr):
                yield case.hit("unrecorded_term", mode, edit, event)
                break


def grad_without_requires_grad(case: Case) -> Iterator[RuleHit]:
    """Report failure 4: .grad is read of a tensor that takes part in a pass but does not require a gradient.
    Reports nothing for this project's engine, whose tensors require gradients by default."""
    for event in case.events_of(Act.READ_GRAD):
        value, node = event.value, event.value.node
        plain = value.leaf and value.graph is False and not value.cut and Tag.FROZEN not in value.tags
        made = isinstance(node, ast.Call) and value.op in CREATORS and not value.integer
        if case.torch and plain and made and value in case.alive and isinstance(node, ast.Call):
            asked = case.text.with_keyword(node, "requires_grad", "True")
            yield case.hit("grad_without_requires_grad", node, asked, event)


def derivative_without_requires_grad(case: Case, event: Event) -> Iterator[RuleHit]:
    """Report failure 4: a derivative with respect to a tensor that does not require a gradient."""
    value = event.value
    made = list(reach(value, live=False))
    first = made[-1]
    if value.graph is not False or any(v.cut or v.branches or v.kind != Kind.TENSOR for v in made):
        return
    statement = value.statement
    if first.op not in CREATORS or not isinstance(statement, ast.Assign) or value.node is not statement.value:
        return
    change = [(statement.value, f"{case.text.operand(statement.value)}.requires_grad_()")]
    yield case.hit("derivative_without_requires_grad", statement, change, event)


def number_as_loss_term(case: Case) -> Iterator[RuleHit]:
    """Report failure 13: one term of the loss is a plain number. Reports nothing for factors and for what is no
    loss."""

    def is_taken(value: Value) -> bool:
        return value.op == "item" and value.form == "loss" and isinstance(value.node, ast.Call)

    def terms(value: Value) -> tuple[Value, ...]:
        plain = value.kind == Kind.NUMBER
        if is_taken(value):
            return ()
        return value.parents if value.op in {"+", "-"} or (plain and value.op in {"*", "/"}) else value.branches * plain

    for event in case.events_of(Act.BACKWARD):
        if event.value.graph is not False and event.value.kind != Kind.NUMBER:
            for value in filter(is_taken, traverse(event.value, terms)):
                yield from report_plain_number(case, value.node, value, event)


def learned_numbers(case: Case) -> Iterator[RuleHit]:
    """Report failure 13: a number is taken out of learned parameters, and no other path leads to them.
    Reports nothing if a pass reaches one of them, or if no optimizer is known to have them."""
    for event in case.events_of(Act.BACKWARD):
        for value in reach(event.value, live=False):
            if value.cut != Cut.ITEM or not isinstance(value.node, ast.Call) or value.kind != Kind.NUMBER:
                continue
            behind = list(reach(value, live=False))[1:]
            learned = [v for v in behind if v.leaf and v.graph]
            plain = all(v.leaf or v.op in ONE_BY_ONE for v in behind if v.kind in TENSORS)
            known = all(v.kind in TENSORS | {Kind.NUMBER} for v in behind)
            if learned and plain and known and all(v in case.moved - case.alive for v in learned):
                yield from report_plain_number(case, value.node, value, event)


ONE_BY_ONE = ELEMENTWISE | REDUCTIONS | ARITHMETIC | {"part"}  # a parameter's own numbers, changed or not


def layers_behind_numpy(case: Case) -> Iterator[RuleHit]:
    """Report failure 13: the loss depends on layers only through NumPy. Reports nothing if another path leads there."""
    for event in case.events_of(Act.BACKWARD):
        for value in reach(event.value):
            if value.cut != Cut.WRAPPED or value is event.value:
                continue
            behind = list(reach(value, live=False))
            lost = [v for v in behind if v.kind == Kind.MODULE and v.op in LAYERS and v not in case.alive]
            taken = next((v for v in behind if v.cut in {Cut.NUMPY, Cut.ITEM} and isinstance(v.cut_by, ast.Call)), None)
            if lost and taken is not None and isinstance(taken.cut_by, ast.Call):
                yield from report_plain_number(case, taken.cut_by, taken, event, value.cut_by)


def refused_by_numpy(case: Case) -> Iterator[RuleHit]:
    """Report failure 13: NumPy is given a tensor with a graph, which PyTorch refuses.
    Reports nothing for this project's engine, and under no_grad, where PyTorch allows it."""
    for event in case.events_of(Act.NUMPY):
        node = event.node
        source = receiver(node)
        if not isinstance(node, ast.Call) or "torch" not in case.names or not event.recorded:
            continue
        if method(node) != "numpy":
            mine = (a for a in node.args if a is event.value.node or getattr(a, "id", "") == event.value.name != "")
            source = next(mine, None)
        if source is None:
            continue
        new = f"{case.text.operand(source)}.detach()"
        yield case.hit("refused_by_numpy", node, [(source, new)], event)


def network_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failures 4, 11, 12 and 21: an optimizer moves a network that a cut separates from every backward pass.
    Reports nothing if a pass reaches it on another path, or might through an unknown call."""
    passes = case.events_of(Act.BACKWARD)
    for step in case.events_of(Act.STEP):
        for item in (part for whole in step.value.items or [] for part in (whole, *trained_parts(whole, within=True))):
            parts = set(modules(item))
            if item.kind != Kind.MODULE or item.tags & {Tag.FROZEN, Tag.EVAL} or parts & case.alive:
                continue
            for event in passes:
                live = list(reach(event.value))
                if event.loops != step.loops or any(v.op == "call" and not v.cut and not is_known(v) for v in live):
                    continue
                kinds = {Cut.DETACH, Cut.NO_GRAD, Cut.CHOICE, Cut.DERIVATIVE}
                cuts = [v for v in live if v.cut in kinds and isinstance(v.cut_by, ast.expr)]
                cuts = [v for v in cuts if any(p in parts for p in reach(v, live=False))]
                targets = {v.parents[-1] for v in live if v.op in LOSS_FUNCTIONS}
                cuts.sort(key=lambda v: v in targets)  # a target may be detached on purpose
                if cuts and cuts[0].cut == Cut.DERIVATIVE and isinstance(cuts[0].cut_by, ast.Call):
                    yield from missing_create_graph(case, cuts[0].cut_by, event)
                elif cuts and cuts[0].cut == Cut.CHOICE and isinstance(cuts[0].cut_by, ast.expr):
                    yield from report_choice(case, cuts[0].cut_by, event)
                elif cuts:
                    names = f"{item:a network}", f"{step.value:its optimizer}"
                    yield from report_cut_off(case, cuts[0], *names, event)


def parameter_behind_a_cut(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: the optimizer has a network's own parameter that every pass reaches only under no_grad.
    Reports nothing if something writes to it, if its name says that it is no weight, or if a pass may reach it."""
    passes = case.events_of(Act.BACKWARD)
    behind = [(e, list(reach(e.value))) for e in passes]
    if any(v.branches or (v.op == "call" and not v.cut and not is_known(v)) for _, live in behind for v in live):
        return
    written = {e.value for e in case.events_of(Act.WRITE, Act.UPDATE)}
    for step in case.events_of(Act.STEP):
        for name, value in own_parameters(step.value):
            if value in case.alive | written:
                continue
            for event, live in behind:
                cuts = [v for v in live if v.cut == Cut.NO_GRAD and value in reach(v, live=False)]
                if cuts and event.loops == step.loops:
                    optimizer = f"{step.value:its optimizer}"
                    yield from report_cut_off(case, cuts[0], f"`{name}`", optimizer, event)


def own_parameters(optimizer: Value) -> Iterator[tuple[str, Value]]:
    """Yield the parameters that are attributes of the networks that an optimizer moves, by name."""
    for part in moved_by(optimizer):
        if part.op == "module" and not part.tags & {Tag.FROZEN, Tag.EVAL}:
            for name, value in part.attributes.items():
                frozen = Tag.FROZEN in value.tags or PRETRAINED.search(name)
                if value.kind == Kind.PARAMETER and value.base is None and not frozen:
                    yield name, value


def decorated_function(case: Case, mode: ast.AST) -> ast.FunctionDef | None:
    return next((place for place in case.nodes(ast.FunctionDef) if mode in place.decorator_list), None)


def predicting_in_training(case: Case, event: Event, mode: ast.expr) -> ast.Call | None:
    """Return the training function's call of a prediction function under no_grad that others call, too; else None."""
    function, place = decorated_function(case, mode), event.function
    if function is None or place is None or place is function:
        return None
    calls = [call for call in case.nodes(ast.Call) if ast.unparse(call.func).endswith(function.name)]
    here = [call for call in calls if call in walk(place)]
    return here[0] if len(here) == 1 and len(calls) > 1 and wrapped_network(case, mode) is not None else None


def wrapped_network(case: Case, mode: ast.expr) -> ast.expr | None:
    """Return self.net of a decorated function that ends in `return self.net(x)`; None for any other."""
    function = decorated_function(case, mode)
    body = function.body if function is not None else []
    given = body[-1].value if body and isinstance(body[-1], ast.Return) else None
    return given.func if isinstance(given, ast.Call) else None


def trained(value: Value) -> bool:
    """Tell whether a value is a network that is neither frozen nor in eval mode."""
    return value.kind == Kind.MODULE and not value.tags & {Tag.FROZEN, Tag.EVAL}


def misplaced_statement(case: Case, mode: ast.expr, found: list[Value]) -> tuple[ast.stmt, ast.With] | None:
    """Return the first statement in a no_grad block that calls a trained network, and the block; else None.
    Calls of untrained networks must come before it: they are why the block is there."""
    called = [(v.statement, p) for v in found for p in (v.base, *v.parents) if p is not None and p.kind == Kind.MODULE]
    if (around := block_under(case, mode)) is None:
        return None
    here = [any(s is one and trained(part) for one, part in called) for s in around.body]
    needed = [any(s is one and not trained(part) for one, part in called) for s in around.body]
    first = here.index(True) if True in here else 0
    return (around.body[first], around) if any(needed[:first]) else None


PRETRAINED = re.compile(
    r"(?i)backbone|teacher|pretrain|frozen|target|ema|momentum|bert|resnet|vgg|clip|old|key|reference"
)


def trained_parts(network: Value, within: bool = False) -> list[Value]:
    """Return the layers of a network's own class, without those whose names say that they are pretrained.
    With `within` also those in its dicts of layers."""
    if network.op != "module" or network.tags & {Tag.FROZEN, Tag.EVAL}:
        return []
    named = [(name, part) for name, part in network.attributes.items() if part.kind == Kind.MODULE]
    named += [pair for _, part in named if within and part.op == "ModuleDict" for pair in part.attributes.items()]
    return [part for name, part in named if has_parameters(part) and not PRETRAINED.search(name)]


def is_known(value: Value) -> bool:
    """Tell whether it is known what was called: a network, a function of torch, or a loss."""
    return is_unknown_loss(value) or (value.base is not None and value.base.kind in {Kind.MODULE, Kind.LIBRARY})


def report_cut_off(case: Case, value: Value, network: str, optimizer: str, event: Event) -> Iterator[RuleHit]:
    node = value.cut_by
    assert isinstance(node, ast.expr)
    if predicting_in_training(case, event, node) is not None:  # reported elsewhere
        return
    names = {"network": network, "optimizer": optimizer}
    misplaced = misplaced_statement(case, node, list(reach(event.value, live=False)))
    if misplaced is not None:
        yield case.hit("network_under_no_grad", misplaced[0], case.text.dedented(*misplaced), node=node, **names)
        return
    source = node.value if isinstance(node, ast.Attribute) else receiver(node)
    if value.cut == Cut.DETACH and source is not None:
        edit: Edit | None = case.text.replace([(node, case.text.of(source))])
    else:
        edit = enable_gradients(case, node)
    if edit is not None:
        key = "network_behind_detach" if value.cut == Cut.DETACH else "network_behind_no_grad"
        yield case.hit(key, node, edit, **names)


def in_eval_mode(case: Case, event: Event) -> bool:
    """Tell whether the function that calls a network has put it into eval mode before."""
    modes = [e for e in case.events_of(Act.EVAL, Act.TRAIN) if e.value is event.other]
    before = [e for e in modes if e.functions == event.functions and case.order[e] < case.order[event]]
    return bool(before) and before[-1].detail == "eval"


def validation_recorded(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: a validation loop records graphs that no backward pass uses.
    Reports nothing if anything in the same function computes a gradient."""
    asking, wanted = case.events_of(*ASKING), case.reached(*ASKING, live=False)
    done: set[ast.For] = set()
    for event in case.events_of(Act.FORWARD):
        loop, network = (event.loops[-1] if event.loops else None), event.other
        if not isinstance(loop, ast.For) or loop in done or network is None or not event.recorded or not case.torch:
            continue
        asked = any(e.loops[-1:] == (loop,) or (event.functions and e.functions == event.functions) for e in asking)
        batch = set(names_in(event.node)) & set(names_in(loop.target))
        if not batch or asked or event.value in wanted or Tag.FROZEN in network.tags:
            continue
        numbers = any(isinstance(n, ast.AugAssign) or getattr(n, "attr", "") in READ for n in walk(loop))
        if numbers and (in_eval_mode(case, event) or VALIDATION.search(ast.unparse(loop.iter))):
            done.add(loop)
            edit = case.text.under(loop, "with torch.no_grad():")
            yield case.hit("validation_recorded", event.node, edit, network=network)


def evaluation_recorded(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: an evaluation on held-out data inside the training loop records a graph.
    Reports nothing outside of such a loop, and if anything computes a gradient from the output."""
    wanted = case.reached(*ASKING, live=False)
    for event in case.events_of(Act.FORWARD):
        network, statement = event.other, event.statement
        judged = bool(event.loops) and in_eval_mode(case, event)
        trained = any(e.loops[:1] == event.loops[:1] for e in case.events_of(Act.BACKWARD))
        recorded = event.recorded and event.value.graph is True and case.torch
        alone = is_simple(statement) and not case.text.indent(statement).strip()
        unwanted = event.value not in wanted and VALIDATION.search(" ".join(names_in(event.node)))
        if network is not None and judged and trained and recorded and alone and unwanted:
            edit = case.text.under(statement, "with torch.no_grad():")
            yield case.hit("evaluation_recorded", event.node, edit, network=network)


def averaged_with_graph(case: Case) -> Iterator[RuleHit]:
    """Report failure 12: a running average of parameters is recorded, and grows its graph from step to step.
    Reports nothing in forward(), and for an average that a backward pass goes through."""
    wanted = case.reached(Act.BACKWARD, Act.USED, live=False)
    steps = [e for e in case.events_of(Act.STEP) if e.loops]
    for event in case.events_of(Act.ATTRIBUTE, Act.GATHER):
        value, statement = event.other, event.statement
        if value is None or not isinstance(statement, ast.Assign) or not event.recorded or value in wanted:
            continue
        target = statement.targets[0]
        again = event.second_call and bool(case.events_of(Act.STEP))
        stepped = again or any(e.loops[0] in event.loops for e in steps)
        kept = any(ast.unparse(part) == ast.unparse(target) for part in walk(statement.value))
        if kept and stepped and not event.in_forward and value.graph is True and averages(value):
            name = case.text.of(target)
            yield case.hit(
                "average_recorded", statement, case.text.under(statement, "with torch.no_grad():"), name=name
            )


def averages(value: Value) -> bool:
    """Tell whether a value is a weighted sum of a parameter and something else, or a lerp between the two."""
    if isinstance(value.node, ast.Call) and value.op == "+":  # lerp
        return any(part.kind == Kind.PARAMETER for part in value.parents)
    scaled = [part for part in value.parents if part.op == "*" and len(part.parents) == 2]
    if value.op != "+" or len(scaled) != 2:
        return False
    numbers = all(any(graph_of(p) is not True and p.kind not in TENSORS for p in part.parents) for part in scaled)
    return numbers and any(p.kind == Kind.PARAMETER for part in scaled for p in part.parents)


ASKING = (Act.BACKWARD, Act.USED, Act.DIFFERENTIATE, Act.READ_GRAD)  # events that compute or read a gradient
READ = {"item", "argmax", "append"}  # names that show that a loop reads the network's output
VALIDATION = re.compile(
    r"(?i)(^|[^a-z])([xy]?va|val|x?val|valid|validation|test|dev|eval|held_?out)([^a-z]|$)"
)  # names of validation loaders and held-out data


def discounted(value: Value) -> bool:
    """Tell whether a value is a sum with a term scaled by a discount factor, like the targets of Q-learning."""
    if value.op != "+":
        return False
    factors = traverse(value, lambda here: here.parents if here.op in {"+", "*"} else ())
    return any(
        re.search("gamma|discount", v.name.lower()) or (isinstance(v.constant, float) and 0.8 < v.constant < 1)
        for v in factors
        if not v.parents
    )


def moving_target(case: Case) -> Iterator[RuleHit]:
    """Report failure 11: the network's own output is its target, so the gradient pulls both.
    Reports nothing unless the target is called one or is a discounted output of the network."""
    pairs = [(e.value, e.other) for e in case.events_of(Act.LOSS) if e.other and e.detail in BROADCASTING_LOSSES]
    for top in dict.fromkeys(v for e in case.events_of(Act.BACKWARD) for v in surely_reached(e.value) if v.op == "-"):
        pairs += [(one, two) for one, two in itertools.permutations(top.parents, 2) if discounted(two)]
    for prediction, target in pairs:
        if not re.search("target|expected", target.name) and not discounted(target):
            continue
        statement = target.statement
        alive = list(reach(prediction))
        shared = {v for v in alive if v.kind == Kind.MODULE and graph_of(v)}
        shared |= {v.base for v in alive if is_network_output(v) and v.base is not None}
        own = not is_unknown_call(target) and any(v in shared for v in surely_reached(target))
        if not isinstance(statement, ast.Assign | ast.Return) or not own:
            continue
        made = target.node if isinstance(target.node, ast.BinOp) else statement.value
        assert made is not None
        yield case.hit("moving_target", statement, [(made, f"({case.text.of(made)}).detach()")], value=target)


RULES = (
    no_gradient,
    choice_as_loss_term,
    unrecorded_loss_term,
    grad_without_requires_grad,
    number_as_loss_term,
    learned_numbers,
    layers_behind_numpy,
    network_behind_a_cut,
    parameter_behind_a_cut,
    validation_recorded,
    evaluation_recorded,
    averaged_with_graph,
    refused_by_numpy,
    still_frozen,
    moving_target,
)
