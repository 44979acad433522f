"""Gradient descent: optimizers on surfaces of two parameters, and a network on four points.

surfaces.py     functions of two parameters, and of two weights of a trained network
walk.py         an optimizer of the engine that descends one of them, step by step
four_points.py  a complete training on four points
"""
