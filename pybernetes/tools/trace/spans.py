"""Tells a pod's creation as spans of OpenTelemetry: one for the whole, and one for each step within it."""

from __future__ import annotations

from pybernetes.lib.tracing import Tracer
from pybernetes.tools.trace.timeline import Trace


def tell(trace: Trace, tracer: Tracer) -> None:
    """Make the spans of the steps that are over."""
    done = [row for row in trace.steps if row.end is not None]
    if not done or trace.begin is None:
        return
    end = max(row.end for row in done if row.end is not None)
    pod = {"k8s.pod.name": trace.name, "k8s.namespace.name": trace.namespace, "k8s.pod.uid": trace.uid, "k8s.node.name": trace.node}  # fmt: skip
    with tracer.whole("pod creation", trace.begin, end, pod):
        for row in done:
            assert row.end is not None
            about = {
                "component": row.component,
                "detail": row.detail,
                "source": row.source,
                "step": str(row.number),
            }
            tracer.past(row.name, row.begin, row.end, about)
