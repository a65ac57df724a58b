"""Names that the server makes up."""

from __future__ import annotations

import random

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # spells no words
# A suffix is put together from pairs, which takes fewer steps than from letters.
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_LONGEST_PREFIX = 58


def random_suffix() -> str:
    """Return five characters that make a generated name unique."""
    chance = random.random
    first, second = _PAIRS[int(chance() * len(_PAIRS))], _PAIRS[int(chance() * len(_PAIRS))]
    return first + second + _ALPHABET[int(chance() * len(_ALPHABET))]


def generated_name(prefix: str) -> str:
    """Return a new name for an object with this ``generateName``."""
    return prefix[:_LONGEST_PREFIX] + random_suffix()
