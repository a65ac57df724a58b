"""Durations as text: in Go's notation (1h30m), and as kubectl shows ages (3d4h).

kubectl uses this module on its fast path: it imports nothing until something is wrong.
"""

from __future__ import annotations

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LIMIT = 2**63 / 1e9  # the longest duration that Go has
_DIGITS = frozenset("0123456789.")
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def parse_duration(text: str) -> float:
    """Return the seconds of a duration in Go's notation; ValueError in Go's words if it is none."""
    sign = -1.0 if text[:1] == "-" else 1.0
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    if not rest:
        raise _error("invalid duration", text)
    total = 0.0
    while rest:
        number, rest = _split(rest, digits=True)
        unit, rest = _split(rest, digits=False)
        whole, _, part = number.partition(".")
        if not whole and part[:1] in ("", "."):
            raise _error("invalid duration", text)
        if not unit or "." in part:
            raise _error("missing unit in duration", text)
        if unit not in _UNITS:
            raise _error(f"unknown unit {_quoted(unit)} in duration", text)
        total += float(number) * _UNITS[unit]
        if total > _LIMIT:
            raise _error("invalid duration", text)
    return sign * total


def _split(text: str, *, digits: bool) -> tuple[str, str]:
    """Return the digits (or what is none) at the beginning of a text, and the rest."""
    end = 0
    while end < len(text) and (text[end] in _DIGITS) is digits:
        end += 1
    return text[:end], text[end:]


def _error(reason: str, text: str) -> ValueError:
    return ValueError(f"time: {reason} {_quoted(text)}")


def _quoted(text: str) -> str:
    from pybernetes.api.text.go_format import quote

    return quote(text)


def show_duration(seconds: float) -> str:
    """Return a duration in Go's notation."""
    if seconds == 0:
        return "0s"
    if seconds < 0:
        return f"-{show_duration(-seconds)}"
    if abs(seconds) < 1:
        for unit in ("ms", "µs", "ns"):
            if abs(seconds) >= _UNITS[unit]:
                return f"{seconds / _UNITS[unit]:g}{unit}"
    hours, rest = divmod(seconds, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    text = f"{rest:g}s"
    if hours:
        return f"{int(hours)}h{int(minutes)}m{text}"
    return f"{int(minutes)}m{text}" if minutes else text


def human_duration(seconds: float) -> str:
    """Return a duration in at most two units, as kubectl shows ages."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two_units(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two_units(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two_units(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def short_duration(seconds: float) -> str:
    """Return a duration in its largest unit alone."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    for size, name in ((_YEAR, "y"), (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if whole >= size:
            return f"{whole // size}{name}"
    return f"{max(0, whole)}s"


def _two_units(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_name}" + (f"{rest}{small_name}" if rest else "")
