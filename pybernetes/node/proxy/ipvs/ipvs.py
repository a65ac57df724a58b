"""The mode ipvs: has the kernel's virtual servers, sets and rules match what ServicePorts ask for."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.lib.processes.commands import CommandError, MissingProgram, run
from pybernetes.node.proxy.backend import Settings, SyncError
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.iptables import iptables
from pybernetes.node.proxy.ipvs import rules, sets
from pybernetes.node.proxy.ipvs.ending import CHECK_SECONDS, Ending, finished, may_go
from pybernetes.node.proxy.ipvs.plan import Desired, Plan, Present, Touched, carried_out
from pybernetes.node.proxy.ipvs.virtual_servers import (
    DEFAULT_SCHEDULER,
    LINK,
    NOTHING,
    Address,
    RealServer,
    wanted,
)
from pybernetes.node.proxy.node_port_addresses import node_port_ips
from pybernetes.node.proxy.service_port import ServicePort

if TYPE_CHECKING:
    from pybernetes.node.proxy.ipvs.kernel import Kernel

log = logging.getLogger(__name__)
_SYSCTL = Path("/proc/sys/net/ipv4")
_REUSE_MENDED = (5, 9)  # the kernel from which reusing a client's port needs no setting


class Ipvs:
    """The mode for one address family: remembers what is in the kernel and changes what differs."""

    def __init__(self, settings: Settings, family: int, clock: Clock | None = None) -> None:
        self.settings, self.family = settings, family
        self._options = settings.options
        self._scheduler = str(self._options.get("scheduler") or DEFAULT_SCHEDULER)
        self._clock = clock or Clock()
        self._kernel: Kernel | None = None
        self._ports: dict[tuple[str, str, str, int], ServicePort] = {}
        self._present, self._desired, self._ending = Present(), Desired(), Ending()
        self._own: tuple[str, ...] = ()  # the addresses of all other links
        self._link = 0
        self._busy = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None

    def samples(self) -> dict[tuple[str, ...], float]:
        """Return nothing: the mode has no metrics of its own."""
        return {}

    async def close(self) -> None:
        """Stop looking after real servers that end, which the next start finds again."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    # -- what is written -----------------------------------------------------------------------------------

    async def resync(self, service_ports: Iterable[ServicePort]) -> None:
        """Make the kernel match, whatever is in it."""
        with _errors(self._scheduler):
            async with self._busy:
                if self._kernel is None:
                    await self._open()
                await self._write_rules()
                self._ports = {port.key: port for port in service_ports}
                self._desired, self._ending = Desired(), Ending()
                self._present = await self._read()
                touched = Touched(
                    set(self._present.servers), set(self._present.bound), set(self._present.entries)
                )
                await self._set(self._ports, touched)

    async def sync(self, changes: Sequence[Change]) -> None:
        """Write what changed; if addresses of the node did as well, all that depends on them."""
        with _errors(self._scheduler):
            async with self._busy:
                before = self._own
                self._own = await self._own_addresses()
                for change in changes:
                    if change.new is None:
                        self._ports.pop(change.key, None)
                    else:
                        self._ports[change.key] = change.new
                keys = self._ports if self._own != before else [change.key for change in changes]
                await self._set(dict.fromkeys([*(change.key for change in changes), *keys]), Touched())

    async def _set(self, keys: Iterable[tuple[str, str, str, int]], touched: Touched) -> None:
        selectors = self.settings.node_port_addresses or ("all",)
        chosen = node_port_ips(selectors, self.settings.node, self.family, self._own)
        served = [ip for ip in (self._own if chosen is None else chosen) if _outward(ip)]
        node = self.settings.node_address(self.family)
        for key in keys:
            port = self._ports.get(key)
            asked = NOTHING
            if port is not None:
                asked = wanted(port, self._scheduler, served, frozenset(self._own), node)
            self._desired.set(key, asked, touched)
        plan = self._desired.plan(self._present, touched)
        await self._carry_out(plan)
        carried_out(self._present, plan)

    async def _carry_out(self, plan: Plan) -> None:
        kernel = self._kernel
        assert kernel is not None, "resync comes before sync"
        await kernel.put(plan.put)
        for address, real in plan.put_real:
            self._ending.discard(address, real)
        await kernel.put_real(plan.put_real)
        await self._restore_sets(sets.difference(self.family, (), plan.add_entries))
        await kernel.bind(self._link, plan.bind)
        await kernel.unbind(self._link, plan.unbind)
        await self._end(kernel, plan.end_real)
        for address in plan.remove:
            self._ending.forget(address)
        await kernel.remove(plan.remove)
        await self._restore_sets(sets.difference(self.family, plan.remove_entries, ()))

    async def _restore_sets(self, text: str) -> None:
        if text:
            await run("ipset", "restore", "-exist", text=text)

    # -- real servers that end -----------------------------------------------------------------------------

    async def _end(self, kernel: Kernel, ending: list[tuple[Address, RealServer]]) -> None:
        loads = await kernel.real_servers({address for address, _ in ending})
        gone: list[tuple[Address, RealServer]] = []
        quiet: list[tuple[Address, RealServer]] = []
        for address, real in ending:
            load = loads[address].get(real)
            going = load is None or may_go(address, load.connections)
            (gone if going else quiet).append((address, real))
        await kernel.remove_real(gone)
        await kernel.put_real(quiet, weight=0)  # no new connections; the ones that there are go on
        for address, real in quiet:
            self._ending.add(address, real)
        if self._ending and (self._watch is None or self._watch.done()):
            self._watch = asyncio.create_task(self._watch_ending(kernel), name="ipvs real servers that end")

    async def _watch_ending(self, kernel: Kernel) -> None:
        while self._ending:
            await self._clock.sleep(CHECK_SECONDS)
            async with self._busy:
                try:
                    await self.remove_ended(kernel)
                except OSError as error:
                    log.error("real servers that end stay for now: %s", error)

    async def remove_ended(self, kernel: Kernel) -> None:
        """Remove the real servers whose last connection has ended."""
        there = await kernel.real_servers({address for address, _ in self._ending})
        loads = {
            address: {real: load.connections for real, load in listed.items()}
            for address, listed in there.items()
        }
        done = finished(self._ending, loads)
        await kernel.remove_real(done)
        for address, real in done:
            self._ending.discard(address, real)

    # -- what is there -------------------------------------------------------------------------------------

    async def _open(self) -> None:
        kernel = _kernel()
        await kernel.open()
        self._kernel = kernel
        for name, value in _sysctls(bool(self._options.get("strictARP"))).items():
            (_SYSCTL / name).write_text(str(value))
        seconds = [int(duration(str(self._options.get(name) or "0s"))) for name in ("tcpTimeout", "tcpFinTimeout", "udpTimeout")]  # fmt: skip
        if any(seconds):
            await kernel.set_timeouts(*seconds)

    async def _write_rules(self) -> None:
        assert self._kernel is not None
        self._link = await self._kernel.link()
        await self._restore_sets("\n".join([*sets.creation(self.family), ""]))
        program = _program(self.family)
        text = rules.restore(self.settings, self.family, await run(f"{program}-save"))
        await run(f"{program}-restore", "--noflush", "-w", "5", text=text)

    async def _read(self) -> Present:
        assert self._kernel is not None
        self._own = await self._own_addresses()
        excluded = [
            ipaddress.ip_network(text, strict=False) for text in self._options.get("excludeCIDRs") or ()
        ]
        present = Present(entries=sets.parse(await run("ipset", "save"), self.family))
        for ip, bound in await self._kernel.addresses(self.family):
            if bound and not ipaddress.ip_address(ip).is_link_local:
                present.bound.add(ip)
        for address, server in (await self._kernel.virtual_servers()).items():
            own = ipaddress.ip_address(address.ip)
            if own.version != self.family or any(own in network for network in excluded):
                continue
            present.servers[address] = server
        for address, real in (await self._kernel.real_servers(present.servers)).items():
            present.real[address] = frozenset(target for target, load in real.items() if load.weight)
            for target, load in real.items():
                if not load.weight:  # it ended when this process did not look
                    self._ending.add(address, target)
        return present

    async def _own_addresses(self) -> tuple[str, ...]:
        assert self._kernel is not None
        addresses = await self._kernel.addresses(self.family)
        return tuple(sorted({ip for ip, bound in addresses if not bound}))


