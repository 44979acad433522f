"""A product of numbers and its derivatives, by a list of rules that is run backward."""


def product_and_derivatives(factors):
    rules = []
    product = 1.0
    for factor in factors:
        before = product
        rules.append((factor, before))
        product = before * factor
    derivatives = []
    upstream = 1.0
    for factor, before in reversed(rules):
        upstream, derivative = upstream * factor, upstream * before
        derivatives.append(derivative)
    return product, derivatives[::-1]
