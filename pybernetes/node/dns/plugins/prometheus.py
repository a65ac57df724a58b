"""prometheus [ADDRESS]: a page of metrics."""

from __future__ import annotations

from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.metrics.exposition import negotiated
from pybernetes.node.dns.plugin import Controller, Plugin, address


def setup(controller: Controller) -> None:
    """Show the page."""
    directive = controller.once()
    for line in directive.inner:
        raise line.problem(f"unknown option: {line.words[0]}")
    site, metrics = controller.site, controller.environment.metrics

    def page(request: Request) -> Response:
        exposition = negotiated(request.header(b"accept"))
        metrics.names = len(site.names.table.names) if site.names is not None else 0
        metrics.write(exposition)
        exposition.process()
        return Response(exposition.render(), content_type=exposition.content_type)

    site.show(*address(directive, "localhost", 9153), "/metrics", page)


PLUGIN = Plugin(setup, passes_cluster_names=True)
