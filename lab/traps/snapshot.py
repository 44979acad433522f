"""Read the graph that the engine has kept behind tensors at one moment, without recording a pass.

`lab.trace.record` records the events of a pass that it runs. A snapshot only reads which tensors a result was computed
from (`_children`), and later their values and gradients at that time.
"""

from lab.trace.recording import Trace, plain
from model import Tensor, topological_order


class Snapshot:
    """The tensors behind some results, each once, and their connections.

    Take it before `backward()`, which frees the graph. The last result is drawn as the output.
    """

    def __init__(self, *results: Tensor) -> None:
        self.tensors = list(dict.fromkeys(t for result in results for t in topological_order(result)))
        number = {tensor: i for i, tensor in enumerate(self.tensors)}
        self.children = [[number[child] for child in tensor.children] for tensor in self.tensors]
        self.output = number[results[-1]]

    def trace(self) -> Trace:
        """Return the graph with its current values and gradients, for `lab.trace.dot.draw` and `Trace.to_text`."""
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
            if tensor.grad is not None:  # its messages were not recorded, so it is written as a seed
                grad = plain(tensor.grad)
                trace.events.append({"kind": "seed", "node": node["id"], "grad": grad, "source": "", "line": 0})
        return trace
