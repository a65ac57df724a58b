"""IP addresses and CIDRs: strict for newer fields, as forgiving as Kubernetes is for older ones."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Container

from pybernetes.api.field import Errors, Path
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks
from pybernetes.lib.memory.bounded_cache import bounded_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_LEADING_ZEROS = re.compile(r"(^|(?<=[.:]))0+(?=\d+\.|\d+\Z)")
_DOTTED = re.compile(r"\d+\.\d+\.\d+\.\d+\Z")
BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
BAD_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def _parse(text: str) -> Address | None:
    if "%" in text or "/" in text:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@bounded_cache()
def parse_sloppy(text: str) -> Address | None:
    """Return the address, also with leading zeros; one that is IPv4 written as IPv6 counts as IPv4."""
    address = _parse(text)
    if address is None and (dotted := _DOTTED.search(text)):
        address = _parse(text[: dotted.start()] + _LEADING_ZEROS.sub("", dotted.group()))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _is_mapped(text: str) -> bool:
    address = _parse(text)
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


@bounded_cache()
def _ip_problems(text: str) -> tuple[str, ...]:
    if parse_sloppy(text) is None:
        return (BAD_IP,)
    if _parse(text) is None:
        return ("must not have leading 0s",)
    return ("must not be an IPv4-mapped IPv6 address",) if _is_mapped(text) else ()


def legacy_ip(text: str, path: Path, errors: Errors, old: Container[str] = ()) -> None:
    """Check an address in a field that may hold it in any spelling; what was there before is kept."""
    if text not in old:
        checks.name(_ip_problems, text, path, errors)


def strict_ip(text: str, path: Path, errors: Errors) -> None:
    """Check an address that must be in its canonical spelling."""
    _strict(_ip_problems, parse_sloppy, text, path, errors)


def _strict(
    check: Callable[[str], tuple[str, ...]],
    parse: Callable[[str], object],
    text: str,
    path: Path,
    errors: Errors,
) -> None:
    problems = check(text)
    for problem in problems:
        errors.invalid(path, text, problem)
    if not problems and text != (canonical := str(parse(text))):
        errors.invalid(path, text, f"must be in canonical form ({go_format.quote(canonical)})")


@bounded_cache()
def parse_cidr_sloppy(text: str) -> Network | None:
    """Return the network of a CIDR, also with leading zeros and with bits set beyond the prefix."""
    host, slash, length = text.partition("/")
    address = parse_sloppy(host)
    if not slash or address is None or not length.isascii() or not length.isdigit():
        return None
    bits = int(length)
    if _is_mapped(host):
        bits -= 96
    if not 0 <= bits <= address.max_prefixlen:
        return None
    return ipaddress.ip_network(f"{address}/{bits}", strict=False)


@bounded_cache()
def _cidr_problems(text: str) -> tuple[str, ...]:
    network = parse_cidr_sloppy(text)
    if network is None:
        return (BAD_CIDR,)
    host, _, length = text.partition("/")
    if _parse(host) is None or (len(length) > 1 and length[0] == "0"):
        return ("must not have leading 0s in IP or prefix length",)
    if _is_mapped(host):
        return ("must not have an IPv4-mapped IPv6 address",)
    if parse_sloppy(host) != network.network_address:
        return ("must not have bits set beyond the prefix length",)
    return ()


def legacy_cidr(text: str, path: Path, errors: Errors, old: Container[str] = ()) -> None:
    """Check a CIDR in a field that may hold it in any spelling; what was there before is kept."""
    if text not in old:
        checks.name(_cidr_problems, text, path, errors)


def strict_cidr(text: str, path: Path, errors: Errors) -> None:
    """Check a CIDR that must be in its canonical spelling."""
    _strict(_cidr_problems, parse_cidr_sloppy, text, path, errors)


def endpoint_ip(text: str, path: Path, errors: Errors) -> None:
    """Check that an address can be the end of a connection from elsewhere."""
    address = parse_sloppy(text)
    if address is None:
        errors.invalid(path, text, "must be a valid IP address")
        return
    if address.is_unspecified:
        errors.invalid(path, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        errors.invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        errors.invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if _is_link_local_multicast(address):
        errors.invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def _is_link_local_multicast(address: Address) -> bool:
    packed = address.packed
    if address.version == 4:
        return packed[:3] == b"\xe0\x00\x00"
    return packed[0] == 0xFF and packed[1] & 0x0F == 2


def ip_warnings(text: str, path: Path) -> list[str]:
    """Warn about an address that is in an unusual spelling."""
    address = parse_sloppy(text)
    if address is None:
        return []
    if _ip_problems(text):
        return [
            f"{path}: non-standard IP address {go_format.quote(text)} is invalid: use {go_format.quote(str(address))}"
        ]
    if address.version == 6 and str(address) != text:
        canonical = go_format.quote(str(address))
        return [
            f"{path}: IPv6 address {go_format.quote(text)} should be in RFC 5952 canonical format ({canonical})"
        ]
    return []


def cidr_warnings(text: str, path: Path) -> list[str]:
    """Warn about a CIDR that is in an unusual spelling."""
    network = parse_cidr_sloppy(text)
    if network is None:
        return []
    host = text.partition("/")[0]
    address = parse_sloppy(host)
    messages = []
    quoted, canonical = go_format.quote(text), go_format.quote(str(network))
    if address is not None and address != network.network_address:
        single = go_format.quote(f"{address}/{address.max_prefixlen}")
        messages.append(
            f"{path}: CIDR value {quoted} is ambiguous in this context (should be {canonical} or {single}?)"
        )
    if any("leading 0s" in problem or "mapped" in problem for problem in _cidr_problems(text)):
        messages.append(f"{path}: non-standard CIDR value {quoted} is invalid: use {canonical}")
    if not messages and network.version == 6 and str(network) != text:
        messages.append(
            f"{path}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({canonical})"
        )
    return messages
