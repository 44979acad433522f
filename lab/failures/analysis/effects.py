"""The table of effects: what each tensor function does, one row for all functions that do the same.

To support another function of torch or numpy, add its name to a row. The sets below the table are derived from it.
"""

from dataclasses import dataclass
from enum import Enum, auto

from lab.failures.analysis.kinds import EventKind


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
    notes: EventKind | None = None  # the event to record


ROWS = {
    "exp tanh rsqrt reciprocal expm1": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "sqrt": Effect(Result.LIKE, saves=Saves.OUTPUT, notes=EventKind.ROOT),
    "softmax sigmoid softmin": Effect(Result.LIKE, saves=Saves.OUTPUT, form="probabilities"),
    "relu": Effect(Result.LIKE, saves=Saves.OUTPUT, form="relu"),
    "log_softmax": Effect(Result.LIKE, saves=Saves.OUTPUT, form="log probabilities"),
    "log log2 log10": Effect(Result.LIKE, saves=Saves.INPUT, notes=EventKind.LOG),
    (
        "sin cos ** square abs gelu silu softplus log1p normalize layer_norm group_norm instance_norm rms_norm "
        "mish hardswish selu celu softsign softshrink cumprod tan asin acos asinh acosh atanh lgamma logit elu erf "
        "sinh cosh atan"
    ): Effect(Result.LIKE, saves=Saves.INPUT),
    "pow": Effect(Result.POWER, saves=Saves.INPUT),
    (
        "batch_norm hardsigmoid tanhshrink hardshrink threshold dropout1d dropout2d alpha_dropout tril triu "
        "logcumsumexp erfinv leaky_relu relu6 hardtanh logsigmoid clone copy ascontiguousarray floor ceil dropout "
        "masked_fill neg cumsum flip roll"
    ): Effect(Result.LIKE),
    "lerp add": Effect(Result.ARITHMETIC, sign="+"),
    "clamp clip clamp_min": Effect(Result.CLAMP),
    "nan_to_num": Effect(Result.LIKE),
    "where": Effect(Result.WHERE),
    "maximum max": Effect(Result.EXTREME),
    "minimum min": Effect(Result.EXTREME),
    "norm vector_norm std var prod logsumexp": Effect(Result.REDUCED, saves=Saves.INPUT),
    "sum mean amax amin": Effect(Result.REDUCED),
    ("argmax argmin round sign eq ne gt lt ge le argsort heaviside bincount one_hot multinomial bernoulli"): Effect(
        Result.CHOICE
    ),
    (
        "view reshape squeeze unsqueeze flatten transpose permute contiguous to cuda cpu float double half expand "
        "view_as expand_as type bfloat16 type_as swapaxes swapdims t mT real T astype"
    ): Effect(Result.MOVED),
    "divide true_divide div": Effect(Result.ARITHMETIC, sign="/"),
    "matmul mm": Effect(Result.PRODUCT),
    "linear conv2d bmm mv dot": Effect(Result.MATMUL),
    (
        "einsum tensordot outer kron addmm baddbmm bilinear cdist conv1d conv3d conv_transpose1d conv_transpose2d "
        "max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d "
        "interpolate pad unfold pixel_shuffle scaled_dot_product_attention embedding glu repeat tile "
        "repeat_interleave index_select narrow take_along_dim masked_select diagonal diag trace movedim hstack "
        "vstack atan2 hypot logaddexp addcmul"
    ): Effect(Result.COMPUTED),
    "pairwise_distance cosine_similarity": Effect(Result.PAIRED),
    "sub subtract": Effect(Result.ARITHMETIC, sign="-"),
    "mul multiply": Effect(Result.ARITHMETIC, sign="*"),
    "stack cat concatenate concat": Effect(Result.JOINED),
    "gather": Effect(Result.GATHERED),
    (
        "cross_entropy mse_loss l1_loss nll_loss binary_cross_entropy binary_cross_entropy_with_logits "
        "smooth_l1_loss huber_loss kl_div gaussian_nll_loss poisson_nll_loss margin_ranking_loss soft_margin_loss "
        "multi_margin_loss multilabel_soft_margin_loss"
    ): Effect(Result.LOSS),
}
EFFECTS = {name: effect for names, effect in ROWS.items() for name in names.split()}
UNKNOWN = Effect(Result.UNKNOWN)


def functions(*results: Result) -> frozenset[str]:
    """Return the names of the functions whose result is one of `results`."""
    return frozenset(name for name, effect in EFFECTS.items() if effect.result in results)


KEEPS_OUTPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.OUTPUT)
KEEPS_INPUT = frozenset(name for name, effect in EFFECTS.items() if effect.saves is Saves.INPUT)
ELEMENTWISE = functions(Result.LIKE, Result.POWER, Result.CLAMP)
REDUCTIONS = functions(Result.REDUCED)
CHOICES = functions(Result.CHOICE)
LOSS_FUNCTIONS = functions(Result.LOSS)
