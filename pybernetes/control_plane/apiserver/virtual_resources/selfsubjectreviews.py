"""SelfSubjectReview: who am I?"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.virtual_resources import _access
from pybernetes.lib.http.messages import Response


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Say as whom the server knows the one who asks."""
    review = await _access.read(context, request, kind)
    answer = {
        "kind": review["kind"],
        "apiVersion": review["apiVersion"],
        "metadata": {"creationTimestamp": context.timestamp()},
        "status": {"userInfo": request.user.info()},
    }
    return _access.answer(context, request, kind, answer)
