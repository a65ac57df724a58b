"""Python's garbage collector and the memory below it, set for programs that hold many objects for long."""

from __future__ import annotations

import ctypes
import gc
import time

_M_ARENA_MAX = -8  # a number of glibc's malloc.h
# Which part of the time may be spent on giving memory back, and until when it has been.
_SHARE = 0.005
_not_before = 0.0


def pause() -> None:
    """Switch the collector off while a program starts, when all that is made stays; ``tune`` ends that."""
    gc.disable()
    share_heap()


def tune() -> None:
    """Have the collector run rarely, and never over what is there already.

    Almost everything is freed by counting references; what the collector finds is not worth walking hundreds of
    thousands of living objects for every time a few hundred new ones came up. What it would find is kept until then:
    of young objects, which are quickly walked, not too many may come together.
    """
    share_heap()
    gc.collect()
    gc.freeze()
    gc.enable()
    # Four times as many young ones, of which half were garbage, held everybody for 17 ms. Few are still in the processor's
    # cache, too: while pods are scheduled, half as many cost a fifth less in all.
    gc.set_threshold(5_000, 1_000, 100)


def share_heap() -> None:
    """Have all threads take memory from one heap, those that begin from now on.

    The C library gives threads heaps of their own, and never gives back what is free at the end of such a one: after a burst
    of work that was 15 MB. Python runs one thread at a time, so that they hardly wait for one another.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
    if set_option is not None:
        set_option(_M_ARENA_MAX, 1)


def return_memory() -> float:
    """Give freed memory back to the system; a burst of work leaves holes that nobody fills for long.

    While the C library looks for it no thread gets any: 4 to 10 ms with a heap of 100 MB, 20 to 56 ms with one of 500 MB. So if that
    was done not long ago nothing happens, and the result is in how many seconds it may be tried again; else it is 0.
    """
    global _not_before
    if (left := _not_before - time.monotonic()) > 0:
        return left
    began = time.thread_time()
    _trim()
    _not_before = time.monotonic() + (time.thread_time() - began) / _SHARE
    return 0.0


def _trim() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not every C library has it
    if trim is not None:
        trim(0)
