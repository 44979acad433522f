"""A text to learn letter by letter: the numbers in words, made here, so that it is nobody else's.

A sample is the CONTEXT letters before a letter, each as a one-hot row; the class is the letter that follows. A one-hot
row times a matrix is a row of that matrix: the first layer of a network looks up a row for each letter and adds them,
which is an embedding (lab/training/layers.py).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from lab.training.samples import Raw

CONTEXT = 4  # letters that a network sees
LAST = 299  # number of the text
ONES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
END = "."  # behind each number, and as often as needed before it
NAMES = MappingProxyType({END: "end", " ": "_"})  # of the signs that are hard to see


def spelled(number: int) -> str:
    """A number from 1 to 999 in words: "two hundred and forty-one"."""
    if number < len(ONES):
        return ONES[number]
    if number < 100:
        ten, one = divmod(number, 10)
        return TENS[ten - 2] + (f"-{ONES[one]}" if one else "")
    hundred, rest = divmod(number, 100)
    return f"{ONES[hundred]} hundred" + (f" and {spelled(rest)}" if rest else "")


def contexts() -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """The letters before each letter (samples, CONTEXT) and each letter (samples,), as indices, and their names."""
    texts = [END * CONTEXT + spelled(number) + END for number in range(1, LAST + 1)]
    alphabet = sorted(set("".join(texts)))
    windows = [text[at : at + CONTEXT + 1] for text in texts for at in range(len(text) - CONTEXT)]
    indices = np.array([[alphabet.index(letter) for letter in window] for window in windows])
    return indices[:, :-1], indices[:, -1], tuple(NAMES.get(letter, letter) for letter in alphabet)


def bigram_loss() -> float:
    """The cross-entropy of a table of which letter follows which, counted on all of the text."""
    before, after, alphabet = contexts()
    counts = np.zeros((len(alphabet), len(alphabet)))
    np.add.at(counts, (before[:, -1], after), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(shares[before[:, -1], after]).mean())


def samples() -> Raw:
    """The samples, as a table whose columns hold letters."""
    before, after, alphabet = contexts()
    one_hot = np.eye(len(alphabet))[before].reshape(len(before), -1)
    cells = tuple((f"{back} back", letter) for back in range(CONTEXT, 0, -1) for letter in alphabet)
    note = f"the next letter of the numbers from one to {LAST} in words, after {CONTEXT} letters as one-hot rows"
    remark = f"to beat: counting which letter follows which gives a loss of {bigram_loss():.3g}"
    columns = tuple(f"{column} “{letter}”" for column, letter in cells)
    return Raw([one_hot], after, alphabet, note, columns, (remark,), cells=cells)
