"""Decoded objects are held for a moment, as many as fit."""

from __future__ import annotations

from weakref import ref

from pybernetes.control_plane.apiserver.storage.recently_decoded import RecentlyDecoded
from pybernetes.control_plane.apiserver.storage.view import SharedObject


def held(recently: RecentlyDecoded, sizes: list[int], again: bool = True) -> list[bool]:
    """Hold objects of these sizes, which somebody missed or not; return which of them are still there."""
    refs: list[ref[SharedObject]] = []
    for size in sizes:
        obj = SharedObject()
        refs.append(ref(obj))
        recently.hold(obj, size, again)
        del obj
    return [obj() is not None for obj in refs]


def test_small_objects_stay_as_long_as_they_fit() -> None:
    assert held(RecentlyDecoded(1000), [10] * 100) == [True] * 100


def test_few_stay_where_nobody_missed_any() -> None:
    recently = RecentlyDecoded(1000)
    assert sum(held(recently, [10] * 100, again=False)) < 20
    assert held(recently, [10] * 100) == [True] * 100
    assert sum(held(recently, [10] * 1000, again=False)) < 100
    assert sum(held(recently, [10] * 5000, again=False)) < 20


def test_the_oldest_go_first_and_some_stay() -> None:
    assert held(RecentlyDecoded(100), [60] * 5) == [False, False, True, True, True]


def test_large_objects_do_not_pile_up() -> None:
    assert sum(held(RecentlyDecoded(1000), [1 << 20] * 50)) == 1


def test_everything_is_forgotten_when_asked() -> None:
    recently = RecentlyDecoded(1000)
    obj = SharedObject()
    weak = ref(obj)
    recently.hold(obj, 10)
    del obj
    assert weak() is not None
    recently.forget()
    assert weak() is None
