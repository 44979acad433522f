"""Fixes in PyTorch's terms, for failures whose fix in the catalogue is written for the lab's engine or for another form
of the failure."""

ASK_FOR_GRADIENTS = (
    "Request gradients where the tensor that should learn is made: `requires_grad=True`, `nn.Parameter`, or "
    "`.requires_grad_()` for the layers to train."
)
KEEP_THE_GRAPH = (
    "Use the tensor itself; combine several with `torch.stack` or `torch.cat`, which keep their graphs. "
    "`torch.tensor` copies numbers."
)
STEP_IN_PLACE = "Write to the parameter in place under `no_grad()`: `w -= lr * w.grad`, not `w = w - lr * w.grad`."
CLEAR_BY_HAND = "Clear the gradient after each step: `w.grad = None`."
NO_DETACH = (
    "Remove `detach()` from the path to the loss. If the part before it should not learn, leave its parameters out of "
    "the optimizer."
)
DRAW_WITH_GRADIENT = (
    "`sample()` draws without a graph. Draw with `rsample()`, or, for a distribution without it, train on `log_prob()` "
    "of the sample."
)
NO_INFERENCE_MODE = (
    "Use `torch.no_grad()` instead of `inference_mode` for tensors that a loss uses later, or compute the loss with a "
    "`.clone()` made outside."
)
UNDER_NO_GRAD = "Wrap it in `with torch.no_grad():`."
NO_ITEM = "Compute the loss with the tensor itself; call `.item()` only to print a number."
NO_RELU = "Remove the relu before the loss: `cross_entropy` takes logits of either sign."
LARGER_WEIGHTS = (
    "Leave these weights as the layer initialises them, or fill them with `nn.init.kaiming_normal_` (relu) or "
    "`nn.init.xavier_normal_` (tanh, sigmoid)."
)
CALL_IT = "Add the parentheses: without them the method is not called."
NO_MINUS = "Remove the minus: the optimizer already makes the loss smaller."
STEP_DOWN = "Subtract the update: `p.sub_(lr * update)`, or `p.add_(update, alpha=-lr)`."
NO_MAXIMIZE = "Leave out `maximize=True`: a cost should become smaller."
REGISTER = (
    "Keep layers in `nn.ModuleList` or `nn.ModuleDict` and tensors in `nn.Parameter`: `parameters()` does not look "
    "into plain lists and dicts."
)
GIVE_TO_OPTIMIZER = (
    "Give these tensors to the optimizer, or add them with `optimizer.add_param_group`; layers in plain lists or dicts "
    "belong in `nn.ModuleList` or `nn.ModuleDict`. If they should not learn, switch their gradients off: "
    "`.requires_grad_(False)`."
)
MAKE_ONCE = "Make the layer once, in `__init__`, and only call it in `forward`."
STRAIGHT_THROUGH = "Let the gradient bypass the step: `x + (x.round() - x).detach()`; `sign` and others likewise."
SAME_SHAPE = "Give both one shape: `prediction.squeeze(-1)` for targets of shape (N,), or `target.unsqueeze(-1)`."
WORDS = {  # of the fixes in the catalogue, which are for the lab's engine -> PyTorch's
    "`he`": "`nn.init.kaiming_normal_`",
    "`xavier`": "`nn.init.xavier_uniform_`",
    "`clip_grad_norm`": "`nn.utils.clip_grad_norm_`",
}


def in_pytorch(fix: str) -> str:
    """Return a fix of the catalogue in PyTorch's words."""
    for ours, theirs in WORDS.items():
        fix = fix.replace(ours, theirs)
    return fix
