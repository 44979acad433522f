"""What people paste and type, each with the failure that it is about; the finder learns from none of it (what it learns
from is in lab/failures/failures.toml).

OTHERS: titles of questions and bug reports of other people, which were looked at. HELD_OUT: more of these, never looked
at: they are only counted. UNRELATED: about something else. What PyTorch and NumPy say themselves is in `said_by_torch`
and `said_by_numpy`, which cause it. See also asked.py.
"""

import warnings

import numpy as np

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
    "",
    "   ",
    "hello",
    "hello world",
    "the",
    "what is the weather like tomorrow",
    "lasagne recipe",
    "asdf qwer",
    "KeyError: 'weights'",
    "IndexError: list index out of range",
    "ModuleNotFoundError: No module named 'torch'",
    "SyntaxError: invalid syntax",
    "ImportError: cannot import name 'soft_unicode' from 'markupsafe'",
    "AttributeError: 'NoneType' object has no attribute 'shape'",
    "FileNotFoundError: [Errno 2] No such file or directory",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0",
    "ConnectionResetError: [Errno 104]",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "CUDA error: device-side assert triggered",
    "Torch not compiled with CUDA enabled",
    'Error(s) in loading state_dict for Net: Missing key(s) in state_dict: "fc1.weight"',
    "mat1 and mat2 shapes cannot be multiplied (64x784 and 128x10)",
    "The size of tensor a (32) must match the size of tensor b (64) at non-singleton dimension 1",
    "operands could not be broadcast together with shapes (3,) (4,)",
    "Expected object of scalar type Long but got scalar type Float for argument #2 'target'",
    "DataLoader worker (pid 123) is killed by signal: Killed.",
    "Given groups=1, weight of size [64, 3, 7, 7]",
    "how do I install pytorch on windows",
    "which graphics card should I buy",
    "my dog ate my homework",
    "how to center a div in css",
    "git merge conflict",
    "def f(x): return x",
    "import numpy as np",
    "pip install tensorflow fails",
    "jupyter kernel died",
    "how do I read a csv file with pandas",
    "SELECT * FROM users",
    "TypeError: 'int' object is not callable",
    "who won the world cup",
    "convert a string to a date",
    "Warum ist der Himmel blau?",
    "print hello in python",
    "🙂",
    "x" * 5000,
]


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
