"""The table of effects: what each tensor function does, one row per function.

To support another function of torch or numpy, add a row. The sets below the table are derived from it.
"""

from dataclasses import dataclass
from enum import Enum, auto

from lab.failures.analysis.kinds import Act


class Result(Enum):
    """What a function returns; `Tensors.transfers` has one rule for each member."""

    LIKE = auto()  # same kind and shape as the first argument
    POWER = auto()  # as LIKE; a root if the exponent is below 1
    CLAMP = auto()  # as LIKE; a relu if it clamps at 0
    WHERE = auto()  # one of two tensors, element by element
    EXTREME = auto()  # the larger or smaller of two, or the largest of one
    REDUCED = auto()  # one axis, or all, reduced
    CHOICE = auto()  # no gradient flows through
    MOVED = auto()  # the same numbers in another shape, place or precision
    PRODUCT = auto()  # a @ b
    MATMUL = auto()  # a matrix product of unknown shape
    ARITHMETIC = auto()  # an operator between the first two arguments
    JOINED = auto()  # several tensors as one
    GATHERED = auto()  # elements at given indices
    PAIRED = auto()  # one number for each pair of vectors
    LOSS = auto()  # a loss of a prediction and a target
    COMPUTED = auto()  # a tensor of unknown shape, computed from all arguments
    UNKNOWN = auto()  # some tensor


