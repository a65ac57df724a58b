"""Corefiles: the configuration that clusters of kubeadm have for DNS, as far as it means something here.

A Corefile has blocks ``ZONE[:PORT]… { PLUGIN [ARGUMENT…] [{ … }] }``. The block with the plugin ``kubernetes`` is the
cluster's; others forward their zones. A plugin that is not known here is refused by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.node.dns import config, wire
from pybernetes.node.dns.kube_dns import Options

# What is done here in any case, and how.
ALWAYS = {
    "errors": "errors are always logged",
    "loop": "a question that is being asked already is not sent again, which ends a loop",
    "loadbalance": "services have one address, and clients choose among those of pods",
    "reload": "servers to forward to are read again when the file changes",
    "cache": "answers of other servers are kept for as long as these say, the cluster's own are never old",
}
_MOST_BYTES = 1 << 20


@dataclass(slots=True)
class Directive:
    """One plugin of a block, with its arguments and what stands in its own braces."""

    name: str
    arguments: list[str]
    inner: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Block:
    """The zones of a block, and its plugins."""

    zones: list[str]
    directives: list[Directive] = field(default_factory=list)

    def find(self, name: str) -> Directive | None:
        """Return the plugin of a name."""
        return next((directive for directive in self.directives if directive.name == name), None)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if words:
            yield number, words


def parse(text: str) -> list[Block]:
    """Return the blocks of a Corefile; ValueError names the line that is wrong."""
    if len(text) > _MOST_BYTES:
        raise ValueError("the Corefile is too large")
    blocks: list[Block] = []
    block: Block | None = None
    directive: Directive | None = None
    number = 0
    for number, words in _lines(text):
        if words == ["}"]:
            if directive is not None:
                directive = None
            elif block is not None:
                block = None
            else:
                raise ValueError(f"Corefile:{number}: unexpected '}}'")
        elif block is None:
            if words[-1] != "{":
                raise ValueError(f"Corefile:{number}: expected a block, found {words[0]!r}")
            block = Block([zone.rstrip(",") for zone in words[:-1]])
            blocks.append(block)
        elif directive is not None:
            directive.inner.append(words)
        elif words[-1] == "{":
            directive = Directive(words[0], words[1:-1])
            block.directives.append(directive)
        else:
            block.directives.append(Directive(words[0], words[1:]))
    if block is not None:
        raise ValueError(f"Corefile:{number}: a block is not closed")
    return blocks


def options(blocks: list[Block]) -> Options:
    """Return the options that a Corefile means; ValueError names what is not known here."""
    result = Options(addresses=("0.0.0.0",), nameservers=(), follow_config_map=False)
    cluster = next((block for block in blocks if block.find("kubernetes")), None)
    if cluster is None:
        raise ValueError("Corefile: no block has the plugin kubernetes")
    ports: list[int] = []
    stubs: dict[bytes, tuple[config.Server, ...]] = {}
    for block in blocks:
        for directive in block.directives:
            _check(directive)
        forward = block.find("forward")
        if block is cluster:
            result.port = _port(block.zones[0]) if block.zones else 53
            _kubernetes(cluster.find("kubernetes"), result)
            result.nameservers = _servers(forward) if forward else ()
            for name, default in (("health", 8080), ("ready", 8181), ("prometheus", 9153)):
                plugin = block.find(name)
                if plugin is not None:
                    ports.append(_http_port(plugin, default))
        else:
            if forward is None:
                raise ValueError(f"Corefile: the block of {' '.join(block.zones)} forwards to nobody")
            stubs |= {wire.name(_zone(zone)): _servers(forward) for zone in block.zones}
    result.http_ports, result.stubs = tuple(dict.fromkeys(ports)), stubs
    return result


def _check(directive: Directive) -> None:
    known = {*ALWAYS, "kubernetes", "forward", "health", "ready", "prometheus"}
    if directive.name not in known:
        raise ValueError(
            f"Corefile: Unknown directive '{directive.name}': {', '.join(sorted(known))} are known"
        )


def _kubernetes(directive: Directive | None, result: Options) -> None:
    assert directive is not None
    zones = [zone for zone in directive.arguments if not zone.endswith(".arpa")]
    if zones:
        result.zone = zones[0].rstrip(".")
    for words in directive.inner:
        if words[0] == "ttl" and len(words) == 2 and words[1].isdigit() and int(words[1]) <= 3600:
            result.ttl = int(words[1])
        elif words[0] == "pods" and words[1:] in (["insecure"], ["disabled"]):
            if words[1] == "disabled":
                raise ValueError(
                    "Corefile: kubernetes: pods disabled is not supported: names of pods are always answered"
                )
        elif words[0] != "fallthrough":
            raise ValueError(f"Corefile: kubernetes: {' '.join(words)!r} is not known")


def _servers(directive: Directive) -> tuple[config.Server, ...]:
    servers: list[config.Server] = []
    for target in directive.arguments[1:]:
        servers += config.of_machine(Path(target)) if target.startswith("/") else [config.server(target)]
    if len(directive.arguments) < 2:
        raise ValueError("Corefile: forward needs a zone and a server")
    return tuple(servers)


def _zone(text: str) -> str:
    return text.removeprefix("dns://").rpartition(":")[0] or text.removeprefix("dns://")


def _port(text: str) -> int:
    port = text.rpartition(":")[2] if ":" in text else "53"
    if not port.isdigit() or not int(port) < 65536:
        raise ValueError(f"Corefile: {text!r} has no port")
    return int(port)


def _http_port(directive: Directive, default: int) -> int:
    return _port(directive.arguments[0]) if directive.arguments else default
