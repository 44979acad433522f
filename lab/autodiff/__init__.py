"""Forward and reverse mode through one graph, what each costs, and other ways to compute a derivative.

jacobian        all derivatives of a function, by columns (forward mode) or by rows (reverse mode)
gradient_cost   one gradient by finite differences, forward and reverse mode, counted and timed as parameters grow
symbolic        the derivative as a formula, and how it grows
jacobian_chain  the work of multiplying a chain of Jacobians from either end
one_operation   which upstream cells a cell of a gradient sums, drawn by array_pictures
"""
