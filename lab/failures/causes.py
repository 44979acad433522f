"""Messages and symptoms with several causes: each cause as a question, with the program that shows it.

The wording of such a text cannot tell which cause it is. Code can: if the text quotes some, the reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lab.failures.catalogue import BY_KEY
from lab.failures.fragments import check_fragments, without_libraries


@dataclass(frozen=True)
class Cause:
    """One of several causes.

    asks  completes "In your code, is there ...?"
    key   of the failure that shows it; form: the number of that failure's program
    sign  a regular expression of what speaks for it in a text; "" for nothing
    read  keys of the failures that the reader of code reports for it
    """

    asks: str
    key: str
    form: int = 0
    sign: str = ""
    read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shared:
    """A text with several causes, the commonest first.

    patterns  regular expressions, one of which a text has in `_plain` form
    key       the failure whose description is this text's; "" for none
    settled   a regular expression of what leaves no question, where a text describes the failure `key`; "" for none
    note      one sentence: what it may be besides
    """

    patterns: tuple[str, ...]
    causes: tuple[Cause, ...]
    key: str = ""
    note: str = ""
    settled: str = ""

    def leaves_questions(self, text: str) -> bool:
        """Return whether a description of the failure `key` may have another cause."""
        return not (self.settled and re.search(self.settled, _plain(text)))


@dataclass(frozen=True)
class Decided:
    """The causes of a shared text, the likeliest first; line: the line of code that proves the first one, or ""."""

    causes: tuple[Cause, ...]
    note: str
    line: str = ""


_FROM_ZERO = r"\blog|sqrt|root|wurzel|raiz|divi|dist|norm|std|entropy|prob|(?<!epoch )\b(zero|0)\b(?!\.\d)|/ ?0"
_NO_GRAD = r"no_grad|inference_mode|set_grad_enabled"
_STEPS = r"argmax|\bround|torch\.max|accuracy|threshold|(?<![-=])[<>]=? ?-?[\d.]|[!=]= "
_REPLACED = r"(\bw\w*|theta|params?|weights?|bias|b)( ?-= | ?= ?\1 ?- ?).*grad"
_UNUSED = Cause("a tensor that the loss does not use", "nonleafgrad", 2, r"unused|not used")
_PARTS = (
    Cause("a part of the network computed under `no_grad()`", "no-grad", 0, _NO_GRAD, ("no-grad",)),
    Cause(
        "a `detach()`, `.item()` or `.data` between it and the loss",
        "detach",
        1,
        r"detach|stop_gradient|(?<!grad)\.data\b",
        ("detach", "numpy"),
    ),
    _UNUSED,
    Cause("an `argmax`, a `round` or a comparison between it and the loss", "argmax", 0, _STEPS, ("argmax",)),
    Cause(
        "`requires_grad = False`, or a tensor made without it",
        "nograph",
        1,
        r"requires_grad ?= ?false|froze|freez",
        ("nograph",),
    ),
    Cause(
        "a layer in a plain list, or one replaced later", "optimizer", 2, r"\blist\b|modulelist|\[nn\.", ("optimizer",)
    ),
)
_RESULT = Cause(
    "a result whose `.grad` is read, not that of a leaf",
    "nonleafgrad",
    0,
    r"\.to\(|cuda|intermediate|hidden|non.?leaf|view|reshape|activation",
    ("nonleafgrad",),
)
_UPDATE = Cause(
    "a step such as `w = w - lr * w.grad`, which makes a new tensor", "nonleafgrad", 1, _REPLACED, ("nonleafgrad",)
)
_EARLY = Cause(
    "a `.grad` that is read before `backward()`, or after `zero_grad()`",
    "order",
    0,
    r"before backward|zero_grad",
    ("order",),
)

_TWICE = (
    Cause(
        "a second `backward()` on the same loss",
        "twice",
        0,
        r"same loss|called? (backward )?(twice|two times)",
        ("twice",),
    ),
    Cause(
        "a state, such as an RNN's `hidden`, carried into the next turn of a loop",
        "detach",
        0,
        r"hidden|rnn|lstm|gru|state|\bh\b|bptt",
        ("detach",),
    ),
    Cause(
        "two losses on one trunk, each with its own `backward()`",
        "twice",
        1,
        r"two (losses|optim)|loss_?[12ab]\b|generator|discriminator|\bgan\b|[gd]_loss|loss_[gd]|both losses",
    ),
    Cause(
        "something computed once, before the loop, that each turn uses",
        "twice",
        2,
        r"before the loop|outside the loop|outside of the loop",
    ),
    Cause(
        "`w = w - lr * w.grad`, which makes a new tensor",
        "nonleafgrad",
        1,
        rf"{_REPLACED}|result of `-`",
        ("nonleafgrad",),
    ),
    Cause("`total = total + loss`, and `total.backward()`", "kept", 0, r"total|running|cumul|\+= ?loss", ("kept",)),
)
_ADVICE = re.compile(  # of this engine's messages, which speaks for no cause
    r"call it on a result, computed outside no_grad\(\) and without detach\(\)\."
    r"( a leaf that was updated .{,80} instead\.)?"
    r"|update a leaf in place, .{,200}loss\.item\(\)\.|call backward\(retain_graph=true\) the first time"
)

SHARED = (
    Shared(
        (
            r"grad_fn (is|==?|gives|shows|prints) none",
            r"\b(no|not have an?|without an?|lost (its|the)|loses (its|the)|missing) grad_?fn",
            r"\b(does not|doesnt|dont|do not|dosnt|didnt|not) requir\w* (a )?grad",
            r"nothing to differentiate|not computed from tensors that require",
            r"none of the inputs have requires_grad|no gradients provided for any variable",
            r"retain_grad on tensor that has requires_grad ?= ?false",
        ),
        (
            Cause("`no_grad()` around the forward pass or the loss", "nograph", 0, _NO_GRAD, ("no-grad",)),
            Cause(
                "no tensor made with `requires_grad=True`, or all of them frozen",
                "nograph",
                1,
                r"requires_grad ?= ?false|froze|freez|torch\.(tensor|ones|zeros|randn?)\(",
                ("nograph",),
            ),
            Cause("`detach()` or `.data` on the way to the loss", "nograph", 2, r"detach|\.data\b", ("detach",)),
            Cause(
                "`.item()` or `float()`, or `torch.tensor(...)` around a result",
                "nograph",
                3,
                r"\.item\(|float\(|tensor\(loss",
                ("numpy",),
            ),
            Cause("NumPy on the way to the loss", "nograph", 4, r"numpy|\bnp\.", ("numpy",)),
            Cause(
                "`argmax`, `round` or a comparison in the loss",
                "nograph",
                5,
                _STEPS,
                ("argmax",),
            ),
            Cause("`w = w - lr * w.grad` under `no_grad()`", "nograph", 6, _REPLACED, ("nonleafgrad",)),
        ),
        key="nograph",
    ),
    Shared(
        (
            r"back\w* (through|thru|trough|throught?) the graph (a |the )?(second|2nd|another)",
            r"backward \(?through the graph a second",
            r"(saved (intermediate|tensors|values|results)|buffers|saved variables?) .{0,40}(freed|free)",
            r"has already gone through",
            r"graph .{0,30}(already|is|was|been) (gone|freed)",
        ),
        _TWICE,
        key="twice",
    ),
    Shared(
        (
            r"appears? to not have been used in the graph",
            r"\ballow_unused\b",
            r"parameters that were not used in producing (the )?loss",
            r"not part of the computational graph of the cost",
        ),
        (_UNUSED, *(cause for cause in _PARTS if cause is not _UNUSED)),
    ),
    Shared((r"no leaf any more: it was computed",), (*_TWICE[1:5], _TWICE[0], _TWICE[5])),
    Shared(
        (
            r"unsupported operand types?(\(s\))? for [-+*/@]=?: .*none_?type",
            r"none_?type object has no attribute (zero_|detach_|data|mul_|sub_|add_)\b",
            r"must be tensor, not none_?type",
        ),
        (_UPDATE, _RESULT, _EARLY, *_PARTS),
    ),
    Shared(
        (r"none_?type object has no attribute (norm|item|abs|mean|clone|detach|cpu|numpy|max|min|sum|std|sign)\b",),
        (*_PARTS, _EARLY, _RESULT, _UPDATE),
        note="If this is not a `.grad`: a function without `return` gives None, too.",
    ),
    Shared(
        (
            r"(weight|bias|param\w*|layer|conv\w*|fc\w*|encoder|decoder|embedding|backbone|network|model|w\d)\S*"
            r" ?\.?(grads?|gradients?)\b.{0,25}\b(is|are|==|gives?|returns?|prints?|shows?|all|stays?|still) ?\w* none",
            r"\bp\.grad\b.{0,40}\bnone\b",
            r"\b(grads?|gradients?) .{0,20}none (for|in|of|at) .{0,40}(param\w*|weights?|layers?|variables?|biases)",
            r"(param\w*|layers?|weights?|variables?) .{0,30}\b(grads?|gradients?) .{0,15}\bnone\b",
            r"gradients? do(es)? not exist for",
        ),
        (*_PARTS, _EARLY, _RESULT, _UPDATE),
    ),
    Shared(
        (
            r"\bgradient\w*\b.{0,60}\bnone\b.{0,60}\b(numpy|np)\b",
            r"\b(numpy|np)\b.{0,60}\bgradients?\b.{0,40}\bnone\b",
        ),
        (
            Cause("NumPy on the way to the loss", "numpy", 0, "numpy", ("numpy",)),
            Cause("a tensor without a gradient: `tf.constant`, or no `requires_grad`", "nograph", 1, "constant"),
            _RESULT,
        ),
    ),
    Shared(
        (
            r"(tape\.gradient|gradient_?tape|tf\.gradients?)\b.{0,40}\bnone\b",
            r"\bnone\b.{0,40}(tape\.gradient|gradient_?tape)",
            r"none values not supported",
        ),
        (
            Cause("a `tf.constant`, or a tensor that is not watched", "nograph", 1, "constant|watch"),
            Cause("NumPy, or a `.numpy()`, on the way to the loss", "nograph", 4, "numpy"),
            Cause("a variable that became a tensor: `v = v - lr * grad`", "nonleafgrad", 1, "assign|-="),
            Cause("`argmax`, `tf.round` or whole numbers on the way", "nograph", 5, "argmax|round|int"),
            Cause("a variable that the loss does not use", "nonleafgrad", 2, "unused|not used"),
            Cause("a part computed outside the tape", "no-grad", 0, "outside|with tf"),
        ),
    ),
    Shared(
        (
            r"\bgrads?\b.{0,30}\b(is|are|==|=|gives?|returns?|prints?|shows?|stays?|ist|est|es|still|always|becomes?|got|get)"
            r" ?\w{0,8} none\b",
            r"\bnone (grad|gradient)s?\b",
            r"\bgrad(ient)? (?:attribute )?none\b",
            r"gradienten? (ist|sind|est|es|war) none",
        ),
        (_RESULT, *_PARTS, _EARLY, _UPDATE),
        key="nonleafgrad",
    ),
    Shared(
        (
            r"out ?of ?memory",
            r"tried to allocate|can.?t allocate memory|resource_exhausted|\boom\b|resourceexhausted",
        ),
        (
            Cause(
                "`total += loss`, or a list that keeps losses", "kept", 0, r"total|running|\+= ?loss|append", ("kept",)
            ),
            Cause(
                "a validation loop without `no_grad()`", "kept", 1, r"valid|eval|test|inference", ("kept", "no-grad")
            ),
            Cause(
                "a `retain_graph=True`, or a state that is never detached",
                "detach",
                0,
                r"retain_graph|hidden|rnn|lstm",
                ("twice", "detach"),
            ),
        ),
        key="kept",
        note="If it stops in the very first step, the batch or the network is too large, and none of these.",
        settled=r"\+= ?\w*loss|(total|sum|running)\w*[ _]?loss|append|\blists?\b|histor",
    ),
    Shared(
        (
            r"\b(loss|cost|verlust|perdida|perte)\b\W*(is|are|=|ist|es|est)? ?\W*nan\b",
            r"found invalid values: (tensor|array)?\W*nan\b",
            r"nan in summary histogram|loss became infinite or nan|minimum loss scale reached",
            r"gradient overflow\. skipping",
        ),
        (
            Cause("a `log`, a root or a division that can meet a 0", "nan", 0, _FROM_ZERO, ("nan",)),
            Cause(
                "a high learning rate: the loss climbed before it was nan",
                "rate",
                0,
                r"\blr\b|learning.?rate|step.?size|inf\b|explo|climb|diverge|overflow|clipp|\de\+?\d",
            ),
            Cause("a `where` around such an operation", "where", 0, r"\bwhere\(", ("where",)),
        ),
        key="nan",
        note="One nan in the data does the same: look at the first batch.",
        settled=_FROM_ZERO,
    ),
    Shared(
        (r"(float|int|double|numpy\.\w+|ndarray) object has no attribute backward",),
        (
            Cause("a loss made by `.item()` or `float()`: a Python number", "numpy", 1, r"item\(|float\(", ("numpy",)),
            Cause("a loss computed with NumPy", "numpy", 0, r"numpy|np\.|ndarray", ("numpy",)),
        ),
    ),
    Shared(
        (r"\binference tensors?\b",),
        (
            Cause("`inference_mode()` around what training uses later", "no-grad", 0, _NO_GRAD, ("no-grad",)),
            Cause("a `+=`, `relu_()` or `x[0] = ...` that a new tensor could replace", "inplace", 0, r"\+=|_\("),
        ),
    ),
    Shared(
        (r"unsupported format string passed to tensor|tensor\.?__format__",),
        (
            Cause('a format such as `f"{loss:.4f}"` around a tensor, without `.item()`', "numpy", 2, "", ("numpy",)),
            Cause("a loss of several numbers that should be one", "scalar", 0, "reduction|batch|vector", ("scalar",)),
        ),
    ),
)
BY_DESCRIPTION = {shared.key: shared for shared in SHARED if shared.key}


def shared_by(text: str) -> Shared | None:
    """Return the message or symptom with several causes that a text has; None if it has none."""
    plain = _plain(text)
    for shared in SHARED:
        if any(re.search(pattern, plain) for pattern in shared.patterns):
            return shared
    return None


def decide(shared: Shared, text: str) -> Decided:
    """Order the causes by what the text says for them. Code that the text quotes may prove one of them."""
    for finding, line in _findings(text):
        for cause in _by_sign(shared.causes, line):
            if finding in cause.read:
                return Decided((cause, *(other for other in shared.causes if other is not cause)), shared.note, line)
    return Decided(tuple(_by_sign(shared.causes, without_libraries(text))), shared.note)


def _by_sign(causes: Sequence[Cause], text: str) -> list[Cause]:
    plain = _ADVICE.sub("", _plain(text))
    return sorted(causes, key=lambda cause: not (cause.sign and re.search(cause.sign, plain)))


def _findings(text: str) -> list[tuple[str, str]]:
    """Return the reader's findings in the code that a text quotes, as (failure's key, line)."""
    lines = re.split(r"\r\n?|\n", text)
    return [(_KEYS[finding.failure], lines[finding.line - 1].strip()) for finding in check_fragments(text)]


def _plain(text: str) -> str:
    """Return the text in lower case, without quotation marks, with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"[’'\"‘“”]", "", text.lower()))


_KEYS = {failure.number: key for key, failure in BY_KEY.items()}
