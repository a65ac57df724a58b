"""Log-ins that have begun: taken once, in time, by the browser that began them."""

from __future__ import annotations

from itertools import count

from pybernetes.lib.clock import ManualClock
from pybernetes.tools.dashboard.log_ins import SECONDS, LogIns


def _log_ins() -> tuple[LogIns, ManualClock]:
    numbers, clock = count(), ManualClock()
    return LogIns(clock, lambda: f"random-{next(numbers)}"), clock


def test_a_log_in_is_taken_once_by_its_own_browser() -> None:
    log_ins, _ = _log_ins()
    begun = log_ins.begin("http://here/oidc")
    assert len({begun.state, begun.nonce, begun.verifier, begun.secret}) == 4
    for state, secret in (
        (begun.state, ""),
        (begun.state, "ü"),
        (begun.state, begun.state),
        ("", begun.secret),
    ):
        assert log_ins.take(state, secret) is None
    assert log_ins.take(begun.state, begun.secret) == begun
    assert log_ins.take(begun.state, begun.secret) is None


async def test_a_log_in_takes_some_minutes_at_most() -> None:
    log_ins, clock = _log_ins()
    early, late = log_ins.begin(""), log_ins.begin("")
    await clock.advance(SECONDS - 1)
    assert log_ins.take(early.state, early.secret) == early
    await clock.advance(1)
    assert log_ins.take(late.state, late.secret) is None


def test_strangers_who_begin_many_push_nobody_out() -> None:
    log_ins, _ = _log_ins()
    begun = [log_ins.begin("http://here/oidc") for _ in range(3000)]
    assert len({log_in.nonce for log_in in begun}) == len({log_in.verifier for log_in in begun}) == 3000
    assert log_ins.take(begun[0].state, begun[0].secret) == begun[0]
    assert log_ins.take(begun[2].state, begun[1].secret) is None


def test_nothing_in_a_cookie_can_be_changed() -> None:
    log_ins, _ = _log_ins()
    begun = log_ins.begin("http://here/oidc")
    random, until, place = begun.secret.split(".")
    for secret in (
        f"{random}.{int(until) + 600}.{place}",
        f"{random}.{until}.aHR0cDovL3RoZXJlLw",
        f"{random}.{until}",
    ):
        assert log_ins.take(begun.state, secret) is None
    assert LogIns().take(begun.state, begun.secret) is None  # another process
