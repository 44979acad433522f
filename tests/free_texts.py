"""Answers to the questions that are answered in one's own words."""

GOOD: dict[str, list[str]] = {  # each says all that is asked for
    "how-it-knows": [
        "Every op is recorded on a tape together with its derivative, and backward multiplies them with the chain "
        "rule.",
        "the graph remembers which operations ran; each has a closure with its rule; reverse order",
        "It keeps a list of the calculations, knows the partial derivative of every basic function, and combines "
        "them by the chain rule",
        "Every elementary step is noted with what it was applied to and knows how to differentiate itself; from the "
        "output back these slopes are multiplied",
        "While the code runs, each operation is added to a graph with references to its inputs. Every operation has "
        "a hard-coded local derivative, and backward walks the graph from the output and applies the chain rule.",
        "It doesn't look at the program at all. It traces the primitive operations that are executed, each of which "
        "knows its own derivative, and then chains these derivatives together going backwards.",
        "Each node saves who its parents are and a little function that turns the gradient of the output into "
        "gradients of the inputs; calling them in reverse order gives everything.",
        "Any program is only a composition of simple functions like + and exp whose derivatives are built in. The "
        "engine logs them and composes them with the chain rule.",
        "operations get overloaded so they build up a computation graph; every op defines how to backprop through "
        "it; then run through the graph in reverse and multiply local gradients",
        "By remembering the computation as a DAG, with a backward rule at each node, and propagating gradients from "
        "the loss back to the inputs.",
        "Each time an operation executes, the engine makes a node that remembers its inputs and how to differentiate "
        "this operation. Afterwards it goes through all nodes backwards and multiplies.",
        "because every basic op (plus, times, sin...) has a known derivative. we save the sequence of ops in a graph "
        "and apply the chain rule from the end to the start",
        "A tape of all executed steps is kept. Every step has its own backward function. These are called from the "
        "last to the first, passing gradients on.",
        "The program is broken down into elementary operations at run time, they are stored in a graph, local "
        "derivatives are multiplied along the paths by the chain rule",
        "Every operation stores its operands and a function for its own derivative; backward() goes from the result "
        "to the inputs and uses the chain rule.",
        "The engine keeps track of the operations in a graph. For each kind of operation somebody has written the "
        "derivative. The chain rule puts them together.",
    ],
    "three-ways": [
        "symbolic makes a huge expression, numeric is only approximate. autodiff is exact and uses values",
        "No formula is built, and there is no step size: exact to rounding.",
        "It never forms an algebraic term, it pushes floats through, and unlike differencing there is no truncation",
        "Unlike symbolic it does not produce an equation, unlike finite differences it is accurate to machine "
        "precision",
        "Symbolic differentiation gives you a formula that can explode in size; finite differences have rounding and "
        "truncation error. AD gives exact numbers without a formula.",
        "Unlike symbolic methods it manipulates numeric values instead of expressions, and unlike numerical methods "
        "it is exact since it applies the true derivative rules.",
        "it only evaluates derivatives at a point (no expression swell), and the result has no error from choosing h",
        "It computes with numbers, not with symbols, and the derivatives are exact up to floating point.",
        "There's no big expression to simplify, and you don't have to pick an epsilon.",
        "Numbers flow instead of symbols; derivative rules are applied exactly instead of being estimated from "
        "nearby points.",
        "Symbolic: works on the formula and the result can get huge. Numerical: only approximate, depends on h. "
        "Autodiff: exact values, no formula.",
        "It's exact (to machine precision), unlike finite differences, and it never writes out the derivative as an "
        "expression, unlike symbolic.",
        "AD evaluates the chain rule with actual numbers, so no expression blows up, and there is no truncation error",
        "no step size to choose and no symbolic expressions, only numeric values with exact local derivatives",
        "Symbolic produces long formulas, finite differences produce errors. Automatic differentiation calculates "
        "with concrete values and is precise.",
        "it has no rounding problem with h and no giant formula: it just computes numbers by exact rules",
    ],
    "why-reverse": [
        "There is a single scalar loss, so one backward pass gets all gradients; forward would take a million passes.",
        "many inputs one output: reverse does it in one sweep, forward needs one pass per parameter",
        "Cost of reverse scales with number of outputs (1), forward scales with number of inputs (1000000)",
        "With one scalar output and a million inputs, a single backward sweep gives every partial derivative, but "
        "forward mode would have to be run once for every input.",
        "Because there are lots of parameters and just one output. Reverse mode computes the whole gradient in one "
        "pass; forward mode needs a million passes.",
        "Forward mode gives the derivative w.r.t. one input per pass, so you would need 1e6 passes. Reverse mode "
        "gives derivatives of one output w.r.t. all inputs in one pass, and we only have one loss.",
        "the cost of reverse mode depends on the number of outputs, which is 1 here, so one pass suffices, whereas "
        "the cost of forward mode grows with the number of inputs",
        "There is only one loss but many weights. One backward run computes the gradient for all of them. Going "
        "forward you'd repeat the run per weight.",
        "Number of passes in reverse mode = number of outputs = 1. In forward mode = number of inputs = 1 million.",
        "A single backward pass yields the gradient for all parameters since there's just one scalar loss. In "
        "forward mode you need one pass for each parameter.",
        "One loss means one pass backwards for all gradients. Forward you have to do it for every parameter "
        "separately.",
        "we have a lot more inputs than outputs (only one loss). backward mode: 1 run gives everything, forward "
        "mode: a million runs",
        "There is a single output. Reverse mode gets the derivatives with respect to all inputs in a single run; "
        "forward mode would need a run per input.",
        "since we've one loss and very many parameters, one reverse pass is enough for the full gradient while "
        "forward needs one pass for every parameter",
    ],
    "why-add": [
        "If x is used in several places every path contributes, so the total is the sum; otherwise you overwrite one.",
        "because the same tensor can be reused and both contributions count, else only the last one stays",
        "multivariable chain rule: sum over all branches; with = you'd throw the other branch away",
        "A tensor can feed several operations, their contributions sum up. Assigning would discard the earlier ones.",
        "A variable may feed into several later operations. The total derivative is the sum of the contributions of "
        "all paths, so you must accumulate; assignment would keep just the last.",
        "If a is used two times, y changes through both uses. By the multivariable chain rule those effects add. "
        "Using = would overwrite the first contribution.",
        "because a node can have more than one child using it, and the gradient is the sum over those; otherwise "
        "earlier gradients get lost",
        "Each use of the value influences the loss, the influences add up, and with = all but one would be forgotten.",
        "Since the same number can take part in many operations, its effect on the result is the total over all of "
        "them. Replacing would throw away the others.",
        "When a tensor is used in two places, both places send a gradient and the right answer is their sum. With = "
        "the second one would delete the first one.",
        "Through several paths the variable affects the output; derivative = sum over all paths. If you replaced, "
        "you'd lose the contributions from the other paths.",
        "a might appear more than once in the expression. then the chain rule says to add the parts. overwriting "
        "would only keep the part that came last",
        "multiple uses -> multiple messages -> they must be summed, or else earlier ones are lost",
        "A value can be used in many places, and the total effect is the sum of the effects; replacing would lose "
        "all but one.",
        "If x goes into two operations, both send a message. Both count, so add. Otherwise the first would be "
        "overwritten.",
    ],
    "why-an-order": [
        "A node must wait until all its consumers have sent their gradients, otherwise it sends an incomplete "
        "gradient.",
        "all messages from its users must be there before it goes on, or part of it is lost",
        "Because the gradient of a node is only complete after every node that uses it has sent its part. If you go "
        "on too early you propagate an incomplete gradient.",
        "so that each node has received all contributions from the nodes that depend on it before it propagates "
        "further; otherwise some contributions would be missing",
        "A node's gradient must be finished before it's passed to its inputs: all consumers first. Else you'd send "
        "on a partial sum.",
        "Any node has to come after all of its consumers. In another order it would pass on a gradient that is not "
        "yet whole and the rest would be lost.",
        "Every downstream op has to be processed first so the accumulated gradient is final, else the result is wrong.",
        "A node may only push its gradient to its inputs when all nodes that use it have already contributed, "
        "otherwise the inputs get an incomplete gradient.",
        "Before you can compute the gradients of the children, the gradient of the parent must be complete, i.e. all "
        "of its users are done. If not, parts get lost.",
        "The order guarantees that everything downstream is done first, so the gradient at a node is complete before "
        "being propagated. In a random order a partial gradient would be used.",
        "all the consumers must be handled before the node itself, else its gradient is not complete and you pass on "
        "something wrong",
        "Because a node must first get the messages from all its users; if it sent earlier, its gradient would be "
        "only partial.",
        "All users of a value have to be processed before it. Otherwise it hands on a gradient where something is "
        "missing.",
    ],
    "static-graph": [
        "Easier: optimising, e.g. fusing kernels. Harder: debugging.",
        "you can compile it so it is fast, but if statements and loops are awkward",
        "Easier: the compiler sees everything and can fuse operations. Harder: data-dependent control flow.",
        "You can optimise the graph ahead of time and deploy it without Python, but debugging is a pain because "
        "errors don't appear at the line you wrote.",
        "Memory can be planned in advance; on the other hand loops and ifs depending on values are awkward.",
        "Good for performance (whole graph optimization), bad for printing intermediate values.",
        "It's faster because it can be compiled, but it is less flexible: no normal Python if.",
        "Easier to optimize for speed and memory, harder to debug.",
        "One can compile and parallelise the whole thing. But you cannot use a normal if or for loop of the language.",
        "easier: exporting the model to another device. harder: models whose structure depends on the data (dynamic "
        "shapes, loops)",
        "Pro: kernels can be fused. Con: hard to find errors.",
        "It makes optimization easier, e.g. merging operations or saving memory. It makes debugging harder.",
        "You can plan the memory and run it in parallel, but if and while on tensors are complicated",
    ],
    "gpu": [
        "swap numpy for cupy. the graph and the chain rule are the same",
        "The arrays have to be on the device with CUDA kernels, the autograd logic stays",
        "The arrays and the operations on them would have to be replaced by GPU versions (e.g. CuPy); the graph, the "
        "topological sort and the derivative rules would be the same.",
        "You'd need kernels that run on the device and to copy data to it. The computation graph and the backward "
        "logic wouldn't change.",
        "Replace np by cupy. Autograd itself stays the same.",
        "Change the array library to one for CUDA, keep the chain rule and the recorded graph.",
        "Numbers would live in GPU memory and each forward and backward formula would call a GPU routine; which "
        "formula to call and in which order remains as it is.",
        "All calls to NumPy would be swapped for calls to a GPU library. The structure of the autograd engine "
        "(graph, order, chain rule) wouldn't need to change.",
        "data must be moved to the device and each op needs a CUDA implementation; recording and backward order stay "
        "the same",
        "You change which array library does the math; everything about the graph and backward remains.",
        "np -> cp. The backward rules and the graph are still the same.",
        "NumPy calls become CuPy calls; the graph stays as it is.",
        "The array operations need to be done by the GPU, so use a different library for arrays. The tape and the "
        "rules are unchanged.",
    ],
    "checkpointing": [
        "less memory, but activations are recomputed",
        "saves RAM and pays with time because forward runs again",
        "It uses less RAM by throwing away activations, and has to recalculate them in backward",
        "Saves storage; costs extra compute since part of forward runs a second time",
        "It saves memory, because activations are thrown away, and costs compute because they are recomputed in the "
        "backward pass.",
        "You store fewer intermediate results and pay by running parts of the forward again.",
        "less memory for more time",
        "Memory goes down, but the forward pass is done about twice.",
        "It keeps only some activations in memory. The missing ones have to be recalculated during backward, which "
        "is slower.",
        "You save memory by not storing all activations but pay with extra computation as you must recompute them.",
        "Trades compute for memory: fewer activations are kept, but forward segments run again in the backward pass.",
        "RAM is saved; the price is time since some layers are computed twice",
        "It reduces peak memory, at the cost of an additional forward pass.",
        "It uses less memory but takes longer because it has to recompute.",
        "Saves memory for activations by computing them again later.",
    ],
    "testing-rules": [
        "numerical gradient checks on random inputs for every op",
        "Loop over a table of all operations, compare with finite differences",
        "For every op compare the analytic gradient with a numerical one (finite differences) on random inputs.",
        "Run a gradient check: perturb each input a little and compare the slope with what backward gives. Do it "
        "automatically for all ops with random tensors.",
        "One generic test that loops over all operations and checks backward against central differences.",
        "Use (f(x+h)-f(x-h))/2h for each rule on randomly generated inputs of several shapes and compare.",
        "With gradcheck, parametrized over a list of every operation.",
        "Compare each op's gradient numerically: nudge inputs by epsilon and see if the change in output agrees. "
        "Loop over all ops.",
        "Automated gradcheck for each function with random inputs.",
        "You write one test that takes a list of ops, generates inputs and compares autograd against finite "
        "difference gradients.",
        "Numerical differentiation of the forward pass, compared with backward, on lots of random shapes.",
        "Compare with numerical derivatives for random inputs.",
        "finite differences, automatically for every operation",
    ],
}

