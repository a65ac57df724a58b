"""debug: says more; here errors of ours are always written with their stack, and never end the server."""

from __future__ import annotations

import logging

from pybernetes.node.dns.plugin import Controller, Plugin


def setup(controller: Controller) -> None:
    """Write down what is for debugging too."""
    controller.bare()
    logging.getLogger("pybernetes.node.dns").setLevel(logging.DEBUG)


PLUGIN = Plugin(setup, passes_cluster_names=True)