class Saves(Enum):
    """Which numbers are saved for the backward pass."""

    NOTHING = auto()
    INPUT = auto()
    OUTPUT = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """One row of the table."""

    result: Result
    saves: Saves = Saves.NOTHING
    form: str = ""  # what kind of numbers it returns, see Value.form
    sign: str = ""  # the operator of ARITHMETIC
    notes: Act | None = None  # the event to record
    bounds: bool = False  # keeps numbers away from points where a logarithm or a root has no finite slope


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
    "pow": Effect(Result.POWER, saves=Saves.INPUT),
    "**": Effect(Result.LIKE, saves=Saves.INPUT),
    "square": Effect(Result.LIKE, saves=Saves.INPUT),
    "abs": Effect(Result.LIKE, saves=Saves.INPUT),
    "gelu": Effect(Result.LIKE, saves=Saves.INPUT),
    "silu": Effect(Result.LIKE, saves=Saves.INPUT),
    "softplus": Effect(Result.LIKE, saves=Saves.INPUT),
    "expm1": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "log1p": Effect(Result.LIKE, saves=Saves.INPUT),
    "log2": Effect(Result.LIKE, saves=Saves.INPUT, notes=Act.LOG),
    "log10": Effect(Result.LIKE, saves=Saves.INPUT, notes=Act.LOG),
    "softmin": Effect(Result.LIKE, saves=Saves.OUTPUT, form="probabilities"),
    "normalize": Effect(Result.LIKE, saves=Saves.INPUT),
    "layer_norm": Effect(Result.LIKE, saves=Saves.INPUT),
    "group_norm": Effect(Result.LIKE, saves=Saves.INPUT),
    "instance_norm": Effect(Result.LIKE, saves=Saves.INPUT),
    "rms_norm": Effect(Result.LIKE, saves=Saves.INPUT),
    "batch_norm": Effect(Result.LIKE),
    "mish": Effect(Result.LIKE, saves=Saves.INPUT),
    "hardswish": Effect(Result.LIKE, saves=Saves.INPUT),
    "hardsigmoid": Effect(Result.LIKE),
    "selu": Effect(Result.LIKE, saves=Saves.INPUT),
    "celu": Effect(Result.LIKE, saves=Saves.INPUT),
    "softsign": Effect(Result.LIKE, saves=Saves.INPUT),
    "tanhshrink": Effect(Result.LIKE),
    "softshrink": Effect(Result.LIKE, saves=Saves.INPUT),
    "hardshrink": Effect(Result.LIKE),
    "threshold": Effect(Result.LIKE),
    "dropout1d": Effect(Result.LIKE),
    "dropout2d": Effect(Result.LIKE),
    "alpha_dropout": Effect(Result.LIKE),
    "tril": Effect(Result.LIKE),
    "triu": Effect(Result.LIKE),
    "cumprod": Effect(Result.LIKE, saves=Saves.INPUT),
    "logcumsumexp": Effect(Result.LIKE),
    "lerp": Effect(Result.ARITHMETIC, sign="+"),
    "tan": Effect(Result.LIKE, saves=Saves.INPUT),
    "asin": Effect(Result.LIKE, saves=Saves.INPUT),
    "acos": Effect(Result.LIKE, saves=Saves.INPUT),
    "asinh": Effect(Result.LIKE, saves=Saves.INPUT),
    "acosh": Effect(Result.LIKE, saves=Saves.INPUT),
    "atanh": Effect(Result.LIKE, saves=Saves.INPUT),
    "erfinv": Effect(Result.LIKE),
    "lgamma": Effect(Result.LIKE, saves=Saves.INPUT),
    "logit": Effect(Result.LIKE, saves=Saves.INPUT),
    "leaky_relu": Effect(Result.LIKE),
    "elu": Effect(Result.LIKE, saves=Saves.INPUT),
    "relu6": Effect(Result.LIKE),
    "hardtanh": Effect(Result.LIKE),
    "logsigmoid": Effect(Result.LIKE),
    "clone": Effect(Result.LIKE),
    "copy": Effect(Result.LIKE),
    "ascontiguousarray": Effect(Result.LIKE),
    "erf": Effect(Result.LIKE, saves=Saves.INPUT),
    "floor": Effect(Result.LIKE),
    "ceil": Effect(Result.LIKE),
    "dropout": Effect(Result.LIKE),
    "masked_fill": Effect(Result.LIKE),
    "neg": Effect(Result.LIKE),
    "cumsum": Effect(Result.LIKE),
    "flip": Effect(Result.LIKE),
    "roll": Effect(Result.LIKE),
    "sinh": Effect(Result.LIKE, saves=Saves.INPUT),
    "cosh": Effect(Result.LIKE, saves=Saves.INPUT),
    "atan": Effect(Result.LIKE, saves=Saves.INPUT),
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
    "vector_norm": Effect(Result.REDUCED, saves=Saves.INPUT),
    "std": Effect(Result.REDUCED, saves=Saves.INPUT),
    "var": Effect(Result.REDUCED, saves=Saves.INPUT),
    "sum": Effect(Result.REDUCED),
    "mean": Effect(Result.REDUCED),
    "prod": Effect(Result.REDUCED, saves=Saves.INPUT),
    "logsumexp": Effect(Result.REDUCED, saves=Saves.INPUT),
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
    "heaviside": Effect(Result.CHOICE),
    "bincount": Effect(Result.CHOICE),
    "one_hot": Effect(Result.CHOICE),
    "multinomial": Effect(Result.CHOICE),
    "bernoulli": Effect(Result.CHOICE),
    "view": Effect(Result.MOVED),
    "reshape": Effect(Result.MOVED),
    "divide": Effect(Result.ARITHMETIC, sign="/"),
    "true_divide": Effect(Result.ARITHMETIC, sign="/"),
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
    "swapdims": Effect(Result.MOVED),
    "t": Effect(Result.MOVED),
    "mT": Effect(Result.MOVED),
    "real": Effect(Result.MOVED),
    "T": Effect(Result.MOVED),
    "astype": Effect(Result.MOVED),
    "matmul": Effect(Result.PRODUCT),
    "mm": Effect(Result.PRODUCT),
    "linear": Effect(Result.MATMUL),
    "conv2d": Effect(Result.MATMUL),
    "bmm": Effect(Result.MATMUL),
    "mv": Effect(Result.MATMUL),
    "dot": Effect(Result.MATMUL),
    "einsum": Effect(Result.COMPUTED),
    "tensordot": Effect(Result.COMPUTED),
    "outer": Effect(Result.COMPUTED),
    "kron": Effect(Result.COMPUTED),
    "addmm": Effect(Result.COMPUTED),
    "baddbmm": Effect(Result.COMPUTED),
    "bilinear": Effect(Result.COMPUTED),
    "cdist": Effect(Result.COMPUTED),
    "pairwise_distance": Effect(Result.PAIRED),
    "cosine_similarity": Effect(Result.PAIRED),
    "conv1d": Effect(Result.COMPUTED),
    "conv3d": Effect(Result.COMPUTED),
    "conv_transpose1d": Effect(Result.COMPUTED),
    "conv_transpose2d": Effect(Result.COMPUTED),
    "max_pool1d": Effect(Result.COMPUTED),
    "max_pool2d": Effect(Result.COMPUTED),
    "avg_pool1d": Effect(Result.COMPUTED),
    "avg_pool2d": Effect(Result.COMPUTED),
    "adaptive_avg_pool1d": Effect(Result.COMPUTED),
    "adaptive_avg_pool2d": Effect(Result.COMPUTED),
    "adaptive_max_pool2d": Effect(Result.COMPUTED),
    "interpolate": Effect(Result.COMPUTED),
    "pad": Effect(Result.COMPUTED),
    "unfold": Effect(Result.COMPUTED),
    "pixel_shuffle": Effect(Result.COMPUTED),
    "scaled_dot_product_attention": Effect(Result.COMPUTED),
    "embedding": Effect(Result.COMPUTED),
    "glu": Effect(Result.COMPUTED),
    "repeat": Effect(Result.COMPUTED),
    "tile": Effect(Result.COMPUTED),
    "repeat_interleave": Effect(Result.COMPUTED),
    "index_select": Effect(Result.COMPUTED),
    "narrow": Effect(Result.COMPUTED),
    "take_along_dim": Effect(Result.COMPUTED),
    "masked_select": Effect(Result.COMPUTED),
    "diagonal": Effect(Result.COMPUTED),
    "diag": Effect(Result.COMPUTED),
    "trace": Effect(Result.COMPUTED),
    "movedim": Effect(Result.COMPUTED),
    "hstack": Effect(Result.COMPUTED),
    "vstack": Effect(Result.COMPUTED),
    "atan2": Effect(Result.COMPUTED),
    "hypot": Effect(Result.COMPUTED),
    "logaddexp": Effect(Result.COMPUTED),
    "addcmul": Effect(Result.COMPUTED),
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
    "gaussian_nll_loss": Effect(Result.LOSS),
    "poisson_nll_loss": Effect(Result.LOSS),
    "margin_ranking_loss": Effect(Result.LOSS),
    "soft_margin_loss": Effect(Result.LOSS),
    "multi_margin_loss": Effect(Result.LOSS),
    "multilabel_soft_margin_loss": Effect(Result.LOSS),
}
UNKNOWN = Effect(Result.UNKNOWN)


def functions(*results: Result) -> frozenset[str]:
    """Return the names of the functions whose result is one of `results`."""
    return frozenset(name for name, effect in EFFECTS.items() if effect.result in results)


KEEPS_OUTPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.OUTPUT)
KEEPS_INPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.INPUT)
BOUNDED = frozenset(name for name, effect in EFFECTS.items() if effect.bounds)
ELEMENTWISE = functions(Result.LIKE, Result.POWER, Result.CLAMP)
REDUCTIONS = functions(Result.REDUCED)
CHOICES = functions(Result.CHOICE)
LOSS_FUNCTIONS = functions(Result.LOSS)
