"""The graph that tensors hold at one moment, without recording anything: what the engine itself has kept.

`lab.trace.record` writes down what happens in a pass of its own. A snapshot only looks: at which tensors a result was
computed from (`_children`), and later at the values and gradients that they have then.
"""

from lab.trace.recording import Trace, plain
from model import Tensor, topological_order


class Snapshot:
    """The tensors behind some results, each once, and how they hang together.

    Take it before `backward()`, which frees the graph. The last result is drawn as the output.
    """

    def __init__(self, *results: Tensor) -> None:
        self.tensors = list(dict.fromkeys(t for result in results for t in topological_order(result)))
        number = {tensor: i for i, tensor in enumerate(self.tensors)}
        self.children = [[number[child] for child in tensor._children] for tensor in self.tensors]
        self.output = number[results[-1]]

    def trace(self) -> Trace:
        """This graph with the values and gradients of now, for `lab.trace.dot.draw` and `Trace.to_text`."""
        trace = Trace(output=self.output)
        for i, tensor in enumerate(self.tensors):
            trace.nodes.append(
                {
                    "id": i,
                    "op": tensor.op,
                    "label": tensor.label,
                    "children": self.children[i],
                    "shape": list(tensor.shape),
                    "value": plain(tensor.numpy()),
                    "requires_grad": tensor.requires_grad,
                }
            )
        for node in trace.nodes:
            if node["op"]:
                trace.events.append({"kind": "forward", "node": node["id"], "source": "", "line": 0})
        for node, tensor in zip(trace.nodes, self.tensors, strict=True):
            if tensor.grad is not None:  # where it came from is not known
                grad = plain(tensor.grad)
                trace.events.append({"kind": "seed", "node": node["id"], "grad": grad, "source": "", "line": 0})
        return trace
