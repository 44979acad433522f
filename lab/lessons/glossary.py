"""The words of the lab, each in one sentence that is true of this engine."""

TERMS = {
    "accumulate": "To add an arriving message to the gradient that is already there, instead of replacing it.",
    "backward pass": "The walk from the result back to the inputs, in which each node sends messages to its operands.",
    "broadcast": "To use an array of fewer or shorter axes as if it were repeated until it fits the other one.",
    "closure": "A function together with the variables it keeps from where it was made: here, the backward step of one "
    "operation and the arrays it needs.",
    "cotangent": "Another word for an upstream gradient: how fast the result changes with each element of an array.",
    "detach": "To get a tensor with the same numbers that no gradient flows through.",
    "finite difference": "The change of the result when one input is moved a little, divided by how far it was moved.",
    "forward mode": "Derivatives carried along with the values, from one input to all results, in one pass.",
    "forward pass": "The computation of the values, from the inputs to the result.",
    "gradient": "How fast the result changes with each element of a tensor, in an array of that tensor's shape.",
    "graph": "The record of which tensor was computed from which others, by which operation.",
    "guard": "The part of the engine that refuses a backward pass when an array it needs was written to.",
    "in place": "A write into an array that already exists, so that every name for it sees the new numbers.",
    "Jacobian": "The matrix of all derivatives: a row for each result, a column for each input.",
    "leaf": "A tensor that no operation has computed: an input, or a parameter.",
    "local derivative": "How fast the output of one operation changes with one of its operands, as if nothing else "
    "existed.",
    "message": "What a node sends to an operand in the backward pass: upstream gradient times local derivative.",
    "node": "One tensor in the graph, with its value, its gradient and the operation that made it.",
    "reverse mode": "Gradients carried back, from one result to all inputs, in one pass after a forward pass.",
    "starting gradient": "The upstream gradient of the result itself: 1 for a single number, which changes as fast as "
    "it does.",
    "topological order": "An order of the nodes in which each one comes after everything it was computed from.",
    "unbroadcast": "To sum a message over the axes that were repeated, so that it has the shape of its operand again.",
    "upstream gradient": "The gradient of the result with respect to a node's output, which arrives before the node "
    "passes anything on.",
    "vector-Jacobian product": "The upstream gradient multiplied by all local derivatives at once, without their "
    "matrix being written down; vjp for short.",
    "version": "PyTorch's count of the writes to an array, by which its backward pass notices that one has changed.",
}
