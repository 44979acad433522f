"""The registry of what the libraries have: functions with what they do, layers and methods, and names of parameters.

To support another function of torch or numpy, add its name to a row of ROWS, with one row for all functions that do the
same; to support a layer, add it to the set of its kind.
"""

from dataclasses import dataclass
from enum import Enum, auto

from lab.failures.analysis.kinds import EventKind, words


class Result(Enum):
    """What a function returns; `Tensors.transfers` has one rule for each member."""

    LIKE = auto()  # same kind and shape as the first argument
    POWER = auto()  # as LIKE; a root if the exponent is below 1
    WHERE = auto()  # one of two tensors, element by element
    EXTREME = auto()  # the larger or smaller of two, or the largest of one
    REDUCED = auto()  # one axis, or all, reduced
    CHOICE = auto()  # no gradient flows through
    MOVED = auto()  # the same numbers in another shape, place or precision
    ARITHMETIC = auto()  # an operator between the first two arguments
    JOINED = auto()  # several tensors as one
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
    "exp tanh rsqrt reciprocal expm1 log_softmax": Effect(Result.LIKE, saves=Saves.OUTPUT),
    "sqrt": Effect(Result.LIKE, saves=Saves.OUTPUT, notes=EventKind.ROOT),
    "softmax sigmoid softmin": Effect(Result.LIKE, saves=Saves.OUTPUT, form="probabilities"),
    "relu": Effect(Result.LIKE, saves=Saves.OUTPUT, form="relu"),
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
        "masked_fill neg cumsum clamp clip clamp_min flip roll nan_to_num"
    ): Effect(Result.LIKE),
    "lerp add": Effect(Result.ARITHMETIC, sign="+"),
    "where": Effect(Result.WHERE),
    "maximum max minimum min": Effect(Result.EXTREME),
    "norm vector_norm std var prod logsumexp": Effect(Result.REDUCED, saves=Saves.INPUT),
    "sum mean amax amin": Effect(Result.REDUCED),
    (
        "argmax argmin round sign eq ne gt lt ge le argsort heaviside bincount one_hot multinomial bernoulli long int "
        "bool byte"
    ): Effect(Result.CHOICE),
    (
        "view reshape squeeze unsqueeze flatten transpose permute contiguous to cuda cpu float double half expand "
        "view_as expand_as type bfloat16 type_as swapaxes swapdims t mT real T astype"
    ): Effect(Result.MOVED),
    "divide true_divide div": Effect(Result.ARITHMETIC, sign="/"),
    "matmul mm": Effect(Result.ARITHMETIC, sign="@"),
    (
        "linear conv2d bmm mv dot max_pool3d avg_pool3d adaptive_avg_pool3d adaptive_max_pool1d "
        "einsum tensordot outer kron addmm baddbmm bilinear cdist conv1d conv3d conv_transpose1d conv_transpose2d "
        "max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d "
        "interpolate pad unfold pixel_shuffle scaled_dot_product_attention embedding glu repeat tile "
        "repeat_interleave index_select narrow take_along_dim masked_select diagonal diag trace movedim hstack "
        "gather pairwise_distance cosine_similarity vstack atan2 hypot logaddexp addcmul"
    ): Effect(Result.COMPUTED),
    "sub subtract": Effect(Result.ARITHMETIC, sign="-"),
    "mul multiply": Effect(Result.ARITHMETIC, sign="*"),
    "stack cat concatenate concat": Effect(Result.JOINED),
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


ELEMENTWISE = functions(Result.LIKE, Result.POWER)
LOSS_FUNCTIONS = functions(Result.LOSS)

RECURRENT = {"LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"}
NORMS = words(
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d "
    "RMSNorm LazyBatchNorm1d LazyBatchNorm2d SyncBatchNorm"
)
LAYERS = (
    NORMS
    | RECURRENT
    | words(
        "Linear LazyLinear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
        "Embedding EmbeddingBag Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder "
        "TransformerDecoderLayer MultiheadAttention PReLU MLP LazyConv1d LazyConv2d"
    )
)
IDENTITIES = {"Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"}  # treated as such
BROADCASTING_LOSSES = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}  # others refuse different shapes
CONTAINERS = {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
OPTIMIZERS = words("SGD Adam AdamW NAdam RAdam Adamax RMSprop Adagrad Adadelta LBFGS Rprop SparseAdam ASGD")
CREATORS = words(
    "tensor zeros ones randn rand empty full arange linspace eye randint randperm zeros_like ones_like "
    "randn_like rand_like empty_like full_like as_tensor from_numpy normal logspace array Tensor FloatTensor "
    "LongTensor IntTensor"
)
# The operations known to need saved values, which a first backward pass frees.
SAVING = LOSS_FUNCTIONS | LAYERS | words("* / @ matmul mm module bmm linear conv2d mv dot")
SAVING |= {name for name, effect in EFFECTS.items() if effect.saves is not Saves.NOTHING}
MODULE_METHODS = words(
    "parameters named_parameters state_dict load_state_dict train eval modules apply children requires_grad_ "
    "register_buffer add_module register_module cuda to double named_modules named_children compile "
    "register_parameter"
)
# Each function as the name of a layer that does the same would be in small letters, with "loss" at its end or without.
BARE = {name.replace("_", ""): name for name in EFFECTS}
BARE |= {"bce": "binary_cross_entropy", "bcewithlogits": "binary_cross_entropy_with_logits"}


def function_of(layer: str) -> str:
    """Return the function that a layer without parameters applies: relu of ReLU, mse_loss of MSELoss; else ""."""
    bare = layer.lower()
    return BARE.get(bare, BARE.get(bare.removesuffix("loss"), "")) if layer not in LAYERS else ""


def is_layer(name: str) -> bool:
    """Return whether torch.nn has a class of this name that is known."""
    return name in LAYERS | CONTAINERS | IDENTITIES or (name[:1].isupper() and function_of(name) != "")


# What a fragment means by a name that it does not define: a network in training, and a loss.
USUAL_NETWORKS = words(
    "model net network net_g net_d netg netd g d generator discriminator critic actor policy autoencoder vae unet mlp "
    "cnn rnn lstm gru student classifier policy_net q_net qnet q_network"
)
USUAL_LOSSES = words("criterion crit loss loss_fn loss_func loss_function objective mse bce compute_loss mse_loss")
FORWARD = {"forward", "encode", "decode", "dist", "distribution", "log_prob", "evaluate_actions", "logits", "features"}
ENGINE = {"model", "nn"}  # the modules of this project's engine
LIBRARIES = words(
    "torch numpy model nn pytorch_lightning lightning torchvision math functools types dataclasses argparse copy "
    "collections matplotlib scipy"
)

# The operands that the rules read by place, in the order of PyTorch's functions.
OPERANDS = ["condition", "data", "dataset", "mode", "tensors", "outputs", "input", "exponent", "other", "target"]
