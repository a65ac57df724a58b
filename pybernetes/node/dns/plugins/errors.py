"""errors { … }: writes down why a question got no answer."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from pybernetes.api.text.regular_expressions import PatternError, compile_pattern
from pybernetes.lib.clock import Clock
from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError, Line
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, seconds
from pybernetes.node.dns.query import Handler, Query

log = logging.getLogger(__name__)
_LEVELS = {"warning": logging.WARNING, "error": logging.ERROR, "info": logging.INFO, "debug": logging.DEBUG}
_LONGEST = 10_000


@dataclass(slots=True)
class _Pattern:
    """Errors of one sort: counted, and written down together."""

    pattern: Any
    text: str
    period: float
    shown_period: str
    level: int
    show_first: bool
    count: int = 0

    def note(self, clock: Clock, message: str) -> None:
        self.count += 1
        if self.count == 1:
            if self.show_first:
                log.log(self.level, message)
            clock.call_later(self.period, self._show)

    def _show(self) -> None:
        count, self.count = self.count, 0
        if count > 1 or not self.show_first:
            log.log(
                self.level, "%d errors like '%s' occurred in last %s", count, self.text, self.shown_period
            )


def setup(controller: Controller) -> Wrap:
    """Set up what is written down."""
    directive = controller.once()
    if directive.arguments and directive.arguments != ("stdout",):
        raise directive.line.problem(f"invalid log file: {directive.arguments[0]}")
    patterns: list[_Pattern] = []
    for line in directive.inner:
        if line.words[0] == "stacktrace" and len(line.words) == 1:
            continue  # an error of ours is always written with its stack
        if line.words[0] != "consolidate":
            raise CorefileError(
                f"Corefile:{line.number} - Syntax error: Unexpected token '{line.words[0]}', expecting "
                f"'Unknown field {line.words[0]}'"
            )
        patterns.append(_consolidate(line))
    clock = controller.environment.clock

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            try:
                return await following(query)
            except (OSError, TimeoutError, wire.Malformed) as error:
                cause = str(error) or "i/o timeout"
                message = f"{wire.SERVFAIL} {query.text}: {cause}"
                for pattern in patterns:
                    if pattern.pattern.search(cause):
                        pattern.note(clock, message)
                        break
                else:
                    log.error("%s", message)
                raise

        return answer

    return wrap


def _consolidate(line: Line) -> _Pattern:
    if not 3 <= len(line.words) <= 5:
        raise line.wrong_count()
    period = seconds(line, line.words[1])
    if period < 0:
        raise line.problem(f'invalid duration "{line.words[1]}"')
    text = line.words[2]
    if len(text) > _LONGEST:
        raise line.problem(f"regex pattern too long: {len(text)} > {_LONGEST}")
    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        raise line.problem(str(error)) from None
    level, show_first, has_level = logging.ERROR, False, False
    for word in line.words[3:]:
        if word == "show_first":
            show_first = True
        elif word in _LEVELS:
            if show_first:
                raise line.problem("log level must come before show_first in consolidate")
            if has_level:
                raise line.problem("multiple log levels specified in consolidate")
            level, has_level = _LEVELS[word], True
        else:
            raise line.problem(f"unknown option in consolidate: {word}")
    return _Pattern(pattern, text, period, line.words[1], level, show_first)


PLUGIN = Plugin(setup, passes_cluster_names=True)
