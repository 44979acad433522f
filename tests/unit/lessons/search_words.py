"""What people type into the search of the lab, and the answers that are right in the first place: (kind, title)."""

GRAPH = ("term", "computational graph")
OWN = ("question", "How do I write an engine of my own?")
ORDER = [("question", "Why does the order matter?"), ("term", "topological order")]
ADDED = [("question", "Why += and not =?")]
COST = [("question", "What does a gradient cost?"), ("page", "Why reverse mode")]
NETWORK = [("question", "How is a neural network trained?"), ("page", "Training lab")]
DIGITS = [("question", "Can it read handwritten digits?"), ("task", "Read digits (Tensors)")]
WEIGHTS = [("question", "What do the weights of a network look like?")]
FORMULA = [("question", "What is symbolic differentiation?")]
TERMINAL = [("question", "How does training run on the command line?")]
TAKE_AWAY = [("question", "How do I take a graph with me?")]
PROJECTOR = [("question", "How do I show it on a projector?")]
RECORDED = [("question", "How is a * b recorded?")]
KNOWS = [("question", "How does the engine know the way back?")]
HISTORY = [("question", "Who invented backpropagation?"), ("tab", "History")]
FUNCTION = [("question", "What are Function, apply and save_for_backward?")]
CHECK = [
    ("question", "How is a gradient checked by numbers?"),
    ("page", "Gradient check"),
    ("term", "finite difference"),
]
INIT = [("question", "How should weights begin?")]
GAP = [("question", "What is overfitting?")]
SUMMED = [("question", "Why is a gradient summed over an axis?")]
GRADIENT = [("term", "gradient")]
WRITTEN = [("question", "What happens when an array is overwritten?"), ("page", "Simulate Error"), ("term", "in place")]
CUT = [("question", "What does detach() do, and what no_grad()?"), ("term", "detach")]
MODES = [("question", "When does forward mode win?")]
OPTIMIZERS = [("question", "How do SGD, momentum and Adam differ?"), ("page", "Descent")]

