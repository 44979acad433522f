"""Forward and reverse mode through one graph, what each costs, and other ways to compute a derivative.

jacobian    all derivatives of a function, by columns (forward mode) or by rows (reverse mode); both modes timed
cost        one gradient by finite differences, forward and reverse mode, counted and timed as parameters grow
symbolic    the derivative as a formula, and how it grows
products    a chain of Jacobians multiplied from either end
"""
