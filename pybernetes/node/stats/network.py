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
    """Return the interfaces of a ``net/dev`` file but loopback."""
    interfaces = []
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        words = [int(word) for word in rest.split()]
        if name.strip() != "lo" and len(words) >= 12:
            interfaces.append(Interface(name.strip(), *words[:4], *words[8:12]))
    return interfaces


def interfaces(pid: int | str = "self") -> list[Interface]:
    """Return the interfaces that a process sees; none if it is gone."""
    try:
        with open(f"/proc/{pid}/net/dev") as file:
            return parse(file.read())
    except (OSError, ValueError):
        return []


def primary_interface(interfaces: list[Interface]) -> Interface | None:
    """Return the interface that stands for a pod or machine."""
    return next(
        (interface for interface in interfaces if interface.name == _DEFAULT),
        interfaces[0] if interfaces else None,
    )
