"""Builds the 403 answer of a request that no authorizer allows."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.request_info import RequestInfo
from pybernetes.api.text import go_format

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def forbidden(user_name: str, info: RequestInfo, why: str = "") -> errors.StatusError:
    """Return the refusal in Kubernetes' words."""
    text = f"User {go_format.quote(user_name)} cannot {info.verb} "
    if not info.is_resource:
        text += f"path {go_format.quote(info.path)}"
    else:
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        text += f"resource {go_format.quote(resource)} in API group {go_format.quote(info.group)}"
        text += (
            f" in the namespace {go_format.quote(info.namespace)}"
            if info.namespace
            else " at the cluster scope"
        )
    text = text.translate(_HTML) + (f": {why}" if why else "")
    return errors.forbidden(info.group, info.resource, info.name, text)
