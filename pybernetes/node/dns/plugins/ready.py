"""ready [ADDRESS]: a page that says whether all plugins are ready."""

from __future__ import annotations

from pybernetes.lib.http.messages import Request, Response
from pybernetes.node.dns.plugin import Controller, Plugin, address
from pybernetes.runtime.component_server import text


def setup(controller: Controller) -> None:
    """Show the page, which names the plugins that are not ready."""
    directive = controller.once()
    for line in directive.inner:
        raise line.problem(f"unknown property '{line.words[0]}'")
    site = controller.site

    def page(request: Request) -> Response:
        waiting = ",".join(name for name, is_unready in site.unready.items() if is_unready())
        return text(waiting.encode(), 503) if waiting else text(b"OK")

    site.show(*address(directive, "", 8181), "/ready", page)


PLUGIN = Plugin(setup, passes_cluster_names=True)
