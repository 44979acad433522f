"""What people paste and type, each with the failure that it is about. Written before the finder was.

DEVELOPED: the finder was made with these in sight. SECOND: they were held out at first (of 55 the finder then had 49
right first, and none wrong with confidence), and were looked at afterwards. THIRD: written together
with more symptoms in plain words. OTHERS: titles of questions and bug reports of other people, of which 32 of 44 were
right first, before they were looked at. HELD_OUT: more of these, never looked at: they are only counted. What PyTorch and NumPy say themselves is in `said_by_torch` and `said_by_numpy`, which cause it.
"""

import warnings

import numpy as np

DEVELOPED = [
    # JAX, TensorFlow, older versions of PyTorch
    (
        "jax.errors.TracerArrayConversionError: The numpy.ndarray conversion method __array__() was called on traced array "
        "with shape float32[3].",
        "numpy",
    ),
    ("TypeError: Gradient only defined for scalar-output functions. Output had shape: (3,).", "scalar"),
    (
        "TypeError: grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
        "int32.",
        "integers",
    ),
    ("ValueError: No gradients provided for any variable: ['dense/kernel:0', 'dense/bias:0'].", "nograph"),
    (
        "RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)",
        "twice",
    ),
    (
        "RuntimeError: Trying to backward through the graph a second time, but the buffers have already been freed. Specify "
        "retain_graph=True when calling backward the first time.",
        "twice",
    ),
    # Descriptions
    ("my loss is nan after the second epoch", "nan"),
    ("nan loss", "nan"),
    ("the gradients of torch.where are nan even though the other branch was taken", "where"),
    ("memory usage goes up with every batch", "kept"),
    ("GPU memory increases each iteration until out of memory", "kept"),
    ("do I need to call zero_grad", "zero-grad"),
    ("the gradient gets bigger every time I call backward", "zero-grad"),
    ("loss explodes to infinity", "rate"),
    ("loss oscillates wildly", "rate"),
    ("first layer gets almost no gradient in my deep network", "vanishing"),
    ("all relus are dead", "dead"),
    ("hidden units output zero for every input", "dead"),
    ("I initialized the weights with zeros and the network does not learn", "zero-init"),
    ("optimizer does not update my parameters stored in a list", "optimizer"),
    ("x.grad is None", "nonleafgrad"),
    ("how to get the gradient of an intermediate variable", "nonleafgrad"),
    ("loss does not have a grad_fn", "nograph"),
    ("predictions all equal the mean, output is (N,1) and target is (N,)", "broadcast"),
    ("softmax and then CrossEntropyLoss", "softmax"),
    ("can I backpropagate through argmax", "argmax"),
    ("accuracy as loss", "argmax"),
    ("gradcheck fails with float32", "float32"),
    ("numerical gradient and backward disagree", "float32"),
    ("divide loss by number of accumulation steps?", "accumulation"),
    ("hidden state of the lstm, second batch raises an error", "detach"),
    ("the encoder is inside no_grad and does not learn", "no-grad"),
    ("optimizer.step() called before loss.backward()", "order"),
    ("in-place operation breaks gradient computation", "inplace"),
    ("cannot update w in place with w -= lr * grad", "leaf"),
    ("tensor to numpy with grad", "numpy"),
    ("int tensor requires_grad", "integers"),
    ("loss is a vector, backward fails", "scalar"),
    ("call backward two times", "twice"),
]

