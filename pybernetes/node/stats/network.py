"""What went over the interfaces of a network namespace."""

from __future__ import annotations

from dataclasses import dataclass

_DEFAULT = "eth0"


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface: bytes, packets, errors and drops in and out."""

    name: str
    received_bytes: int
    received_packets: int
    received_errors: int
    received_dropped: int
    sent_bytes: int
    sent_packets: int
    sent_errors: int
    sent_dropped: int


def parse(text: str) -> list[Interface]:
    """The interfaces of a ``net/dev`` file but loopback."""
    found = []
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        words = [int(each) for each in rest.split()]
        if name.strip() != "lo" and len(words) >= 12:
            found.append(Interface(name.strip(), *words[:4], *words[8:12]))
    return found


def interfaces(pid: int | str = "self") -> list[Interface]:
    """The interfaces that a process sees; none if it is gone."""
    try:
        with open(f"/proc/{pid}/net/dev") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return []


def main(found: list[Interface]) -> Interface | None:
    """The interface that stands for a pod or machine."""
    return next((each for each in found if each.name == _DEFAULT), found[0] if found else None)
