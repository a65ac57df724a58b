"""What ``-v=6`` and more print of requests and answers. Credentials are masked."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LEVEL = 6  # from which on there is something to print
_SCHEMES = ("bearer", "basic", "negotiate")
_LIMITS = {8: 1024, 9: 10240}


def request(method: str, url: str, headers: Iterable[tuple[str, str]]) -> None:
    """Print a request before it is sent."""
    if log.level < 7:
        return
    masked = [(name, _masked(name, value)) for name, value in headers]
    if log.level >= 9:
        given = "".join(f" -H {quoted(f'{name}: {value}')}" for name, value in masked)
        pairs: dict[str, Any] = {"curlCommand": f"curl -v -X{method} {given} '{url}'\n"}
    else:
        pairs = {"verb": method, "url": url, "headers": _text(masked)}
    _line("round_trippers.go:527", "Request", pairs, 7)


def dialled(address: str) -> None:
    """Print that a connection was opened."""
    _line("round_trippers.go:562", "HTTP Trace: Dial succeed", {"network": "tcp", "address": address}, 9)


def answer(
    method: str,
    url: str,
    status: str,
    headers: Iterable[tuple[str, str]],
    seconds: float,
    opening: tuple[float, float, float] | None,
) -> None:
    """Print an answer; ``opening`` are the seconds of lookup, dial and handshake of a new connection."""
    level = log.level
    pairs: dict[str, Any] = {}
    if level == 6 or level >= 9:
        pairs.update(verb=method, url=url)
    pairs["status"] = status
    if level >= 8:
        pairs["headers"] = _text([(name, _masked(name, value)) for name, value in headers])
    milliseconds = int(seconds * 1000)
    pairs["milliseconds"] = milliseconds
    if level >= 9 and not status:
        steps = ("dnsLookupMilliseconds", "dialMilliseconds", "tlsHandshakeMilliseconds")
        pairs.update(dict.fromkeys(steps, 0))
    elif level >= 9:
        if opening is None:
            pairs["getConnectionMilliseconds"] = 0  # it was there
        else:
            steps = ("dnsLookupMilliseconds", "dialMilliseconds", "tlsHandshakeMilliseconds")
            pairs.update((step, int(took * 1000)) for step, took in zip(steps, opening, strict=True))
        pairs["serverProcessingMilliseconds"] = int((seconds - sum(opening or ())) * 1000)
    _line("round_trippers.go:632", "Response", pairs, LEVEL)


def failed(method: str, url: str, reason: str, address: str, seconds: float) -> None:
    """Print that there is no answer to a request."""
    if reason.startswith("dial "):
        _line(
            "round_trippers.go:560",
            "HTTP Trace: Dial failed",
            {"network": "tcp", "address": address, "err": reason},
            9,
        )
    answer(method, url, "", (), seconds, (0.0, 0.0, 0.0))


def body(what: str, data: bytes) -> None:
    """Print the body of a request or of an answer."""
    if log.level < 8:
        return
    text = data.decode("utf-8", "replace")
    limit = _LIMITS.get(log.level)
    if limit is not None and len(text) > limit:
        text = f"{text[:limit]} [truncated {len(text) - limit} chars]"
    _line("request.go:1208", f"{what} Body", {"body": text}, 8)


def _line(source: str, message: str, pairs: dict[str, Any], at: int) -> None:
    log.line(source, f'"{message}"' + "".join(f" {key}={_value(value)}" for key, value in pairs.items()), at)


def _value(value: Any) -> str:
    if not isinstance(value, str):
        return str(value)
    if "\n" not in value:
        return quoted(value)
    lines = value.removesuffix("\n").split("\n")
    return "<\n" + "".join(f"\t{line}\n" for line in lines) + " >"


def _text(headers: list[tuple[str, str]]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in sorted(headers))


def _masked(name: str, value: str) -> str:
    if name.lower() != "authorization" or not value:
        return value
    scheme, space, _ = value.partition(" ")
    if scheme.lower() not in _SCHEMES:
        return "<masked>"
    return f"{scheme} <masked>" if space else scheme
