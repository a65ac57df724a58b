"""Questions that wait: turns, and what is lost for want of room."""

from __future__ import annotations

from pybernetes.node.dns.fair_queue import FairQueue


def test_sources_take_turns() -> None:
    turns: FairQueue[str] = FairQueue(1 << 20)
    for item in ("a1", "a2", "a3", "b1", "c1", "c2"):
        turns.put(item[0], item, 10)
    assert [turns.take() for _ in range(7)] == ["a1", "b1", "c1", "a2", "c2", "a3", None]
    assert not turns and turns.bytes == 0


def test_a_source_that_may_not_is_passed_over() -> None:
    turns: FairQueue[str] = FairQueue(1 << 20)
    for item in ("a1", "b1"):
        turns.put(item[0], item, 10)
    assert turns.take(lambda source: source != "a") == "b1"
    assert turns.take(lambda source: source != "a") is None and turns
    assert turns.take() == "a1"


def test_whoever_has_most_loses_the_oldest() -> None:
    lost: list[str] = []
    turns: FairQueue[str] = FairQueue(20_000, lost.append)
    turns.put("quiet", "quiet", 100)
    for number in range(1000):
        turns.put("loud", f"loud{number}", 100)
        assert turns.bytes <= 20_000
    turns.put("late", "late", 100)
    assert lost == [f"loud{number}" for number in range(len(lost))] and len(lost) > 800
    assert [turns.take(), turns.take(), turns.take()] == ["quiet", f"loud{len(lost)}", "late"]
    turns.clear()
    assert len(lost) == 1002 - 3 and turns.bytes == 0


def test_the_next_that_has_most_is_found() -> None:
    lost: list[str] = []
    turns: FairQueue[str] = FairQueue(20_000, lost.append)
    for number in range(40):
        turns.put("first", f"first{number}", 100)
        turns.put("second", f"second{number}", 100)
    while turns.take(lambda source: source == "first") is not None:
        pass
    for number in range(200):
        turns.put(f"other{number}", "other", 100)
    assert set(lost[:20]) == {f"second{number}" for number in range(20)}, "and not one of those that ask once"


def test_invented_sources_get_no_more_room() -> None:
    turns: FairQueue[int] = FairQueue(20_000)
    for number in range(5000):
        turns.put(str(number), number, 100)
        assert turns.bytes <= 20_000
    assert turns.take() is not None
