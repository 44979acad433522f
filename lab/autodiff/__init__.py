"""Forward and reverse mode through one graph, what each costs, and other ways to compute or check a derivative.

passes      a graph of model.py: derivatives travel down from an input, gradients travel up from a result; its Jacobian
race        both modes timed on one function
cost        one gradient by finite differences, forward and reverse mode, counted and timed as parameters grow
symbolic    the derivative as a formula, and how it grows
products    a chain of Jacobians multiplied from either end
steps       finite differences at each step h: where their error is smallest, and why
softmax     wrong backward rules that the check of a sum misses and a random cotangent finds
operations  every operation as a running example: its code, its curve, its gradient check
"""
