"""reload [INTERVAL] [JITTER]: changes of the Corefile are followed."""

from __future__ import annotations

from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Controller, Plugin, seconds


def setup(controller: Controller) -> None:
    """Note how often to look, where nothing tells of a change; jitter is for many that look at once, and looks are few here."""
    directive = controller.once()
    arguments = directive.arguments
    if len(arguments) > 2:
        raise directive.line.wrong_count()
    interval = seconds(directive.line, arguments[0]) if arguments else 30.0
    jitter = seconds(directive.line, arguments[1]) if len(arguments) > 1 else 15.0
    if interval < 2:
        raise CorefileError("interval value must be greater or equal to 2s")
    if 0 < jitter < 1:
        raise CorefileError("jitter value must be greater or equal to 1s")
    controller.site.reload_seconds = interval


PLUGIN = Plugin(setup, passes_cluster_names=True)
