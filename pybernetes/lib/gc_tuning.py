"""Python's garbage collector, set for programs that hold many objects for long."""

from __future__ import annotations

import ctypes
import gc


def pause() -> None:
    """Switch the collector off while a program starts, when all that is made stays; ``tune`` ends that."""
    gc.disable()


def tune() -> None:
    """Have the collector run rarely, and never over what is there already.

    Almost everything is freed by counting references; what the collector finds is not worth walking hundreds of
    thousands of living objects for every time a few hundred new ones came up. What it would find is kept until then:
    of young objects, which are quickly walked, not too many may come together.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 250, 100)


def return_memory() -> None:
    """Give freed memory back to the system; a burst of work leaves holes that nobody fills for long."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
    if trim is not None:
        trim(0)
