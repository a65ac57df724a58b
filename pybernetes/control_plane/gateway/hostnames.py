"""Host names of listeners and routes, of which the first label may be a wildcard. An empty name is every host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

EVERY = "*"


def covers(pattern: str, host: str) -> bool:
    """Return whether all hosts of a name are hosts of a pattern: ``*.a`` covers ``b.a``, ``c.b.a`` and ``*.b.a``."""
    if pattern in ("", EVERY) or pattern == host:
        return True
    return (
        pattern.startswith("*.")
        and host not in ("", EVERY)
        and host.endswith(pattern[1:])
        and host != pattern
    )


def intersection(one: str, other: str) -> str | None:
    """Return the narrower of two names if one covers the other, and None if they have no host in common."""
    if covers(one, other):
        return other or EVERY
    return one if covers(other, one) else None


def common(listener: str, hosts: Sequence[str]) -> list[str]:
    """Return the names that a listener and a route have in common; a route without names has the listener's."""
    if not hosts:
        return [listener or EVERY]
    shared = (intersection(listener, host) for host in hosts)
    return list(dict.fromkeys(host for host in shared if host is not None))


def specificity(host: str) -> tuple[int, int]:
    """Return what a more specific name has more of: not being a wildcard, and characters."""
    if host in ("", EVERY):
        return 0, 0
    return (1, len(host)) if host.startswith("*.") else (2, len(host))


def wider(host: str) -> Iterable[str]:
    """Yield the names that cover a name and are not it, the narrowest first."""
    if host in ("", EVERY):
        return
    labels = host.removeprefix("*.").split(".")
    for number in range(1, len(labels)):
        yield "*." + ".".join(labels[number:])
    yield EVERY
