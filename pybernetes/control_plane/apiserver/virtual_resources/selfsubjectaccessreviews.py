"""SelfSubjectAccessReview: may I do that?"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.virtual_resources import _access
from pybernetes.lib.http.messages import Response


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Answer for the user who asks."""
    review = await _access.read(context, request, kind)
    await _access.judge(context, request.user, review)
    return _access.answer(context, request, kind, review)
