"""Forward and reverse mode: the two directions through one graph, what each costs, and what else gives a derivative,
or checks one.

passes      a graph of model.py: derivatives travel down from an input, gradients travel up from a result; its Jacobian
race        both modes against the clock, on one function
cost        one gradient by finite differences, forward and reverse mode, counted and timed as parameters grow
symbolic    the derivative as a formula, and how it grows
products    a chain of Jacobians multiplied from either end
steps       differences at each step h: where their error is least, and why
softmax     wrong rules that a sum cannot see and a random cotangent can
operations  every operation as an example that runs: its code, its curve, its gradient check
"""
