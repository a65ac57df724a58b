"""SelfSubjectAccessReview: may I do that?"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.http.messages import Response
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.reviews import _access


async def handle(api: Api, request: Request, kind: Kind) -> Response:
    """Answers for the user who asks."""
    review = await _access.read(api, request, kind)
    await _access.judge(api, request.user, review)
    return _access.answer(api, request, kind, review)
