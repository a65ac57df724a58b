"""Named checks behind /healthz, /livez and /readyz, printed as upstream prints them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs

from pybernetes.api.text import go_format
from pybernetes.lib.metrics.health_slis import HealthSlis

# A check raises, or returns a text, to say what is wrong. It may be a coroutine function.
Check = Callable[[], "str | Awaitable[str | None] | None"]
ENDPOINTS = ("healthz", "livez", "readyz")
_HEADERS = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    check: Check
    endpoints: tuple[str, ...]
    informative: bool = False


class Health:
    """The registry of checks. ``ping`` is always there, and ``shutdown`` closes the list of readyz."""

    def __init__(self) -> None:
        self._checks: list[_Named] = []
        self._stopping = False
        self._unfinished: set[str] = set()
        self.slis = HealthSlis()
        self._shutdown = _Named("shutdown", self._check_shutdown, ("readyz",))
        self.add("ping", lambda: None)

    def add(
        self, name: str, check: Check, endpoints: tuple[str, ...] = ENDPOINTS, *, informative: bool = False
    ) -> None:
        """Register a check for some of the three endpoints; an informative one tells, and fails only at its own path."""
        taken = {(existing.name, endpoint) for existing in self._checks for endpoint in existing.endpoints}
        if any((name, endpoint) in taken for endpoint in endpoints) or name == "shutdown":
            raise ValueError(f"there is a health check named {name!r} already")
        self._checks.append(_Named(name, check, endpoints, informative))

    def add_steps(self, names: Iterable[str]) -> None:
        """Register a check for each step of the start, which fails until the step is ``done``."""
        for name in names:
            self._unfinished.add(name)
            self.add(name, lambda name=name: "not finished" if name in self._unfinished else None)  # type: ignore[misc]

    def done(self, *names: str) -> None:
        """Say that steps of the start are done; ``poststarthook/`` before their names is left out."""
        for name in names:
            self._unfinished -= {name, f"poststarthook/{name}"}

    def unfinished(self, names: Iterable[str]) -> list[str]:
        """Return those of some steps that are not done yet."""
        return [name for name in names if f"poststarthook/{name}" in self._unfinished]

    def shut_down(self) -> None:
        """Make readyz fail from now on, so that balancers send no more requests."""
        self._stopping = True

    def _check_shutdown(self) -> str | None:
        return "process is shutting down" if self._stopping else None

    def checks(self, endpoint: str) -> list[str]:
        """Return the names of the checks of an endpoint, in the order in which they are printed."""
        return [check.name for check in self._of(endpoint)]

    def paths(self) -> list[str]:
        """Return every path that ``respond`` answers, for the index at ``/``."""
        below = [f"/{endpoint}/{name}" for endpoint in ENDPOINTS for name in self.checks(endpoint)]
        return sorted([f"/{endpoint}" for endpoint in ENDPOINTS] + below)

    async def respond(self, path: str, query: str = "") -> tuple[int, dict[str, str], bytes] | None:
        """Answer ``/readyz``, ``/readyz/ping`` and the like; None for a path that is no check.

        ``query`` is the raw query string.
        """
        endpoint, _, name = path.removeprefix("/").partition("/")
        if endpoint not in ENDPOINTS:
            return None
        if name:
            return await self._one(endpoint, name)
        if path.endswith("/"):
            return None
        return await self._all(endpoint, parse_qs(query, keep_blank_values=True))

    async def _one(self, endpoint: str, name: str) -> tuple[int, dict[str, str], bytes] | None:
        for check in self._of(endpoint):
            if check.name == name:
                problem = await self._run(endpoint, check)
                if problem is None:
                    return 200, {"Content-Type": _HEADERS["Content-Type"]}, b"ok"
                return 500, dict(_HEADERS), f"internal server error: {problem}\n".encode()
        return None

    async def _all(self, endpoint: str, query: dict[str, list[str]]) -> tuple[int, dict[str, str], bytes]:
        excluded = set(query.get("exclude", ()))
        unknown = set(excluded)
        lines: list[str] = []
        failed: list[str] = []
        for check in self._of(endpoint):
            if check.name in excluded:
                unknown.discard(check.name)
                lines.append(f"[+]{check.name} excluded: ok")
                continue
            problem = await self._run(endpoint, check)
            if problem is None:
                lines.append(f"[+]{check.name} ok")
            else:
                # The reason may say much of the inside; it is for the log and for the check's own path.
                lines.append(f"[-]{check.name} failed: reason withheld")
                if check.informative:
                    _log.info("%s check failed: %s: %s", endpoint, check.name, problem)
                    continue
                failed.append(f"{check.name}: {problem}")
        if unknown:
            names = ",".join(go_format.quote(name) for name in sorted(unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        if failed:
            _log.info("%s check failed: %s", endpoint, "; ".join(failed))
            return 500, dict(_HEADERS), "\n".join([*lines, f"{endpoint} check failed\n"]).encode()
        if "verbose" not in query:
            return 200, dict(_HEADERS), b"ok"
        return 200, dict(_HEADERS), "\n".join([*lines, f"{endpoint} check passed\n"]).encode()

    def _of(self, endpoint: str) -> list[_Named]:
        return [check for check in [*self._checks, self._shutdown] if endpoint in check.endpoints]

    async def _run(self, endpoint: str, named: _Named) -> str | None:
        try:
            result = named.check()
            problem = await result if inspect.isawaitable(result) else result
        except Exception as error:
            problem = str(error) or type(error).__name__
        self.slis.note(named.name, endpoint, problem is None)
        return problem
