"""What a handful of runs may say: spans, and the median with its distribution-free interval."""

from __future__ import annotations

import math
from fractions import Fraction

# Below this number of runs an interval of 95 % cannot be had from order statistics: the span is shown instead.
FEW = 6


def median_interval(samples: list[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """Median and the ends of its distribution-free 95 % interval, from order statistics.

    The interval from the k-th lowest to the k-th highest of n samples covers the median with probability
    1 − 2·P(Binomial(n, ½) < k); the largest k that keeps 95 % is taken (k = 1 up to eight samples).
    """
    ordered = sorted(samples)
    n = len(ordered)
    if n < FEW:
        raise ValueError(f"at least {FEW} samples are needed; there are {n}")
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    k, tail = 0, Fraction(0)
    while True:
        tail += Fraction(math.comb(n, k), 2**n)
        if 2 * tail > Fraction(5, 100):
            break
        k += 1
    return median, ordered[k - 1], ordered[n - k]
