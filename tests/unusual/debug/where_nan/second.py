"""The square root of a tensor where there is one, 0 elsewhere; so its derivative is 0 elsewhere, too."""


def root(x):
    missing = x.data <= 0
    shifted = x * ~missing + 1.0 * missing  # 1 where there is no root
    return shifted.sqrt() - 1.0 * missing
