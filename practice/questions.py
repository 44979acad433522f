"""Questions, each tied to the place in the lab that proves its answer.

Numbers are not written down here: a function of an engine computes each, and the page shows that function's own lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from model import Tensor

Engine = type[Tensor]
TOPICS = ("Derivatives", "Graph and order", "Shapes", "Engine", "Training", "Frameworks")


@dataclass(frozen=True)
class Place:
    """Where the lab proves an answer.

    file, query  the page, and the parameters of its address that prepare the state
    look         what to see there, a sentence
    """

    file: str
    look: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """What all kinds have.

    key      in a file of one's progress: it stays what it is
    because  why the right answer is right, in a few sentences
    run      what the question is about, as a function of an engine: its lines are shown with the question, and what it
             answers, or raises, with the answer. None where there are none
    """

    key: str
    topic: str
    text: str
    hint: str
    because: str
    place: Place
    run: Callable[[Engine], object] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Option:
    """One answer to choose. why_not: why it is wrong; "" for the right one."""

    text: str
    why_not: str = ""


@dataclass(frozen=True)
class Choice(Question):
    """One of its options is right."""

    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Slip:
    """A wrong number that people come to. value: how they come to it; why_not: what it leaves out."""

    value: Callable[[Engine], float]
    why_not: str


@dataclass(frozen=True)
class Number(Question):
    """`answer` computes the number; where it is not given, `run` does."""

    answer: Callable[[Engine], float] | None = None
    slips: tuple[Slip, ...] = ()


@dataclass(frozen=True)
class Point:
    """Something that a good answer says.

    what     a clause: "Found:" or "Not found:" stands before it
    sayings  each is some patterns: a sentence in which all of them are found says it, and none of them may be negated
             there, unless NOT is one of them
    against  a sentence with any of these patterns says the opposite: then the point is not there
    """

    what: str
    sayings: tuple[tuple[str, ...], ...]
    against: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text(Question):
    """A short text, held against key points; all of them make it whole."""

    points: tuple[Point, ...] = ()


# ---------------------------------------------------------------- what the questions run

NUMBERS = {"in_a": "2", "in_b": "3", "in_c": "4", "in_d": "5"}
CLASSIC = {"expression": "((a*b) + c) * (a + d)", **NUMBERS, "stage": "backward"}


def _gradient(leaf: Tensor) -> float:
    """Its first element; nan where no message arrived."""
    return float(np.asarray(leaf.grad, dtype=float).ravel()[0])


def _used_twice(Tensor: Engine) -> float:
    a = Tensor(3.0)
    y = a * a + a
    y.backward()
    return _gradient(a)


def _classic(Tensor: Engine) -> float:
    a, b, c, d = Tensor(2.0), Tensor(3.0), Tensor(4.0), Tensor(5.0)
    y = ((a * b) + c) * (a + d)
    y.backward()
    return _gradient(a)


def _classic_by_one_way(Tensor: Engine, way: int) -> float:
    """Where only one of the two uses of a sends its message."""
    a, b, c, d = Tensor(2.0), Tensor(3.0), Tensor(4.0), Tensor(5.0)
    cut = a.detach()
    y = ((cut * b) + c) * (a + d) if way else ((a * b) + c) * (cut + d)
    y.backward()
    return _gradient(a)


def _relu_at_0(Tensor: Engine) -> float:
    x = Tensor(0.0)
    y = x.relu()
    y.backward()
    return _gradient(x)


def _difference_at_0(Tensor: Engine) -> float:
    h = 1e-6
    up, down = Tensor(h).relu(), Tensor(-h).relu()
    slope = (up.item() - down.item()) / (2 * h)
    return float(slope)


def _central_passes(parameters: int) -> int:
    """How often finite differences run the function: counted."""
    runs = 0

    def loss(w: np.ndarray) -> float:
        nonlocal runs
        runs += 1
        return Tensor(w).sum().item()

    w, h = np.zeros(parameters), 1e-5
    for i in range(parameters):
        step = np.zeros(parameters)
        step[i] = h
        loss(w + step)
        loss(w - step)
    return runs


def _too_small_a_step(Tensor: Engine) -> float:
    x, h = 1.0, 1e-17
    up, down = Tensor(x + h) ** 2, Tensor(x - h) ** 2
    slope = (up.item() - down.item()) / (2 * h)
    return float(slope)


def _steepest_sigmoid(Tensor: Engine) -> float:
    x = Tensor(0.0)
    y = x.sigmoid()
    y.backward()
    return _gradient(x)


def _backward_twice(Tensor: Engine) -> None:
    w = Tensor(3.0, label="w")
    loss = w * w
    loss.backward()
    loss.backward()


def _not_zeroed(Tensor: Engine) -> float:
    w = Tensor(3.0)
    for _ in range(2):
        loss = w * w
        loss.backward()
    return _gradient(w)


def _one_pass(Tensor: Engine) -> float:
    w = Tensor(3.0)
    (w * w).backward()
    return _gradient(w)


def _many_numbers(Tensor: Engine) -> None:
    x = Tensor([1.0, 2.0, 3.0], label="x")
    y = x * x
    y.backward()


def _written_to(Tensor: Engine) -> None:
    a, b = Tensor(2.0, label="a"), Tensor(3.0, label="b")
    y = a * b
    a.data += 1.0
    y.backward()


def _detached(Tensor: Engine) -> float:
    a = Tensor(3.0)
    y = a * a.detach()
    y.backward()
    return _gradient(a)


def _squared(Tensor: Engine) -> float:
    a = Tensor(3.0)
    (a * a).backward()
    return _gradient(a)


def _bias(Tensor: Engine) -> float:
    X, b = Tensor(np.ones((4, 3))), Tensor(np.zeros(3))
    y = (X + b).sum()
    y.backward()
    return _gradient(b)


def _parameters(Tensor: Engine, bias: bool = True) -> float:
    """Counted in the weights and biases of 3 inputs and layers of 4, 4 and 1 units."""
    widths = [3, 4, 4, 1]
    made = [Tensor(np.zeros((n_in, n_out))) for n_in, n_out in itertools.pairwise(widths)]
    made += [Tensor(np.zeros(width)) for width in widths[1:] if bias]
    return float(sum(parameter.size for parameter in made))


def _pairs(Tensor: Engine) -> float:
    prediction, target = Tensor(np.zeros((4, 1))), Tensor(np.zeros(4))
    difference = prediction - target
    return float(difference.size)


def _by_an_if(Tensor: Engine) -> str:
    x = Tensor(3.0)
    y = x * x if x.item() > 0 else -x
    return f"The last node of the graph is `{y.op}`."


def _number_first(Tensor: Engine) -> str:
    a = Tensor(3.0)
    y = 2 * a
    return f"The graph has a node `{y.op}`, and y is {y.item():g}."


def _leaf(Tensor: Engine) -> str:
    a = Tensor(3.0)
    y = a * a
    return f"The backward step of a is {a._backward}; that of y is {'a closure' if y._backward else 'None'}."


def _column_and_row(Tensor: Engine) -> float:
    column, row = Tensor(np.zeros((4, 1))), Tensor(np.zeros(3))
    return float((column + row).size)


def _column(Tensor: Engine) -> float:
    X, c = Tensor(np.ones((4, 3))), Tensor(np.zeros((4, 1)))
    y = (X + c).sum()
    y.backward()
    return _gradient(c)


def _mean(Tensor: Engine) -> float:
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    y = x.mean()
    y.backward()
    return _gradient(x)


def _sum_without_keepdims(Tensor: Engine) -> None:
    X = Tensor(np.ones((4, 3)))
    X - X.sum(axis=1)


def _product_gradient(Tensor: Engine) -> float:
    A, B = Tensor(np.ones((2, 3))), Tensor(np.ones((3, 4)))
    y = (A @ B).sum()
    y.backward()
    return float(np.asarray(A.grad).size)


def _one_step(Tensor: Engine, rate: float = 0.1) -> float:
    w = Tensor(3.0)
    loss = w * w
    loss.backward()
    return float(w.item() - rate * _gradient(w))


def _two_long_steps(Tensor: Engine) -> float:
    w, rate = 3.0, 1.0
    for _ in range(2):
        leaf = Tensor(w)
        (leaf * leaf).backward()
        w = w - rate * _gradient(leaf)
    return w


def _unsure(Tensor: Engine) -> float:
    z = Tensor([0.0, 0.0])
    loss = z.logsumexp() - z[0]
    loss.backward()
    return _gradient(z)


def _cut_off(Tensor: Engine) -> float:
    w, x = Tensor(-2.0), Tensor(3.0)
    y = (w * x).relu()
    y.backward()
    return _gradient(w)


# ---------------------------------------------------------------- the words of texts

NOT = r"\b(no|not|never|without|neither|nor|nothing|none|cannot|unlike|instead|rather|\w+n't)\b"
STEP = (
    r"\b(operations?|ops?|calls?|steps?|calculations?|computations?|functions?|primitives?|nodes?|parents|inputs|them|"
    r"operands|each one|everything|what)\b"
)
RECORD = (
    r"\b(record|remember|log(g)?|trac|track|stor|sav|memori[sz]|captur|register)(s|e|es|ed|d|ing|king)?\b|"
    r"\bnot(ed|es)\b|writ\w* (it |"
    r"them )?down|written down|\bke(ep|pt)|history|\btape\b|add(s|ed)? to|builds? up"
)
DERIVATIVE = (
    r"deriv|\brules?\b|slope|closure|partial|differentiate|how to (diff|back)|_backward|backward (function|rule)"
)
FORMULA = r"formula|expression|equation|symbols?\b|algebra|swell"
PASS = r"\b(one|a single|single|1)\b.{0,25}\b(pass|sweep|run|walk|traversal)\b|\bonce\b|\bin one go\b|same time"
OPTIMIZED = (
    r"optimi[sz]|\bfus(e|es|ed|ing|ion)\b|compil|fast|speed|memory|parallel|machines|deploy|export|plan|efficien|"
    r"schedul|distribut|simplif|performan"
)
FLOW = (
    r"debug|\bifs?\b|\bloops?\b|control flow|branch|condition|\berrors?\b|print|dynamic|flexib|python|chang|inspect|"
    r"choice|intermediate"
)
DIFFERENCES = (
    r"finite|numeric|differences?|grad(ient)?[ -]?check|perturb|nudg|small step|epsilon|\bx ?[+±] ?(h|eps)|"
    r"mov\w* (an|the|each|every) input"
)

# ---------------------------------------------------------------- the questions

QUESTIONS: tuple[Question, ...] = (
    Text(
        "how-it-knows",
        "Derivatives",
        "You write a program that nobody has seen before, and the engine finds its derivatives. How does it know them?",
        "What does an operation do besides computing its result? And who goes through all of that afterwards?",
        "Each operation knows its own small derivative. While the program runs, each one is written down with its "
        "operands: that is the graph. backward() walks it from the result to the inputs and multiplies by the chain "
        "rule. Nobody needs to know the whole program.",
        Place("pages/start.py",
              "Both passes have run: each line of the list is one message, from a card to its operand.",
              {"stage": "backward", "machine": "4"}),
        points=(
            Point("that the operations are recorded as they run, in a graph",
                  ((RECORD, STEP), (r"build|built|mak|made|creat|construct|grow", r"graph|\btape\b|\bdag\b"),
                   (r"graph|\btape\b|\bdag\b", r"\bof\b|record|remember|hold|contain|ran\b|run\b", STEP))),
            Point("that each operation brings its own rule, its local derivative",
                  ((r"\b(each|every|own|its|their|local|elementary|basic|primitive|simple|little)\b", DERIVATIVE),
                   (r"\b(each|every|local)\b", r"gradient|backprop|differentiat"), (r"built in", DERIVATIVE))),
            Point("that these are joined by the chain rule, backward from the result",
                  ((r"chain|multipl|combin|compos|propagat",
                    r"chain rule|back|revers|gradient|deriv|slope|from the (result|output|loss|end)"),
                   (r"\b(call|run|walk|go|apply|visit|goes)\w*", r"\brevers|\bback"),
                   (r"revers\w* order|from the (last|end)( one| step)? to",))),
        ),
    ),
    Text(
        "three-ways",
        "Derivatives",
        "Automatic differentiation is neither symbolic differentiation nor finite differences. What sets it apart from "
        "each?",
        "One of the others makes a long formula. The other moves an input by a small h. What does autograd work with?",
        "It works with numbers, not with formulas, so no formula can grow. And it applies exact rules, so there is no "
        "step h to choose: the result is exact up to rounding, and one pass gives all derivatives.",
        Place("pages/why_reverse_mode.py",
              "Three ways to one number: the work of each, and by how much the difference misses.",
              {"tab": "formula", "longer": "150"}),
        points=(
            Point("that it computes with numbers and builds no formula",
                  ((NOT, FORMULA), (r"symbolic", r"formula|expression|equation|huge|explo|grow|swell|blow"),
                   (r"\b(work|comput|flow|us|push|manipulat|evaluat|propagat|operat|calculat)\w*",
                    r"\b(numbers?|values?|floats?|numeric)\b"),
                   (r"derivatives? at a point",)),
                  (r"\b(it|autodiff|autograd|ad|(?<!symbolic )differentiation|which) (?!\w+ not|not|"
                   r"never)(\w+ )?(mak|build|giv|form|produc|yield|us|deriv)\w* ((?!no|without)\w+ )"
                   r"{0,4}(formula|expression|equation)",
                   r"\bus(es|ing) symbols")),
            Point("that it is exact up to rounding and needs no step h",
                  ((r"\bexact|precise|accura|(machine|floating|full).{0,12}precision",),
                   (NOT, r"\bsteps?\b|\bh\b|\beps|approximat|truncation|error|estimat"),
                   (r"numeric|finite|differenc", r"approximat|error|rounding|truncat|inexact|estimat|inaccura")),
                  (r"\b(which|it|that|autodiff|autograd) (is|are) (only )?(an )?(approximat|inexact|inaccurate)",
                   r"\b(it|autodiff|autograd|ad)\b[^.;,]{0,50}(?<!not )(?<!never )\b(needs?|requires?) (a|an|the|some)"
                   r"( \w+)? (step|h|eps\w*)\b")),
        ),
    ),
    Text(
        "why-reverse",
        "Derivatives",
        "A network has a million parameters and one loss. Why do frameworks use reverse mode for it?",
        "Count the inputs, count the results. Then count how many passes each mode needs.",
        "Reverse mode begins at a result. There is one loss, so one backward pass gives all the million derivatives. "
        "Forward mode begins at an input and would need a pass for each parameter.",
        Place("pages/why_reverse_mode.py", "6 passes of forward mode, or 1 of reverse mode.",
              {"tab": "directions", "expression": "log(sum(exp(v)))", "in_v": "[0.5, -1, 2, 0, 1, -0.5]"}),
        points=(
            Point("that there is one result, the loss, but there are many inputs",
                  ((r"\b(one|single|1|a) (\w+ )?(loss|output|result|scalar|number)\b|\bscalar|number of outputs|"
                    r"loss is (one|a)\b|(loss|result|output) is (one|a (single|scalar))",),
                   (r"\b(many|million|lots of|more) (\w+ )?(inputs|parameters|weights)", r"\bone\b"))),
            Point("that one backward pass gives all derivatives at once",
                  ((PASS, r"revers|\bback|\ball\b|every|gradient|whole|derivatives"),
                   (r"revers|backward", r"number of (outputs|results)"), (r"\bat once\b", r"all|every")),
                  (r"revers\w* (mode )?(\w+ )?(needs|takes|would need) (a |one )?(million|many|pass for each)",)),
            Point("that forward mode needs a pass for each parameter",
                  ((r"\bforward",
                    r"\b(each|every|per|million|1e6|10+|repeat\w*|as many|inputs?|parameters?|weights?)\b"),),
                  (r"forward (mode )?(\w+ )?(needs |takes )?only one",)),
        ),
    ),
    Number(
        "central-passes",
        "Derivatives",
        "A function has 1,000 parameters. How often do central differences, (f(x + h) − f(x − h)) / 2h, run it for one "
        "gradient?",
        "How many runs does one parameter take?",
        "Each parameter is moved up once and down once. That is why finite differences are for testing.",
        Place("pages/why_reverse_mode.py", "The row of finite differences: the passes that it made.",
              {"tab": "cost", "n": "1000"}),
        answer=lambda engine: float(_central_passes(1000)),
        slips=(
            Slip(lambda engine: float(_central_passes(1000) // 2),
                 "That counts one run for each parameter. A central difference takes two: up and down."),
            Slip(lambda engine: float(_central_passes(1000) // 2 + 1),
                 "That is the forward difference, which reuses f(x). The central one goes up and down."),
            Slip(lambda engine: float(_central_passes(1)), "That is for one parameter alone."),
        ),
    ),
    Choice(
        "forward-wins",
        "Derivatives",
        "One input, a thousand results: you want all derivatives. Which mode needs fewer passes?",
        "Forward mode begins at an input, reverse mode at a result.",
        "Forward mode begins at the input, and there is only one: a single pass gives all thousand derivatives. "
        "Reverse mode would need a backward pass for each result.",
        Place("pages/why_reverse_mode.py", "One input, eight results: 1 pass of forward mode, or 8 of reverse mode.",
              {"tab": "directions", "expression": "tanh(t * [1, 2, 3, 4, 5, 6, 7, 8])", "in_t": "0.2"}),
        options=(
            Option("Reverse mode, as always",
                   "It is cheaper for one result and many inputs. Here it would go back a thousand times."),
            Option("Forward mode"),
            Option("Both need the same",
                   "Forward mode needs a pass for each input, reverse mode for each result: 1 against 1,000."),
        ),
    ),
    Number(
        "step-too-small",
        "Derivatives",
        "The slope of x ** 2 at 1 is 2. What does this central difference give?",
        "How close to 1 is the next number that a float64 can hold?",
        "Near 1, float64 numbers are about 2e-16 apart. 1 + 1e-17 and 1 − 1e-17 are both rounded to 1, so the "
        "difference is exactly 0.",
        Place("pages/gradient_check.py", "x + h is x itself: the difference is 0, and the error is the whole "
              "gradient.", {"tab": "step", "expression": "x**2*sin(x) + exp(x)", "in_x": "2", "h": "-16"}),
        run=_too_small_a_step,
        slips=(Slip(lambda engine: float((engine(1.0) * 2.0).item()),
                    "That is the true slope. With so small an h, 1 + h and 1 − h are the same number."),),
    ),
    Number(
        "relu-at-0",
        "Derivatives",
        "relu has a kink at 0. What does this engine put into x.grad there?",
        "The rule is: upstream times 1 if the result is greater than 0, else 0.",
        "There is no derivative at the kink: any number from 0 to 1 is a subgradient. This engine takes 0, and so do "
        "PyTorch, JAX and TensorFlow: a unit that gives nothing gets nothing.",
        Place("pages/operations.py", "The point stands on the kink: read the gradient there.",
              {"op": "relu", "x": "0"}),
        run=_relu_at_0,
        slips=(
            Slip(_difference_at_0, "That is what a central difference measures here. The rule does not average."),
            Slip(lambda engine: 2 * _difference_at_0(engine),
                 "That is the slope to the right of 0. At 0 itself the result is not greater than 0."),
        ),
    ),
    Text(
        "why-add",
        "Graph and order",
        "Why does an arriving message add to the gradient (+=) instead of replacing it?",
        "Think of a value that stands in a formula twice.",
        "A value that is used twice reaches the result in two ways, and its effect is the sum over both: the chain "
        "rule for several variables. If a message replaced the one before, only the last would count.",
        Place("pages/graph_lab.py", "The ledger of a: two messages, and their sum.", CLASSIC),
        points=(
            Point("that a value may be used more than once, so several messages arrive",
                  ((r"\b(twice|two|three|several|multiple|many|different|various|both|all|each|every|re-?used|"
                    r"shared?|branch\w*|more than (once|one))\b",
                    r"\b(us(e|es|ed|age)|re-?used?|paths?|ways?|routes?|places?|operations|ops|child|children|"
                    r"consumers?|branch\w*|part in|feeds?|shared?|appears?|occurs?|stands?)\b"),)),
            Point("that its whole effect is the sum of them",
                  ((r"\bsum|\badd(s|ed|ing)?\b|\btotal|\bboth\b|\bwhole\b|accumul|\bplus\b",
                    r"\bpaths?|\buses?\b|contribut|effect|influenc|derivative|\bthose\b|\bthe[ym]\b|message|branch|"
                    r"chain rule|gradients?|parts"),)),
            Point("that a replaced message would be lost",
                  ((r"\blos[ets]|overwr|forg[eo]t|thr[eo]w|eras|delet|discard|drop|\bgone\b|disappear|\blast\b|"
                    r"earlier|previous|\bonly (the )?one\b",
                    r"=|replac|assign|otherwise|\belse\b|\bwould\b|\bif\b|instead|without|'d\b|\bwas\b"),)),
        ),
    ),
    Number(
        "used-twice",
        "Graph and order",
        "y uses a three times. What is a.grad?",
        "Two messages come from the product, and one from the sum.",
        "a * a sends a message of 3 to a twice, and + a sends 1. They add up: 2a + 1.",
        Place("pages/graph_lab.py", "Three messages arrive at a: see them in its ledger.",
              {"expression": "a*a + a", "in_a": "3", "stage": "backward"}),
        run=_used_twice,
        slips=(
            Slip(_squared, "That is the part of a * a. The + a sends 1 more."),
            Slip(_detached, "That is one message alone. a is used three times, and its messages add up."),
            Slip(lambda engine: 1.0, "That is the message of + a alone. a * a sends two more."),
            Slip(lambda engine: (engine(3.0) * 3.0 + 3.0).item(),
                 "That is the value y. The gradient is how fast y changes with a."),
        ),
    ),
    Number(
        "classic",
        "Graph and order",
        "y = ((a * b) + c) * (a + d). What is a.grad?",
        "Two ways lead from a to y: through a * b, and through a + d. Multiply along each, then add.",
        "By a * b: upstream 7 times b = 3. By a + d: upstream 10 times 1. The two messages add up.",
        Place("pages/graph_lab.py", "Two messages arrive at a; step through them.", CLASSIC),
        run=_classic,
        slips=(
            Slip(lambda engine: _classic_by_one_way(engine, 0),
                 "That is the message through a * b alone. Another one comes through a + d."),
            Slip(lambda engine: _classic_by_one_way(engine, 1),
                 "That is the message through a + d alone. Another one comes through a * b."),
        ),
    ),
    Text(
        "why-an-order",
        "Graph and order",
        "Why does backward() go through the nodes in reverse topological order, and not in just any order?",
        "When may a node pass its gradient on?",
        "A node multiplies its gradient by its local derivatives. That gradient is whole only when everything that "
        "used the node has sent its message; any earlier, a part would be missing. In reverse topological order all "
        "users come first.",
        Place("pages/faults.py", "An engine that takes another order: what a loses.",
              {"fault": "wrong-order", "run": "1"}),
        points=(
            Point("that all messages must have arrived before a node passes its gradient on",
                  ((r"\b(all|every\w*|each|complete|whole|full|finish\w*|final|ready)\b",
                    r"arriv|receiv|\bsen[dt]|complete|message|contribut|\bbefore\b|\buntil\b|\bwait|processed|"
                    r"\bfirst\b|\bafter\b|whole|finished|\bfinal\b"),),
                  (r"no difference|(not|n't) matter",)),
            Point("that the users of a node come before it",
                  ((r"\busers?\b|consum|\bus(es|ed|e|ing) (it|this|the node|a node|a value)|"
                    r"\ball (of )?(those|them|these)\b|depend|downstream|later (node|op)|"
                    r"children|successor|results?|outputs?|parents",
                    r"\bbefore\b|\bfirst\b|\bafter\b|\buntil\b|\bwait|receiv|\bsent\b|from the|processed|\bmust\b|"
                    r"already|\bdone\b|handled|deliver|report|contribut"),)),
            Point("that otherwise a part of the gradient would not be passed on",
                  ((r"otherwise|\belse\b|early|earlier|too soon|(another|any other|wrong|random|different) order|"
                    r"\bif\b|\bor\b|only when|any before",
                    r"incomplete|\bpart|miss|\blos[ets]|wrong|too small|\blate\b|(not|n't) (yet )?(whole|complete)|"
                    r"\bhalf|never (get|be|is|are|reach|arriv)"),)),
        ),
    ),
    Choice(
        "define-by-run",
        "Graph and order",
        "In a define-by-run engine such as this one, when is the graph made?",
        "Try an if on a value: which branch is in the graph?",
        "Each operation writes itself down as it computes. So an if or a loop of Python needs no node of its own: only "
        "what really ran is there, and the next run may make another graph.",
        Place("pages/other_engines.py", "First row: both kinds of engine, asked the same question.", {"tab": "beside"}),
        run=_by_an_if,
        options=(
            Option("While the operations run"),
            Option("When the program is read, before anything runs",
                   "That is a static graph: there, an if must be a node, because both branches must be in it."),
            Option("When backward() is called",
                   "backward() finds the graph ready and walks it; without one it refuses."),
        ),
    ),
    Text(
        "static-graph",
        "Frameworks",
        "Some frameworks make the whole graph before they run it. Name one thing that this makes easier, and one that "
        "it makes harder.",
        "What can you do with a plan that you cannot do on the way? And what can you do on the way but not in a plan?",
        "A graph that is known as a whole can be optimized: steps fused, memory planned, sent to many machines. But an "
        "if or a loop over values must be written as nodes, and an error shows up far from the line that caused it.",
        Place("pages/other_engines.py", "2007 and 2015: static graphs. 2016: one that is made by running.",
              {"tab": "history", "year": "1970"}),
        points=(
            Point("easier: the whole can be optimized before it runs",
                  ((r"\beas(y|ier|ily)|good|better|\bcan\b|could|possible|allow|simpler|advantage|in advance|ahead|"
                    r"\bsees?\b|known as a whole", OPTIMIZED),),
                  (rf"(hard|difficult|worse|impossible|bad)\w*:? (\w+ ){{0,3}}({OPTIMIZED})",
                   rf"({OPTIMIZED})\w* (\w+ ){{0,2}}(is|are|becomes?|gets?|turns?|will be) "
                   r"(\w+ )?(hard|difficult|worse|impossible)")),
            Point("harder: choices and loops on values, or finding an error",
                  ((r"\bhard|difficult|awkward|\bpain|\bbad\b|\bworse|\bless\b|\blos[es]|must be|cumbersome|tricky|"
                    r"complicat|inconvenien|limit|\bfar from|problem|annoying|clumsy", FLOW), (NOT, FLOW)),
                  (rf"\beas(y|ier)\w*:? (\w+ ){{0,3}}({FLOW})",
                   rf"({FLOW})\w* (\w+ ){{0,2}}(is|are|becomes?|gets?|turns?|will be) (\w+ )?eas")),
        ),
    ),
    Choice(
        "number-first",
        "Engine",
        "Python evaluates 2 * a. The number 2 knows no Tensor: why does this work?",
        "What does Python do when the left operand does not know how?",
        "int does not know Tensor, so Python asks the right operand: a.__rmul__(2). That wraps 2 into a constant "
        "tensor and multiplies. A constant gets no gradient.",
        Place("pages/graph_lab.py", "The 2 is a node of its own, grey: a constant.",
              {"expression": "2*a", "in_a": "3", "stage": "backward"}),
        run=_number_first,
        options=(
            Option("The engine adds a method to int", "Python's int cannot be changed, and nothing here tries."),
            Option("Python turns a into a number", "Then the graph would end there, and a would get no gradient."),
            Option("Tensor has __rmul__, which Python tries next"),
        ),
    ),
    Choice(
        "leaf-step",
        "Engine",
        "A result carries a closure for its backward step. What does a leaf carry?",
        "Who would a leaf send its gradient to?",
        "No operation made a leaf, so it has no operands to send anything to. The walk ends there: its gradient stays.",
        Place("pages/graph_lab.py", "Choose a in the picture: it has no backward step.",
              {"expression": "a*a", "in_a": "3", "stage": "backward"}),
        run=_leaf,
        options=(
            Option("A closure that sends 1", "It would need somebody to send it to. A leaf has no operands."),
            Option("None: it has no operands to send a message to"),
            Option("The closure of the first operation that uses it",
                   "That closure belongs to the operation's result, and sends to the leaf."),
        ),
    ),
    Choice(
        "backward-twice",
        "Engine",
        "backward() is called twice on one graph. What does the second call do?",
        "What did the first one do with the graph as it went?",
        "The first pass takes the graph apart as it goes, to give the memory back. So the second one is refused. Run "
        "the forward pass again, or keep the graph with retain_graph=True.",
        Place("pages/simulate_error.py", "The newest line of the log is this error.", {"part": "life", "life": "flbb"}),
        run=_backward_twice,
        options=(
            Option("It gives the same gradient again",
                   "It does not get that far: the graph is gone. With the graph kept, it would be added."),
            Option("It doubles the gradient",
                   "It would, if the graph were still there: with retain_graph=True in the first call."),
            Option("It raises an error"),
        ),
    ),
    Choice(
        "many-numbers",
        "Engine",
        "y has three elements. What does y.backward() do?",
        "Of what should the derivative be taken: y[0], y[1], or y[2]?",
        "A backward pass starts from one number with the gradient 1. From three numbers it needs to know how much each "
        "counts: reduce them, or give the upstream gradient.",
        Place("pages/what_went_wrong.py", "This message, its cause and its fix, all run.", {"failure": "scalar"}),
        run=_many_numbers,
        options=(
            Option("It raises an error"),
            Option("It starts from ones", "The engine does not guess: ones would mean the gradient of the sum."),
            Option("It fills a matrix of all derivatives",
                   "That is the Jacobian. It takes a pass for each row; backward(v) gives one product with it."),
        ),
    ),
    Choice(
        "written-to",
        "Engine",
        "a was written to between the two passes. What does backward() do here?",
        "The rule of a * b reads a as it was in the forward pass.",
        "The gradient of b is a, as it was when y was computed. The guard compares, finds that a was written to, and "
        "refuses: no gradient is better than a wrong one.",
        Place("pages/simulate_error.py", "Four steps with the guard on: the last one is refused.",
              {"part": "steps", "guard": "on", "step": "4"}),
        run=_written_to,
        options=(
            Option("It raises an error"),
            Option("It uses the new value of a",
                   "That is what an engine without a guard may do: a wrong gradient of b, without a word."),
            Option("It uses the old value of a",
                   "It has a copy and could. But that gradient would belong to an a that is gone: it refuses."),
        ),
    ),
    Number(
        "detached",
        "Engine",
        "One of the two factors is detached. What is a.grad?",
        "detach() keeps the number and cuts the graph. Which of the two factors still sends a message?",
        "Only the first factor sends a message: upstream 1 times the other factor, 3. No gradient flows through what "
        "is detached.",
        Place("pages/simulate_error.py", "One path to a is cut: only a part of its gradient arrives.",
              {"part": "cut", "cut": "detach", "ran": "1"}),
        run=_detached,
        slips=(
            Slip(_squared, "That would be right without detach(): both factors would send a message."),
            Slip(lambda engine: 0.0, "The first factor is not detached: it still sends its message."),
            Slip(lambda engine: (engine(3.0) * 3.0).item(), "That is the value y, not the gradient."),
        ),
    ),
    Number(
        "bias-gradient",
        "Shapes",
        "b has shape (3,) and is added to each of the 4 rows of X. What is the first element of b.grad?",
        "How often was each element of b used?",
        "Each element of b is used in 4 rows, so 4 messages of 1 arrive and add up: the sum over the axis that was "
        "repeated.",
        Place("pages/shapes.py",
              "b is copied 4 times; point at a cell of its gradient, and it sums a column.",
              {"a": "4, 3", "b": "3"}),
        run=_bias,
        slips=(
            Slip(lambda engine: float(engine(np.zeros((1, 3))).size / 3),
                 "That is the message of one row. The bias was added to every row."),
            Slip(lambda engine: float(engine(np.ones((4, 3))).size),
                 "That sums over everything. Each element of b was used only in its own column."),
            Slip(lambda engine: float(engine(np.zeros(3)).size), "That is how many elements b has."),
        ),
    ),
    Number(
        "pairs",
        "Shapes",
        "The predictions have shape (4, 1), the targets (4,). How many numbers has their difference?",
        "Write the shapes below each other from the right: an axis of length 1 is repeated.",
        "(4, 1) and (4,) broadcast to (4, 4): every prediction meets every target. No error, and a wrong loss. The "
        "engine's mse_loss refuses these shapes.",
        Place("pages/shapes.py", "All the pairs, and where the predictions end.",
              {"tab": "loss", "count": "4"}),
        run=_pairs,
        slips=(
            Slip(lambda engine: float(engine(np.zeros(4)).size),
                 "That is what was meant. But the column is repeated along the row, and the row along the column."),
        ),
    ),
    Choice(
        "matmul-rule",
        "Shapes",
        "Y = X @ W, and G is the upstream gradient of Y. What is the gradient of W?",
        "X is (n, k), W is (k, m), G is (n, m). Which product has the shape of W?",
        "The gradient of W has the shape of W, (k, m). Only the transpose of X, (k, n), times G, (n, m), gives it; and "
        "it sums over the n rows of the batch, which all used W.",
        Place("pages/shapes.py",
              "C = A @ B: point at a cell of the gradient of B, and see which cells it sums.",
              {"tab": "matmul"}),
        options=(
            Option("G @ W.T", "That is the gradient of X: it has X's shape, (n, k)."),
            Option("X.T @ G"),
            Option("X * G", "A product element by element: the shapes (n, k) and (n, m) do not even fit."),
            Option("G @ X.T", "(n, m) times (k, n) fits only if m = k, and never sums over the rows of the batch."),
        ),
    ),
    Number(
        "how-many-parameters",
        "Training",
        "A network takes 3 numbers and has layers of 4, 4 and 1 units, each layer fed by all units of the one before. "
        "How many parameters does it learn?",
        "A unit has a weight for each number that it takes in, and one number more.",
        "Each unit has a weight for each of its inputs, and a bias: 3·4 + 4, then 4·4 + 4, then 4·1 + 1. One backward "
        "pass gives the gradients of all 41.",
        Place("pages/descent.py", "This network learns four points: its parameters are counted above the guess.",
              {"tab": "four"}),
        answer=_parameters,
        slips=(
            Slip(lambda engine: _parameters(engine, bias=False), "Those are the weights. Each unit has a bias, too."),
            Slip(lambda engine: _parameters(engine) - _parameters(engine, bias=False), "Those are the biases alone."),
        ),
    ),
    Number(
        "not-zeroed",
        "Training",
        "zero_grad() was forgotten between two steps. What is w.grad?",
        "The gradient of one pass is 2w. What happens to it in the second?",
        "Each pass finds 6, and a leaf's gradients add up until zero_grad(). The second step would be twice as long as "
        "it should be.",
        Place("pages/simulate_error.py",
              "Two passes without zero_grad(): the newest line of the log tells what became of w.grad.",
              {"part": "life", "life": "flbflb"}),
        run=_not_zeroed,
        slips=(Slip(_one_pass, "That is one pass. The second one adds the same again."),),
    ),
    Number(
        "steepest-sigmoid",
        "Training",
        "sigmoid is steepest at 0. How steep is it there?",
        "Its derivative is s(1 − s), and s is 1/2 at 0.",
        "s(1 − s) is at most 1/4. Each sigmoid multiplies the gradient by a quarter or less. Unless the weights "
        "make up for it, gradients vanish in deep networks.",
        Place("pages/operations.py", "The point stands at 0: read the slope, then move it away.",
              {"op": "sigmoid", "x": "0"}),
        run=_steepest_sigmoid,
        slips=(
            Slip(lambda engine: engine(0.0).sigmoid().item(), "That is the value of sigmoid at 0, not its slope."),
            Slip(lambda engine: 4 * _steepest_sigmoid(engine), "That is the slope of tanh at 0. sigmoid is flatter."),
        ),
    ),
    Choice(
        "zero-weights",
        "Training",
        "All weights of a relu network begin at 0. What happens in training?",
        "What reaches a hidden unit from behind, through weights that are 0?",
        "The message to a hidden layer is multiplied by the weights behind it: 0. All gradients of the weights are "
        "exactly 0, and no step ever changes that. Only the last bias moves.",
        Place("pages/faults.py", "The gradients and the curve of such a run.",
              {"fault": "zero-init", "run": "1"}),
        options=(
            Option("It learns, only more slowly", "A gradient of exactly 0 gives a step of exactly 0, every time."),
            Option("The loss becomes nan", "All numbers stay finite: zeros all the way."),
            Option("The weights never move"),
        ),
    ),
    Text(
        "gpu",
        "Frameworks",
        "This engine computes with NumPy on the processor. What would have to change for it to run on a GPU, and what "
        "would not?",
        "Look at one operation: which part of it touches the numbers, and which only the graph?",
        "Only what touches numbers: the arrays must live in the GPU's memory and be computed by its own routines, as "
        "CuPy offers them with NumPy's names. The graph, the order and the chain rule stay as they are.",
        Place("pages/operations.py",
              "The source of exp: only np.exp and the product touch numbers.", {"op": "exp"}),
        points=(
            Point("that NumPy must be replaced by arrays and routines for the GPU",
                  ((r"replac|\bswap|chang|rewr|\bneed|\bwould\b|\bliv|\bmov|cop(y|ied)|\bcall|\bus[ei]|\bmust\b|"
                    r"\bhave to\b|\bput\b|transfer|->",
                    r"cupy|cuda|kernel|numpy|\b[nc]p\b|\barrays?\b|librar|backend|routine|device|\bgpu memory"),),
                  (r"numpy (\w+ ){0,3}(stay|remain|(not|n't) (have to )?change|is the same)",)),
            Point("that the graph and the rules stay the same",
                  ((r"graph|\brules?\b|chain|topolog|\border\b|autograd|autodiff|closure|\btape\b|backward|engine|"
                    r"logic|structure|\brest\b|formulas?",
                    r"\bsame\b|\bstay|unchanged|\bremain|\bkeep|\bkept\b|as (it|they) (is|are)\b|untouched|identical|"
                    r"unaffected|\bstill\b"),
                   (NOT, r"graph|\brules?\b|logic|autograd|topolog|formulas?|chain rule|closure",
                     r"chang|touch|affect|rewr|differ")),
                  (r"(rules?|graph) (would|must|has to|have to|needs? to) (have to )?(change|be (changed|rewritten|"
                   r"replaced))",
                   r"(not|n't) .{0,20}, but (all )?the rules")),
        ),
    ),
    Text(
        "checkpointing",
        "Frameworks",
        "What does checkpointing save, and what does it pay for that?",
        "Backward needs the values of the forward pass. Must all of them be kept?",
        "It keeps only a few of the values of the forward pass, and computes the others again when backward comes to "
        "them. It saves memory and pays with time: about one more forward pass.",
        Place("pages/other_engines.py", "Move the segments: bytes kept, layers run again.", {"tab": "memory"}),
        points=(
            Point("that it saves memory",
                  ((r"\bsav|\bless|\bfew|reduc|lower|smaller|\bdown\b|\bonly\b|thr[eo]w|drop|discard|\bcut|\bfree",
                    r"memory|\bram\b|bytes|\bspace\b|storage|activation|intermediate|\bstor|\bkeep|\bkept"),),
                  (r"(costs?|pays? (with|in)|more|by using) (\w+ )?(memory|\bram\b|space|storage)",
                   r"\bdisk\b|\bfile\b|crash",
                   r"sav\w* (the |its )?(\w+ )?(state|weights|model)")),
            Point("that parts of the forward pass are computed again, which takes time",
                  ((r"\bre-?(comput|calculat|evaluat|run|do(ne|ing)?\b)",),
                   (r"\bagain\b|twice|second time|repeat|\bextra\b|additional|\bmore\b|another|slow",
                    r"forward|comput|calculat|\brun|work|\btime\b|\bpass\b|parts"),
                   (r"\b(costs?|pay|pays|price|takes?|paid)\b", r"\btime\b|comput|slow")),
                  (r"sav\w* (time|comput)|less (time|comput)",)),
        ),
    ),
    Text(
        "testing-rules",
        "Frameworks",
        "A framework has thousands of backward rules. How can all be tested, without working out derivatives by hand?",
        "There is another way to a derivative, which needs no rule at all.",
        "Each rule is compared with finite differences, which need only the forward pass. One table lists the "
        "operations with random inputs of many shapes, and one test runs over it. And to test the test, rules are "
        "broken on purpose.",
        Place("pages/gradient_check.py", "Rules broken on purpose: which check finds them?", {"tab": "cotangent"}),
        points=(
            Point("that each rule is compared with finite differences",
                  ((r"(finite|central) differences|numerical(ly)? (deriv|grad)|grad(ient)?[ -]?check",),
                   (DIFFERENCES, r"compar|check|test|agree|match|against|\bwith\b|\bsame\b|\bus[ei]|equal|\bby\b"),),
                  (r"\bwith itself\b", r"differences.{0,40}(useless|too inaccurate|(cannot|can't|not) be used)")),
            Point("that it is done by one test over all, with random inputs",
                  ((r"random|\btable|\blists?\b|opinfo|automat|generat|\b(one|same|generic) test|\bloop|\bevery\b|"
                    r"\beach\b|\ball\b|shapes|many inputs|fuzz|propert|parametri",
                    r"\bop(s|eration|erations)?\b|\brules?\b|\binputs?\b|\btests?\b|tensor|functions?\b|shapes"),)),
        ),
    ),
    Number(
        "column-and-row",
        "Shapes",
        "A column of shape (4, 1) is added to a row of shape (3,). How many numbers has the sum?",
        "Write the shapes below each other from the right: 1 over 3, and 4 over nothing.",
        "The column is repeated along the row, and the row along the column: the sum has shape (4, 3).",
        Place("pages/shapes.py", "a is copied 3 times, b 4 times: the result has shape (4, 3).",
              {"a": "4, 1", "b": "3"}),
        run=_column_and_row,
        slips=(
            Slip(lambda engine: float(engine(np.zeros(4)).size + engine(np.zeros(3)).size),
                 "That counts the numbers of both. Each of the 4 meets each of the 3."),
            Slip(lambda engine: float(engine(np.zeros(4)).size), "The row is repeated for each of these."),
        ),
    ),
    Number(
        "column-gradient",
        "Shapes",
        "c has shape (4, 1) and is added to X of shape (4, 3). What is the first element of c.grad?",
        "How often was each element of c used?",
        "Each element of c is used in the 3 columns of its row, so 3 messages of 1 arrive and add up. The axis stays, "
        "with size 1.",
        Place("pages/shapes.py", "b is copied 3 times; a cell of its gradient sums a row.",
              {"a": "4, 3", "b": "4, 1"}),
        run=_column,
        slips=(
            Slip(_bias, "That is the number of rows: right for a row of shape (3,). A column is copied along them."),
            Slip(lambda engine: 1.0, "That is one message. The element was used in each column."),
        ),
    ),
    Number(
        "mean-gradient",
        "Shapes",
        "y is the mean of four numbers. What is the first element of x.grad?",
        "If one of four numbers grows by 1, by how much does their mean grow?",
        "Each number counts a fourth in the mean, so each gets a fourth of the upstream gradient, 1.",
        Place("pages/graph_lab.py", "Each element of x gets 0.25.",
              {"expression": "mean(x)", "in_x": "[1, 2, 3, 4]", "stage": "backward"}),
        run=_mean,
        slips=(
            Slip(lambda engine: 1.0, "That is the gradient of the sum. The mean divides by 4."),
            Slip(lambda engine: engine([1.0, 2.0, 3.0, 4.0]).mean().item(), "That is the mean, not its gradient."),
        ),
    ),
    Choice(
        "sum-without-keepdims",
        "Shapes",
        "X has shape (4, 3). What does X − X.sum(axis=1) do?",
        "Which shape has the sum? Write it below (4, 3), from the right.",
        "The sum has shape (4,). Lined up at the right, 4 stands under 3, and neither is 1: the shapes do not fit. "
        "With keepdims=True it has shape (4, 1), and each row loses its own sum.",
        Place("pages/shapes.py", "Shapes are lined up at the right: 3 and 4 do not fit.",
              {"a": "4, 3", "b": "4"}),
        run=_sum_without_keepdims,
        options=(
            Option("It takes the sum of its row from each element",
                   "That is what was meant. It needs keepdims=True, so that the summed axis stays."),
            Option("It takes the sum of its column from each element",
                   "The sums are over the rows, and there are 4 of them for 3 columns."),
            Option("It raises an error"),
        ),
    ),
    Number(
        "product-gradient",
        "Shapes",
        "A is (2, 3), B is (3, 4), y is the sum of A @ B. How many numbers has A.grad?",
        "Whose shape does a gradient have?",
        "A gradient always has the shape of its own tensor, (2, 3), whatever the shape of the product.",
        Place("pages/shapes.py", "The gradient of A has as many cells as A.", {"tab": "matmul"}),
        run=_product_gradient,
        slips=(
            Slip(lambda engine: float((engine(np.ones((2, 3))) @ engine(np.ones((3, 4)))).size),
                 "That is the product, and its upstream gradient. The gradient of A has the shape of A."),
            Slip(lambda engine: float(engine(np.ones((3, 4))).size), "That is B."),
        ),
    ),
    Number(
        "one-step",
        "Training",
        "The loss is w * w and w is 3. What is w after one step of gradient descent with rate 0.1?",
        "The step is the rate times the gradient. Which way does it go?",
        "The gradient is 2w = 6. The step takes away 0.1 times that.",
        Place("pages/graph_lab.py", "The gradient of w is 6: a step of rate 0.1 takes 0.6 away.",
              {"expression": "w*w", "in_w": "3", "stage": "backward"}),
        answer=_one_step,
        slips=(
            Slip(lambda engine: _one_step(engine, -0.1), "That step goes along the gradient, uphill. Take it away."),
            Slip(lambda engine: _one_step(engine, 1.0), "That takes away the whole gradient: the rate is missing."),
            Slip(_one_pass, "That is the gradient. The question is where w is after the step."),
        ),
    ),
    Number(
        "two-long-steps",
        "Training",
        "The loss is w * w and w is 3. What is w after two steps with rate 1?",
        "Work out the first step: where does it land, and what is the gradient there?",
        "The first step goes from 3 to 3 − 6 = −3, the second from −3 to −3 + 6 = 3. With this rate w jumps to and fro "
        "for ever; with a larger one it runs away.",
        Place("pages/graph_lab.py", "At −3 the gradient is −6: the second step leads back to 3.",
              {"expression": "w*w", "in_w": "-3", "stage": "backward"}),
        answer=_two_long_steps,
        slips=(
            Slip(lambda engine: _one_step(engine, 1.0), "That is where the first step lands. One more."),
            Slip(lambda engine: 0.0, "0 is where the loss is smallest. The steps are so long that they jump over it."),
        ),
    ),
    Number(
        "unsure",
        "Training",
        "Two classes have equal logits, 0 and 0, and the first is the right one. What is the gradient of its logit by "
        "cross entropy?",
        "Which probability does softmax give to each? The gradient is p, minus 1 at the right class.",
        "Softmax gives 1/2 to both. At the right class 1 is taken away: 1/2 − 1. A step against it raises this logit.",
        Place("pages/graph_lab.py", "Cross entropy written out: z[0] gets −0.5, and z[1] gets 0.5.",
              {"expression": "logsumexp(z) - z[0]", "in_z": "[0, 0]", "stage": "backward"}),
        answer=_unsure,
        slips=(
            Slip(lambda engine: -_unsure(engine), "That is the probability. Take 1 away."),
            Slip(lambda engine: -1.0, "That would be right if the network gave it no chance at all."),
        ),
    ),
    Number(
        "cut-off-unit",
        "Training",
        "A relu unit computes relu(w * x) with w = −2 and x = 3. What is w.grad?",
        "What does relu let through where its input is negative?",
        "w * x is −6, so relu gives 0 and is flat there: no gradient passes. If that is so for every input, w never "
        "changes: the unit is dead.",
        Place("pages/graph_lab.py", "The message stops at relu: w gets 0.",
              {"expression": "relu(w*x)", "in_w": "-2", "in_x": "3", "stage": "backward"}),
        answer=_cut_off,
        slips=(
            Slip(lambda engine: engine(3.0).item(), "That is the gradient of w * x alone. relu is flat at −6."),
            Slip(lambda engine: (engine(-2.0) * 3.0).item(), "That is w * x, the number that relu gets."),
        ),
    ),
    Text(
        "what-building-teaches",
        "Engine",
        "What does building an engine teach that reading about one does not?",
        "What happens to your own misunderstandings, and what can you do afterwards when something fails?",
        "You find out what you had misunderstood, because your own code fails where you were wrong. Then you know "
        "where to look when a gradient is wrong, and can write a backward rule for a new operation yourself.",
        Place("pages/build_it_yourself.py", "Each check shows the smallest case in which your own code is wrong.",
              {"course": "scalars"}),
        points=(
            Point("that you find your own mistakes and misunderstandings",
                  ((r"\b(mistakes?|misunderst\w+|misconceptions?|bugs?|gaps?|errors?|wrong(ly)?|fail\w*|broke\w*|break\w*)\b",
                    r"\b(find|finds|found|see|sees|discover\w*|notice\w*|reveal\w*|expos\w*|show\w*|meet|meets|learn\w*|"
                    r"force\w*|catch\w*)\b"),
                   (r"\b(breaks?|fails?|crash\w*|goes wrong)\b", r"misunderst\w+|not understood|thought|wrong"))),
            Point("that you can then find faults, or write new rules, yourself",
                  ((r"\b(where to look|debug\w*|diagnos\w*|locate|fix\w*|trace|track down)\b",),
                   (r"\b(write|add|extend|implement|create|make|invent)\w*",
                    r"\b(rules?|operations?|ops?|derivatives?|gradients?|layers?)\b"))),
        ),
    ),
    Text(
        "forward-then-back",
        "Graph and order",
        "A forward pass builds a graph, and a second pass goes back over it. Where else in computing is something "
        "built from its inputs, and then gone through backward from a result?",
        "What must be computed again when one cell changes? What must be built for one target? Where did a number come "
        "from?",
        "A spreadsheet and a build system keep a graph of what depends on what, and go back from a cell or a target to "
        "what it is made of. Compilers go backward over a program for live values; data lineage goes from a report "
        "back to its sources.",
        Place("pages/other_engines.py", "The first table: graphs built as a program runs.", {"tab": "beside"}),
        points=(
            Point("an example, such as a spreadsheet, a build system, a compiler or data lineage",
                  ((r"spreadsheet|\bexcel\b|\bmake(file)?\b|build (system|tool)|bazel|compiler|liveness|lineage|"
                    r"provenance|\bgit\b|package manager|workflow|pipeline|database|query|garbage collect",),)),
            Point("that it has a graph of what depends on what, gone through from the result back",
                  ((r"depend|graph|made of|comes? from|came from|derived|sources?|inputs|predecessor",
                    r"\bback|revers|trac(e|es|ed|ing)|from the (result|target|report|end|output|cell)|which|what"),)),
        ),
    ),
)  # fmt: skip
