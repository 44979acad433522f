"""Gradient descent: optimizers on surfaces of two parameters, a network on four points, a weight shared over time.

surfaces.py     functions of two parameters, and of two weights of a trained network
walk.py         an optimizer of the engine that descends one of them, step by step
four_points.py  a complete training on four points
over_time.py    one weight that is used once in each time step
"""
