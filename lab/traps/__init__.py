"""What people fall into: writes in place, names and arrays, cuts of the graph, the life of a tensor, messages."""
