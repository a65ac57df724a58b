"""Changes of an input: of bytes, of words, and of whole parts. All chance comes from the generator that is passed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[Random, bytes, Sequence[bytes], Sequence[bytes]], bytes]

_INTERESTING = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x0A,
    0x0D,
    0x20,
    0x22,
    0x27,
    0x2C,
    0x2F,
    0x3A,
    0x5B,
    0x5C,
    0x5D,
    0x7B,
    0x7D,
)
_NUMBERS = (
    b"0",
    b"-1",
    b"1e999",
    b"9223372036854775808",
    b"18446744073709551616",
    b"0x7fffffff",
    b"1" * 400,
    b"00",
)
_BRACKETS = (b"[", b"{", b"(", b'{"a":', b"- ", b"\n  ")


def flip(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Change one bit."""
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def overwrite(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Put an interesting byte somewhere."""
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([random.choice(_INTERESTING)]) + data[at + 1 :]


def number(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Overwrite some bytes with a large or small number in binary."""
    size = random.choice((2, 4, 8))
    if len(data) < size:
        return data
    at = random.randrange(len(data) - size + 1)
    value = random.choice((0, 1, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), random.getrandbits(8 * size)))
    return data[:at] + value.to_bytes(size, random.choice(("big", "little"))) + data[at + size :]


def remove(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Leave a part out."""
    first, last = _slice(random, data)
    return data[:first] + data[last:]


def truncate(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """End early."""
    return data[: random.randrange(len(data) + 1)]


def insert_word(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Put a word of the target's language, or a strange number, somewhere."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice((*words, *_NUMBERS)) + data[at:]


def replace_word(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Put a word in the place of another that is there."""
    there = [word for word in words if word in data]
    if not there:
        return insert_word(random, data, words, others)
    return data.replace(random.choice(there), random.choice((*words, *_NUMBERS)), random.choice((1, 1, -1)))


def swap(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Put a part of the input at another place of it as well."""
    first, last = _slice(random, data)
    at = random.randrange(len(data) + 1)
    return data[:at] + data[first:last] + data[at:]


def splice(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Go on as another input does."""
    other = random.choice(others)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def repeat(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Repeat a part many times: what is not linear shows itself."""
    first, last = _slice(random, data)
    return data[:first] + data[first:last] * random.choice((2, 3, 16, 256, 2048)) + data[last:]


def nest(random: Random, data: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Open a bracket many times."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(_BRACKETS) * random.choice((2, 50, 500, 5000)) + data[at:]


MUTATIONS: tuple[Mutation, ...] = (
    flip, overwrite, number, remove, truncate, insert_word, replace_word, insert_word, replace_word, swap, splice, repeat, nest,
)  # fmt: skip


def mutate(random: Random, inputs: Sequence[bytes], words: Sequence[bytes], largest: int) -> bytes:
    """Return one of the inputs after a few changes, cut at the largest size."""
    data = random.choice(inputs)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        data = random.choice(MUTATIONS)(random, data, words, inputs)[:largest]
    return data


def _slice(random: Random, data: bytes) -> tuple[int, int]:
    first = random.randrange(len(data) + 1)
    return first, min(len(data), first + random.choice((1, 2, 8, 64, len(data))))
