"""Forward and reverse mode through one graph, what each costs, and other ways to compute a derivative.

passes      a graph of model.py: derivatives travel down from an input, gradients travel up from a result; its Jacobian
race        both modes timed on one function
cost        one gradient by finite differences, forward and reverse mode, counted and timed as parameters grow
symbolic    the derivative as a formula, and how it grows
products    a chain of Jacobians multiplied from either end
"""
