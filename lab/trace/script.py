"""Write an expression as a Python script that runs in the same folder as model.py."""

from collections.abc import Mapping
from textwrap import indent
from types import MappingProxyType
from typing import Any

from lab.expression.parser import Expression
from lab.trace.recording import Change


def experiment(
    expression: Expression,
    values: Mapping[str, Any],
    changes: Mapping[str, Change] = MappingProxyType({}),
    upstream: Any = None,
) -> str:
    """Write a script that makes the leaves, computes the expression, runs one backward pass and prints all gradients.

    changes and upstream are those of `lab.trace.recording.attempt`; upstream as nested lists. If a leaf is written to,
    the script runs on an engine that detects it, and needs the folder of the lab.
    """
    result = expression.result_name
    leaves, tensors, writes = [], {}, []  # tensors: name -> variable of the leaf whose gradient is printed
    for name, value in expression.values_as_python(values).items():
        change = changes.get(name)
        constant = ", requires_grad=False" if change == "constant" else ""
        leaves.append(f'{name} = Tensor({value}{constant}, label="{name}")')
        tensors[name] = name
        if change == "detached":
            leaf = f"{name}_leaf"
            while leaf in expression.text:
                leaf += "_"
            leaves.append(f"{leaf}, {name} = {name}, {name}.detach()")
            tensors[name] = leaf
        elif change == "written":
            writes.append(f"{name}.data += 1  # between the passes")
    start = repr(upstream) if isinstance(upstream, list) else ""
    prints = [f'print("gradient of {name}:", {leaf}.grad)' for name, leaf in tensors.items()]
    after = [f'print("{result} =", {result}.numpy())', *writes, f"{result}.backward({start})", *prints]
    program = f"# Run it in the folder of the lab, where model.py is.\n{expression.program(leaves, after)}"
    if not writes:
        return program
    end = program.index("\n\n", program.index("from model import"))
    block = "from lab.traps import detect_mutation\n\nwith detect_mutation() as Tensor:\n"
    return f"{program[:end]}\n{block}{indent(program[end + 2 :], '    ')}"
