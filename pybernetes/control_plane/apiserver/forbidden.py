"""Builds the 403 answer of a request that no authorizer allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybernetes.api import errors
from pybernetes.api import forbidden as answers
from pybernetes.api.request_info import RequestInfo

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.authn.user import User


def forbidden(user: User, info: RequestInfo, why: str) -> errors.StatusError:
    """Return the refusal of a user in Kubernetes' words."""
    return answers.forbidden(user.name, info, why)
