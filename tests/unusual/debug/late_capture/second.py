"""A product of numbers and its derivatives, by a list of rules that is run backward."""

from functools import partial


def rule_for(before, factor, upstream):
    return upstream * factor, upstream * before


def product_and_derivatives(factors):
    rules = []
    product = 1.0
    for factor in factors:
        before = product
        rules.append(partial(rule_for, before, factor))
        product = before * factor
    derivatives = []
    upstream = 1.0
    for rule in reversed(rules):
        upstream, derivative = rule(upstream)
        derivatives.append(derivative)
    return product, derivatives[::-1]
