"""Code found in a text that is not all code: tracebacks, questions, fences."""

import random

import pytest

from lab.failures.fragments import check_fragments, code_lines

QUESTION = """Hi all, my training does not work, I get

RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

Here is the loop:

    for x, y in loader:
        out = model(x).argmax(dim=1).float()
        loss = F.mse_loss(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()

Any idea? Thanks!"""
NOTEBOOK = """RuntimeError                              Traceback (most recent call last)
Cell In[7], line 6
      2 for x, y in loader:
      3     pred = net(x)
      4     loss = criterion(pred, y).item()
      5     opt.zero_grad()
----> 6     loss.backward()
      7     opt.step()

File ~/miniconda/lib/python3.11/site-packages/torch/_tensor.py:522, in Tensor.backward(self)
--> 522 torch.autograd.backward(

AttributeError: 'float' object has no attribute 'backward'
"""
FENCED = """My weights:
```python
def step(w,
         x):

    loss = (w * x).sum()
    loss.backward()
    w -= 0.1 * w.grad
```
why?"""
TRACEBACK = """Traceback (most recent call last):
  File "main.py", line 30, in <module>
    train()
  File "/usr/lib/python3/site-packages/torch/_tensor.py", line 500, in backward
    torch.autograd.backward(
    ^^^^^^^^^^^^^^
RuntimeError: Trying to backward through the graph a second time"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [(QUESTION, [(8, 21)]), (NOTEBOOK, [(5, 13)]), (FENCED, [(8, 7)]), (TRACEBACK, []), ("", []), ("x = (", [])],
    ids=["a question", "IPython's traceback", "a fence", "Python's traceback", "nothing", "cut off"],
)
def test_the_code_lines_of_a_mixed_text_are_judged(text, expected):
    assert [(finding.line, finding.failure) for finding in check_fragments(text)] == expected


def test_lines_of_libraries_are_left_out():
    assert code_lines(TRACEBACK).split() == ["train()"]


@pytest.mark.parametrize("text", [QUESTION, NOTEBOOK, FENCED, TRACEBACK])
def test_any_part_of_a_text_is_read_without_an_error(text):
    choose = random.Random(3)
    lines = text.split("\n")
    for _ in range(40):
        start = choose.randrange(len(lines))
        check_fragments("\n".join(lines[start : start + choose.randrange(12)]))
        check_fragments("\n".join(choose.sample(lines, len(lines))))
