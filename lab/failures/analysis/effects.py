"""The table of effects: what each function of tensors does, one row a function.

To teach the reader a function of torch or numpy, add a row. The sets below the table are read from it.
"""

from dataclasses import dataclass
from enum import Enum, auto

from lab.failures.analysis.kinds import Act


class Result(Enum):
    """What a function gives; `Tensors.transfers` has one rule for each."""

    LIKE = auto()  # same kind and shape as the first argument
    CLAMP = auto()  # the same, relu where it is cut off at 0
    WHERE = auto()  # one of two tensors, element by element
    EXTREME = auto()  # the larger or smaller of two, or the largest of one
    REDUCED = auto()  # one axis, or all, taken together
    CHOICE = auto()  # no gradient goes through
    MOVED = auto()  # the same numbers in another shape, place or precision
    PRODUCT = auto()  # a @ b
    MATMUL = auto()  # a product of which no shape is known
    ARITHMETIC = auto()  # a sign between the first two
    JOINED = auto()  # several tensors as one
    GATHERED = auto()  # elements at given places
    LOSS = auto()  # a loss of a prediction and a target
    UNKNOWN = auto()  # some tensor


class Saves(Enum):
    """Whose numbers the backward pass needs again."""

    NOTHING = auto()
    INPUT = auto()
    OUTPUT = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """sign: of arithmetic. form: what kind of numbers it gives. notes: the event that it is. bounds: keeps numbers away
    from where a logarithm or a root has no slope."""

    result: Result
    saves: Saves = Saves.NOTHING
    form: str = ""
    sign: str = ""
    notes: Act | None = None
    bounds: bool = False


