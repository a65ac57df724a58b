"""bufsize [SIZE]: how much is sent over UDP at most."""

from __future__ import annotations

from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Controller, Plugin, number


def setup(controller: Controller) -> None:
    """Set the limit of the block."""
    directive = controller.once()
    if len(directive.arguments) > 1:
        raise directive.line.wrong_count()
    size = number(directive.line, directive.arguments[0]) if directive.arguments else 1232
    if not 512 <= size <= 4096:
        raise CorefileError("bufsize must be within 512 - 4096")
    controller.shared["udp_size"] = size


PLUGIN = Plugin(setup, passes_cluster_names=True)