SECOND = [
    # JAX, TensorFlow, Keras, older versions of PyTorch
    (
        "TypeError: grad requires real- or complex-valued outputs (output dtype that is a sub-dtype of np.floating), but got "
        "int32. For integer outputs use ...",
        "argmax",
    ),
    ("WARNING:tensorflow:The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32", "integers"),
    ("NotImplementedError: Cannot convert a symbolic tf.Tensor (Add:0) to a numpy array.", "numpy"),
    ("RuntimeError: Can't call numpy() on Variable that requires grad. Use var.detach().numpy() instead.", "numpy"),
    ("RuntimeError: a leaf Variable that requires grad has been used in an in-place operation.", "leaf"),
    ("RuntimeError: only Tensors of floating point dtype can require gradients", "integers"),
    ("FloatingPointError: invalid value (nan) encountered in jit(log). Because jax_config.debug_nans", "nan"),
    (
        'UserWarning: "`sparse_categorical_crossentropy` received `from_logits=True`, but the `output` argument was produced '
        "by a Softmax activation and thus does not represent logits. Was this intended?",
        "softmax",
    ),
    # Questions in the words in which they are asked
    ("Why do we need to call zero_grad() in PyTorch?", "zero-grad"),
    ("gradients are summed over iterations instead of replaced", "zero-grad"),
    ("What does the parameter retain_graph mean in backward()?", "twice"),
    ("second call to loss.backward() throws an error", "twice"),
    ("Should I use softmax as output when using cross entropy loss?", "softmax"),
    ("cross entropy stays at 1.46 with ten classes and does not drop", "softmax"),
    ("gradient accumulation: average or sum of the losses", "accumulation"),
    ("train with a bigger effective batch by accumulating over 4 small batches", "accumulation"),
    ("memory leak when summing up the loss in the epoch", "kept"),
    ("CUDA memory keeps growing during validation", "kept"),
    ("ReLU dying, the activations are all zero", "dead"),
    ("Neurons are stuck at zero and never come back", "dead"),
    ("vanishing gradient in a 10 layer sigmoid net", "vanishing"),
    ("gradients in the lower layers are tiny", "vanishing"),
    ("initial weights set to 0, all hidden units identical", "zero-init"),
    ("why shouldn't weights be initialized to the same value", "zero-init"),
    ("loss blows up after a few iterations", "rate"),
    ("training loss diverges to inf, lr = 10", "rate"),
    ("nn.Module parameters inside a python list are not found by model.parameters()", "optimizer"),
    ("a layer I created is missing from optimizer.param_groups", "optimizer"),
    ("retain_grad: gradient of a non leaf tensor", "nonleafgrad"),
    ("tensor.grad gives None after loss.backward()", "nonleafgrad"),
    ("loss.grad_fn is None, requires_grad False", "nograph"),
    ("mse loss between [64] and [64, 1] broadcasts", "broadcast"),
    ("my regression model outputs the average target for all samples", "broadcast"),
    ("log of a zero probability produces -inf and nan gradients", "nan"),
    ("sqrt derivative at zero is infinite", "nan"),
    ("nan gradients with jnp.where", "where"),
    ("where masks the bad values but the backward pass is still nan", "where"),
    ("how can I make argmax differentiable", "argmax"),
    ("no gradient when thresholding the output at 0.5", "argmax"),
    ("torch.autograd.gradcheck single precision fails", "float32"),
    ("finite difference gradient is inaccurate for small eps", "float32"),
    ("RNN: repackage hidden, detach between batches", "detach"),
    ("discriminator step: should the fake images be detached", "detach"),
    ("torch.no_grad() around part of forward, weights there do not change", "no-grad"),
    ("is no_grad needed for evaluation", "no-grad"),
    ("zero_grad called after backward and before step, nothing learns", "order"),
    ("I add the gradient instead of subtracting it", "order"),
    ("a += b changes a tensor needed for backward", "inplace"),
    ("relu(inplace=True) gives a version error in backward", "inplace"),
    ("manual weight update w = w - lr*grad in place fails for leaf", "leaf"),
    ("matplotlib cannot plot tensor that requires grad", "numpy"),
    ("loss.item() then backward", "numpy"),
    ("torch.LongTensor with requires_grad", "integers"),
    ("backward on non scalar output", "scalar"),
    ("loss tensor has 32 elements, reduction none", "scalar"),
]

