"""Which cells of the upstream gradient each cell of a gradient is made of, and what goes wrong where one forgets it."""
