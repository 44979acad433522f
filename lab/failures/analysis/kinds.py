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
    CHECKPOINT = "checkpoint"


class Tag(StrEnum):
    """A further fact about a value."""

    ANY = "any"  # some unknown module
    EVAL = "eval"
    EXPOSED = "exposed"  # its parameters() were read
    FROZEN = "frozen"
    MANY = "many"  # more than one element
    MODULE = "module"
    OPEN = "open"  # may hold more items than are known
    REGISTERED = "registered"
    RETAINED = "retained"
    SUM = "sum"
    TRAINED = "trained"
    NEGATED = "turned"  # a negated gradient
    UP = "up"  # updated along the gradient
    UPDATED = "updated"  # the result of w - lr * w.grad
    WRITTEN = "written"  # its numbers were changed in place


class EventKind(StrEnum):
    """The kind of an event: what the program does to a value."""

    APPEND = "append"
    ASK = "ask"  # requires_grad is set on a computed result
    ATTRIBUTE = "attribute"
    BACKWARD = "backward"
    CLIP = "clip"
    DIVIDE = "divide"
    EVAL = "eval"
    GATHER = "gather"  # total += value
    INTEGERS = "integers"  # are asked for a gradient
    LAYER = "layer"  # a layer is applied
    LENT = "lent"  # an optimizer is given to a function that is not followed
    LOG = "log"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    READ_GRAD = "read grad"
    ROOT = "root"  # of a number that may be 0
    SCHEDULER = "scheduler"
    STEP = "step"
    SUBTRACT = "subtract"
    TO_NUMPY = "to numpy"
    UPDATE = "update"
    USED = "used"  # by autograd.grad
    WHERE = "where"
    WRITE = "write"
    ZERO = "zero"
