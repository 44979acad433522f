"""The vocabulary for values and events, as enums: a misspelt word is an error."""

from enum import StrEnum


def words(text: str) -> frozenset[str]:
    """Return a set of names, written as one text."""
    return frozenset(text.split())


class Kind(StrEnum):
    """The type of a value; UNKNOWN if nothing shows it."""

    UNKNOWN = ""
    TENSOR = "tensor"
    PARAMETER = "parameter"
    ARRAY = "array"
    NUMBER = "number"
    FLAG = "flag"
    TEXT = "text"
    NONE = "none"
    LIST = "list"
    DICT = "dict"
    RANGE = "range"
    ENUMERATE = "enumerate"
    ZIP = "zip"
    NAMED = "named"
    PARAMETERS = "parameters"
    LOADER = "loader"
    DATASET = "dataset"
    GENERATOR = "generator"
    GRADIENT = "gradient"
    MODULE = "module"
    INSTANCE = "instance"
    CLASS = "class"
    FUNCTION = "function"
    PARTIAL = "partial"
    LIBRARY = "library"
    OPTIMIZER = "optimizer"
    SCALER = "scaler"
    SCHEDULER = "scheduler"
    DISTRIBUTION = "distribution"


class Cut(StrEnum):
    """What keeps a gradient of a value from its parents."""

    NONE = ""
    NO_GRAD = "no_grad"
    DETACH = "detach"
    ITEM = "item"
    NUMPY = "numpy"
    CHOICE = "choice"
    WRAPPED = "wrapped"
    DERIVATIVE = "derivative"


class Tag(StrEnum):
    """A further fact about a value."""

    ANY = "any"  # some unknown module
    REQUIRES_GRAD_SET = "asked"  # a computed result that was given requires_grad
    EVAL = "eval"
    EXPOSED = "exposed"  # its parameters() were read
    FROZEN = "frozen"
    VARARGS = "handed"  # the *args of a call
    KEPT = "kept"  # parameters in a list, which can be read more than once
    MADE_IN_FORWARD = "made in forward"
    MANY = "many"  # more than one element
    MODULE = "module"
    OPEN = "open"  # may hold more items than are known
    OPTIMIZER = "optimizer"
    PARTLY_FROZEN = "partly frozen"  # some of its parameters, which a condition in a loop chooses
    REBOUND = "rebound"  # w = w - lr * w.grad of a w with a graph
    REGISTERED = "registered"
    RETAINED = "retained"
    ROW = "row"  # its last axis is not 1
    SUM = "sum"
    TRAINED = "trained"
    NEGATED = "turned"  # a negated gradient
    UNRECORDED = "unrecorded"
    UP = "up"  # updated along the gradient
    UPDATED = "updated"  # the result of w - lr * w.grad
    USED_UP = "used up"  # a generator that a loop has read
    WRITTEN = "written"  # its numbers were changed in place


class EventKind(StrEnum):
    """The kind of an event: what the program does to a value."""

    APPEND = "append"
    ASK = "ask"  # requires_grad is set on a computed result
    ATTRIBUTE = "attribute"
    BACKWARD = "backward"
    CLIP = "clip"
    DIFFERENCE = "difference"  # a difference quotient
    DIVIDE = "divide"
    DIFFERENTIATE = "differentiate"
    EVAL = "eval"
    FORWARD = "forward"
    FROZEN = "frozen"
    GATHER = "gather"  # total += value
    GRADCHECK = "gradcheck"
    INIT = "init"
    LENT = "lent"  # an optimizer is given to a function that is not followed
    LOG = "log"
    LOOP_NAME = "loop name"  # the name of a loop's item is assigned to
    LOSS = "loss"
    MADE = "made"
    MATMUL = "matmul"
    NUMPY = "numpy"
    OPTIMIZER = "optimizer"
    READ_GRAD = "read grad"
    REPLACED = "replaced"
    ROOT = "root"  # of a number that may be 0
    SCHEDULER = "scheduler"
    STEP = "step"
    SUBTRACT = "subtract"
    TRAIN = "train"
    UPDATE = "update"
    USED = "used"  # by autograd.grad
    VAIN = "vain"  # an attempt to zero that leaves the gradient as it is
    WHERE = "where"
    INTEGER_INPUT = "integer input"
    INTEGER_LEAF = "integer leaf"
    WRITE = "write"
    ZERO = "zero"
