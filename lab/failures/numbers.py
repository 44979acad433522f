"""The numbers of the failures, by their names: the keys of failures.toml."""

from enum import IntEnum


class Number(IntEnum):
    """A failure's number, as the pages show it; its key is the name in lower case, with - for _."""

    INPLACE = 1
    TWICE = 2
    SCALAR = 3
    NOGRAPH = 4
    NONLEAFGRAD = 5
    ZERO_GRAD = 6
    LEAF = 7
    BROADCAST = 8
    NAN = 9
    KEPT = 10
    DETACH = 11
    NO_GRAD = 12
    NUMPY = 13
    DEAD = 14
    VANISHING = 15
    ZERO_INIT = 16
    RATE = 17
    ORDER = 18
    OPTIMIZER = 19
    WHERE = 20
    ARGMAX = 21
    INTEGERS = 22
    FLOAT32 = 23
    ACCUMULATION = 24
    SOFTMAX = 25

    @property
    def key(self) -> str:
        return self.name.lower().replace("_", "-")
