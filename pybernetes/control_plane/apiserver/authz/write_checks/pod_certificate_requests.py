"""Only who may sign for a signer writes the status of its pod certificate requests."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.certificates import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck


def write_checks(context: ServerContext) -> dict[tuple[str, str], WriteCheck]:
    """Return the check of pod certificate requests."""

    async def status(request: Request, new: Object, old: Object | None) -> None:
        if (
            old is None
            or request.request_info.subresource != "status"
            or new.get("status") == old.get("status")
        ):
            return
        signer = old.get("spec", {}).get("signerName", "")
        for name in (signer, f"{signer.partition('/')[0]}/*"):
            question = RequestInfo(
                "sign", is_resource=True, group=GROUP, version="*", resource="signers", name=name
            )
            if (await context.authorize(request.user, question)).allowed:
                return
        problems = Errors()
        user = go_format.quote(request.user.name)
        problems.forbidden(
            Path("spec") / "signerName",
            f'User {user} is not permitted to "sign" for signer {go_format.quote(signer)}',
        )
        raise errors.invalid(GROUP, "PodCertificateRequest", old["metadata"]["name"], problems)

    return {(GROUP, "podcertificaterequests"): WriteCheck(after=status)}
