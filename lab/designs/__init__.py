"""The same engine built in five more ways, each as small as it can be, and what they cost on one program.

closures, functions, recursive, scalars and duals stand alone: each runs by itself, with NumPy at most, and imports
nothing of this lab. What compares them is in compare, order, depth and network.
"""
