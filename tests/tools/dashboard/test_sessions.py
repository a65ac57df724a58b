from __future__ import annotations

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.tools.dashboard.sessions import Sessions, cookie, secret_of


async def test_a_code_is_good_once_and_for_ten_minutes() -> None:
    clock = ManualClock()
    sessions: Sessions[str] = Sessions(clock)
    assert not sessions.take_code("")
    code = sessions.new_code()
    assert not sessions.take_code("guess") and sessions.take_code(code) and not sessions.take_code(code)
    code = sessions.new_code()
    await clock.advance(601)
    assert not sessions.take_code(code)
    first, second = sessions.new_code(), sessions.new_code()
    assert not sessions.take_code(first) and sessions.take_code(second)


async def test_sessions_end_when_nobody_uses_them_and_after_half_a_day() -> None:
    clock = ManualClock()
    sessions: Sessions[str] = Sessions(clock)
    idle, _ = sessions.begin("idle", "jane")
    used, _ = sessions.begin("used", "jane")
    for _ in range(13):
        await clock.advance(3300)
        assert sessions.get(used) is not None
    assert sessions.get(idle) is None
    await clock.advance(3300)
    assert sessions.get(used) is None


async def test_an_open_stream_is_use_and_ends_with_its_session() -> None:
    clock = ManualClock()
    sessions: Sessions[str] = Sessions(clock)
    secret, session = sessions.begin("somebody", "jane")
    ended: list[str] = []
    session.on_end.append(lambda: ended.append("stream"))
    await clock.advance(4 * 3600)
    sessions.expire()
    assert len(sessions) == 1 and not ended
    await clock.advance(9 * 3600)
    sessions.expire()
    assert len(sessions) == 0 and ended == ["stream"] and sessions.get(secret) is None


def test_the_number_of_sessions_has_a_bound() -> None:
    sessions: Sessions[int] = Sessions(ManualClock())
    secrets = [sessions.begin(number, "jane")[0] for number in range(100)]
    assert len(sessions) == 64
    assert sessions.get(secrets[-1]) is not None and sessions.get(secrets[0]) is None


def test_nobody_logs_others_out_by_logging_in() -> None:
    sessions: Sessions[int] = Sessions(ManualClock())
    jane, _ = sessions.begin(0, "jane")
    eves = [sessions.begin(number, "eve")[0] for number in range(200)]
    assert sessions.get(jane) is not None and len(sessions) == 64
    assert sessions.get(eves[-1]) is not None and sessions.get(eves[0]) is None


def test_secrets_are_long_and_not_alike() -> None:
    sessions: Sessions[int] = Sessions(ManualClock())
    (secret, session), (other, _) = sessions.begin(1, "jane"), sessions.begin(1, "jane")
    assert len({secret, other, session.token}) == 3 and min(map(len, (secret, session.token))) >= 43


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        ("pyb-dashboard=abc", "abc"),
        ("a=b; pyb-dashboard=abc;c=d", "abc"),
        ("pyb-dashboard=abc; pyb-dashboard=def", ""),
        ("xpyb-dashboard=abc", ""),
        ("", ""),
    ],
)
def test_cookies(header: str, secret: str) -> None:
    assert secret_of(header) == secret


def test_over_tls_no_other_host_of_the_domain_can_set_the_cookie() -> None:
    """Browsers take a cookie with this prefix only from the host itself: a neighbour cannot log people in as himself."""
    assert cookie("abc", secure=True).startswith(
        "__Host-pyb-dashboard=abc; Path=/; HttpOnly; SameSite=Strict; Secure"
    )
    assert secret_of("__Host-pyb-dashboard=abc; pyb-dashboard=neighbour", secure=True) == "abc"
    assert secret_of("pyb-dashboard=neighbour", secure=True) == ""
