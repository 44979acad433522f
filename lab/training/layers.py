"""Embedding, layer norm, attention and convolution, composed of the engine's operations: no backward rule is needed.

Each result is an ordinary graph: `backward()` finds every gradient, and lab.trace.record or lab.watch shows it in the
player. The Graph lab has each layer as an example. float32 stays float32; results have the dtype of the first argument.
"""

import math
from typing import Any

import numpy as np

from model import Tensor, where


def embedding(table: Tensor, ids: Any) -> Tensor:
    """Look up rows of a table: table (rows, width), ids integers of any shape -> (*ids.shape, width).

    This equals one-hot rows times the table, without the multiplications by 0. The gradient of a row that is looked up
    twice is the sum of both messages. Raises TypeError if the ids are not integers, IndexError for an id without a row.
    Source: Bengio et al. 2003, A Neural Probabilistic Language Model, section 2: the matrix C.
    """
    ids = np.asarray(ids)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"embedding needs integers to look up, not {ids.dtype}.")
    if ids.size and not 0 <= ids.min() <= ids.max() < len(table):
        raise IndexError(
            f"embedding got ids from {ids.min()} to {ids.max()}, but the rows go from 0 to {len(table) - 1}."
        )
    return table[ids]


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Give each row mean 0 and deviation 1, then stretch and shift it.

    x (..., width), gain (width,), bias (width,) -> the shape of x. The mean and the variance depend on x, so gradients
    also flow through them. Raises ValueError if the widths differ.
    Source: Ba, Kiros and Hinton 2016, Layer Normalization, equations 3 and 4; eps as in torch.nn.LayerNorm.
    """
    if not gain.shape == bias.shape == x.shape[-1:]:
        raise ValueError(
            f"layer_norm of {x.shape} needs gain and bias of shape {x.shape[-1:]}, not {gain.shape}, {bias.shape}."
        )
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / (variance + eps).sqrt() * gain + bias


def attention(queries: Tensor, keys: Tensor, values: Tensor, causal: bool = False) -> Tensor:
    """Mix the values by how well each query fits each key: softmax(Q Kᵀ / sqrt(d)) V.

    queries (..., n, d), keys (..., m, d), values (..., m, e) -> (..., n, e). causal: a position sees only itself and
    earlier positions. Heads are one more axis in front. Raises ValueError if the shapes do not fit.
    Source: Vaswani et al. 2017, Attention Is All You Need, equation 1; the mask in section 3.2.3.
    """
    scores = queries @ keys.swapaxes(-1, -2) / math.sqrt(queries.shape[-1])
    if causal:
        later = np.triu(np.ones(scores.shape[-2:], bool), 1)
        scores = where(later, -math.inf, scores)
    return scores.softmax(axis=-1) @ values


def convolution(images: Tensor, kernels: Tensor, bias: Tensor) -> Tensor:
    """Slide each kernel over each image, and sum the products of the cells that overlap.

    images (n, channels, height, width), kernels (out, channels, kh, kw), bias (out,)
    -> (n, out, height - kh + 1, width - kw + 1): stride 1, no padding, the kernel is not flipped.
    It is one matrix product, with the patches under the kernel as rows (im2col). The gradient of a cell in several
    patches is the sum of their messages. Raises ValueError if the channels differ or a kernel is larger than an image.
    Source: Goodfellow et al. 2016, Deep Learning, equation 9.6; Chellapilla et al. 2006 for the patches.
    """
    (n, channels, height, width), (out, depth, kh, kw) = images.shape, kernels.shape
    rows, columns = height - kh + 1, width - kw + 1
    if channels != depth or rows < 1 or columns < 1:
        raise ValueError(f"convolution cannot lay kernels {kernels.shape} on images {images.shape}.")
    row, column, channel, down, right = np.indices((rows, columns, channels, kh, kw))
    patches = images[:, channel, row + down, column + right].reshape(n, rows * columns, channels * kh * kw)
    result: Tensor = patches @ kernels.reshape(out, channels * kh * kw).T + bias
    return result.swapaxes(1, 2).reshape(n, out, rows, columns)
