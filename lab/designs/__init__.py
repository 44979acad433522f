"""The same engine built in five other ways, each as small as possible, and what each costs on one program.

closures, functions, recursive, scalars and duals stand alone: each runs by itself, with NumPy at most, and imports
nothing of this lab. compare and deep_graphs measure them.
"""
