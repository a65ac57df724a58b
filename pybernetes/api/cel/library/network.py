"""URLs, addresses and networks."""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.runtime import Failure, succeeds
from pybernetes.api.text import go_format

LIBRARY = Library()
_method, _function = LIBRARY.method, LIBRARY.function
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")


class Url:
    """A parsed URL."""

    cel_name = "kubernetes.URL"
    __slots__ = ("parts", "text")

    def __init__(self, text: str) -> None:
        self.text, self.parts = text, urlsplit(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def url_problem(text: str) -> str:
    """Return what Go says of a text that is no absolute URL or path; nothing if it is one."""
    start = f"parse {go_format.quote(text)}: "
    if not text:
        return start + "empty url"
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        return start + "net/url: invalid control character in URL"
    if not text.startswith("/") and not _SCHEME.match(text):
        if ":" in text.partition("/")[0]:
            return start + "first path segment in URL cannot contain colon"
        return start + "invalid URI for request"
    rest = text if text.startswith("/") else text.partition(":")[2]
    if not rest.startswith("/"):
        return start + "invalid URI for request"
    bad = _ESCAPE.search(rest)
    if bad:
        return f"{start}invalid URL escape {go_format.quote(rest[bad.start() : bad.start() + 3])}"
    if rest.startswith("//"):
        host = rest[2:].partition("/")[0].partition("?")[0]
        if " " in host:
            return start + 'invalid character " " in host name'
        port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
        if port and not port.isdigit():
            return f"{start}invalid port {go_format.quote(':' + port)} after host"
    try:
        urlsplit(text)
    except ValueError as error:
        return start + str(error)
    return ""


def _url(text: str) -> Url:
    problem = url_problem(text)
    if problem:
        raise Failure(f"URL parse error during conversion from string: {problem}")
    return Url(text)


def _host(url: Url) -> str:
    return url.parts.netloc.rpartition("@")[2]


def _hostname(url: Url) -> str:
    host = _host(url)
    return (
        host[1:].partition("]")[0]
        if host.startswith("[")
        else host.rpartition(":")[0] or host
        if ":" in host
        else host
    )


def _port(url: Url) -> str:
    tail = _host(url).rpartition("]")[2]
    return tail.rpartition(":")[2] if ":" in tail else ""


def _path(url: Url) -> str:
    path = url.parts.path
    return (
        path
        if path == quote(unquote(path), safe="/%:@!$&'()*+,;=~")
        else quote(path, safe="/%:@!$&'()*+,;=~")
    )


_function("url", "string_to_url", "string -> kubernetes.URL", _url)
_function("isURL", "is_url_string", "string -> bool", lambda text: not url_problem(text))
_method("getScheme", "url_get_scheme", "kubernetes.URL -> string", lambda url: url.parts.scheme)
_method("getHost", "url_get_host", "kubernetes.URL -> string", _host)
_method("getHostname", "url_get_hostname", "kubernetes.URL -> string", _hostname)
_method("getPort", "url_get_port", "kubernetes.URL -> string", _port)
_method("getEscapedPath", "url_get_escaped_path", "kubernetes.URL -> string", _path)
_method(
    "getQuery",
    "url_get_query",
    "kubernetes.URL -> map(string,list(string))",
    lambda url: parse_qs(url.parts.query, keep_blank_values=True),
)

Address = Any


class Ip:
    """An address."""

    cel_name = "net.IP"
    __slots__ = ("address",)

    def __init__(self, address: Address) -> None:
        self.address = address

    def cel_size(self) -> int:
        """Return how many bytes it has."""
        return 4 if self.address.version == 4 else 16

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ip) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    def __str__(self) -> str:
        return str(self.address)