THIRD = [
    ("after x *= 2 the backward pass complains", "inplace"),
    ("does += on tensors break autograd", "inplace"),
    ("RuntimeError when I call loss.backward() a 2nd time in the same iteration", "twice"),
    ("retain_graph=True makes my training slow, do I need it", "twice"),
    ("backward() with a batch of losses", "scalar"),
    ("gradient for a tensor output, not a single value", "scalar"),
    ("loss.requires_grad is False", "nograph"),
    ("tensor has no grad_fn after my loss function", "nograph"),
    ("print(hidden.grad) shows None", "nonleafgrad"),
    ("keep gradients of intermediate activations", "nonleafgrad"),
    ("forgetting to clear gradients between batches", "zero-grad"),
    ("grads from the previous batch are still there", "zero-grad"),
    ("setting weight values manually in place raises leaf error", "leaf"),
    ("modify parameter without optimizer fails, leaf variable", "leaf"),
    ("prediction shape (100,1) target shape (100,) loss too high", "broadcast"),
    ("network always predicts the mean", "broadcast"),
    ("loss is NaN from the beginning", "nan"),
    ("getting -inf from log softmax probabilities of zero", "nan"),
    ("RAM grows with each epoch", "kept"),
    ("storing losses in a list leaks memory", "kept"),
    ("recurrent network state from previous batch", "detach"),
    ("when should I detach the state of an rnn", "detach"),
    ("encoder weights do not change because of no_grad", "no-grad"),
    ("torch.no_grad in training loop by accident", "no-grad"),
    ("convert cuda tensor requiring grad to numpy array", "numpy"),
    ("np.log in my custom loss", "numpy"),
    ("90% of the relu units are dead", "dead"),
    ("dead neurons after a large update", "dead"),
    ("lower layers have gradient norm near zero in deep tanh network", "vanishing"),
    ("gradients disappear in deep networks", "vanishing"),
    ("zero initialization of the weights: loss does not change", "zero-init"),
    ("same constant for all initial weights", "zero-init"),
    ("step size too large, loss diverges", "rate"),
    ("loss bounces around", "rate"),
    ("I called step before backward", "order"),
    ("loss increases: I used plus in the update rule", "order"),
    ("new parameters are not in the optimizer", "optimizer"),
    ("self.layers = [nn.Linear(...)] and parameters() is empty", "optimizer"),
    ("masked sqrt with where has nan gradient", "where"),
    ("nan gradient from unused branch", "where"),
    ("non-differentiable accuracy in the loss", "argmax"),
    ("argmax of the predictions, then mse", "argmax"),
    ("integers cannot require grad", "integers"),
    ("torch.arange(3, requires_grad=True) fails", "integers"),
    ("gradcheck: analytical and numerical jacobian do not agree", "float32"),
    ("numerical gradient with h=1e-8 in float32 is garbage", "float32"),
    ("loss / accumulation_steps", "accumulation"),
    ("is accumulating gradients the same as a large batch", "accumulation"),
    ("log_softmax applied before CrossEntropyLoss", "softmax"),
    ("softmax layer and cross entropy together", "softmax"),
]

OTHERS = [
    ("backward pass different behaviors with inplace operation", "inplace"),
    ("An inplace operation in the forward process", "inplace"),
    ("Inplace operation error.", "inplace"),
    ("Backpropagation error, gradient computation has been modified by inplace operation.", "inplace"),
    ("Unable to backpropagate due to inplace operations", "inplace"),
    ("Grad is None after using view", "nonleafgrad"),
    ("tensor.view loses gradient", "nonleafgrad"),
    ("None Gradient, when multiplying tensor by constant", "nonleafgrad"),
    ("retain_grad() documentation misleading about non-leaf tensors", "nonleafgrad"),
    (
        "Warning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the gradient for a non-leaf Tensor, use .retain_grad()",
        "nonleafgrad",
    ),
    ("why did Loss become Nan after more than a dozen rounds of training", "nan"),
    ("Nan loss after 20k+ steps of training.", "nan"),
    ("loss=nan occurs during training", "nan"),
    ("Training loss is nan", "nan"),
    ("Figure out why training loss goes to NaN in certain conditions", "nan"),
    ("accum_grad loss error", "accumulation"),
    ("bug in gradient accumulation", "accumulation"),
    ("Deviding by gradient_acc is missing when gradient_acc applied", "accumulation"),
    ("train_loss double-division with gradient accumulation", "accumulation"),
    ("There was a softmax before a crossentropyloss", "softmax"),
    ("softmax is applied twice in classification", "softmax"),
    ("no need to softmax before cross_entropy", "softmax"),
    ("Softmax and CrossEntropyLoss", "softmax"),
    ("Doing softmax twice", "softmax"),
    ("optimizer_D.zero_grad() missing?", "zero-grad"),
    ('Why there is no "optimizer.zero_grad()" in base_trainer.py?', "zero-grad"),
    ("Is optimizer.zero_grad() intentionally omitted in training loop?", "zero-grad"),
    ("zero_grad is missing", "zero-grad"),
    ("why donot use optimizer.zero_grad in each training step?", "zero-grad"),
    ("Memory 'leak' due to compounding number of loss tensors", "kept"),
    ("Make sure that loss can be freed after every iteration", "kept"),
    ("Memory grows with iterative training", "kept"),
    ("Accumulating losses with a grad_fn is a memory leak", "kept"),
    ("memory usage is growing slowly (from 21G to 38G in one epoch)", "kept"),
    ("GradientChecker fail for Float type", "float32"),
    ("using float32 in gradient checking may be not appropriate due to large rounding error", "float32"),
    ("Jacobian mismatch for output 0 with respect to input 1", "float32"),
    (
        "At least one of the inputs that requires gradient is not of double precision floating point. This check will "
        "likely fail if all the inputs are not of double precision floating point.",
        "float32",
    ),
    ("Gradient of torch.where not handling nan correctly", "where"),
    ("torch.where produces nan in backward pass for differentiable forward pass", "where"),
    ("torch.where backward propagates NaN gradient from inactive sqrt branch", "where"),
    ("torch.where() can produce nan values for unselected branch during backward", "where"),
    ("Incorrect gradients for torch.where when one of the target tensors contains inf/nan", "where"),
    ("training loss is nan when the learning rate is large", "rate"),
]

