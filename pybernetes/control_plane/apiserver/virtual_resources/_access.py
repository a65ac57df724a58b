"""What the reviews of access share: a question read, asked, and answered in the object's status."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors, selectors
from pybernetes.api.authorization import GROUP
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.object_meta import settle_namespace
from pybernetes.control_plane.apiserver.storage.options import write_options
from pybernetes.lib.http.messages import Response

_LABEL_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


async def read(context: ServerContext, request: Request, kind: Kind) -> Object:
    """Return the review of the body, through admission and found valid."""
    options = write_options(request, "CreateOptions")
    review = await read_object(kind.resource, request, options.validation)
    settle_namespace(kind, review["metadata"], request.request_info.namespace)
    attributes = context.admission.attributes("CREATE", kind.resource, request, review, None, options.dry_run)
    await context.admission.mutate(attributes)
    update_managed_fields(context, kind.resource, None, review, options, "")
    problems = Errors()
    if kind.resource.validate is not None:
        kind.resource.validate(review, problems)
    if problems:
        raise errors.invalid(GROUP, "", "", problems)  # upstream names no kind here
    await context.admission.validate(attributes)
    return review


def answer(context: ServerContext, request: Request, kind: Kind, review: Object) -> Response:
    """Return the review with its answer."""
    return rendering.render(kind, review, negotiation.plain(request), context.clock(), status=201)


async def judge(context: ServerContext, user: User, review: Object) -> None:
    """Ask the authorizers and note in the status what they say."""
    spec = review["spec"]
    question, problems = asked(spec)
    verdict = await context.authorize(user, question)
    status: dict[str, Any] = {"allowed": verdict.allowed}
    if verdict.denied:
        status["denied"] = True
    if verdict.reason:
        status["reason"] = verdict.reason
    if verdict.problem:
        problems = [*problems, verdict.problem]
    if problems:
        status["evaluationError"] = "; ".join(problems)
    review["status"] = status


def subject(spec: dict[str, Any]) -> User:
    """Return the user whom a review is about."""
    extra = {key: tuple(values) for key, values in spec.get("extra", {}).items()}
    return User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups", ())), extra)


def asked(spec: dict[str, Any]) -> tuple[RequestInfo, list[str]]:
    """Return the question, and what of its selectors could not be used."""
    if "resourceAttributes" not in spec:
        attributes = spec["nonResourceAttributes"]
        return RequestInfo(attributes.get("verb", ""), attributes.get("path", "")), []
    attributes = spec["resourceAttributes"]
    problems: list[str] = []
    fields, complete = _fields(attributes.get("fieldSelector", {}))
    _note("fieldSelector", fields, complete, problems)
    labels, complete = _labels(attributes.get("labelSelector", {}))
    _note("labelSelector", labels, complete, problems)
    question = RequestInfo(
        attributes.get("verb", ""),
        is_resource=True,
        group=attributes.get("group", ""),
        version=attributes.get("version") or "*",
        resource=attributes.get("resource", ""),
        subresource=attributes.get("subresource", ""),
        namespace=attributes.get("namespace", ""),
        name=attributes.get("name", ""),
        fields=fields,
        labels=labels,
    )
    return question, problems


def _note(name: str, conditions: tuple[Any, ...], complete: bool, problems: list[str]) -> None:
    if not complete:
        ignored = "partially ignored" if conditions else "ignored"
        problems.append(f"spec.resourceAttributes.{name} {ignored} due to parse error")


def _fields(selector: dict[str, Any]) -> tuple[tuple[tuple[str, str, bool], ...], bool]:
    """Return conditions on fields, and whether all could be read; those that could not only make the question wider."""
    if selector.get("rawSelector"):
        try:
            return tuple(selectors.parse_fields(selector["rawSelector"])), True
        except selectors.SelectorError:
            return (), False
    requirements = selector.get("requirements", ())
    conditions = [
        (requirement.get("key", ""), requirement["values"][0], requirement["operator"] == "In")
        for requirement in requirements
        if requirement.get("operator") in ("In", "NotIn") and len(requirement.get("values", ())) == 1
    ]
    return tuple(conditions), len(conditions) == len(requirements)


def _labels(selector: dict[str, Any]) -> tuple[tuple[selectors.Requirement, ...], bool]:
    if selector.get("rawSelector"):
        try:
            return selectors.parse_labels(selector["rawSelector"]).requirements, True
        except selectors.SelectorError:
            return (), False
    requirements = selector.get("requirements", ())
    conditions = [
        selectors.Requirement(
            requirement.get("key", ""),
            _LABEL_OPERATORS[requirement["operator"]],
            tuple(requirement.get("values", ())),
        )
        for requirement in requirements
        if requirement.get("operator") in _LABEL_OPERATORS
    ]
    return tuple(conditions), len(conditions) == len(requirements)
