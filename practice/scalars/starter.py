"""An engine for automatic differentiation on single numbers, and a network that learns with it."""

import math
