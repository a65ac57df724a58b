"""Which node ports a service takes and gives back: a pure plan, made anew when the taken ports change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pybernetes.api import errors
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.services.port_pool import FULL, PortError, PortPool

Fields = dict[str, Any]
_PORTS = Path("spec") / "ports"
_WITH_PORTS = ("NodePort", "LoadBalancer")


def needs_health_check(spec: Fields) -> bool:
    """Return whether the service has a port for health checks of its own."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def node_ports(spec: Fields) -> list[int]:
    """Return the node ports of the service's ports."""
    return [port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")]


def all_ports(spec: Fields) -> set[int]:
    """Return all node ports that a stored service holds."""
    held = set(node_ports(spec))
    if needs_health_check(spec) and spec.get("healthCheckNodePort"):
        held.add(spec["healthCheckNodePort"])
    return held


class PortPlan:
    """The ports of one write: ``chosen`` are to be taken, ``numbers`` go into the service's ports."""

    def __init__(self, pool: PortPool, obj: Object, old: Object | None, dry_run: bool) -> None:
        self.pool = pool
        self.name = obj["metadata"].get("name", "")
        self.spec: Fields = obj.get("spec", {})
        self.old: Fields = (old or {}).get("spec", {})
        self.dry_run = dry_run
        self.chosen: set[int] = set()
        self.numbers: list[int] = []
        self.health_check = 0
        self.taken: set[int] = set()
        self._free_ports: Iterator[int] = iter(())

    @property
    def is_idle(self) -> bool:
        """Whether this write has nothing to do with ports."""
        kinds = (self.spec.get("type"), self.old.get("type"))
        return not any(kind in _WITH_PORTS for kind in kinds)

    def decide(self, taken: set[int]) -> set[int]:
        """Return the taken ports after this write took its own."""
        self.taken, self.chosen, self.health_check = set(taken), set(), 0
        self._free_ports = self.pool.dry(self.taken) if self.dry_run else self.pool.free(self.taken)
        self.numbers = [port.get("nodePort", 0) for port in self.spec.get("ports", ())]
        if self.spec.get("type") in _WITH_PORTS:
            (self._update if self.old else self._create)()
        if needs_health_check(self.spec) and not needs_health_check(self.old):
            self._health_check()
        return self.taken

    def apply(self) -> None:
        """Write the numbers into the service."""
        for port, number in zip(self.spec.get("ports", ()), self.numbers, strict=True):
            if number:
                port["nodePort"] = number
        if self.health_check:
            self.spec["healthCheckNodePort"] = self.health_check

    def released(self) -> set[int]:
        """Return the ports that the old service had and the new one has no more; to be given back after the write."""
        freed = set(node_ports(self.old)) - set(node_ports(self.spec))
        if needs_health_check(self.old) and not needs_health_check(self.spec):
            freed.add(self.old.get("healthCheckNodePort", 0))
        return freed - {0}

    def _take(self, port: int) -> None:
        if self.dry_run:
            if port in self.taken:
                raise PortError("provided port is already allocated")
        else:
            self.pool.check(port, self.taken)
        self._choose(port)

    def _take_any(self) -> int:
        port = next(self._free_ports, 0)
        if not port:
            raise PortError(FULL)
        self._choose(port)
        return port

    def _choose(self, port: int) -> None:
        self.chosen.add(port)
        self.taken.add(port)

    @property
    def _fills(self) -> bool:
        return self.spec.get("type") == "NodePort" or self.spec.get("allocateLoadBalancerNodePorts", True)

    def _create(self) -> None:
        """Plan one node port for all protocols of a port number."""
        by_port: dict[int, int] = {}
        ports = self.spec.get("ports", ())
        wishes: dict[int, int] = {}
        for port in ports:
            if port.get("nodePort"):
                wishes.setdefault(port.get("port", 0), port["nodePort"])
        for index, port in enumerate(ports):
            number, wanted = port.get("port", 0), self.numbers[index]
            if not wanted and not self._fills:
                continue
            shared = by_port.get(number)
            if shared is None:
                wish = wishes.get(number, 0)
                self.numbers[index] = by_port[number] = self._wish(index, wish) if wish else self._free()
            elif not wanted:
                self.numbers[index] = shared
            elif wanted != shared:
                self._wish(index, wanted)

    def _update(self) -> None:
        had, seen = set(node_ports(self.old)), set()
        for index, port in enumerate(self.spec.get("ports", ())):
            wanted = self.numbers[index]
            if not wanted and not self._fills:
                continue
            if not wanted:
                self.numbers[index] = wanted = self._free()
            elif wanted not in had and wanted not in self.chosen:
                self._wish(index, wanted)
            key = (port.get("protocol"), wanted)
            if key in seen:
                raise errors.internal(f"duplicate nodePort: {{{key[0]} {key[1]}}}")
            seen.add(key)

    def _wish(self, index: int, port: int) -> int:
        try:
            self._take(port)
        except PortError as error:
            problems = Errors()
            problems.invalid(_PORTS[index] / "nodePort", port, str(error))
            raise errors.invalid("", "Service", self.name, problems) from None
        return port

    def _free(self) -> int:
        return self._or_internal(self._take_any, "failed to allocate a nodePort: {}")

    def _health_check(self) -> None:
        wanted = self.spec.get("healthCheckNodePort", 0)
        if not wanted:
            self.health_check = self._or_internal(
                self._take_any, "failed to allocate a HealthCheck NodePort 0: {}"
            )
            return
        text = f"failed to allocate requested HealthCheck NodePort {wanted}: {{}}"
        self._or_internal(lambda: self._take(wanted), text)

    @staticmethod
    def _or_internal(action: Callable[[], Any], text: str) -> Any:
        try:
            return action()
        except PortError as error:
            raise errors.internal(text.format(error)) from None
