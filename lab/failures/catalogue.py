"""The 25 failures that people ask about most. Each is stated once, here, for all pages."""

from __future__ import annotations

from types import MappingProxyType

from lab.failures import programs
from lab.failures.failure import Destination, Failure, Form


def _fault(key: str, does: str) -> Destination:
    return Destination(does, "faults", {"fault": key})


def _debug(key: str) -> Destination:
    return Destination("Find it in a program, and mend it", "practise", {"tab": "debug", "program": key})


def _training(**settings: str) -> Destination:
    return Destination("Train a network that has it", "training-lab", settings)


def _graph(does: str, **leaves: str) -> Destination:
    return Destination(does, "graph-lab", {"expression": "tanh(a*b) + a", "stage": "backward", **leaves})


FAILURES = (
    Failure(
        "Modified by an inplace operation",
        (
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            "is at version 1; expected version 0 instead",
            "as it was in the forward pass, but it has been written to since",
            "Output 0 of UnbindBackward0 is a view and is being modified inplace",
        ),
        ("inplace", "modified"),
        "backward() stops, and the text speaks of a version, or of a variable that was modified.",
        "An operation kept an array for its backward step, and something wrote to that array before `backward()` ran. "
        "With the changed numbers the gradient would be wrong, so it is refused.",
        "Make a new tensor instead of writing into an old one: `y = y + 1`, not `y += 1`; `F.relu(x)`, not "
        "`inplace=True`. If it is a parameter, step the optimizer after `backward()`. Do not reach for `.data` in "
        "PyTorch: its check does not see such a write, and the gradient is wrong without a word.",
        programs.written_to,
        programs.written_to_fixed,
        number=1,
        key="inplace",
        symptom="backward() stops and says that a tensor has been changed since the forward pass.",
        torch="x = torch.tensor(numbers, requires_grad=True)\ny = x.exp()\nloss = y.sum()\ny += 1\nloss.backward()\n",
        places=(
            Destination(
                "Go through it in four steps", "simulate-error", {"part": "steps", "op": "exp", "written": "output"}
            ),
            _graph("Write to an input of a graph", leaf_a="written"),
            _debug("in_place"),
        ),
        related=("leaf", "order"),
        own="x",
    ),
    Failure(
        "Backward a second time",
        (
            "Trying to backward through the graph a second time",
            "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()",
            "the buffers have already been freed",
            "Specify retain_graph=True if you need to backward through the graph a second time",
            "backward() has already gone through",
            "A non-persistent GradientTape can only be used to compute one set of gradients",
        ),
        ("retain_graph", "freed", "twice"),
        "backward() stops the second time it goes through a graph, often in the second round of a loop.",
        "`backward()` takes the graph apart as it goes, to give the memory back. A second call finds nothing to go "
        "through. Often a loss, or a hidden state, is carried from one step of a loop into the next.",
        "Run the forward pass again for each `backward()`. If a tensor is carried over on purpose, cut it off with "
        "`detach()`. Two losses on one trunk: add them and call `backward()` once, or give the first call "
        "`retain_graph=True`.",
        programs.twice,
        programs.twice_fixed,
        number=2,
        key="twice",
        symptom="The first backward() works. The second one stops: the graph is gone.",
        torch="w = torch.tensor(number, requires_grad=True)\nloss = w * w\nloss.backward()\nloss.backward()\n",
        places=(
            Destination("Live through it, line by line", "simulate-error", {"part": "life", "life": "flbb"}),
            _fault("backward-twice", "See an engine that does not stop there"),
            _debug("second_backward"),
        ),
        related=("detach",),
        own="w",
        form="The same loss twice",
        others=(
            Form(
                "Two losses on one trunk",
                programs.two_losses,
                programs.two_losses_fixed,
                "w = torch.tensor(number, requires_grad=True)\ntrunk = w * w\n(2 * trunk).backward()\n"
                "(trunk - 1).backward()\n",
                says="Trying to backward through the graph a second time",
            ),
            Form(
                "Computed before the loop",
                programs.before_the_loop,
                programs.before_the_loop_fixed,
                "w = torch.tensor(number, requires_grad=True)\nsquare = w * w\nfor factor in (1, 2):\n"
                "    loss = factor * square\n    loss.backward()\n",
                says="Trying to backward through the graph a second time",
            ),
        ),
    ),
    Failure(
        "Only for scalar outputs",
        (
            "grad can be implicitly created only for scalar outputs",
            "grad can be implicitly created only for real scalar outputs",
            "backward() starts from a single number",
            "Gradient only defined for scalar-output functions",
            "to return a scalar Tensor, got tensor with 1 dims",
        ),
        ("scalar", "implicitly"),
        "backward() is called on a tensor of more than one number.",
        "A backward pass starts with the derivative of the result by itself. For one number that is 1. For several it "
        "has to be said how much each of them counts.",
        "Reduce the result to one number: `.sum()` or `.mean()`. Or pass the weights: `backward(grad)` with the shape "
        "of the result.",
        programs.not_scalar,
        programs.not_scalar_fixed,
        number=3,
        key="scalar",
        symptom="backward() stops because the loss has more than one element.",
        torch="w = torch.tensor(numbers, requires_grad=True)\nloss = w * w\nloss.backward()\n",
        places=(Destination("Start a pass from several numbers, and weigh them", "why-reverse-mode", {"tab": "one"}),),
        own="w",
        fewest=2,
    ),
    Failure(
        "Does not require grad",
        (
            "element 0 of tensors does not require grad and does not have a grad_fn",
            "backward() has nothing to differentiate",
            "One of the differentiated Tensors does not require grad",
            "Gradients do not exist for variables",
            "was not computed from tensors that require gradients",
            "No gradients provided for any variable",
            "None of the inputs have requires_grad=True. Gradients will be None",
        ),
        ("grad_fn", "requires_grad", "no_grad", "none"),
        "backward() stops at once: nothing that the loss was computed from requires a gradient.",
        "The loss has no history: it was computed under `no_grad()`, from detached tensors, through NumPy, `.item()` "
        "or `argmax`, or from inputs that do not require gradients.",
        "Compute the loss from the parameters: outside `no_grad()`, and without `detach()`, `.numpy()`, `.item()` or "
        "`argmax` on the way. `requires_grad = True` on the loss silences the message, and nothing learns.",
        programs.no_graph,
        programs.no_graph_fixed,
        number=4,
        key="nograph",
        symptom="backward() stops: the loss has no grad_fn, there is no graph to go back through.",
        torch="w = torch.tensor(numbers, requires_grad=True)\nwith torch.no_grad():\n    loss = (w * w).sum()\n"
        "loss.backward()\n",
        places=(
            Destination("See the graph with and without it", "simulate-error", {"part": "cut", "cut": "all"}),
            _graph("Make every input of a graph a constant", leaf_a="constant", leaf_b="constant"),
        ),
        related=("no-grad", "numpy", "argmax", "detach"),
        own="w",
        form="no_grad() around the loss",
        others=(
            Form(
                "requires_grad forgotten",
                programs.no_requires_grad,
                programs.no_requires_grad_fixed,
                "w = torch.tensor(numbers)\nloss = (w * w).sum()\nloss.backward()\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
            Form(
                "detach() on the way",
                programs.loss_of_detached,
                programs.loss_of_tensors,
                "w = torch.tensor(numbers, requires_grad=True)\nprediction = (w * w).detach()\n"
                "loss = prediction.sum()\nloss.backward()\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
            Form(
                ".item() on the way",
                programs.loss_of_item,
                programs.loss_of_tensors,
                "w = torch.tensor(numbers, requires_grad=True)\nvalue = (w * w).sum().item()\n"
                "loss = torch.tensor(value)\nloss.backward()\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
            Form(
                "NumPy on the way",
                programs.loss_of_numpy,
                programs.loss_of_tensors,
                "w = torch.tensor(numbers, requires_grad=True)\nsquares = w.detach().numpy() ** 2\n"
                "loss = torch.tensor(squares.sum())\nloss.backward()\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
            Form(
                "argmax in the loss",
                programs.loss_of_argmax,
                programs.loss_of_argmax_fixed,
                "w = torch.tensor([numbers], requires_grad=True)\n"
                "loss = (w.argmax(dim=1) != torch.tensor([0])).float().mean()\nloss.backward()\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
            Form(
                "A parameter replaced under no_grad()",
                programs.replaced_without_graph,
                programs.replaced_fixed,
                "w = torch.tensor(numbers, requires_grad=True)\nfor _ in range(3):\n    loss = (w * w).sum()\n"
                "    loss.backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad\n",
                says="element 0 of tensors does not require grad and does not have a grad_fn",
            ),
        ),
    ),
    Failure(
        "The .grad of a result",
        (
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
            "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
            "Tensor, use .retain_grad() on the non-leaf Tensor.",
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed",
            "use .retain_grad() on the non-leaf Tensor",
        ),
        ("retain_grad", "leaf", "populated", "none"),
        "It is a warning, at a line that reads .grad, and what it reads is None.",
        "PyTorch keeps gradients of leaves only: of tensors that you made, not of results. This engine keeps both.",
        "Read the `.grad` of the leaf. To see that of a result in PyTorch, call `h.retain_grad()` before `backward()`. "
        "A parameter that was moved or scaled (`.to(device)`, `* 0.1`) has become a result: make it a leaf again with "
        "`.detach().requires_grad_()`.",
        programs.non_leaf_grad,
        programs.non_leaf_grad_fixed,
        silent="No error and no warning here: this engine keeps the gradients of results. In PyTorch this is None.",
        number=5,
        key="nonleafgrad",
        symptom="After backward() the .grad of a tensor in the middle is None.",
        torch="w = torch.tensor(numbers, requires_grad=True)\nh = w * 3\nh.sum().backward()\nprint(h.grad)\n",
        places=(Destination("See the gradient of every node", "graph-lab", {"expression": "tanh(a*b) + a"}),),
        related=("nograph", "no-grad", "optimizer"),
        own="w",
        form="A result",
        others=(
            Form(
                "A parameter replaced in the loop",
                programs.replaced,
                programs.replaced_fixed,
                "w = torch.tensor(numbers, requires_grad=True)\nfor _ in range(3):\n    loss = (w * w).sum()\n"
                "    loss.backward()\n    w = w - 0.1 * w.grad\n",
                says="unsupported operand type(s) for *: 'float' and 'NoneType'",
            ),
            Form(
                "A tensor that the loss does not use",
                programs.not_used,
                programs.not_used_fixed,
                "w = torch.tensor(numbers, requires_grad=True)\nother = torch.tensor(numbers, requires_grad=True)\n"
                "loss = (w * w).sum()\nloss.backward()\nprint('w.grad', w.grad)\nprint('other.grad', other.grad)\n",
                silent="No error, here or in PyTorch: the loss does not depend on this tensor.",
            ),
        ),
    ),
    Failure(
        "zero_grad forgotten",
        (),
        ("zero_grad", "accumulate", "accumulates"),
        "No message. The loss swings, and .grad is the sum over all steps so far.",
        "`backward()` adds to the gradient that is there. Without `zero_grad()` each step uses the sum of the "
        "gradients of all steps before, which works like momentum without friction: it overshoots, and swings.",
        "Call `optimizer.zero_grad()` once in each step, before `backward()`.",
        programs.never_zeroed,
        programs.never_zeroed_fixed,
        silent="No error, here or in PyTorch: adding up is what gradients are meant to do.",
        number=6,
        key="zero-grad",
        symptom="The loss falls, rises again and swings: each gradient is added to those of the steps before.",
        torch="w = torch.tensor(start, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(30):\n    loss = (w - 3) ** 2\n    loss.backward()\n    optimizer.step()\n"
        "print('w', w.item(), 'loss', loss.item())\n",
        places=(
            _fault("forgot-zero-grad", "Compare both runs, and hear the doctor"),
            Destination("Add up gradients by hand", "simulate-error", {"part": "life", "life": "flblb"}),
            _debug("zero_grad"),
        ),
        related=("accumulation", "rate"),
        own="where w starts",
    ),
    Failure(
        "A leaf used in an in-place operation",
        (
            "a leaf Variable that requires grad is being used in an in-place operation",
            "a leaf Variable that requires grad has been used in an in-place operation",
            "a view of a leaf Variable that requires grad is being used in an in-place operation",
            "leaf variable has been moved into the graph interior",
        ),
        ("leaf",),
        "The line that writes to a parameter stops, before any backward().",
        "A parameter was changed in place where operations are recorded. Nothing but the graph would remember its old "
        "value, and the gradient belongs to that value. PyTorch refuses the write itself. Here a write is allowed, and "
        "`backward()` refuses if it needed the old values: the same error as that of failure 1.",
        "Change parameters after `backward()`, with the optimizer. By hand in PyTorch: "
        "`with torch.no_grad(): w -= lr * w.grad`.",
        programs.leaf,
        programs.leaf_fixed,
        number=7,
        key="leaf",
        symptom="A line such as w -= lr * w.grad stops, before any backward().",
        torch="w = torch.tensor(numbers, requires_grad=True)\nloss = (w * w).sum()\nw -= 0.1\nloss.backward()\n",
        places=(
            Destination(
                "Go through it in four steps", "simulate-error", {"part": "steps", "op": "square", "guard": "on"}
            ),
        ),
        related=("inplace", "no-grad"),
        own="w",
    ),
    Failure(
        "(N, 1) minus (N,)",
        (
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size",
            "Using a target size (torch.Size([4])) that is different to the input size (torch.Size([4, 1]))",
            "compares element with element",
        ),
        ("broadcast", "broadcasting"),
        "A warning at most: shapes that differ by an axis of 1, a smooth loss, and answers near the mean.",
        "A column of predictions minus a row of targets is not refused: both are repeated, and there are N x N "
        "differences. The loss compares each prediction with every target, and is least where all predictions are the "
        "mean.",
        "Give both the same shape before the difference: `prediction.reshape(target.shape)`, or `squeeze(-1)`. "
        "`mse_loss` of this engine refuses two shapes, PyTorch's warns.",
        programs.column_minus_row,
        programs.column_minus_row_fixed,
        silent="No error here: repeating an axis of length 1 is a rule of broadcasting. Only the shape tells.",
        number=8,
        key="broadcast",
        symptom="The loss falls to a plateau, and every prediction comes out near the mean of the targets.",
        torch="x = torch.tensor(numbers) / max(1, max(map(abs, numbers)))\ntarget = 2 * torch.tensor(numbers)\n"
        "w = torch.tensor(0.0, requires_grad=True)\nb = torch.tensor(0.0, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w, b], lr=0.1)\nfor _ in range(500):\n"
        "    prediction = w * x.reshape(-1, 1) + b\n    loss = torch.nn.functional.mse_loss(prediction, target)\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "print('loss', loss.item())\nprint('predictions', prediction.detach().flatten())\n"
        "print('mean of the targets', target.mean())\n",
        places=(
            Destination("Try shapes of your own", "shapes", {"tab": "loss"}),
            _fault("silent-broadcast", "Train with it, and hear the doctor"),
            _debug("column_minus_row"),
        ),
        related=("zero-init",),
        own="x; the target is 2 * x",
        fewest=2,
    ),
    Failure(
        "nan from log(0), sqrt(0) or 0 / 0",
        (
            "Function 'LogBackward0' returned nan values in its 0th output",
            "returned nan values in its 0th output",
            "is non-finite, so it cannot be clipped",
            "NaN loss during training",
            "RuntimeWarning: divide by zero encountered in log",
            "RuntimeWarning: invalid value encountered in sqrt",
            "RuntimeWarning: invalid value encountered in divide",
            "RuntimeWarning: invalid value encountered in log",
            "Invalid nan value encountered in the output of a jax.jit function",
            "FloatingPointError: invalid value (nan) encountered in jit(log)",
            "Tensor had NaN values",
        ),
        ("nan", "inf"),
        "A number becomes nan in one step, at a log, a root, a quotient or a power.",
        "At 0 the logarithm is -inf and its slope inf; so is the slope of the root. As soon as an inf meets a 0, or "
        "another inf, the answer is nan, and a nan never goes away: it reaches every parameter with the next step.",
        "Keep the input away from 0: `x.clip(low=1e-12).log()`, `(x + 1e-12).sqrt()`; where clip acts, no gradient "
        "passes. Better, use the stable form: "
        "`log_softmax` or `cross_entropy` on logits, not `log(softmax(x))`.",
        programs.log_of_zero,
        programs.log_of_zero_fixed,
        silent="No error: inf and nan are numbers to NumPy and PyTorch alike, and travel on.",
        number=9,
        key="nan",
        symptom="The loss is suddenly nan, and from then on everything is.",
        torch="p = torch.tensor(numbers, requires_grad=True)\nwith torch.autograd.set_detect_anomaly(True):\n"
        "    loss = -(p * p.log()).sum()\n    loss.backward()\n",
        places=(
            Destination("Find the operation where it began", "graph-lab", {"expression": "-p*log(p)", "in_p": "0"}),
            _fault("log-unguarded", "Meet it in a training run"),
        ),
        related=("where", "rate"),
        own="p",
        limits=(0.0, 100.0),
    ),
    Failure(
        "total += loss keeps every graph",
        (),
        ("memory", "leak"),
        "No message until memory runs out: it grows with every batch.",
        "A tensor keeps alive what it was computed from. A total that holds the losses themselves holds all their "
        "graphs, and every array in them, until the total is gone.",
        "Add numbers, not tensors: `total += loss.item()`. Compute what is only looked at under `no_grad()`. A list of "
        "outputs is the same: append `output.detach()`.",
        programs.kept_graphs,
        programs.kept_graphs_fixed,
        silent="No error: memory is all that tells. In training, backward() frees the arrays of each graph, but its "
        "nodes stay; where nothing goes backward, such as in validation, the arrays stay, too.",
        number=10,
        key="kept",
        symptom="Each batch takes more memory than the one before, until there is none left.",
        torch="w = torch.ones(1000, requires_grad=True)\ntotal, kept = 0.0, []\n\n\ndef pack(tensor):\n"
        "    kept.append(tensor.nbytes)\n    return tensor\n\n\n"
        "with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):\n    for x in numbers:\n"
        "        loss = (w * x).tanh().mean()\n        total = total + loss\n"
        "        print('bytes saved for backward so far', sum(kept))\n",
        places=(
            _debug("kept_loss"),
            Destination("Weigh a graph, and trade it for time", "other-engines", {"tab": "memory"}),
        ),
        related=("no-grad", "detach"),
        own="x of each batch",
        fewest=2,
        form="total += loss",
        others=(
            Form(
                "Outputs in a list, no no_grad()",
                programs.kept_outputs,
                programs.kept_outputs_fixed,
                "w = torch.ones(1000, requires_grad=True)\noutputs, kept = [], []\n\n\ndef pack(tensor):\n"
                "    kept.append(tensor.nbytes)\n    return tensor\n\n\n"
                "with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):\n    for x in numbers:\n"
                "        outputs.append((w * x).tanh())\n"
                "        print('bytes saved for backward so far', sum(kept))\n",
                silent="No error: memory is all that tells. Nothing goes backward here, so nothing frees the arrays "
                "that each graph keeps.",
            ),
        ),
    ),
    Failure(
        "detach forgotten, or too much",
        (),
        ("detach", "hidden", "state"),
        "It is a loop that carries a state; or a part of the network that was detached and never learns.",
        "A state that is carried from one step into the next brings its graph with it. The next `backward()` goes back "
        "into the step before, whose graph is freed. One `detach()` too many does the opposite: what lies behind it "
        "gets no gradient, without a word.",
        "Detach the state between two steps, and nothing else: `state = state.detach()`. In a GAN detach what the "
        "generator made for the discriminator's step, not for its own.",
        programs.state_not_cut,
        programs.state_not_cut_fixed,
        number=11,
        key="detach",
        symptom="The second step of a loop stops; or one part of the network never changes.",
        torch="w = torch.tensor(0.5, requires_grad=True)\nstate = torch.tensor(0.0)\nfor x in numbers:\n"
        "    state = (w * state + x).tanh()\n    loss = (state - 0.5) ** 2\n    loss.backward()\n",
        places=(
            Destination("Cut a graph, and see what stays away", "simulate-error", {"part": "cut", "cut": "detach"}),
            _graph("Detach an input of a graph", leaf_a="detached"),
            Destination("A weight shared over time", "descent", {"tab": "time"}),
            _debug("detached"),
        ),
        related=("twice", "no-grad"),
        own="x of each step",
        fewest=2,
        form="A state carried on",
        others=(
            Form(
                "A part detached by mistake",
                programs.detached_part,
                programs.detached_part_fixed,
                "w1 = torch.tensor(0.5, requires_grad=True)\nw2 = torch.tensor(0.5, requires_grad=True)\n"
                "x = torch.tensor(numbers)\nhidden = (w1 * x).tanh().detach()\n"
                "loss = ((w2 * hidden - 1) ** 2).mean()\nloss.backward()\n"
                "print('w1.grad', w1.grad)\nprint('w2.grad', w2.grad)\n",
                silent="No error, here or in PyTorch: w1 looks like a parameter that the loss does not use.",
            ),
        ),
    ),
    Failure(
        "no_grad around too much, or too little",
        ("A view was created in no_grad mode and is being modified inplace with grad mode enabled",),
        ("no_grad", "frozen"),
        "No message: one part of the network has gradients of None and stays as it was.",
        "Under `no_grad()` nothing is written down. What was computed there is a constant for all that follows: the "
        "parameters behind it get None, and the optimizer passes over them without a word. Too little of it costs the "
        "opposite: a validation that records graphs that nobody needs, a step by hand that becomes a part of the next "
        "graph.",
        "Put under `no_grad()` what is only looked at (validation, plots, a step by hand), and nothing that the loss "
        "is computed from.",
        programs.no_grad_too_wide,
        programs.no_grad_too_wide_fixed,
        silent="No error, here or in PyTorch: a gradient of None looks like a parameter that nobody used.",
        number=12,
        key="no-grad",
        symptom="One layer never changes: its gradient is None, and there is no error.",
        torch="w1 = torch.tensor(0.5, requires_grad=True)\nw2 = torch.tensor(0.5, requires_grad=True)\n"
        "x = torch.tensor(numbers)\nwith torch.no_grad():\n    hidden = (w1 * x).tanh()\n"
        "loss = ((w2 * hidden - 1) ** 2).mean()\nloss.backward()\n"
        "print('w1.grad', w1.grad)\nprint('w2.grad', w2.grad)\n",
        places=(
            Destination("Cut a graph, and see what stays away", "simulate-error", {"part": "cut", "cut": "no_grad"}),
            _debug("detached"),
        ),
        related=("nograph", "optimizer", "kept"),
        own="x",
    ),
    Failure(
        "NumPy on a tensor that requires grad",
        (
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            "Can't call numpy() on Tensor that requires grad",
            "Can't call numpy() on Variable that requires grad",
            "NumPy would lose the graph of",
            "does not support ufuncs (__array_ufunc__=None)",
            "The numpy.ndarray conversion method __array__() was called on traced array",
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior",
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()",
            "Cannot convert a symbolic tf.Tensor to a numpy array",
        ),
        ("numpy", "ndarray"),
        "A line makes an array of a tensor: .numpy(), np.something(tensor), a plot.",
        "NumPy knows no gradients. What it computes from this tensor would have no history, and the gradient would "
        "stop there without a word. So it is refused. `.item()`, `.tolist()` and `float()` are not refused, and cut "
        "the graph just the same.",
        "On the way to the loss use the tensor's own functions: `x.exp()`, not `np.exp(x)`. To print or to plot, take "
        "the values alone: `y.detach().numpy()`. In PyTorch that array is the memory of y: write to a `.copy()` only.",
        programs.through_numpy,
        programs.through_numpy_fixed,
        number=13,
        key="numpy",
        symptom="A NumPy function, .numpy() or a plot stops at a tensor; or .item() cuts the graph without a word.",
        torch="x = torch.tensor(numbers, requires_grad=True)\ny = x.numpy()\n",
        related=("nograph", "argmax"),
        own="x",
        form="A NumPy function",
        others=(
            Form(
                ".item() before backward()",
                programs.number_backward,
                programs.number_backward_fixed,
                "x = torch.tensor(numbers, requires_grad=True)\nloss = x.exp().sum().item()\nloss.backward()\n",
                says="'float' object has no attribute 'backward'",
            ),
            Form(
                "One format for several numbers",
                programs.format_several,
                programs.format_several_fixed,
                "x = torch.tensor(numbers, requires_grad=True)\ny = x.exp()\nprint(f'{y:.3f}')\n",
                says="unsupported format string passed to Tensor.__format__",
            ),
        ),
    ),
    Failure(
        "A dead relu",
        (),
        ("dead", "dying", "relu"),
        "No message: relu units give 0 for every sample, and their gradient is exactly 0.",
        "Below 0 relu is flat: its slope is 0. A unit that is below 0 for every sample gets no gradient, so nothing "
        "ever brings it back. One step that was too long is enough.",
        "A smaller rate keeps units alive. `leaky_relu` has a slope below 0 on which they come back. Start biases at "
        "0, weights with `he`.",
        programs.dead_relu,
        programs.dead_relu_fixed,
        silent="No error: 0 is a right answer of relu. A count of the units that are 0 everywhere tells.",
        number=14,
        key="dead",
        symptom="Units of a layer are 0 for every sample, and stay so.",
        torch="torch.manual_seed(0)\nx, w = torch.randn(64, 4), torch.randn(4, 8)\n"
        "b = torch.full((8,), float(bias), requires_grad=True)\nunits = (x @ w + b).relu()\n"
        "((units - 1) ** 2).mean().backward()\nprint('units that are 0 for every sample',\n"
        "      int((units == 0).all(dim=0).sum()))\nprint('b.grad', b.grad)\n",
        places=(
            _training(data="digits", hidden="32 32", lr="0.3", epochs="30"),
            Destination("See the slope of relu", "operations", {"op": "relu"}),
        ),
        related=("rate", "zero-init"),
        own="the bias of all units",
        limits=(-50.0, 50.0),
    ),
    Failure(
        "Vanishing gradients",
        (),
        ("vanishing", "vanish"),
        "No message: the norms of the first layers are thousands of times smaller than those of the last.",
        "On its way back a gradient is multiplied by a slope in each layer. That of the sigmoid is at most 1/4: after "
        "ten layers hardly anything is left, and the first layers stand still.",
        "Use `relu` with `he` in place of `sigmoid`; fewer layers; a shortcut around some of them; in a recurrent "
        "network a gate, or fewer steps.",
        programs.vanishing,
        programs.vanishing_fixed,
        silent="No error: a small gradient is a right one. The norms, layer by layer, tell.",
        number=15,
        key="vanishing",
        symptom="A deep network hardly learns: the first layers receive next to nothing.",
        torch="torch.manual_seed(0)\nsizes = [4] + [16] * layers + [1]\n"
        "linear = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]\nx = torch.randn(32, 4)\n"
        "for layer in linear[:-1]:\n    x = layer(x).sigmoid()\n(linear[-1](x) ** 2).mean().backward()\n"
        "norms = [layer.weight.grad.norm().item() for layer in linear]\n"
        "print('first layer over last', norms[0] / norms[-1])\n",
        places=(
            _training(
                data="circles", hidden="16 16 16 16 16", activation="sigmoid", init="xavier", optimizer="sgd", lr="0.1"
            ),
            Destination("The same over time", "descent", {"tab": "time", "kind": "tanh"}),
        ),
        related=("dead", "zero-init"),
        own="how many layers",
        limits=(1, 30),
    ),
    Failure(
        "All weights start at zero",
        (),
        ("initialisation", "initialization"),
        "No message: the loss falls a little, then stands still, and the gradients of all weights are exactly 0.",
        "With zero weights all units of a layer compute the same, and the gradient that goes back through the weights "
        "is multiplied by 0. Only the bias of the last layer learns. "
        "Equal weights other than 0 move, but stay equal: a layer of one unit.",
        "Start with small random weights: `xavier` for tanh and sigmoid, `he` for relu. Zeros are right for biases.",
        programs.all_zero,
        programs.all_zero_fixed,
        silent="No error: 0 is a number like any other. The norms tell.",
        number=16,
        key="zero-init",
        symptom="The loss falls as far as the last bias can take it (to the mean of the targets, to the class shares), "
        "then stands still. The gradients of the weights are exactly 0.",
        torch="torch.manual_seed(0)\nx = torch.randn(32, 4)\ntarget = 1 + x[:, :1] * x[:, 1:2]\n"
        "net = torch.nn.Sequential(torch.nn.Linear(4, units), torch.nn.Tanh(), torch.nn.Linear(units, 1))\n"
        "for p in net.parameters():\n    torch.nn.init.zeros_(p)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(200):\n"
        "    loss = ((net(x) - target) ** 2).mean()\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\nprint('loss', loss.item())\n"
        "print('loss of the mean of the targets', target.var(unbiased=False).item())\n"
        "print('norms', [layer.weight.grad.norm().item() for layer in (net[0], net[2])])\n",
        places=(
            _training(data="moons", hidden="16 16", lr="0.01", init="zeros"),
            _fault("zero-init", "Compare it with a healthy start"),
        ),
        related=("vanishing", "dead"),
        own="units in each hidden layer",
        limits=(1, 64),
    ),
    Failure(
        "The learning rate is too high",
        (
            "is non-finite, so it cannot be clipped",
            "NaN loss during training",
        ),
        ("diverges", "explodes", "rate"),
        "No message: the loss jumps or climbs, and ends at inf or nan; a smaller rate cures it.",
        "A step goes down the slope where one stands. If it is longer than the valley is wide, it ends higher up on "
        "the other side, where the slope is steeper and the next step longer still. "
        "A flipped sign (failure 18) climbs just the same: a smaller rate tells the two apart.",
        "Divide the rate by 3 or 10 until the loss falls. A warm-up and `clip_grad_norm` help where only some steps "
        "are too long.",
        programs.rate_too_high,
        programs.rate_too_high_fixed,
        silent="No error: the numbers grow until they are inf, then nan. The curve tells.",
        number=17,
        key="rate",
        symptom="The loss jumps up and down, or climbs until it is inf.",
        torch="w = torch.tensor(5.0, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=rate)\n"
        "for _ in range(20):\n    loss = (w - 3) ** 2\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\nprint('w', w.item(), 'loss', loss.item())\n",
        places=(
            Destination("Set the rate on a surface", "descent", {"surface": "bowl"}),
            _training(data="moons", hidden="16 16", activation="tanh", lr="0.3"),
            _fault("rate-too-high", "Compare it with a good rate"),
        ),
        related=("nan", "zero-grad", "order"),
        own="the rate",
        limits=(0.001, 3.0),
    ),
    Failure(
        "Sign or order of the step",
        ("Detected call of `lr_scheduler.step()` before `optimizer.step()`",),
        ("order", "sign"),
        "No message: all gradients are right, and the loss stands still or climbs from the first step on.",
        "A step needs the gradient of the loss that was just computed. `zero_grad()` between `backward()` and `step()` "
        "takes it away; `step()` before `backward()` uses that of the batch before; a plus for a minus climbs.",
        "In each round: `zero_grad()`, forward, `backward()`, `step()`; after that the scheduler. By hand the step is "
        "`w -= lr * w.grad`, with a minus.",
        programs.wrong_order,
        programs.wrong_order_fixed,
        silent="No error, here or in PyTorch: an optimizer passes over a gradient of None.",
        number=18,
        key="order",
        symptom="The loss does not move, or climbs from the first step, though the gradients are right.",
        torch="w = torch.tensor(start, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(20):\n    loss = (w - 3) ** 2\n    loss.backward()\n    optimizer.zero_grad()\n"
        "    optimizer.step()\nprint('w', w.item(), 'loss', loss.item())\n",
        places=(
            Destination("Press the lines in any order", "simulate-error", {"part": "life", "life": "flbzs"}),
            _fault("sign-flipped", "See the sign flipped in training"),
            _debug("order"),
        ),
        related=("rate", "optimizer"),
        own="where w starts",
        form="The order",
        others=(
            Form(
                "The sign",
                programs.wrong_sign,
                programs.wrong_sign_fixed,
                "w = torch.tensor(start, requires_grad=True)\n"
                "for _ in range(20):\n    loss = (w - 3) ** 2\n    w.grad = None\n    loss.backward()\n"
                "    with torch.no_grad():\n        w += 0.1 * w.grad\nprint('w', w.item(), 'loss', loss.item())\n",
                silent="No error, here or in PyTorch: uphill is a direction, too.",
            ),
            Form(
                "The scheduler before the step",
                programs.scheduler_first,
                programs.scheduler_first_fixed,
                "w = torch.tensor(start, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr=0.3)\n"
                "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)\n"
                "for _ in range(20):\n    loss = (w - 3) ** 2\n    optimizer.zero_grad()\n    loss.backward()\n"
                "    scheduler.step()\n    optimizer.step()\nprint('w', w.item(), 'loss', loss.item())\n",
                says="Detected call of `lr_scheduler.step()` before `optimizer.step()`",
                silent="No error: PyTorch warns, because the first rate of the schedule is never used.",
            ),
            Form(
                "The batch written over before backward()",
                programs.refilled,
                programs.refilled_fixed,
                "w = torch.tensor(start, requires_grad=True)\nbatches = torch.tensor([[1.0, 2.0], [2.0, -1.0]])\n"
                "x = batches[0].clone()\n"
                "for step in range(20):\n    loss = ((w * x - 3 * batches[step % 2]) ** 2).mean()\n"
                "    x.data[...] = batches[(step + 1) % 2]\n    w.grad = None\n    loss.backward()\n"
                "    with torch.no_grad():\n        w -= 0.1 * w.grad\nprint('w', w.item(), 'loss', loss.item())\n",
                silent="No error in PyTorch, which does not see a write through .data; here with the guard off. The "
                "gradient takes its error from one batch and its x from the next.",
            ),
        ),
    ),
    Failure(
        "A parameter that the optimizer does not have",
        (
            "can't optimize a non-leaf Tensor",
            "optimizer got an empty parameter list",
            "params argument given to the optimizer should be an iterable of Tensors or dicts",
            "optimizer can only optimize Tensors, but one of the params is",
            "some parameters appear in more than one parameter group",
            "Give parameters as a list of Tensors",
        ),
        ("optimize", "optimizer", "parameters", "leaf", "registered", "modulelist"),
        "The line that makes the optimizer stops; or a parameter has a gradient and never moves.",
        "An optimizer changes the parameters that it was given: leaves, which keep their value from step to step. A "
        "result is computed anew in each forward pass, so a change to it would be lost. A layer in a plain Python list "
        "is not registered, so `model.parameters()` does not have it.",
        "Give the optimizer the leaf that the result was computed from: `w = (w * 0.1).detach().requires_grad_()`. In "
        "PyTorch keep layers in `nn.ModuleList`, tensors in `nn.Parameter`, and make the optimizer after the last "
        "layer. Print how many parameters it has.",
        programs.optimizes_result,
        programs.optimizes_result_fixed,
        number=19,
        key="optimizer",
        symptom="The optimizer refuses what it is given; or a parameter never moves though it has a gradient.",
        torch="w = torch.tensor(numbers, requires_grad=True)\nscaled = w * 0.1\ntorch.optim.SGD([scaled], lr=0.1)\n",
        related=("nonleafgrad", "no-grad"),
        own="w",
        form="A result",
        others=(
            Form(
                "An empty list",
                programs.empty_list,
                programs.empty_list_fixed,
                "w = torch.tensor(numbers, requires_grad=True)\nparameters = [p for p in [w] if p.grad is not None]\n"
                "torch.optim.SGD(parameters, lr=0.1)\n",
                says="optimizer got an empty parameter list",
            ),
            Form(
                "Layers that nobody registered",
                programs.not_registered,
                programs.not_registered_fixed,
                "torch.manual_seed(0)\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
                "        super().__init__()\n"
                "        self.hidden = [torch.nn.Linear(1, 4)]  # a list, no ModuleList\n"
                "        self.head = torch.nn.Linear(4, 1)\n\n    def forward(self, x):\n"
                "        return self.head(self.hidden[0](x).tanh())\n\n\nnet = Net()\n"
                "print('parameters', [name for name, _ in net.named_parameters()])\n"
                "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nold = net.hidden[0].weight.clone()\n"
                "((net(torch.tensor(numbers).reshape(-1, 1)) - 1) ** 2).mean().backward()\noptimizer.step()\n"
                "print('norm of hidden gradient', net.hidden[0].weight.grad.norm().item())\n"
                "print('hidden moved by', (net.hidden[0].weight - old).abs().max().item())\n",
                silent="No error, here or in PyTorch: nobody misses a parameter that the optimizer does not have.",
            ),
        ),
    ),
    Failure(
        "nan through where",
        ("returned nan values in its 0th output",),
        ("where", "masked"),
        "The value is right, and nan is in the gradient only, where where() did not choose.",
        "`where` computes both sides, then chooses. Going back, what was not chosen receives a gradient of 0, and its "
        "own rule multiplies that 0 by inf or nan: 0 * inf is nan.",
        "Make the *input* of the dangerous side safe first: `safe = where(x > 0, x, 1.0)`, then "
        "`where(x > 0, safe.sqrt(), 0.0)`. To make the result safe is too late.",
        programs.where_nan,
        programs.where_nan_fixed,
        silent="No error: the values are right, and nobody looks at the gradient until a parameter is nan.",
        number=20,
        key="where",
        symptom="The result is right everywhere, and its gradient is nan where the other side was chosen.",
        torch="x = torch.tensor(numbers, requires_grad=True)\nroot = torch.where(x > 0, x.sqrt(), 0.0)\n"
        "print('root', root.detach())\nwith torch.autograd.set_detect_anomaly(True):\n"
        "    torch.where(x > 0, x.sqrt(), 0.0).sum().backward()\n",
        places=(
            Destination(
                "Follow the 0 into the root",
                "graph-lab",
                {"expression": "where(x > 0, sqrt(x), 0)", "in_x": "[-1, 0, 4]"},
            ),
            _debug("where_nan"),
        ),
        related=("nan",),
        own="x",
    ),
    Failure(
        "argmax or a comparison in the loss",
        (
            "grad requires real- or complex-valued outputs (output dtype that is a sub-dtype of np.floating)",
            "The dtype of the target tensor must be floating (e.g. tf.float32) when calling GradientTape.gradient",
            "No gradient defined for operation 'ArgMax' (op type: ArgMax)",
            "An operation has `None` for gradient. Please make sure that all of your ops have a gradient defined",
        ),
        ("argmax", "accuracy", "round", "sign"),
        "The loss is made of argmax, round, sign or a comparison: there is no graph behind it.",
        "The place of the largest number does not move when the numbers move a little, and then it jumps. Its "
        "derivative is 0 or does not exist, so what is computed from it has no gradient.",
        "Train on something that moves with every score: `cross_entropy(logits, labels)`, a sigmoid for a comparison. "
        "Keep the accuracy to look at.",
        programs.argmax,
        programs.argmax_fixed,
        silent="No error here: comparing tensors gives plain arrays, and a Tensor made of one is a new leaf. The "
        "gradient goes there, and the scores get None. In PyTorch backward() stops: the loss has no grad_fn.",
        number=21,
        key="argmax",
        symptom="The accuracy is the loss, and the scores get no gradient.",
        torch="scores = torch.tensor([numbers], requires_grad=True)\n"
        "wrong = scores.argmax(dim=1) != torch.tensor([1])\nloss = wrong.float().mean()\nloss.backward()\n",
        places=(
            Destination(
                "See what cross_entropy does in its place",
                "why-reverse-mode",
                {"tab": "one", "expression": "softmax(x)"},
            ),
        ),
        related=("nograph", "numpy", "integers"),
        own="the three scores; class 1 is right",
        fewest=2,
    ),
    Failure(
        "Whole numbers that require gradients",
        (
            "Only Tensors of floating point and complex dtype can require gradients",
            "only Tensors of floating point dtype can require gradients",
            "grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact)",
            "The dtype of the watched tensor must be floating (e.g. tf.float32)",
        ),
        ("floating", "dtype", "integer"),
        "A line that makes a tensor, or calls requires_grad_(), stops: its numbers are whole.",
        "A derivative asks what happens when a number moves a little. Whole numbers cannot.",
        "Write `1.0`, not `1`, or convert: `.float()`. What must stay whole, such as class labels, needs no gradient: "
        "leave `requires_grad` off.",
        programs.integers,
        programs.integers_fixed,
        silent="No error here: this engine turns whole numbers into float64. PyTorch keeps them whole, and refuses.",
        number=22,
        key="integers",
        symptom="A tensor of whole numbers cannot require gradients.",
        torch="x = torch.tensor(numbers, requires_grad=True)\n(x * x).sum().backward()\n",
        related=("argmax",),
        own="x, whole numbers",
    ),
    Failure(
        "A gradient check in float32",
        (
            "Jacobian mismatch for output 0 with respect to input 0",
            "requires gradient and is not a double precision floating point or complex. This check will likely fail if "
            "all the inputs are not of double precision floating point",
        ),
        ("gradcheck", "differences", "epsilon", "float32"),
        "A gradient check fails, or its differences are noise, though the rule is right.",
        "float32 keeps 7 digits. The two values of a difference agree in nearly all of them, so hardly any are left "
        "when one is taken from the other, and the division by a small h makes the rest large.",
        "Check in float64: `x.double()`. With float32 take a larger h, about 0.005, and a wider tolerance.",
        programs.float32_check,
        programs.float32_check_fixed,
        silent="No error here: the numbers disagree, and neither says which is wrong. `lab.gradcheck` takes its "
        "differences in float64 for that reason.",
        number=23,
        key="float32",
        symptom="Finite differences and backward() disagree, though the rule is right.",
        torch="x = torch.tensor(numbers, requires_grad=True)\n"
        "torch.autograd.gradcheck(lambda x: (x * x * x).sum(), [x])\n",
        places=(
            Destination("Watch the digits go as h shrinks", "gradient-check", {"numbers": "float32"}),
            Destination("Why a very small h gives 0", "gradient-check", {"h": "-16"}),
        ),
        own="x",
        limits=(0.1, 100.0),
    ),
    Failure(
        "Accumulation over batches",
        (),
        ("accumulation", "batches", "micro"),
        "No message: gradients of several batches are added on purpose, and the step is k times too long.",
        "`backward()` adds. The sum over k small batches is k times the mean that one large batch would have, so the "
        "step is k times too long.",
        "Divide each loss by k, call `backward()` for each, and `step()` and `zero_grad()` once after all k. Then the "
        "gradient is that of the one large batch. A last group of fewer batches is divided by its own number.",
        programs.accumulation,
        programs.accumulation_fixed,
        silent="No error: k times too long looks like a rate that is k times too high.",
        number=24,
        key="accumulation",
        symptom="With gradient accumulation the run differs from that with one large batch.",
        torch="w = torch.tensor(0.5, requires_grad=True)\nfor x in numbers:\n    ((w * x - 1) ** 2).backward()\n"
        "large = torch.tensor(0.5, requires_grad=True)\n((large * torch.tensor(numbers) - 1) ** 2).mean().backward()\n"
        "print('k small batches', w.grad.item())\nprint('one large batch', large.grad.item())\n",
        places=(Destination("Add two gradients by hand", "simulate-error", {"part": "life", "life": "flbfb"}),),
        related=("zero-grad", "rate"),
        own="x of each batch",
        fewest=2,
    ),
    Failure(
        "Softmax twice",
        ("`from_logits=True`, but the `output` argument was produced by a Softmax activation",),
        ("softmax", "logits"),
        "No message: the loss never falls below a certain number, and learning is slow.",
        "`cross_entropy` takes logits and does the softmax itself. Given probabilities, it takes the softmax of "
        "numbers between 0 and 1, which can never be far apart: even a perfect answer among three classes costs 0.55.",
        "Give `cross_entropy` the logits, with no softmax before it. For probabilities to look at, take the softmax "
        "beside it.",
        programs.softmax_twice,
        programs.softmax_twice_fixed,
        silent="No error, here or in PyTorch: probabilities are numbers, too. Rows that add up to 1 give it away.",
        number=25,
        key="softmax",
        symptom="The loss stays above a number that it should fall below, though most answers are right.",
        torch="logits = torch.tensor([numbers], requires_grad=True)\n"
        "optimizer = torch.optim.SGD([logits], lr=1.0)\nfor _ in range(50):\n"
        "    loss = torch.nn.functional.cross_entropy(logits.softmax(dim=1), torch.tensor([0]))\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
        "print('loss', loss.item())\nprint('probabilities', logits.detach().softmax(dim=1))\n",
        places=(
            _debug("softmax_twice"),
            Destination(
                "See what softmax does to two scores", "why-reverse-mode", {"tab": "one", "expression": "softmax(x)"}
            ),
        ),
        related=("zero-init", "argmax"),
        own="the logits at the start; class 0 is right",
        fewest=2,
    ),
)
BY_KEY = MappingProxyType({failure.key: failure for failure in FAILURES})
