"""Addresses and ranges of a configuration: what they mean, and whether they can be."""

from __future__ import annotations

import ipaddress
import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_SERVICE_ADDRESSES, _POD_ADDRESSES = 10, 14
_SERVICE_BITS, _MASK_DIFFERENCE = 20, 16
_BITS = re.compile(r"/[0-9]{1,3}\Z")
_PORT = re.compile(r"[0-9]{1,5}\Z")


def ranges(text: str) -> list[Network]:
    """Return the ranges between commas; ValueError if one is none: an address, and how many bits of it count."""
    parts = text.split(",")
    if not all(_BITS.search(part) for part in parts):
        raise ValueError(f"{text!r} is no range of addresses")
    return [ipaddress.ip_network(part, strict=False) for part in parts]


def indexed(text: str, index: int) -> str:
    """Return an address of the first range: the first is the API server's, the tenth that of DNS."""
    first = ranges(text)[0]
    if index >= first.num_addresses:
        raise ValueError(
            f"can't generate IP with index {index} from subnet. subnet too small. subnet: {first}"
        )
    return str(first[index])


def host_port(text: str) -> tuple[str, int | None] | None:
    """Return host and port of an endpoint that may leave the port out; None if it is none."""
    host, port = text, ""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None
        port = rest[1:]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    if port and (not _PORT.match(port) or not 1 <= int(port) <= 65535):
        return None
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if names.dns_subdomain(host):
            return None
    return host, int(port) if port else None


def joined(host: str, port: int) -> str:
    """Return host and port as one text."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def problem_with_address(text: str) -> str:
    """Return what Go says of an address that is not host and port; empty if it is."""
    rest = text.rpartition("]")[2] if text.startswith("[") else text
    if ":" not in rest:
        return f"address {text}: missing port in address" if text else "missing port in address"
    if rest.count(":") > 1 and not text.startswith("["):
        return f"address {text}: too many colons in address"
    return ""


def check(errors: Errors, configuration: Object, path: Path) -> None:
    """Collect what is wrong with the networks of a cluster."""
    networking = configuration["networking"]
    for problem in names.dns_subdomain(networking["dnsDomain"]):
        errors.invalid(path / "dnsDomain", networking["dnsDomain"], problem)
    services = networking.get("serviceSubnet")
    if services:
        _range(errors, services, _SERVICE_ADDRESSES, path / "serviceSubnet")
        for network in _parsed(services):
            bits = network.max_prefixlen - network.prefixlen
            if bits > _SERVICE_BITS:
                text = (
                    f"specified service subnet is too large; for {network.max_prefixlen}-bit addresses, the mask must be >= "
                    f"{network.max_prefixlen - _SERVICE_BITS}"
                )
                errors.invalid(path / "serviceSubnet", str(network), text)
    pods = networking.get("podSubnet")
    if pods:
        _range(errors, pods, _POD_ADDRESSES, path / "podSubnet")
        arguments = {
            argument.get("name"): argument.get("value", "")
            for argument in configuration["controllerManager"].get("extraArgs") or ()
        }
        if arguments.get("allocate-node-cidrs") != "false":
            for network in _parsed(pods):
                _node_mask(errors, network, arguments, path / "podSubnet")


def _node_mask(errors: Errors, network: Network, arguments: Object, path: Path) -> None:
    flag = f"node-cidr-mask-size-ipv{network.version}"
    given = arguments.get(flag) or ("24" if network.version == 4 else "64")
    try:
        mask = int(given)
    except ValueError:
        text = (
            f"could not parse the value of the kube-controller-manager flag {flag} as an integer: strconv.Atoi: parsing "
            f'"{given}": invalid syntax'
        )
        errors.invalid(path, str(network), text)
        return
    if network.prefixlen > mask:
        text = f"the size of pod subnet with mask {network.prefixlen} is smaller than the size of node subnet with mask {mask}"
        errors.invalid(path, str(network), text)
    elif mask - network.prefixlen > _MASK_DIFFERENCE:
        text = f"pod subnet mask ({network.prefixlen}) and node-mask ({mask}) difference is greater than {_MASK_DIFFERENCE}"
        errors.invalid(path, str(network), text)


def _parsed(text: str) -> list[Network]:
    try:
        return ranges(text)
    except ValueError:
        return []


def _range(errors: Errors, text: str, least: int, path: Path) -> None:
    networks = _parsed(text)
    if not networks:
        errors.invalid(path, text, "couldn't parse subnet")
        return
    if len(networks) > 2 or (len(networks) == 2 and networks[0].version == networks[1].version):
        errors.invalid(
            path,
            text,
            "expected one (IPv4 or IPv6) CIDR or two CIDRs from each family for dual-stack networking",
        )
    for network in networks:
        if network.num_addresses < least:
            errors.invalid(
                path,
                str(network),
                f"subnet with {network.num_addresses} address(es) is too small, the minimum is {least}",
            )
