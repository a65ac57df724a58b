"""A node with six pods and somebody outside, as network namespaces, between which packets are sent by hand."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from tests.node.proxy.namespaces import command, inside

OUTSIDE = ("192.0.2.1", "2001:db8::1")
NODE = ("192.0.2.254", "2001:db8::fe")
PROTOCOLS = {"tcp": 6, "udp": 17, "sctp": 132}
_OPTIONS, _FRAGMENT = 60, 44  # headers of IPv6 that may come before that of the protocol; ours have 8 bytes
_GATEWAYS = ("10.0.0.254", "fd00::fe")
_ALL, _OUTGOING = 3, 4


class Sent(NamedTuple):
    """A packet: the number tells it from all others."""

    source: str
    destination: str
    protocol: str
    port: int
    number: int


def addresses(pod: int) -> tuple[str, str]:
    return f"10.0.0.{pod + 1}", f"fd00::{pod + 1}"


def datagram(sent: Sent, length: int = 8) -> bytes:
    """Return what comes after the address header."""
    ports = struct.pack("!HH", sent.number, sent.port)
    if sent.protocol == "tcp":
        return ports + struct.pack("!IIBBHHH", 1, 0, 5 << 4, 2, 1024, 0, 0)
    if sent.protocol == "udp":
        return ports + struct.pack("!HH", length, 0) + bytes(length - 8)
    return ports + struct.pack("!II", 0, 0) + struct.pack("!BBHIIHHI", 1, 0, 20, 7, 1024, 1, 1, 9)


def header(sent: Sent, length: int, offset: int = 0, more: bool = False) -> bytes:
    """Return the address header of a packet, or of a fragment of one."""
    source, destination = ip_address(sent.source).packed, ip_address(sent.destination).packed
    protocol = PROTOCOLS[sent.protocol]
    if len(source) == 16:
        return struct.pack("!IHBB", 6 << 28, length, protocol, 64) + source + destination
    flags = (0x2000 if more else 0) | offset >> 3
    return (
        struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, sent.number, flags, 64, protocol, 0)
        + source
        + destination
    )


def parse(packet: bytes) -> tuple[str, str, int, int, int] | None:
    """Return addresses, protocol, port and number of a packet that came."""
    if packet[:1] and packet[0] >> 4 == 4:
        source, destination, protocol, rest = packet[12:16], packet[16:20], packet[9], packet[20:]
    else:
        source, destination, protocol, rest = (
            packet[8:24],
            packet[24:40],
            packet[6:7][0] if packet[6:7] else 0,
            packet[40:],
        )
        while protocol in (_OPTIONS, _FRAGMENT) and len(rest) >= 8:
            protocol, rest = rest[0], rest[8:]
    if protocol not in PROTOCOLS.values() or len(rest) < 4:
        return None
    number, port = struct.unpack_from("!HH", rest)
    return str(ip_address(source)), str(ip_address(destination)), protocol, port, number


class World:
    """The namespaces: ``node``, ``outside`` and the pods by number."""

    def __init__(self) -> None:
        self.prefix = f"policytest{os.getpid()}"
        self._senders: dict[tuple[int | str, int], socket.socket] = {}
        self._receivers: dict[int | str, socket.socket] = {}
        self._number = 1024

    def name(self, who: int | str) -> str:
        return f"{self.prefix}-{who}"

    def __enter__(self) -> World:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self) -> None:
        node = ("ip", "-netns", self.name("node"))
        self._add("node")
        for version, setting in ((4, "net.ipv4.ip_forward"), (6, "net.ipv6.conf.all.forwarding")):
            command("ip", "netns", "exec", self.name("node"), "sysctl", "-qw", f"{setting}=1")
            del version
        for pod in range(6):
            self._add(pod, f"veth{pod}", addresses(pod), _GATEWAYS)
            for address in addresses(pod):
                command(*node, "route", "add", address, "dev", f"veth{pod}")
        self._add("outside", "eth0", OUTSIDE, NODE)
        for address in OUTSIDE:
            command(*node, "route", "add", address, "dev", "eth0")
        for who in (*range(6), "outside"):
            with inside(self.name(who)):
                for family, number in ((socket.AF_INET, 4), (socket.AF_INET6, 6)):
                    self._senders[who, number] = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW)
                receiver = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL))
                receiver.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
                receiver.setblocking(False)
                self._receivers[who] = receiver

    def _add(
        self, who: int | str, link: str = "", own: Iterable[str] = (), gateways: Iterable[str] = ()
    ) -> None:
        command("ip", "netns", "add", self.name(who))
        inner = ("ip", "-netns", self.name(who))
        command(*inner, "link", "set", "lo", "up")
        if not link:
            return
        node = ("ip", "-netns", self.name("node"))
        command(*node, "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", self.name(who))
        command(*node, "link", "set", link, "up")
        command(*inner, "link", "set", "eth0", "up")
        for address, gateway in zip(own, gateways, strict=True):
            width = "128" if ":" in address else "32"
            nodad = ("nodad",) if ":" in address else ()
            command(*inner, "address", "add", f"{address}/{width}", "dev", "eth0", *nodad)
            command(*node, "address", "add", f"{gateway}/{width}", "dev", link, *nodad)
            command(*inner, "route", "add", gateway, "dev", "eth0")
            command(*inner, "route", "add", "default", "via", gateway)

    def __exit__(self, *error: object) -> None:
        for opened in (*self._senders.values(), *self._receivers.values()):
            opened.close()
        for who in ("node", "outside", *range(6)):
            subprocess.run(["ip", "netns", "delete", self.name(who)], capture_output=True)

    def nft(self, text: str) -> None:
        """Have the node's packet filter do something."""
        done = subprocess.run(
            ["ip", "netns", "exec", self.name("node"), "nft", "-f", "-"],
            input=text,
            text=True,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr

    # -- packets -----------------------------------------------------------------------------------------

    def packet(self, source: str, destination: str, protocol: str, port: int) -> Sent:
        self._number = self._number % 60000 + 1024 if self._number >= 60000 else self._number + 1
        return Sent(source, destination, protocol, port, self._number)

    def send(self, who: int | str, sent: Sent) -> None:
        """Send a packet as it is, whatever addresses it has."""
        self.send_raw(who, sent, header(sent, len(datagram(sent))) + datagram(sent))

    def send_raw(self, who: int | str, sent: Sent, packet: bytes) -> None:
        version = 6 if ":" in sent.destination else 4
        with contextlib.suppress(OSError):
            self._senders[who, version].sendto(packet, (sent.destination, 0))

    def send_behind_options(self, who: int | str, sent: Sent) -> None:
        """Send a packet of IPv6 whose ports come after a header of padding."""
        padding = struct.pack("!BBBB4x", PROTOCOLS[sent.protocol], 0, 1, 4)
        whole = padding + datagram(sent)
        start = header(sent, len(whole))
        self.send_raw(who, sent, start[:6] + bytes([_OPTIONS]) + start[7:] + whole)

    def send_fragments(self, who: int | str, sent: Sent) -> None:
        """Send a datagram of UDP in two parts: only the first has its ports."""
        whole = datagram(sent, 64)
        if ":" in sent.destination:
            for part, offset in ((whole[:16], 1), (whole[16:], 16)):  # the number 1 says that there are more
                fragment = struct.pack("!BBHI", PROTOCOLS[sent.protocol], 0, offset, sent.number) + part
                start = header(sent, len(fragment))
                self.send_raw(who, sent, start[:6] + bytes([_FRAGMENT]) + start[7:] + fragment)
            return
        self.send_raw(who, sent, header(sent, 16, more=True) + whole[:16])
        self.send_raw(who, sent, header(sent, len(whole) - 16, offset=16) + whole[16:])

    def arrivals(self, wanted: set[int], seconds: float = 10.0) -> set[tuple[int | str, int]]:
        """Return who got which number: waits for all that are wanted, and for whatever came with them."""
        came: set[tuple[int | str, int]] = set()
        end = time.monotonic() + seconds
        by_descriptor = {receiver.fileno(): who for who, receiver in self._receivers.items()}
        while True:
            missing = wanted - {number for _, number in came}
            wait = max(0.0, end - time.monotonic()) if missing else 0.05
            ready, _, _ = select.select(list(by_descriptor), [], [], wait)
            if not ready:
                return came
            for descriptor in ready:
                who = by_descriptor[descriptor]
                with contextlib.suppress(BlockingIOError):
                    while True:
                        packet, about = self._receivers[who].recvfrom(2048)
                        parsed = parse(packet) if about[2] != _OUTGOING else None
                        if parsed is not None:
                            came.add((who, parsed[4]))
