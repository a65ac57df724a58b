"""SelfSubjectReview: who am I?"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.http.messages import Response
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.reviews import _access


async def handle(api: Api, request: Request, kind: Kind) -> Response:
    """Says as whom the server knows the one who asks."""
    review = await _access.read(api, request, kind)
    answer = {
        "kind": review["kind"],
        "apiVersion": review["apiVersion"],
        "metadata": {"creationTimestamp": api.timestamp()},
        "status": {"userInfo": request.user.info()},
    }
    return _access.answer(api, request, kind, answer)