BAD: dict[str, list[str]] = {  # nothing said, a part of it, beside the point, or false
    "how-it-knows": [
        "The engine is very clever and finds the derivatives of every program that I write, which is great.",
        "It looks up each program in a big list of known programs.",
        "It reads the source code and derives a formula for the whole program symbolically.",
        "It moves every input a little and looks how much the output changes.",
        "Because the graph is there and the rules are there and backward is there.",
        "graph chain rule local",
        "Backward works backwards from the result because that is what backward does.",
        "I have multiplied everything and kept a list",
        "It has been trained on many programs and has learned the derivatives.",
        "Python can differentiate every function by itself because of its syntax tree.",
        "It uses a numerical approximation of each parameter.",
        "You have to write the derivative of the whole program yourself.",
        "It tries many small changes of the inputs and records the results.",
        "There is a database of derivatives on the internet.",
        "by magic: no chain rule, no graph, no local rule",
    ],
    "three-ways": [
        "It is automatic, so one does not have to do it by hand, unlike the others with their numbers.",
        "It makes a long formula and then puts the numbers in.",
        "It is an approximation with a small step h.",
        "It is faster than both and more accurate than both.",
        "numbers exact",
        "There are three ways: symbolic, numerical and automatic, each with its own values.",
        "Both are exact but autograd uses numbers and formulas.",
        "Automatic differentiation is done by computers and the others are done by humans.",
        "It uses small steps of h that are more exact than others because h is tiny.",
        "It builds an expression for the derivative and simplifies it exactly.",
        "Nothing, they are the same.",
        "It is easier to use than the others.",
        "It uses symbols for numbers, so it is slow but exact.",
        "It gives a formula which is approximate",
    ],
    "why-reverse": [
        "Because reverse mode is faster and everybody uses it for all networks at once.",
        "Because a network has a million parameters and one loss.",
        "Because backward is easier to program than forward.",
        "Forward mode cannot compute gradients of a loss.",
        "Reverse mode needs a million passes, forward mode only one.",
        "one loss one pass each parameter",
        "Reverse mode needs less memory than forward mode.",
        "Because the loss is at the end and the parameters are at the beginning.",
        "Since the chain rule only works backward.",
        "Because the million parameters need to be updated after each pass.",
        "Because gradients flow backward in time.",
        "A million parameters are too many for one pass, so one needs many passes.",
    ],
    "why-add": [
        "Because += is the right operator and = would be wrong.",
        "Because the gradient must be added again and again, both times, to be total.",
        "So that the gradients get bigger and learning is faster.",
        "Because zero_grad sets it to zero first.",
        "Because a message is added to the gradient instead of replacing it.",
        "The gradients of several training steps are summed, which gives a larger batch, otherwise it is wrong.",
        "Because gradients are vectors and vectors must be added.",
        "So the optimizer can use momentum from earlier steps.",
        "Because otherwise the gradient would be zero.",
        "It is a convention of PyTorch, replacing would work as well.",
        "To count how many messages have arrived.",
        "Because the values are added in the forward pass, too.",
    ],
    "why-an-order": [
        "Because all nodes must be visited and otherwise some would be missed.",
        "Because reverse topological order is the fastest order for all graphs and outputs, otherwise it is late.",
        "Because the forward pass used that order.",
        "It makes no difference, every order gives the same result as the outputs are all part of it.",
        "So that each node is visited only once and there is no endless loop.",
        "before the users otherwise",
        "Because topological means that the graph has no cycles.",
        "Because Python needs a list to loop over.",
        "In order to compute the values of all nodes before their users need them.",
        "To save memory, as nodes can be freed early.",
        "Because it is easy to program with recursion.",
        "Because the inputs must be computed before the outputs.",
    ],
    "static-graph": [
        "It is easier to make the graph and harder to run it.",
        "Easier: everything. Harder: nothing.",
        "It makes Python programs fast and nice.",
        "Easier to debug, harder to optimize.",
        "Some frameworks such as TensorFlow compile a static graph and PyTorch has a dynamic one.",
        "memory python",
        "Easier: writing loops and ifs. Harder: making it fast.",
        "They are easier to understand and harder to install.",
        "The graph is always the same, which is good.",
        "Harder to compile, easier to change.",
        "Easier: you can see it. Harder: you cannot see it.",
        "It is easier for GPUs and harder for people.",
    ],
    "gpu": [
        "It would have to be rewritten completely, graph and all.",
        "The graph would have to be stored on the GPU, numpy stays as it is.",
        "A GPU is faster than a processor, so nothing would change but the speed of the graph in memory.",
        "You need to buy an NVIDIA card with lots of memory in order to run it.",
        "NumPy would not have to change, but all the rules would.",
        "numpy graph",
        "Everything: the rules, the graph and the arrays.",
        "Only the import of PyTorch instead of NumPy in the training script, and the learning rate stays the same.",
        "The graph must be changed to a GPU graph, the arrays stay.",
        "Nothing has to be changed.",
        "One would need a faster computer with a GPU and drivers.",
        "The chain rule would need to change, as GPUs work in parallel.",
    ],
    "checkpointing": [
        "It saves the weights to a file so that you can go on training after a crash, which costs time and disk space.",
        "It saves time by using more memory.",
        "It saves everything and pays nothing.",
        "Checkpointing saves time and space again and again.",
        "memory time",
        "It saves the state of the memory each time.",
        "It saves time because nothing has to be computed again.",
        "It pays with more memory but it's safe.",
        "It stores the model regularly and pays with disk space.",
        "It saves gradients.",
        "It saves training progress.",
        "It saves work and pays with accuracy.",
        "It saves time and costs memory",
        "It saves the model to disk, so that training can resume at the same time",
    ],
    "testing-rules": [
        "By testing all of them with great care, which takes each developer much time.",
        "You train many networks and see if they all learn.",
        "Each rule is worked out by hand by two people and the results are compared.",
        "With unit tests for every op.",
        "random list",
        "One checks that the loss goes down on every op with automatic tests.",
        "One derives each rule symbolically with SymPy for all ops.",
        "It is impossible to test all of them.",
        "By comparing with TensorFlow's results.",
        "Users report bugs and then they are fixed one at a time.",
        "By reading the code of all rules again.",
        "One trains a network with all ops and looks at the accuracy.",
    ],
}

