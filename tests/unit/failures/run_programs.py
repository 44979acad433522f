"""Run programs, each in a process of its own that starts with PyTorch imported; a JSON list on stdin and on stdout.

Each item is a program; each answer is "" if it ran to its end, else what stopped it.
"""

import contextlib
import io
import json
import os
import resource
import sys

import torch

MAX_SECONDS = 3  # of processor time for one program


def run(program: str) -> str:
    """Return what stops a program; "" if nothing does."""
    names = {"__name__": "__main__", "__file__": "program.py"}
    try:
        exec(program, names)
    except SystemExit:
        return ""
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def run_apart(program: str) -> str:
    """Return what `run` does, from a process of its own; "ended" if that ends early."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            answer = run(program)
        os.write(writes, f"={answer[:1000]}".encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        answer = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    return answer.removeprefix("=") if answer else "ended"


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.optim.SGD(
        [torch.nn.Parameter(torch.zeros(1))], lr=1.0
    ).step()  # its first step imports much; no pass, no thread
    json.dump([run_apart(program) for program in json.load(sys.stdin)], sys.stdout)
