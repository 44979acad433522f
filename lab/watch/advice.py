"""Fixes for forms of a failure that the fix in the catalogue is not about."""

ASK_FOR_GRADIENTS = "Ask for gradients where it is made: `requires_grad=True`, or `.requires_grad_()` for a layer."
KEEP_THE_GRAPH = "Use the tensor itself, or `torch.stack` for several: `torch.tensor` copies numbers without a graph."
CREATE_GRAPH = "Ask for a derivative that can be differentiated again: `create_graph=True`."
STEP_IN_PLACE = "Write to the parameter in place under `no_grad()`: `w -= lr * w.grad`, not `w = w - lr * w.grad`."
NO_DETACH = "Remove `detach()`, or keep it only for uses that need it; leave what must not learn out of the optimizer."
DRAW_WITH_GRADIENT = "Draw with `rsample()`, or train on `log_prob()` of the sample: `sample()` has no graph."
MAKE_ONCE = "Make the layer once, in `__init__`, and only call it in `forward`."
STEP_LATER = "Step the optimizer only after each `backward()` that needs the weights as they were."
DOWNHILL = "A cost should fall: remove the minus before it, leave out `maximize=True`, or subtract the update."
GIVE_TO_OPTIMIZER = (
    "Give these tensors to the optimizer; a list of layers belongs in `nn.ModuleList`. If they should not learn, "
    "switch their gradients off: `.requires_grad_(False)`."
)
