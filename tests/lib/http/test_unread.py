"""Who is sent away when too much waits for clients that do not read."""

from __future__ import annotations

from pybernetes.lib.http.unread import Unread


class Holder:
    """A connection that notes its end."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


def holders(count: int) -> list[Holder]:
    return [Holder() for _ in range(count)]


def test_what_is_shared_counts_once() -> None:
    unread, shared = Unread(100, 100), bytes(60)
    many = holders(50)
    for number, holder in enumerate(many):
        unread.hold(holder, str(number % 7), (b"{" * 2, shared))
    assert unread.size < 100 + 60 and not any(holder.aborted for holder in many[-20:])
    for holder in many:
        unread.release(holder)
        unread.release(holder)
    assert unread.size == 0


def test_an_owner_has_a_bound_of_his_own() -> None:
    unread = Unread(1000, 100)
    other, first, second, third = holders(4)
    unread.hold(other, "other", (bytes(90),))
    for holder in (first, second, third):
        unread.hold(holder, "greedy", (bytes(bytearray(40)),))
    assert [holder.aborted for holder in (other, first, second, third)] == [False, True, False, False]
    assert unread.size == 170 and unread.ended == 1


def test_all_together_have_a_bound() -> None:
    """The slowest of whoever holds most goes."""
    unread = Unread(100, 80)
    small, first, second, last = holders(4)
    unread.hold(small, "small", (bytes(10),))
    unread.hold(first, "large", (bytes(30),))
    unread.hold(second, "large", (bytes(40),))
    unread.hold(last, "last", (bytes(25),))
    assert [holder.aborted for holder in (small, first, second, last)] == [False, True, False, False]


def test_one_answer_may_be_larger_than_any_bound() -> None:
    unread, holder = Unread(10, 5), Holder()
    unread.hold(holder, "a", (bytes(50),))
    assert not holder.aborted and unread.size == 50
