"""Each owner holds no more than his share, and all no more than there is; who holds little is never refused."""

from __future__ import annotations

from pybernetes.lib.memory.held_memory import FREE, HeldMemory

MEGABYTE = 1 << 20


def test_one_owner_has_a_share() -> None:
    memory = HeldMemory(8 * MEGABYTE, 2 * MEGABYTE)
    memory.hold("a", 2 * MEGABYTE)
    assert not memory.fits("a", 1) and memory.fits("b", 2 * MEGABYTE)
    memory.release("a", MEGABYTE)
    assert memory.fits("a", MEGABYTE) and memory.held == memory.held_by("a") == MEGABYTE


def test_all_have_so_much_and_everybody_a_little() -> None:
    memory = HeldMemory(4 * MEGABYTE, 2 * MEGABYTE)
    for owner in "ab":
        memory.hold(owner, 2 * MEGABYTE)
    assert not memory.fits("c", FREE + 1) and memory.fits("c", FREE)
    memory.release("a", 2 * MEGABYTE)
    assert memory.fits("c", 2 * MEGABYTE) and not memory.held_by("a")


def test_little_room_is_shared_as_well() -> None:
    assert HeldMemory.within(64 * MEGABYTE, 64 * MEGABYTE).most == 8 * MEGABYTE
    assert HeldMemory.within(1 << 40, 64 * MEGABYTE).share == 16 * MEGABYTE