def _kernel() -> Kernel:
    from pybernetes.node.proxy.ipvs.kernel import Kernel  # takes a while to import

    return Kernel()


def _program(family: int) -> str:
    return "iptables" if family == 4 else "ip6tables"


def _outward(ip: str) -> bool:
    """Return whether node ports are served on an address: not on those that no other machine can reach."""
    address = ipaddress.ip_address(ip)
    return not (address.is_loopback or address.is_link_local)


def _release() -> str:
    return os.uname().release


def _sysctls(strict_arp: bool) -> dict[str, int]:
    """Return the settings of the kernel that the mode needs."""
    values = {
        "vs/conntrack": 1,
        "vs/expire_nodest_conn": 1,
        "vs/expire_quiescent_template": 1,
        "ip_forward": 1,
    }
    version = re.match(r"(\d+)\.(\d+)", _release())
    if version and tuple(map(int, version.groups())) < _REUSE_MENDED:
        values["vs/conn_reuse_mode"] = 0
    if strict_arp:  # neighbours are not told of addresses that only our link has
        values |= {"conf/all/arp_ignore": 1, "conf/all/arp_announce": 2}
    return values


@contextlib.contextmanager
def _errors(scheduler: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # a program's complaint is one, too
        if error.errno == errno.ENOENT and not error.filename:
            raise SyncError(f"the kernel has no scheduler {scheduler} (module ip_vs_{scheduler})") from None
        raise SyncError(str(error)) from None


class Mode:
    """The mode as ``--proxy-mode=ipvs`` chooses it."""

    section, rules = "ipvs", "ipvs"
    metrics, failures = (), iptables.MODE.failures

    def __call__(self, settings: Settings, family: int) -> Ipvs:
        return Ipvs(settings, family)

    def missing(self) -> str:
        """Return that the kernel has no virtual servers, if it has none."""
        from pybernetes.node.proxy.ipvs.kernel import has_virtual_servers

        if has_virtual_servers():
            return ""
        return "the kernel has no IPVS (module ip_vs); use nftables or iptables instead"

    async def cleanup(self) -> None:
        """Remove what the mode left: rules, sets, its virtual servers, and last the link, by which it is known."""
        try:
            socket.if_nametoindex(LINK)
        except OSError:
            return
        for family in (4, 6):
            with contextlib.suppress(MissingProgram):
                await _clean(family)
        kernel = _kernel()
        try:
            await kernel.remove_link()
        finally:
            kernel.close()


async def _clean(family: int) -> None:
    program = _program(family)
    text = rules.removal(await run(f"{program}-save"))
    if text:
        await run(f"{program}-restore", "--noflush", "-w", "5", text=text)
    saved = await run("ipset", "save")
    entries = sets.parse(saved, family)
    places = {entry.text for entry in entries if entry.set in sets.PLACES}
    kernel = _kernel()
    try:
        with contextlib.suppress(OSError):
            await kernel.open()
            there = await kernel.virtual_servers()
            await kernel.remove([of for of in there if sets.at(of.ip, of.protocol, of.port) in places])
    finally:
        kernel.close()
    for line in sets.destruction(saved, family):
        with contextlib.suppress(CommandError):
            await run("ipset", *line)


MODE = Mode()