EFFECTS = {
    "exp": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "tanh": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "rsqrt": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "reciprocal": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "sqrt": Effect(Result.LIKE, saves=Saves.OUTPUT, notes=Act.ROOT),
    "softmax": Effect(Result.LIKE, saves=Saves.OUTPUT, form="probabilities"),
    "sigmoid": Effect(Result.LIKE, saves=Saves.OUTPUT, form="probabilities"),
    "relu": Effect(Result.LIKE, saves=Saves.OUTPUT, form="relu"),
    "log_softmax": Effect(Result.LIKE, saves=Saves.OUTPUT, form="log probabilities"),
    "log": Effect(Result.LIKE, saves=Saves.INPUT, notes=Act.LOG),
    "sin": Effect(Result.LIKE, saves=Saves.INPUT),
    "cos": Effect(Result.LIKE, saves=Saves.INPUT),
    "pow": Effect(Result.LIKE, saves=Saves.INPUT),
    "**": Effect(Result.LIKE, saves=Saves.INPUT),
    "square": Effect(Result.LIKE, saves=Saves.INPUT),
    "abs": Effect(Result.LIKE, saves=Saves.INPUT),
    "gelu": Effect(Result.LIKE, saves=Saves.INPUT),
    "silu": Effect(Result.LIKE, saves=Saves.INPUT),
    "softplus": Effect(Result.LIKE, saves=Saves.INPUT),
    "leaky_relu": Effect(Result.LIKE),
    "elu": Effect(Result.LIKE),
    "relu6": Effect(Result.LIKE),
    "hardtanh": Effect(Result.LIKE),
    "logsigmoid": Effect(Result.LIKE),
    "clone": Effect(Result.LIKE),
    "erf": Effect(Result.LIKE),
    "floor": Effect(Result.LIKE),
    "ceil": Effect(Result.LIKE),
    "dropout": Effect(Result.LIKE),
    "masked_fill": Effect(Result.LIKE),
    "neg": Effect(Result.LIKE),
    "cumsum": Effect(Result.LIKE),
    "flip": Effect(Result.LIKE),
    "roll": Effect(Result.LIKE),
    "sinh": Effect(Result.LIKE),
    "cosh": Effect(Result.LIKE),
    "atan": Effect(Result.LIKE),
    "clamp": Effect(Result.CLAMP, bounds=True),
    "clip": Effect(Result.CLAMP, bounds=True),
    "clamp_min": Effect(Result.CLAMP, bounds=True),
    "nan_to_num": Effect(Result.LIKE, bounds=True),
    "where": Effect(Result.WHERE, bounds=True),
    "maximum": Effect(Result.EXTREME, bounds=True),
    "max": Effect(Result.EXTREME, bounds=True),
    "minimum": Effect(Result.EXTREME),
    "min": Effect(Result.EXTREME),
    "norm": Effect(Result.REDUCED, saves=Saves.INPUT),
    "std": Effect(Result.REDUCED, saves=Saves.INPUT),
    "var": Effect(Result.REDUCED, saves=Saves.INPUT),
    "sum": Effect(Result.REDUCED),
    "mean": Effect(Result.REDUCED),
    "prod": Effect(Result.REDUCED),
    "logsumexp": Effect(Result.REDUCED),
    "amax": Effect(Result.REDUCED),
    "amin": Effect(Result.REDUCED),
    "argmax": Effect(Result.CHOICE),
    "argmin": Effect(Result.CHOICE),
    "round": Effect(Result.CHOICE),
    "sign": Effect(Result.CHOICE),
    "eq": Effect(Result.CHOICE),
    "ne": Effect(Result.CHOICE),
    "gt": Effect(Result.CHOICE),
    "lt": Effect(Result.CHOICE),
    "ge": Effect(Result.CHOICE),
    "le": Effect(Result.CHOICE),
    "argsort": Effect(Result.CHOICE),
    "multinomial": Effect(Result.CHOICE),
    "bernoulli": Effect(Result.CHOICE),
    "view": Effect(Result.MOVED),
    "reshape": Effect(Result.MOVED),
    "squeeze": Effect(Result.MOVED),
    "unsqueeze": Effect(Result.MOVED),
    "flatten": Effect(Result.MOVED),
    "transpose": Effect(Result.MOVED),
    "permute": Effect(Result.MOVED),
    "contiguous": Effect(Result.MOVED),
    "to": Effect(Result.MOVED),
    "cuda": Effect(Result.MOVED),
    "cpu": Effect(Result.MOVED),
    "float": Effect(Result.MOVED),
    "double": Effect(Result.MOVED),
    "half": Effect(Result.MOVED),
    "expand": Effect(Result.MOVED),
    "view_as": Effect(Result.MOVED),
    "expand_as": Effect(Result.MOVED),
    "type": Effect(Result.MOVED),
    "bfloat16": Effect(Result.MOVED),
    "type_as": Effect(Result.MOVED),
    "swapaxes": Effect(Result.MOVED),
    "T": Effect(Result.MOVED),
    "astype": Effect(Result.MOVED),
    "matmul": Effect(Result.PRODUCT),
    "mm": Effect(Result.PRODUCT),
    "linear": Effect(Result.MATMUL),
    "conv2d": Effect(Result.MATMUL),
    "bmm": Effect(Result.MATMUL),
    "mv": Effect(Result.MATMUL),
    "dot": Effect(Result.MATMUL),
    "add": Effect(Result.ARITHMETIC, sign="+"),
    "sub": Effect(Result.ARITHMETIC, sign="-"),
    "subtract": Effect(Result.ARITHMETIC, sign="-"),
    "mul": Effect(Result.ARITHMETIC, sign="*"),
    "multiply": Effect(Result.ARITHMETIC, sign="*"),
    "div": Effect(Result.ARITHMETIC, sign="/"),
    "stack": Effect(Result.JOINED),
    "cat": Effect(Result.JOINED),
    "concatenate": Effect(Result.JOINED),
    "concat": Effect(Result.JOINED),
    "gather": Effect(Result.GATHERED),
    "cross_entropy": Effect(Result.LOSS),
    "mse_loss": Effect(Result.LOSS),
    "l1_loss": Effect(Result.LOSS),
    "nll_loss": Effect(Result.LOSS),
    "binary_cross_entropy": Effect(Result.LOSS),
    "binary_cross_entropy_with_logits": Effect(Result.LOSS),
    "smooth_l1_loss": Effect(Result.LOSS),
    "huber_loss": Effect(Result.LOSS),
    "kl_div": Effect(Result.LOSS),
}
UNKNOWN = Effect(Result.UNKNOWN)


def functions(*results: Result) -> frozenset[str]:
    """Return the names of the functions that give one of `results`."""
    return frozenset(name for name, effect in EFFECTS.items() if effect.result in results)


KEEPS_OUTPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.OUTPUT)
KEEPS_INPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.INPUT)
BOUNDED = frozenset(name for name, effect in EFFECTS.items() if effect.bounds)
ELEMENTWISE = functions(Result.LIKE, Result.CLAMP)
MOVES = functions(Result.MOVED) | {"clone"}
REDUCTIONS = functions(Result.REDUCED)
CHOICES = functions(Result.CHOICE)
LOSS_FUNCTIONS = functions(Result.LOSS)
