"""Command-line flags as data, written and read as Go programs do: durations, booleans, comma-separated lists."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
# Nothing is tried twice: clients send durations, too.
_PART = re.compile(r"([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(ns|us|µs|μs|ms|s|m|h)")
# What fits into the nanoseconds of Go's durations.
_LONGEST = 2**63 / 1e9


class Seconds(float):
    """A duration in seconds: a flag with such a default is written like ``1m30s``."""


class Repeated(tuple[str, ...]):
    """Texts, one for each time that a flag is given; a flag with such a default does not part them at commas."""


def duration(text: str) -> Seconds:
    """Return the seconds of a Go duration; ValueError if it is none."""
    sign, rest = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    if rest == "0":
        return Seconds(0)
    total, position = 0.0, 0
    while match := _PART.match(rest, position):
        total += float(match.group(1)) * _UNITS[match.group(2)]
        position = match.end()
    if not rest or position != len(rest) or total >= _LONGEST:
        raise ValueError(f'invalid duration "{text}"')
    return Seconds(sign * total)


def boolean(text: str) -> bool:
    """Read what Go's flags take for true and false; ValueError for anything else."""
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError(f'invalid boolean value "{text}"')


def strings(text: str) -> tuple[str, ...]:
    """Return the parts between commas."""
    return tuple(text.split(",")) if text else ()


@dataclass(frozen=True)
class Flag:
    """One flag. The default says what it takes: a bool, int, float, str, ``Seconds`` or a tuple of strings.

    Tuples grow when the flag is given again.
    """

    name: str
    default: Any
    help: str = ""

    @property
    def attribute(self) -> str:
        """Its name among parsed options."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Ignored(Flag):
    """A flag of upstream's that is taken and changes nothing here, because of what ``help`` says."""


@dataclass(frozen=True)
class Fixed(Flag):
    """A flag of upstream's of which only the default, or one of ``others``, is true here; ``help`` says why."""

    others: tuple[Any, ...] = ()

    def check(self, value: Any) -> None:
        """Raise ValueError for any other value."""
        if value != self.default and value not in self.others:
            raise ValueError(f"--{self.name}: {value!r} is not supported: {self.help}")


@dataclass(frozen=True)
class Refused(Flag):
    """A flag of upstream's that is known and not taken, because of what ``help`` says."""

    default: Any = None


def check(arguments: argparse.Namespace, flags: Iterable[Flag]) -> None:
    """Refuse values that are not true here, and say of flags that change nothing that they do not."""
    for flag in flags:
        value = getattr(arguments, flag.attribute, flag.default)
        if isinstance(flag, Fixed):
            flag.check(value)
        elif isinstance(flag, Ignored) and value != flag.default:
            log.warning("the flag --%s changes nothing here: %s", flag.name, flag.help)


class _Refuse(argparse.Action):
    """Ends the program with the reason."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        parser.error(f"{option} is not supported: {self.metavar}")


class _Growing(argparse.Action):
    """The first use of a flag replaces its default, further ones add to it."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        given: Sequence[str] = getattr(namespace, self.dest)
        setattr(namespace, self.dest, values if given is self.default else (*given, *values))


def add(parser: Any, flags: Iterable[Flag]) -> None:
    """Add flags to an argument parser or to a group of one."""
    for flag in flags:
        if isinstance(flag, Refused):
            parser.add_argument(
                f"--{flag.name}",
                action=_Refuse,
                nargs="?",
                metavar=flag.help,
                help=argparse.SUPPRESS,
                default=argparse.SUPPRESS,
            )
            continue
        options: dict[str, Any] = {"dest": flag.attribute, "default": flag.default, "help": flag.help}
        if isinstance(flag.default, bool):
            options |= {"type": boolean, "nargs": "?", "const": True}
        elif isinstance(flag.default, Seconds):
            options |= {"type": duration, "metavar": "DURATION"}
        elif isinstance(flag.default, tuple):
            split = (lambda text: (text,)) if isinstance(flag.default, Repeated) else strings
            options |= {"type": split, "action": _Growing, "metavar": "STRINGS"}
        else:
            options |= {"type": type(flag.default)}
        parser.add_argument(f"--{flag.name}", **options)


_LOG = "the log is plain text on stderr, line by line"
# Flags that programs in Go have for their log, and why they change nothing.
LOG_FLAGS = dict.fromkeys(
    ("log-flush-frequency", "log-json-info-buffer-size", "log-json-split-stream", "log-text-info-buffer-size",
     "log-text-split-stream", "logging-format", "logtostderr", "vmodule"), _LOG,
)  # fmt: skip
HTTP1 = "connections speak HTTP/1.1, which carries one request at a time"
# The same for what they serve with.
SERVING_FLAGS = {
    "contention-profiling": "one thread has the interpreter at a time: there is no contention to show",
    "disable-http2-serving": HTTP1,
    "http2-max-streams-per-connection": HTTP1,
    "permit-address-sharing": "an address has one server",
    "permit-port-sharing": "a port has one server",
}


def add_ignored(parser: argparse.ArgumentParser, reasons: Mapping[str, str]) -> None:
    """Add flags that Kubernetes has and that mean nothing here, each with its reason: with or without a value."""
    ignored = parser.add_argument_group("accepted and ignored")
    for name, reason in reasons.items():
        ignored.add_argument(f"--{name}", nargs="?", const="true", metavar=reason, help=argparse.SUPPRESS)


def warn_ignored(arguments: argparse.Namespace, reasons: Mapping[str, str]) -> None:
    """Say of each given flag that means nothing here that it does, and why."""
    for name, reason in reasons.items():
        if getattr(arguments, name.replace("-", "_")) is not None:
            log.warning("the flag --%s changes nothing here: %s", name, reason)


def parser(program: str, summary: str, flags: Iterable[Flag]) -> argparse.ArgumentParser:
    """Return the parser of a program that takes these flags and nothing else."""
    result = argparse.ArgumentParser(prog=program, description=summary, allow_abbrev=False)
    add(result, flags)
    return result


def defaults(flags: Iterable[Flag], **changes: Any) -> argparse.Namespace:
    """Return the options as they are when nothing is said, but for the changes."""
    values = {flag.attribute: flag.default for flag in flags}
    unknown = changes.keys() - values.keys()
    if unknown:
        raise TypeError(f"there is no flag for {', '.join(sorted(unknown))}")
    return argparse.Namespace(**{**values, **changes})
