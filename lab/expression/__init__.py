"""A learner's text as a function of Tensors: read through a whitelist, never run as Python."""

from lab.expression.parser import Expression, parse
from lab.expression.source import ExpressionError

__all__ = ["Expression", "ExpressionError", "parse"]