GOOD["what-building-teaches"] = [
    "You discover your own misunderstandings, since wrong code fails, and later you know where to look for a bug.",
    "Reading feels easy; building reveals the gaps. Then you can write a rule for a new operation.",
    "You make mistakes and have to find them, so afterwards you can debug gradients yourself.",
    "It shows you what you got wrong, and you learn to add your own backward rules.",
]
GOOD["forward-then-back"] = [
    "A build system: it knows which files a target depends on, and goes back from the target to its sources.",
    "Excel has a graph of cells; to explain a value you trace it back to the cells it depends on.",
    "Data lineage: a number in a report is traced back to the tables it came from.",
    "In a compiler, liveness analysis goes backward over the graph of statements to see which values are needed.",
]
BAD["what-building-teaches"] = [
    "It teaches Python.",
    "It is more fun and one remembers it longer.",
    "You can write the code faster.",
]
BAD["forward-then-back"] = ["In many places.", "A spreadsheet.", "Videos can be played backward."]

# Written before the judge was tuned for them; the share that it takes rightly is measured.
OWN_GOOD: list[tuple[str, str]] = [
    ("how-it-knows", "Every primitive operation it runs is logged together with its inputs, each comes with its own derivative rule, and the chain rule combines them from the output backwards."),
    ("how-it-knows", "Operations are memorised in a graph as they happen. Each operation knows its local derivative, and the engine multiplies these by the chain rule going back from the loss."),
    ("how-it-knows", "It captures each operation in a graph while the program runs; every operation has a derivative rule built in; backward chains them with the chain rule."),
    ("how-it-knows", "The calls are tracked on a tape, each with its local gradient, and they get multiplied in reverse order."),
    ("three-ways", "It works with values and never builds a formula, and its derivatives are exact up to rounding with no step size to pick."),
    ("three-ways", "Symbolic methods grow a huge expression and finite differences only approximate. Autodiff computes exact numbers."),
    ("why-reverse", "There is one loss and a million parameters. One backward pass gives every derivative, while forward mode would need one pass per parameter."),
    ("why-reverse", "Because the output is a single scalar, reverse mode gets all gradients in one sweep; forward mode needs a sweep for each input."),
    ("why-add", "A value can be used in several places, so several messages arrive. Its total effect is the sum of all of them, and replacing would lose the earlier ones."),
    ("why-add", "If a node feeds two operations, its derivative is the sum over both paths. With = the first contribution would be overwritten."),
    (
        "why-an-order",
        "A node's gradient must be complete before it's propagated further, so all of its consumers have to be handled first. Otherwise contributions that come later never get propagated.",
    ),
    ("why-an-order", "Every node that used a value comes before it; only after all of those have sent their share is its own grad final, and if you went on too early part of it would be lost."),
    ("why-an-order", "All users of a node must be processed first so its gradient is complete; otherwise it would pass on an incomplete gradient."),
    ("static-graph", "Optimising is easier since the whole graph is known; loops and ifs that depend on values are harder."),
    ("static-graph", "It is easier to plan memory and fuse operations, but it is harder to debug because errors show up later."),
    ("gpu", "The NumPy calls must be replaced by GPU kernels, for example CuPy. The graph and the rules stay the same."),
    ("checkpointing", "It saves memory because only some activations are kept, and pays with extra computation: parts of the forward pass run again."),
    ("checkpointing", "Less memory, but the forward values have to be recomputed, which takes more time."),
    ("testing-rules", "Compare every rule with finite differences, in one automatic test over all operations with random inputs."),
    ("testing-rules", "A loop over all operations with random inputs checks each backward rule against numerical gradients."),
    (
        "how-it-knows",
        "It doesn't have to understand the program. Every operator stores its parents while it executes, so a tape comes out, and on the way back each op applies its own derivative formula and the results are multiplied along the chain.",
    ),
    ("how-it-knows", "Primitive ops each come with a hand-written gradient function. Executing the code leaves behind a trace of these ops; then the chain rule is applied over the trace in reverse."),
    ("three-ways", "Symbolic gives you an expression that can blow up, whereas AD only propagates values. Finite differences have truncation error because of h, AD has none."),
    ("three-ways", "AD evaluates derivatives at one point with actual numbers and never writes an expression. It is accurate to machine precision, no epsilon has to be picked."),
    ("why-reverse", "There is only a single scalar output. Going backwards once delivers the gradient for every weight; going forward you'd repeat the pass once per weight."),
    ("why-add", "If x feeds into two operations, both send something back to x. The total derivative is the sum of both contributions. Using = would keep only the last one."),
    ("why-add", "Because the variable can appear in several branches. By the multivariable chain rule you sum over branches, and overwriting would throw away the earlier branch."),
    ("why-an-order", "A node's gradient is only final once all nodes that use it have delivered theirs. With another order you would send on an incomplete value."),
    ("static-graph", "Easier: a compiler can fuse kernels since it sees everything. Harder: data-dependent control flow like while loops."),
    ("gpu", "You'd swap the numpy calls for a GPU array library like CuPy. Topological sort, closures and the derivative formulas would not be touched."),
    ("checkpointing", "It trades compute for memory: activations inside a segment are dropped and recomputed during the backward pass."),
    ("testing-rules", "Do a gradient check: perturb each input slightly, compare the numeric slope with the backward result, for every op in a loop over random tensors."),
    ("what-building-teaches", "Reading feels easy, but when you write it your code breaks exactly where you misunderstood. Later you can debug a wrong gradient or add a new op."),
    ("forward-then-back", "Make: targets depend on sources, and it goes from the target back through its dependencies to decide what to rebuild."),
    ("checkpointing", "You keep fewer activations around so the peak memory goes down, at the price of running parts of the network twice."),
]  # fmt: skip
OWN_BAD: list[tuple[str, str]] = [
    ("how-it-knows", "graph recorded operations own derivative rule chain rule backward result"),
    ("how-it-knows", "operations recorded graph, local derivative, chain rule backward"),
    ("how-it-knows", "It parses the source code of the program and differentiates the formula symbolically."),
    ("how-it-knows", "It nudges each input a little and looks at how the output moves."),
    ("three-ways", "It is exact up to rounding and needs a step h. It builds no formula."),
    ("three-ways", "numbers no formula exact no step h"),
    ("three-ways", "It is like symbolic differentiation but faster, because computers are fast."),
    ("why-reverse", "one loss many parameters one backward pass all gradients forward each parameter"),
    ("why-reverse", "Because forward mode is not exact and reverse mode is."),
    ("why-add", "used twice several paths sum effect replaced lost otherwise"),
    ("why-add", "Because += is the usual way in Python and is faster than =."),
    ("why-an-order", "all messages arrived before users first otherwise part lost"),
    ("why-an-order", "Because recursion would be too deep otherwise."),
    ("static-graph", "easier optimize fuse memory harder debug loops if"),
    ("static-graph", "Debugging is easier and optimizing is harder."),
    ("gpu", "replace numpy arrays cupy kernels graph rules same stay"),
    ("gpu", "All the backward rules have to be rewritten, NumPy stays as it is."),
    ("checkpointing", "saves memory recompute forward again time"),
    ("checkpointing", "It saves the model to disk so that a crash does not lose the training."),
    ("testing-rules", "Compare each rule with itself on random inputs in one test; finite differences are too inaccurate so they cannot be used."),
    ("how-it-knows", "It looks up the derivative of the whole program in a table of derivatives."),
    ("how-it-knows", "It nudges each input and looks at how the output changes, over and over."),
    ("three-ways", "It is the same as finite differences but with a smaller h, so it is more exact than symbolic differentiation."),
    ("three-ways", "Autograd derives a formula once and then it is exact, with no step."),
    ("why-reverse", "Reverse mode is more accurate than forward mode because the loss is one number at the end."),
    ("why-reverse", "One backward pass is needed for each parameter, and the loss is one number, while forward needs only one."),
    ("why-add", "So that the gradient of the last step is remembered and training has momentum."),
    ("why-add", "A value used twice gets two messages; the larger of both counts and the other would be lost with a sum."),
    ("why-an-order", "Because otherwise the forward pass would be computed wrong: all inputs must be known before an operation runs."),
    ("static-graph", "Optimizing gets harder because the graph is fixed, and loops get easier since all is known."),
    ("gpu", "NumPy stays the same and all the rules have to be rewritten for the graphics card."),
    ("checkpointing", "It saves the model to disk so that training can go on after a crash, which takes time."),
    ("testing-rules", "Compare each rule with the rule of another framework for all operations."),
    ("what-building-teaches", "It teaches you NumPy and typing, and your code runs faster than PyTorch in the end."),
    ("forward-then-back", "A printer, since paper goes forward and comes back out."),
]  # fmt: skip
