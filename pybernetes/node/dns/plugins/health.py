"""health [ADDRESS] { lameduck DURATION }: a page that says that the server runs."""

from __future__ import annotations

from pybernetes.lib.http.messages import Request, Response
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Controller, Plugin, address, seconds
from pybernetes.runtime.component_server import text


def setup(controller: Controller) -> None:
    """Show the page."""
    directive = controller.once()
    for line in directive.inner:
        if line.words[0] != "lameduck":
            raise line.problem(f"unknown property '{line.words[0]}'")
        if len(line.words) != 2:
            raise line.wrong_count()
        controller.site.lameduck_seconds = seconds(line, line.words[1])
        if controller.site.lameduck_seconds < 0:
            raise CorefileError(
                f"unable to parse lameduck duration value: '{line.words[1]}' : it is negative"
            )
    controller.site.show(*address(directive, "", 8080), "/health", _page)


def _page(request: Request) -> Response:
    return text(b"OK")


PLUGIN = Plugin(setup, passes_cluster_names=True)
