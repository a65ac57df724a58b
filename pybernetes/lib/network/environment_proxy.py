"""Which proxy the environment names for a server, by the rules of Go's programs: ``HTTPS_PROXY``, ``NO_PROXY``."""

from __future__ import annotations

from collections.abc import Mapping


def proxy_of(environment: Mapping[str, str], scheme: str, host: str, port: int) -> str:
    """Return the address of the proxy that a server is reached by; empty if it is reached directly."""
    name = "https_proxy" if scheme == "https" else "http_proxy"
    proxy = environment.get(name.upper()) or environment.get(name) or ""
    if not proxy or is_direct(host, port, environment.get("NO_PROXY") or environment.get("no_proxy") or ""):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme, _, rest = proxy.partition("://")
    if not scheme.replace("+", "").replace("-", "").replace(".", "").isalnum() or set(rest) & set(' <>"'):
        return ""  # no address: as if it were not set
    return proxy


def is_direct(host: str, port: int, exceptions: str) -> bool:
    """Return whether a host is reached without a proxy: this machine, and what ``NO_PROXY`` names."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return True
    return any(_names(exception.strip().lower(), host, port) for exception in exceptions.split(","))


def _names(exception: str, host: str, port: int) -> bool:
    if exception == "*":
        return True
    name, colon, number = exception.rpartition(":") if exception.count(":") == 1 else (exception, "", "")
    if not name or (colon and number != str(port)):
        return False
    if "/" in name:
        import ipaddress

        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(name, strict=False)
        except ValueError:
            return False
    name = name.removeprefix("*")
    if host == name.lstrip(".") and not name.startswith("."):
        return True
    return host.endswith(name if name.startswith(".") else f".{name}")