TYPED = {
    # the words of the field
    "backpropagation": [("term", "backpropagation")],
    "backprop": [("term", "backpropagation")],
    "back propagation": [("term", "backpropagation")],
    "what is backpropagation": [("term", "backpropagation")],
    "chain rule": [("term", "chain rule")],
    "what is the chain rule?": [("term", "chain rule")],
    "autograd": [("term", "autograd")],
    "automatic differentiation": [("term", "autograd")],
    "tape": [("term", "tape")],
    "computational graph": [GRAPH],
    "dag": [GRAPH],
    "gradient": GRADIENT,
    "where do gradients come from": GRADIENT,
    "what is a tensor": [("question", "What is a tensor?")],
    "activation function": [("question", "Which activation function?")],
    "weight decay": [("question", "What do weight decay, batch size and clipping do?")],
    "l1 regularisation": [("question", "What do weight decay, batch size and clipping do?")],
    "tutorial": [("question", "Where do I begin?")],
    "what is a gradient": GRADIENT,
    "what is a derivative": GRADIENT,
    "slope": GRADIENT,
    "learning rate": [("term", "learning rate")],
    "epoch": [("term", "epoch")],
    "loss": [("term", "loss")],
    "what is a loss function": [("term", "loss")],
    "vjp": [("term", "vector-Jacobian product")],
    "upstream gradient": [("term", "upstream gradient")],
    "closure": [("term", "closure")],
    "leaf": [("term", "leaf")],
    "jacobian": [("term", "Jacobian"), ("tab", "Jacobian"), ("question", "What is a Jacobian?")],
    # operations
    "tanh": [("operation", "tanh")],
    "relu": [("operation", "relu")],
    "derivative of relu": [("operation", "relu")],
    "gradient of sigmoid": [("operation", "sigmoid")],
    "derivative of tanh": [("operation", "tanh")],
    "softmax": [("operation", "softmax")],
    "cross entropy": [("operation", "cross_entropy")],
    "logsumexp": [("operation", "logsumexp")],
    "matmul": [("operation", "@"), ("tab", "Matmul"), ("task", "Matrix product (Tensors)")],
    # questions
    "why += and not =": ADDED,
    "why += instead of =": ADDED,
    "why do gradients accumulate": ADDED,
    "gradient accumulation": [*ADDED, ("failure", "Accumulation over batches")],
    "why are gradients added up": ADDED,
    "why topological order": ORDER,
    "why does the order matter": ORDER,
    "topological sort": ORDER,
    "build_topo": ORDER,
    "why zero_grad": [("question", "Why zero_grad()?")],
    "why do i need optimizer.zero_grad()": [("question", "Why zero_grad()?")],
    "why do we sum the gradient of the bias": SUMMED,
    "why broadcasting sums": SUMMED,
    "bias gradient": SUMMED,
    "how does pytorch know": KNOWS,
    "how does autograd work": KNOWS,
    "how does pytorch know how to differentiate": KNOWS,
    "what does backward do": [("question", "What does backward() do?")],
    "loss.backward()": [("question", "What does backward() do?")],
    "cost of a gradient": COST,
    "why autograd": COST,
    "finite differences": CHECK,
    "numerical gradient": CHECK,
    "gradient check": CHECK,
    "gradcheck": [*CHECK, ("failure", "A gradient check in float32")],
    "symbolic differentiation": FORMULA,
    "expression swell": FORMULA,
    "forward mode vs reverse mode": MODES,
    "why reverse mode": MODES,
    "dual numbers": [("question", "How are derivatives carried forward with dual numbers?")],
    "hessian": [("question", "Can the engine take second derivatives?")],
    "second derivative": [("question", "Can the engine take second derivatives?")],
    "derivative of relu at 0": [("question", "What is the derivative of relu at 0?")],
    "subgradient": [("question", "What is the derivative of relu at 0?")],
    "float32": [("question", "Is float32 precise enough for a check?")],
    # building
    "micrograd": [OWN],
    "value class": [OWN],
    "build autograd from scratch": [OWN],
    "operator overloading": RECORDED,
    "magic methods": RECORDED,
    "__mul__": RECORDED,
    "dunder methods": RECORDED,
    "homework": [("question", "Homework: a sigmoid from +, *, ** and exp")],
    "sigmoid homework": [("question", "Homework: a sigmoid from +, *, ** and exp")],
    "function apply": FUNCTION,
    "custom autograd function": FUNCTION,
    "save_for_backward": FUNCTION,
    "grad_fn": [("question", "What is grad_fn?")],
    "recursion depth": [("question", "How deep may a graph be?")],
    # breaking
    "in-place": WRITTEN,
    "inplace operation": [*WRITTEN, ("failure", "Modified by an inplace operation")],
    "simulate error": WRITTEN,
    "version counter": [*WRITTEN, ("term", "version")],
    "detach": CUT,
    "no_grad": [*CUT, ("task", "no_grad and detach (Tensors)")],
    "difference between detach and no_grad": CUT,
    "requires_grad": [("question", "What is the life of a tensor?")],
    "what went wrong": [("page", "What went wrong?")],
    "broken engine": [
        ("question", "What does a broken engine do?"),
        ("page", "Faults"),
        ("card", "Break the engine"),
    ],
    # training
    "neural network": NETWORK,
    "MLP": NETWORK,
    "train a network": [*NETWORK, ("card", "Train a network")],
    "training loop": NETWORK,
    "XOR": [("question", "Can a network learn XOR?")],
    "MNIST": DIGITS,
    "handwritten digits": DIGITS,
    "weight histogram": WEIGHTS,
    "histogram": WEIGHTS,
    "landscape": [("question", "What does a loss landscape look like?")],
    "loss landscape": [("question", "What does a loss landscape look like?")],
    "xavier": INIT,
    "he initialization": INIT,
    "weight initialisation": INIT,
    "train validation gap": GAP,
    "overfitting": GAP,
    "early stopping": GAP,
    "adam": OPTIMIZERS,
    "sgd vs adam": OPTIMIZERS,
    "momentum": OPTIMIZERS,
    "gradient descent": OPTIMIZERS,
    "rnn": [("question", "What happens to a gradient over many time steps?")],
    "backpropagation through time": [("question", "What happens to a gradient over many time steps?")],
    "command line": TERMINAL,
    "train.py": TERMINAL,
    "csv": [("question", "Can I train on my own data?")],
    # the rest of the lab
    "export": TAKE_AWAY,
    "download": TAKE_AWAY,
    "python script": TAKE_AWAY,
    "present": PROJECTOR,
    "projector": PROJECTOR,
    "full screen": PROJECTOR,
    "video": HISTORY,
    "books": HISTORY,
    "history": HISTORY,
    "who invented backpropagation": HISTORY,
    "teacher": [("question", "How do I give a class its tasks?"), ("page", "For teachers")],
    "for teachers": [("page", "For teachers")],
    "pytorch": [("question", "How is the same thing written in PyTorch?")],
    "compare with pytorch": [("question", "How is the same thing written in PyTorch?")],
    "jax": [("question", "How do PyTorch, JAX and TensorFlow differ?")],
    "gpu": [("question", "How do PyTorch, JAX and TensorFlow differ?")],
    "gradient checkpointing": [("question", "How can a backward pass need less memory?"), ("tab", "Checkpointing")],
    "attention": [("question", "What comes after simple networks?")],
    "transformer": [("question", "What comes after simple networks?")],
    "convolution": [("question", "What comes after simple networks?")],
    "by hand": [("question", "How do I work out a backward pass by hand?"), ("card", "A pass by hand")],
    "gradient of a matrix product": [("question", "How does a gradient go through a matrix product?")],
    "save my progress": [("question", "Where is my progress kept?")],
    "predict": [("page", "Predict, then reveal"), ("tab", "Predict")],
    "questions": [("page", "Questions"), ("tab", "Questions")],
    "fault lab": [("page", "Faults")],
    "life of a tensor": [("tab", "Life of a tensor"), ("question", "What is the life of a tensor?")],
    "four points": [("tab", "Four points")],
    # misspelt
    "backpropogation": [("term", "backpropagation")],
    "jacobain": [("question", "What is a Jacobian?"), ("term", "Jacobian"), ("tab", "Jacobian")],
    "sigmiod": [("operation", "sigmoid")],
    "broadcastign": [("term", "broadcast"), ("tab", "Broadcast"), ("page", "Shapes")],
    # symptoms and messages: the failures come first
    "my loss is nan": [("failure", "nan from log(0), sqrt(0) or 0 / 0")],
    "a leaf Variable that requires grad is being used in an in-place operation": [
        ("failure", "A leaf used in an in-place operation")
    ],
    "grad can be implicitly created only for scalar outputs": [("failure", "Only for scalar outputs")],
    "CUDA out of memory": [("failure", "total += loss keeps every graph")],
    "my parameters never change": [("failure", "A parameter that the optimizer does not have")],
    "half of my relu units are dead": [("failure", "A dead relu")],
    "my gradients are None": [("failure", "The .grad of a result"), ("failure", "Does not require grad")],
}
