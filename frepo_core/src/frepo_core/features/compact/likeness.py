"""How much two contents share, estimated from their sketches.

A sketch has the least hash of each of 64 bins, of the hashes of places that depend on the content around them alone:
one permutation hashing (P. Li, A. Owen, C.-H. Zhang, 2012), after A. Broder, "On the resemblance and containment of
documents" (1997). Of two contents, the share of equal minima is about the share of places that both have of those that
either has. With the sizes, this says which part of one the other has.
"""

from collections.abc import Sequence

BINS = 64
EMPTY = (1 << 32) - 1
# With fewer minima, a sketch says nothing.
LEAST_MINIMA = 16

Sketch = Sequence[int]


def is_telling(sketch: Sketch) -> bool:
    """Return whether a sketch has enough minima."""
    return len(sketch) == BINS and BINS - sum(one == EMPTY for one in sketch) >= LEAST_MINIMA


def estimate_shared(one: Sketch, size: int, other: Sketch, other_size: int) -> float:
    """Return which part of a content another one has, from 0 to 1. Sizes are in bytes."""
    equal = sum(a == b != EMPTY for a, b in zip(one, other, strict=True))
    found = sum(a != EMPTY or b != EMPTY for a, b in zip(one, other, strict=True))
    resemblance = equal / found
    return min(1.0, resemblance * (size + other_size) / (1 + resemblance) / size)
