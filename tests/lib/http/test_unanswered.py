"""Who is sent away when too much of requests waits for the rest of them, or for answers."""

from __future__ import annotations

from pybernetes.lib.http.unanswered import SMALL, Unanswered


class Sender:
    """A connection that notes its end."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.aborted = False

    def address(self) -> str:
        return self._address

    def abort(self) -> None:
        self.aborted = True


def test_the_first_of_the_address_that_holds_most_goes() -> None:
    unanswered = Unanswered(10 * SMALL)
    quiet, *noisy = Sender("a"), *(Sender("b") for _ in range(4))
    assert unanswered.hold(quiet, 3 * SMALL)
    for sender in noisy:
        unanswered.hold(sender, 2 * SMALL)
        unanswered.hold(sender, 3 * SMALL)  # it grows
    assert [sender.aborted for sender in (quiet, *noisy)] == [False, True, True, False, False]
    assert unanswered.size == 9 * SMALL and unanswered.ended == 2


def test_who_becomes_small_is_forgotten() -> None:
    unanswered = Unanswered(10 * SMALL)
    sender, other = Sender("a"), Sender("b")
    unanswered.hold(sender, 9 * SMALL)
    assert not unanswered.hold(sender, SMALL) and unanswered.size == 0
    unanswered.hold(other, 9 * SMALL)
    unanswered.release(other)
    unanswered.release(other)
    assert unanswered.size == 0 and not (sender.aborted or other.aborted)
    assert not (unanswered._sizes or unanswered._addresses or unanswered._held or unanswered._address_of)


def test_one_request_may_be_larger_than_any_bound() -> None:
    unanswered, sender = Unanswered(SMALL), Sender("a")
    assert unanswered.hold(sender, 5 * SMALL) and not sender.aborted
