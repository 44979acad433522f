"""The questions that people ask about automatic differentiation, each with one sentence and a state of a page that
shows the answer. The search reads them; `also` holds other ways to ask the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.lessons.glossary import TWO_MESSAGES


@dataclass(frozen=True)
class Concept:
    """One question. path, query: the page, and the parameters of its address, that show the answer."""

    question: str
    answer: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


CONCEPTS = (
    Concept(
        "Why += and not =?",
        "An input that is used twice receives two messages, and its gradient is their sum: here 10 + 21.",
        "graph-lab", TWO_MESSAGES,
        ("why += instead of =", "why are gradients added", "why do gradients add up", "why do gradients accumulate",
         "gradient accumulation", "a variable used twice", "multivariable chain rule", "sum of paths"),
    ),
    Concept(
        "Why does the order matter?",
        "A node may pass its gradient on only when every message for it has arrived.",
        "other-engines", {"tab": "order"},
        ("why topological order", "why an order", "order of the backward pass", "why sort the graph", "why reversed"),
    ),
    Concept(
        "Why is a gradient summed over an axis?",
        "Each copy that broadcasting makes receives a gradient, and the original gets their sum.",
        "shapes", {"tab": "broadcast"},
        ("why sum", "why broadcasting sums", "bias gradient", "gradient of a bias", "shape of the gradient",
         "sum over the batch"),
    ),
    Concept(
        "Why zero_grad()?",
        "Gradients of leaves are added up until someone clears them, so old ones would join the next step.",
        "what-went-wrong", {"failure": "zero-grad"},
        ("why do I call zero_grad", "optimizer.zero_grad()", "reset gradients", "clear gradients",
         "forgot zero_grad"),
    ),
    Concept(
        "How does the engine know the way back?",
        "Each operation records its operands and a function for its backward step as it runs.",
        "graph-lab", {"expression": "a*b + c", "stage": "forward"},
        ("how does pytorch know", "how does autograd know", "how does autograd work",
         "how does pytorch know how to differentiate my code", "how does it remember", "recording operations",
         "define by run", "eager execution"),
    ),
    Concept(
        "What does backward() do?",
        "It walks the graph from the result to the inputs, and each node sends messages to its operands.",
        "graph-lab", {"expression": "((a*b) + c) * (a + d)", "stage": "backward"},
        ("what does loss.backward() do", "loss.backward", "call backward"),
    ),
    Concept(
        "How do I write an engine of my own?",
        "Eight small tasks lead from an empty file to a network that learns; each is checked as you write.",
        "build-it-yourself", {"course": "scalars"},
        ("micrograd", "value class", "class Value", "from scratch", "build my own autograd", "implement autograd",
         "write an engine", "own engine", "karpathy micrograd"),
    ),
    Concept(
        "How is a * b recorded?",
        "The methods __add__ and __mul__ of a tensor compute the value and keep the backward step with it.",
        "build-it-yourself", {"course": "scalars", "task": "add"},
        ("operator overloading", "magic methods", "dunder methods", "__mul__", "__add__", "__radd__",
         "special methods"),
    ),
    Concept(
        "Homework: a sigmoid from +, *, ** and exp",
        "Sigmoid gets no rule of its own; its gradient comes from the operations that it is made of.",
        "build-it-yourself", {"course": "scalars", "task": "functions"},
        ("homework", "sigmoid homework", "exercise sigmoid", "sigmoid from primitives"),
    ),
    Concept(
        "What does a gradient cost?",
        "Finite differences need a run for each parameter; a backward pass needs one for all of them.",
        "why-reverse-mode", {"tab": "cost"},
        ("cost of a gradient", "why autograd", "how fast is autograd", "number of passes", "complexity of backprop",
         "cheap gradient principle", "brute force gradient"),
    ),
    Concept(
        "When does forward mode win?",
        "Forward mode needs one pass for each input, reverse mode one for each result: count both.",
        "why-reverse-mode", {"tab": "directions"},
        ("forward or reverse mode", "forward mode vs reverse mode", "why reverse mode", "forward versus reverse"),
    ),
    Concept(
        "What is symbolic differentiation?",
        "It writes the derivative as a formula, which can grow much faster than the program it came from.",
        "why-reverse-mode", {"tab": "formula"},
        ("symbolic differentiation", "derivative as a formula", "expression swell", "sympy",
         "symbolic vs automatic", "difference between autograd and symbolic"),
    ),
    Concept(
        "How is a gradient checked by numbers?",
        "Move an input by a small h, divide the change by it, and compare: which h can be trusted?",
        "gradient-check", {"tab": "step"},
        ("finite differences", "gradient check", "gradcheck", "numerical gradient", "numerical differentiation",
         "test my gradient", "best h", "step h", "epsilon", "central difference", "truncation error",
         "cancellation", "verify a gradient"),
    ),
    Concept(
        "Is float32 precise enough for a check?",
        "With 7 digits instead of 16 the difference loses most of them: compare both.",
        "gradient-check", {"tab": "step", "numbers": "float32"},
        ("float32", "floating point", "rounding error", "precision", "single precision"),
    ),
    Concept(
        "What is the derivative of relu at 0?",
        "There is none: the slope is 0 on the left and 1 on the right, and the engine uses 0.",
        "gradient-check", {"tab": "step", "expression": "relu(x)", "in_x": "0"},
        ("kink", "subgradient", "derivative at a kink", "not differentiable", "relu at zero", "derivative of abs at 0"),
    ),
    Concept(
        "Why does a check multiply by random numbers?",
        "The sum of a softmax never changes, so a check of the sum cannot see a wrong rule.",
        "gradient-check", {"tab": "cotangent"},
        ("random cotangent", "blind sum", "softmax sum gradient zero"),
    ),
    Concept(
        "What is a Jacobian?",
        "All derivatives of a function in one matrix, filled here one pass at a time.",
        "why-reverse-mode", {"tab": "one"},
        ("jacobian matrix", "all derivatives", "derivative of a vector function"),
    ),
    Concept(
        "Can the engine take second derivatives?",
        "Not this one: its backward pass records nothing. See how PyTorch and JAX do it.",
        "other-engines", {"tab": "beside", "question": "second"},
        ("hessian", "second derivative", "grad of grad", "double backward", "higher order derivatives", "create_graph"),
    ),
    Concept(
        "What are Function, apply and save_for_backward?",
        "In PyTorch an operation is an object with a forward and a backward method: build one.",
        "build-it-yourself", {"course": "functions"},
        ("function apply", "torch.autograd.Function", "custom autograd function", "save_for_backward", "ctx",
         "custom backward", "function objects"),
    ),
    Concept(
        "What is grad_fn?",
        "PyTorch's node of the graph: AddBackward and its kin are objects where this engine has closures.",
        "other-engines", {"tab": "designs", "left": "closures", "right": "functions"},
        ("grad_fn", "AddBackward0", "MulBackward0", "creator", "closures or classes", "engine designs"),
    ),
    Concept(
        "How are derivatives carried forward with dual numbers?",
        "A dual number is a value with its derivative; each operation computes both.",
        "other-engines", {"tab": "designs", "left": "duals"}, ("dual numbers", "dual number", "duals"),
    ),
    Concept(
        "How deep may a graph be?",
        "A recursive backward pass ends at Python's limit; a loop over a sorted list does not.",
        "other-engines", {"tab": "depth"},
        ("recursion depth", "RecursionError", "maximum recursion depth exceeded", "recursion", "deep graph"),
    ),
    Concept(
        "What does detach() do, and what no_grad()?",
        "Both cut the graph: no value changes, and no gradient flows through the cut.",
        "simulate-error", {"part": "cut"},
        ("no_grad", "torch.no_grad", "with no_grad", "requires_grad=False", "freeze a layer",
         "difference between detach and no_grad"),
    ),
    Concept(
        "What happens when an array is overwritten?",
        "A backward step that reads the array afterwards works with the wrong numbers.",
        "simulate-error", {"part": "steps"},
        ("in-place operation", "in-place", "inplace operation", "simulate error", "write in place", "version counter"),
    ),
    Concept(
        "What does a broken engine do?",
        "Choose a fault, guess what it does to gradients and curve, and run it beside the right engine.",
        "faults", {},
        ("broken engine", "bug in the engine", "wrong backward rule", "mutation testing"),
    ),
    Concept(
        "What is the life of a tensor?",
        "From a leaf through the forward pass, backward() and the step, letter by letter.",
        "simulate-error", {"part": "life"},
        ("requires_grad", "is_leaf", "retain_grad", "life cycle of a tensor", "requires_grad=True"),
    ),
    Concept(
        "How is a neural network trained?",
        "Start a small network and watch loss, boundary, gradients and weights move.",
        "training-lab", {"data": "moons"},
        ("neural network", "mlp", "multilayer perceptron", "train a network", "train a model", "deep learning",
         "training loop", "tensorflow playground", "classification", "decision boundary"),
    ),
    Concept(
        "Can a network learn XOR?",
        "A hidden layer bends the boundary so that it can.", "training-lab", {"data": "xor"}, ("xor", "xor problem"),
    ),
    Concept(
        "Can it read handwritten digits?",
        "It learns 1,797 real images of digits; the command line can train on MNIST, too.",
        "training-lab", {"data": "digits"},
        ("mnist", "digits", "handwritten digits", "image classification", "images"),
    ),
    Concept(
        "Can I train on my own data?",
        "Upload a table, and choose the column to predict.",
        "training-lab", {"data": "moons"}, ("csv", "own data", "upload a table", "my own data set", "dataset"),
    ),
    Concept(
        "What do the weights of a network look like?",
        "Their histograms over the epochs stand under the curves of a run.",
        "training-lab", {"data": "moons"},
        ("weight histogram", "histogram", "histograms", "distribution of weights", "gradient norms"),
    ),
    Concept(
        "How does training run on the command line?",
        "Each run shows the train.py command that makes the same run in a terminal.",
        "training-lab", {"data": "digits"},
        ("command line", "train.py", "terminal", "cli", "run without a browser", "resume a run", "sweep"),
    ),
    Concept(
        "What is overfitting?",
        "With few samples the training loss falls on while the validation loss rises: watch the gap.",
        "training-lab", {"data": "xor", "hidden": "64 64", "val_fraction": "0.95", "epochs": "150"},
        ("overfitting", "train validation gap", "validation loss rises", "generalization", "generalisation gap",
         "early stopping", "memorising the data"),
    ),
    Concept(
        "How should weights begin?",
        "Xavier and He choose the spread so that signals neither vanish nor explode; zeros learn nothing.",
        "training-lab", {"data": "moons", "init": "xavier"},
        ("xavier", "glorot", "he initialization", "kaiming", "weight initialization", "initialisation", "init"),
    ),
    Concept(
        "How do SGD, momentum and Adam differ?",
        "Each walks down the same surface; compare their paths step by step.",
        "descent", {"surface": "ravine"},
        ("sgd", "adam", "momentum", "optimizer", "optimizers", "sgd vs adam", "gradient descent"),
    ),
    Concept(
        "What does a loss landscape look like?",
        "Two weights of a trained network, moved about: the loss above that plane.",
        "descent", {"surface": "network"},
        ("loss landscape", "landscape", "loss surface", "saddle point", "local minimum"),
    ),
    Concept(
        "What happens to a gradient over many time steps?",
        "A weight shared over time multiplies its gradient again and again: it vanishes or explodes.",
        "descent", {"tab": "time"},
        ("rnn", "recurrent network", "backpropagation through time", "bptt", "truncated bptt", "lstm",
         "shared weight over time", "vanishing gradients"),
    ),
    Concept(
        "How does a gradient go through a matrix product?",
        "The gradient of each factor is the upstream gradient times the other factor, transposed.",
        "shapes", {"tab": "matmul"},
        ("gradient of matmul", "matrix multiplication", "why the transpose", "linear layer gradient", "x @ w",
         "derivative of a matrix product"),
    ),
    Concept(
        "What does (N, 1) − (N,) do?",
        "Broadcasting makes an (N, N) array of it, and the mean of that is a wrong loss.",
        "shapes", {"tab": "loss"}, ("mse broadcasting", "wrong shape in the loss", "column minus row"),
    ),
    Concept(
        "How is the same thing written in PyTorch?",
        "Your expression as a PyTorch program, with its gradients beside this engine's.",
        "other-engines", {"tab": "torch"},
        ("pytorch", "in pytorch", "compare with pytorch", "torch", "translate to pytorch", "tensorflow code"),
    ),
    Concept(
        "How do PyTorch, JAX and TensorFlow differ?",
        "Ten questions, answered by each of them.",
        "other-engines", {"tab": "beside"},
        ("jax", "tensorflow", "theano", "static graph", "xla", "gpu", "compiled graph", "keras"),
    ),
    Concept(
        "How can a backward pass need less memory?",
        "Keep only some values and compute the others again: checkpointing.",
        "other-engines", {"tab": "memory"},
        ("checkpointing", "gradient checkpointing", "activation memory", "memory of the backward pass",
         "recompute activations"),
    ),
    Concept(
        "What comes after simple networks?",
        "Embedding, convolution, recurrence, layer norm and attention as expressions that open in the Graph lab.",
        "other-engines", {"tab": "next"},
        ("attention", "transformer", "convolution", "cnn", "embedding", "layers", "self-attention",
         "layer norm"),
    ),
    Concept(
        "Who invented backpropagation?",
        "Seventy years of papers, with books and videos to go on with.",
        "other-engines", {"tab": "history"},
        ("history", "video", "videos", "book", "books", "paper", "papers", "literature", "karpathy", "3blue1brown",
         "further reading", "rumelhart", "linnainmaa"),
    ),
    Concept(
        "How do I take a graph with me?",
        "*Take away* in the Graph lab saves the pass as a page, a script, a drawing or data.",
        "graph-lab", {"expression": "((a*b) + c) * (a + d)", "stage": "backward"},
        ("export", "download", "python script", "save the graph", "svg", "dot", "graphviz", "notebook", "take away"),
    ),
    Concept(
        "How do I show it on a projector?",
        "Press F in the Graph lab: the picture fills the window, and arrow keys or a clicker step.",
        "graph-lab", TWO_MESSAGES,
        ("present", "projector", "full screen", "fullscreen", "presentation", "lecture", "slides", "beamer"),
    ),
    Concept(
        "How do I give a class its tasks?",
        "Tick what the class is to do; one link opens the lab with that list.",
        "for-teachers", {},
        ("teacher", "class", "students", "assignment", "lesson plan", "handing in work",
         "grading", "classroom", "course"),
    ),
    Concept(
        "How do I work out a backward pass by hand?",
        "Fill in the blanks of a graph; a wrong number is traced to the slip that made it.",
        "practise", {"tab": "predict", "level": "1", "graph": "1"},
        ("by hand", "worksheet", "pen and paper", "practice backward pass", "exercise by hand"),
    ),
    Concept(
        "Where do I begin?",
        "With a first gradient on Start; below it the path leads from card to card.",
        "", {}, ("tutorial", "getting started", "begin", "introduction", "first steps", "learn autograd"),
    ),
    Concept(
        "What is a tensor?",
        "An array that remembers how it was computed and can have a gradient: follow the life of one.",
        "simulate-error", {"part": "life"}, ("tensor", "what is a scalar", "number or array"),
    ),
    Concept(
        "Which activation function?",
        "Look at each curve and its slope: where the slope is near 0, little gradient gets through.",
        "operations", {"op": "tanh", "kind": "elementwise"},
        ("activation function", "activations", "nonlinearity", "sigmoid or relu", "why is sigmoid bad"),
    ),
    Concept(
        "What do weight decay, batch size and clipping do?",
        "Set one of them in the Training lab, guess, and watch the curves answer.",
        "training-lab", {"data": "moons"},
        ("weight decay", "regularisation", "regularization", "batch size", "gradient clipping", "hyperparameters",
         "learning rate schedule", "settings of a run", "dropout"),
    ),
    Concept(
        "Where is my progress kept?",
        "In your browser, and in a file if you save it: see the path on Start.",
        "", {}, ("progress", "save my progress", "load progress", "cards", "path", "lose my work"),
    ),
)  # fmt: skip
