"""Checks of probes and lifecycle handlers."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, numbers

_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def _exec(action: Object, grace: int, path: Path, errors: Errors) -> None:
    if not action.get("command"):
        errors.required(path / "command")


def _http_get(action: Object, grace: int, path: Path, errors: Errors) -> None:
    if not action.get("path"):
        errors.required(path / "path")
    checks.port_or_name(action.get("port", 0), path / "port", errors)
    checks.one_of(action.get("scheme", ""), ("HTTP", "HTTPS"), path / "scheme", errors)
    for header in action.get("httpHeaders", ()):
        checks.http_header(header.get("name", ""), path / "httpHeaders", errors)


def _port(action: Object, grace: int, path: Path, errors: Errors) -> None:
    checks.port_or_name(action.get("port", 0), path / "port", errors)


def _sleep(action: Object, grace: int, path: Path, errors: Errors) -> None:
    seconds = action.get("seconds", 0)
    if not 0 <= seconds <= grace:
        text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        errors.invalid(path, seconds, text)


_HANDLERS = {"exec": _exec, "httpGet": _http_get, "tcpSocket": _port, "grpc": _port, "sleep": _sleep}


def _handler(handler: Object, grace: int, path: Path, errors: Errors) -> None:
    has_handler = False
    for key, check in _HANDLERS.items():
        if key in handler:
            if has_handler:
                errors.forbidden(path / key, "may not specify more than 1 handler type")
            else:
                check(handler[key], grace, path / key, errors)
            has_handler = True
    if not has_handler:
        errors.required(path, "must specify a handler type")


def validate_probe(probe: Object, kind: str, grace: int, path: Path, errors: Errors) -> None:
    """Check one probe; ``kind`` is the field that holds it."""
    _handler(probe, grace, path, errors)
    for key in _NUMBERS:
        if probe.get(key, 0) < 0:
            numbers.nonnegative(probe[key], path / key, errors)
    seconds = probe.get("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        errors.invalid(path / "terminationGracePeriodSeconds", seconds, "must be greater than 0")
    if kind == "readinessProbe":
        if seconds is not None:
            text = "must not be set for readinessProbes"
            errors.invalid(path / "terminationGracePeriodSeconds", seconds, text)
    elif probe.get("successThreshold", 0) != 1:
        errors.invalid(path / "successThreshold", probe.get("successThreshold", 0), "must be 1")


def validate_lifecycle(lifecycle: Object, grace: int, path: Path, errors: Errors) -> None:
    """Check what runs after the start and before the stop."""
    for key in ("postStart", "preStop"):
        if key in lifecycle:
            _handler(lifecycle[key], grace, path / key, errors)