HELD_OUT = [
    ("nn.Module not importing parameters contained in lists", "optimizer"),
    ("Module: parameters are not included if the module is initialized in a list", "optimizer"),
    ("submodules defined in list are not auto-registered as parameters", "optimizer"),
    ("Why does storing module layers in arrays break the learning process?", "optimizer"),
    ("Difference between using a python list and nn.ModuleList", "optimizer"),
    ("modules put in python list will not update parameters while training, is it right", "optimizer"),
    ("Detach the hidden states", "detach"),
    ("Why not detach the hidden state of GRU from the computational graph?", "detach"),
    ("elaborate on why detaching the hidden states (both h, and c) is a necessary step", "detach"),
    ("detect dead ReLUs", "dead"),
    ("Some ReLU neurons never fire during entire training", "dead"),
    ("ReLU neurons become inactive and only output 0 for any input", "dead"),
    ("tf.argmax Should Not Permit Backprop Through It", "argmax"),
    ("Missing gradient for tf.argmax", "argmax"),
    ("Gradient unable to backprop if we use argmax", "argmax"),
    ("torch.argmax cannot backpropogate", "argmax"),
    ("No gradient for argmax", "argmax"),
    ("the argmax seems not a differentiable function", "argmax"),
    ("Model training diverges after some level ?", "rate"),
    ("Exploding train loss", "rate"),
    ("loss explodes after few iterations", "rate"),
    ("loss suddenly increase and explode when training", "rate"),
    ("Network diverges after some times", "rate"),
    ("I can't train....the loss diverges....how do I solve this?", "rate"),
    ("With higher learning rate training diverges", "rate"),
]

UNRELATED = [
    "", "   ", "hello", "hello world", "the", "what is the weather like tomorrow", "lasagne recipe", "asdf qwer",
    "KeyError: 'weights'", "IndexError: list index out of range", "ModuleNotFoundError: No module named 'torch'",
    "SyntaxError: invalid syntax", "ImportError: cannot import name 'soft_unicode' from 'markupsafe'",
    "AttributeError: 'NoneType' object has no attribute 'shape'", "FileNotFoundError: [Errno 2] No such file or directory",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0", "ConnectionResetError: [Errno 104]",
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "CUDA error: device-side assert triggered", "Torch not compiled with CUDA enabled",
    "Error(s) in loading state_dict for Net: Missing key(s) in state_dict: \"fc1.weight\"",
    "mat1 and mat2 shapes cannot be multiplied (64x784 and 128x10)",
    "The size of tensor a (32) must match the size of tensor b (64) at non-singleton dimension 1",
    "operands could not be broadcast together with shapes (3,) (4,)",
    "Expected object of scalar type Long but got scalar type Float for argument #2 'target'",
    "DataLoader worker (pid 123) is killed by signal: Killed.", "Given groups=1, weight of size [64, 3, 7, 7]",
    "how do I install pytorch on windows", "which graphics card should I buy", "my dog ate my homework",
    "how to center a div in css", "git merge conflict", "def f(x): return x", "import numpy as np",
    "pip install tensorflow fails", "jupyter kernel died", "how do I read a csv file with pandas", "SELECT * FROM users",
    "TypeError: 'int' object is not callable", "who won the world cup", "convert a string to a date",
    "Warum ist der Himmel blau?", "print hello in python", "🙂", "x" * 5000,
]  # fmt: skip