class Cidr:
    """A network, with the address that it was written with."""

    cel_name = "net.CIDR"
    __slots__ = ("interface",)

    def __init__(self, interface: Any) -> None:
        self.interface = interface

    def cel_size(self) -> int:
        """Return how many bytes of an address its prefix takes."""
        return -(-self.interface.network.prefixlen // 8)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cidr) and self.interface == other.interface

    def __hash__(self) -> int:
        return hash(self.interface)

    def __str__(self) -> str:
        return str(self.interface)


def _parse_ip(text: str) -> Address:
    if "%" in text:
        raise Failure(f"IP address {go_format.quote(text)} with zone value is not allowed")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        why = f"ParseAddr({go_format.quote(text)}): unable to parse IP"
        raise Failure(
            f"IP Address {go_format.quote(text)} parse error during conversion from string: {why}"
        ) from None
    if address.version == 6 and address.ipv4_mapped is not None:
        raise Failure(f"IPv4-mapped IPv6 address {go_format.quote(text)} is not allowed")
    return address


def _parse_cidr(text: str) -> Any:
    address, slash, bits = text.partition("/")
    start = "network address parse error during conversion from string: netip.ParsePrefix"
    if not slash:
        raise Failure(f"{start}({go_format.quote(text)}): no '/'")
    if not bits.isdecimal() or (len(bits) > 1 and bits[0] == "0"):
        raise Failure(f"{start}({go_format.quote(text)}): bad bits after slash: {go_format.quote(bits)}")
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError:
        raise Failure(
            f"{start}({go_format.quote(text)}): ParseAddr({go_format.quote(address)}): unable to parse IP"
        ) from None
    if interface.version == 6 and interface.ip.ipv4_mapped is not None:
        raise Failure(f"IPv4-mapped IPv6 address {go_format.quote(text)} is not allowed")
    return interface


def _global_unicast(ip: Ip) -> bool:
    address = ip.address
    broadcast = address.version == 4 and int(address) == 2**32 - 1
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
        or broadcast
    )


def _contains_cidr(outer: Cidr, inner: Cidr) -> bool:
    a, b = outer.interface.network, inner.interface.network
    return a.version == b.version and a.prefixlen <= b.prefixlen and b.subnet_of(a)


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return ip.address.version == cidr.interface.version and ip.address in cidr.interface.network


def _multicast_local(ip: Ip) -> bool:
    address = ip.address
    if address.version == 4:
        return address in ipaddress.ip_network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


_function("ip", "string_to_ip", "string -> net.IP", lambda text: Ip(_parse_ip(text)))
_function("isIP", "is_ip", "string -> bool", succeeds(_parse_ip, Failure))
_function("ip.isCanonical", "ip_is_canonical", "string -> bool", lambda text: str(_parse_ip(text)) == text)
_method("family", "ip_family", "net.IP -> int", lambda ip: ip.address.version)
_method("isUnspecified", "ip_is_unspecified", "net.IP -> bool", lambda ip: ip.address.is_unspecified)
_method("isLoopback", "ip_is_loopback", "net.IP -> bool", lambda ip: ip.address.is_loopback)
_method("isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP -> bool", _multicast_local)
_method(
    "isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP -> bool", lambda ip: ip.address.is_link_local
)
_method("isGlobalUnicast", "ip_is_global_unicast", "net.IP -> bool", _global_unicast)
_function("string", "ip_to_string", "net.IP -> string", str)
_function("cidr", "string_to_cidr", "string -> net.CIDR", lambda text: Cidr(_parse_cidr(text)))
_function("isCIDR", "is_cidr", "string -> bool", succeeds(_parse_cidr, Failure))
_method(
    "containsIP",
    "cidr_contains_ip_string",
    "net.CIDR string -> bool",
    lambda cidr, text: _contains_ip(cidr, Ip(_parse_ip(text))),
)
_method("containsIP", "cidr_contains_ip_ip", "net.CIDR net.IP -> bool", _contains_ip)
_method(
    "containsCIDR",
    "cidr_contains_cidr_string",
    "net.CIDR string -> bool",
    lambda cidr, text: _contains_cidr(cidr, Cidr(_parse_cidr(text))),
)
_method("containsCIDR", "cidr_contains_cidr", "net.CIDR net.CIDR -> bool", _contains_cidr)
_method("ip", "cidr_ip", "net.CIDR -> net.IP", lambda cidr: Ip(cidr.interface.ip))
_method(
    "prefixLength", "cidr_prefix_length", "net.CIDR -> int", lambda cidr: cidr.interface.network.prefixlen
)
_method(
    "masked",
    "cidr_masked",
    "net.CIDR -> net.CIDR",
    lambda cidr: Cidr(ipaddress.ip_interface(cidr.interface.network)),
)
_function("string", "cidr_to_string", "net.CIDR -> string", str)
