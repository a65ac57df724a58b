import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.batch.cronjob import cron


@pytest.mark.parametrize(
    ("text", "minutes", "any_day"),
    [
        ("* * * * *", set(range(60)), True),
        ("*/15 * * * *", {0, 15, 30, 45}, True),
        ("5/20 * 1 * *", {5, 25, 45}, True),
        ("1,2-4 0 1 1 mon-fri", {1, 2, 3, 4}, False),
        ("@hourly", {0}, True),
        ("? ? ? JAN-mar ?", set(range(60)), True),
    ],
)
def test_parse(text: str, minutes: set[int], any_day: bool) -> None:
    schedule = cron.parse(text)
    assert (schedule.minutes, schedule.any_day) == (minutes, any_day)


def test_every() -> None:
    assert cron.parse("@every 1h30m").every == 5400
    assert cron.parse("@every 1.5s").every == 1.5
    assert cron.parse("TZ=Europe/Berlin 0 0 * * 0").zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("@often", "unrecognized descriptor: @often"),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every 5y", 'failed to parse duration @every 5y: time: unknown unit "y" in duration "5y"'),
        ("TZ=Mars 0 0 * * *", "provided bad location Mars: unknown time zone Mars"),
        ("TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(cron.CronError) as caught:
        cron.parse(text)
    assert str(caught.value) == message


@given(st.one_of(st.text(), st.text("0123456789*/-,? @TZ=everyhms.+")))
def test_any_text(text: str) -> None:
    try:
        cron.parse(text)
    except cron.CronError:
        pass
