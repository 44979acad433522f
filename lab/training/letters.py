"""A text to learn letter by letter: numbers spelled out in words. It is generated here, so no licence applies.

A sample is the CONTEXT letters before a letter, each as a one-hot row; the class is the letter that follows. A one-hot
row times a matrix is a row of that matrix: the first layer of a network looks up a row for each letter and adds them,
which is an embedding.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from lab.training.samples import Cell, Raw

CONTEXT = 4  # number of letters that the network sees
LAST_NUMBER = 299  # the text spells the numbers from 1 to this one
_ONES = (
    "zero one two three four five six seven eight nine ten "
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = _ONES.split(), _TENS.split()
END = "."  # follows each number, and fills the context before its first letters
NAMES = MappingProxyType({END: "end", " ": "_"})  # readable names of characters that are hard to see


def spell(number: int) -> str:
    """Spell a number from 1 to 999 in words: "two hundred and forty-one"."""
    if number < len(ONES):
        return ONES[number]
    if number < 100:
        ten, one = divmod(number, 10)
        return TENS[ten - 2] + (f"-{ONES[one]}" if one else "")
    hundred, rest = divmod(number, 100)
    return f"{ONES[hundred]} hundred" + (f" and {spell(rest)}" if rest else "")


def contexts() -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return each letter's context (samples, CONTEXT) and the letter (samples,), as indices, and the letters' names."""
    texts = [END * CONTEXT + spell(number) + END for number in range(1, LAST_NUMBER + 1)]
    alphabet = sorted(set("".join(texts)))
    windows = [text[at : at + CONTEXT + 1] for text in texts for at in range(len(text) - CONTEXT)]
    indices = np.array([[alphabet.index(letter) for letter in window] for window in windows])
    return indices[:, :-1], indices[:, -1], tuple(NAMES.get(letter, letter) for letter in alphabet)


def bigram_loss() -> float:
    """Compute the cross-entropy of predicting each letter from the previous one by counts over the whole text."""
    before, after, alphabet = contexts()
    counts = np.zeros((len(alphabet), len(alphabet)))
    np.add.at(counts, (before[:, -1], after), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(shares[before[:, -1], after]).mean())


def samples() -> Raw:
    """Make the samples: a one-hot table of contexts, and the letter that follows each."""
    before, after, alphabet = contexts()
    one_hot = np.eye(len(alphabet))[before].reshape(len(before), -1)
    cells = tuple(Cell(f"{back} back", letter) for back in range(CONTEXT, 0, -1) for letter in alphabet)
    note = f"the next letter of the numbers from one to {LAST_NUMBER} in words, after {CONTEXT} letters as one-hot rows"
    remark = f"to beat: counting which letter follows which gives a loss of {bigram_loss():.3g}"
    columns = tuple(f"{column} “{letter}”" for column, letter, _ in cells)
    return Raw(one_hot, after, alphabet, note, columns, (remark,), cells=cells)
