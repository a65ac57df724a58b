"""The way of a request, from top to bottom: its steps, then the router that finds who answers."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.audit.auditor import Auditor
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.flowcontrol.dispatcher import Dispatcher
from pybernetes.control_plane.apiserver.observability.tracing import Tracer
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, chain
from pybernetes.control_plane.apiserver.pipeline.steps.audit import audit, audit_refused
from pybernetes.control_plane.apiserver.pipeline.steps.authentication import authentication
from pybernetes.control_plane.apiserver.pipeline.steps.authorization import authorization
from pybernetes.control_plane.apiserver.pipeline.steps.deadline import deadline
from pybernetes.control_plane.apiserver.pipeline.steps.flow_control import flow_control
from pybernetes.control_plane.apiserver.pipeline.steps.impersonation import impersonation
from pybernetes.control_plane.apiserver.pipeline.steps.observation import observation
from pybernetes.control_plane.apiserver.pipeline.steps.tracing import tracing


def steps(
    context: ServerContext,
    auditor: Auditor | None,
    dispatcher: Dispatcher | None,
    request_seconds: float = 60.0,
    tracer: Tracer | None = None,
) -> list[Step]:
    """Return the steps in the order in which a request goes through them; answers come back the other way."""
    listed: list[Step | None] = [
        observation(context.metrics),  # what is asked for; counts it, and turns errors into answers
        audit_refused(auditor) if auditor is not None else None,  # those who could not say who they are
        authentication(context.authentication),  # who asks
        tracing(tracer) if tracer is not None else None,  # a span, if spans are asked for
        audit(auditor) if auditor is not None else None,  # opens an audit event, and completes it
        deadline(request_seconds),  # how long it may take
        impersonation(context.authorize),  # in whose name
        flow_control(dispatcher) if dispatcher is not None else None,  # takes a seat, and gives it back
        authorization(context.authorization),  # whether they may
    ]
    return [step for step in listed if step is not None]


def pipeline(
    context: ServerContext,
    router: Handler,
    auditor: Auditor | None,
    dispatcher: Dispatcher | None,
    request_seconds: float = 60.0,
    tracer: Tracer | None = None,
) -> Handler:
    """Return what answers every request of a server."""
    return chain(steps(context, auditor, dispatcher, request_seconds, tracer), router)
