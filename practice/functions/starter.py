"""Function objects: an operation is a class, with its way forward and its way backward side by side."""

import numpy as np
