"""Every page of the lab, in the order of the menu, and the question that it answers.

A new page is a file in pages/ and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

GROUPS = ("", "See", "Break", "Build", "Train", "Know")  # "": of no group, a link of its own


@dataclass(frozen=True)
class Page:
    """One page.

    file      its script
    path      in the address
    group     of the menu
    icon      a Material symbol
    question  what a visitor can answer after it
    words     for which the search finds it, besides those of title and question
    tabs      name in the address -> title, of a page with tabs; the first one is open at first
    tab       the parameter of the address that holds the open tab
    """

    file: str
    title: str
    path: str
    group: str
    icon: str
    question: str
    words: str = ""
    tabs: Mapping[str, str] = field(default_factory=dict)
    tab: str = "tab"

    def address(self, query: Mapping[str, str]) -> str:
        """From the lab's root. query: its parameters."""
        return self.path + (f"?{urlencode(query)}" if query else "")


PAGES = (
    Page(
        "pages/start.py", "Start", "", "", "home",
        "What is a gradient, and where do I go from here?",
        "begin home path cards glossary search overview",
    ),
    Page(
        "pages/graph_lab.py", "Graph lab", "graph-lab", "See", "account_tree",
        "Where does each gradient come from, message by message?",
        "expression player backward forward pass closure source derivation accumulate chain rule",
    ),
    Page(
        "pages/shapes.py", "Shapes", "shapes", "See", "grid_on",
        "Which cells of the upstream gradient does each cell of a gradient sum?",
        "broadcasting shape mismatch axis copy unbroadcast matmul transpose bias sum mean max indexing reduction "
        "keepdims batch",
        {"broadcast": "Broadcast", "forgotten": "Forgotten sum",
         "loss": "(N, 1) − (N,)", "matmul": "Matmul", "reduce": "Reductions, indexing"},
    ),
    Page(
        "pages/why_reverse_mode.py", "Why reverse mode", "why-reverse-mode", "See", "speed",
        "What does one gradient cost, when does forward mode win, and what does backward(v) compute?",
        "autograd finite differences forward reverse mode dual numbers passes symbolic formula sympy numerical "
        "parameters jacobian matrix vector product cotangent upstream gradient column row chain multiplication",
        {"cost": "What a gradient costs", "one": "Jacobian", "chain": "A chain of functions",
         "formula": "Formula, differences, autograd"},
    ),
    Page(
        "pages/gradient_check.py", "Gradient check", "gradient-check", "See", "rule",
        "How far can a numerical gradient be trusted, and what does a check miss?",
        "finite differences step h epsilon truncation cancellation float32 kink random cotangent softmax sum numerical",
        {"step": "The step h", "cotangent": "A blind sum"},
    ),
    Page(
        "pages/simulate_error.py", "Simulate Error", "simulate-error", "Break", "bolt",
        "What does a write in place do to a gradient, and what does the error say?",
        "in-place mutation version counter detach no_grad message pytorch error life tensor second backward",
        {"steps": "Four steps", "predict": "Predict", "cut": "detach and no_grad",
         "life": "Life of a tensor"}, "part",
    ),
    Page(
        "pages/what_went_wrong.py", "What went wrong?", "what-went-wrong", "Break", "troubleshoot",
        "Which failure is behind my error message, or behind what I see?",
        "message traceback symptom failure debug nan memory leak shape dead zero_grad softmax argmax accumulation",
        {"message": "From a message, or in words", "code": "From code", "curve": "From a curve"},
    ),
    Page(
        "pages/faults.py", "Faults", "faults", "Break", "build",
        "Which mistake in an engine shows itself where, what finds it, and can I name one from its curves alone?",
        "fault bug broken engine gradient check zero_grad unbroadcast quiz evidence guess game",
        {"study": "Study a fault", "spot": "Spot the fault"},
    ),
    Page(
        "pages/build_it_yourself.py", "Build it yourself", "build-it-yourself", "Build", "code",
        "Can I write an engine that learns, from an empty file, and does it do what the lab's does?",
        "editor code python task exercise check hint own engine write practice value closure layer training loop "
        "closures source player train digits four points compare slower same numbers graduation certificate",
        {"courses": "Courses", "passes": "Your engine", "train": "Train it", "keep": "A page to keep"},
    ),
    Page(
        "pages/practise.py", "Practise", "practise", "Build", "fitness_center",
        "Can I mend a program, predict a pass by hand, and answer in my own words?",
        "exercise debugging program failure mistake find repair broken code editor python blanks by hand values "
        "gradients upstream sign shape worksheet score quiz self-assessment abilities answer interview choice hint",
        {"debug": "Debug these", "predict": "Predict, then reveal", "ask": "Questions", "can": "What I can do"},
    ),
    Page(
        "pages/descent.py", "Descent", "descent", "Train", "landscape",
        "Where does each optimizer step next, and why does it get there, or not?",
        "gradient descent sgd momentum adam optimizer bowl ravine rosenbrock saddle converged diverged four points "
        "recurrent rnn time step truncated vanishing exploding gradient",
        {"down": "Down a surface", "four": "Four points", "time": "Shared over time"},
    ),
    Page(
        "pages/training_lab.py", "Training lab", "training-lab", "Train", "monitoring",
        "Why does a loss fall, stall, swing or rise again?",
        "train loss epoch overfitting learning rate dead relu vanishing exploding gradient nan diverged saturated clip "
        "early stopping patience schedule weight decay skip doctor csv digits moons",
    ),
    Page(
        "pages/operations.py", "Operations", "operations", "Know", "functions",
        "By which rule does each operation pass its gradient on, and is it right?",
        "derivative local rule reference curve source elementwise reduction matmul convention kink op",
    ),
    Page(
        "pages/other_engines.py", "Other engines", "other-engines", "Know", "architecture",
        "How else can an engine be built, what does PyTorch do, and where does it all come from?",
        "closure function grad_fn recursive scalar value dual numbers depth recursion wider field pytorch jax "
        "tensorflow theano torch checkpointing memory history books gpu higher order attention "
        "convolution embedding recurrence reading",
        {"designs": "Five designs", "depth": "Depth, scalars", "beside": "PyTorch",
         "memory": "Checkpointing", "next": "After MLPs, reading"},
    ),
    Page(
        "pages/for_teachers.py", "For teachers", "for-teachers", "Know", "school",
        "How do I give a class its own list of things to do?",
        "teacher class lesson set exercise sheet homework link hide hints hand in summary progress file",
    ),
)  # read by rows  # fmt: skip
BY_FILE = {page.file: page for page in PAGES}
BY_PATH = {page.path: page for page in PAGES}
