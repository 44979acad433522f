"""What people paste and type, each with the failure that it is about. Written before the finder was.

DEVELOPED: the finder was made with these in sight. HELD_OUT: it was not; they are only counted. What PyTorch and NumPy
say themselves is in `said_by_torch` and `said_by_numpy`, which cause it.
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

HELD_OUT = [
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