def said_by_torch(torch):
    """key -> a program for each text that PyTorch has about it; the text is what it raises, or warns of."""
    leaf, functional = (lambda *values: torch.tensor(values, requires_grad=True)), torch.nn.functional

    def inplace(write):
        x = leaf(1.0, 2.0)
        y = x.exp()
        write(y)
        y.sum().backward()

    def twice():
        loss = (leaf(1.0, 2.0) ** 2).sum()
        loss.backward()
        loss.backward()

    def anomaly(compute):
        with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compute().sum().backward()

    def fused_relu():
        x = leaf(1.0, 2.0)
        y = x.exp()
        torch.nn.ReLU(inplace=True)(y)
        y.sum().backward()

    def not_finite():
        p = leaf(1.0)
        p.grad = torch.tensor([float("inf")])
        torch.nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)

    def scheduler():
        torch.optim.lr_scheduler.StepLR(torch.optim.SGD([leaf(1.0)], lr=0.1), 1).step()

    two = leaf(1.0, 2.0)
    return [
        ("inplace", lambda: inplace(lambda y: y.add_(1))),
        ("inplace", lambda: inplace(lambda y: y.__setitem__(0, 1.0))),
        ("inplace", fused_relu),
        ("twice", twice),
        ("scalar", lambda: (two * 2).backward()),
        ("nograph", lambda: torch.ones(3).sum().backward()),
        ("nograph", lambda: two.detach().sum().backward()),
        ("nonleafgrad", lambda: (two * 2).grad),
        ("leaf", lambda: leaf(1.0).add_(1)),
        ("leaf", lambda: leaf(1.0, 2.0)[:1].add_(1)),
        ("broadcast", lambda: functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))),
        ("broadcast", lambda: functional.l1_loss(torch.zeros(4, 1), torch.zeros(4))),
        ("nan", lambda: anomaly(lambda: (x := leaf(0.0)) * x.log())),
        ("nan", lambda: anomaly(lambda: leaf(0.0).sqrt() * 0)),
        ("nan", lambda: anomaly(lambda: (x := leaf(0.0)) / x)),
        ("numpy", two.numpy),
        ("numpy", lambda: np.exp(two)),
        ("numpy", lambda: float(leaf(1.0))),
        ("numpy", lambda: torch.tensor(two)),
        ("order", scheduler),
        ("optimizer", lambda: torch.optim.SGD([], lr=0.1)),
        ("optimizer", lambda: torch.optim.Adam([two * 2])),
        ("optimizer", lambda: torch.optim.SGD(two, lr=0.1)),
        ("optimizer", lambda: torch.optim.SGD([1.0], lr=0.1)),
        ("integers", lambda: torch.tensor([1, 2], requires_grad=True)),
        ("integers", lambda: torch.tensor([1, 2]).requires_grad_()),
        ("float32", lambda: torch.autograd.gradcheck(lambda x: (x**3).sum(), [two])),
        ("rate", not_finite),
    ]


def said_by_numpy(tensor):
    """The same for NumPy, and for this engine where NumPy meets it."""
    return [
        ("nan", lambda: np.log(np.zeros(1))),
        ("nan", lambda: np.sqrt(-np.ones(1))),
        ("nan", lambda: np.zeros(1) / np.zeros(1)),
        ("nan", lambda: np.log(-np.ones(1))),
        ("numpy", lambda: np.exp(tensor([1.0, 2.0]))),
        ("numpy", lambda: np.asarray(tensor([1.0, 2.0]))),
        ("scalar", lambda: (tensor([1.0, 2.0]) * 2).backward()),
        ("nograph", lambda: tensor(1.0).backward()),
    ]
