"""Only who may sign for a signer writes the status of its pod certificate requests."""

from __future__ import annotations

from pybernetes.api import errors, go
from pybernetes.api.certificates import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.api import Api, Guard
from pybernetes.control_plane.apiserver.info import RequestInfo
from pybernetes.control_plane.apiserver.request import Request


def guards(api: Api) -> dict[tuple[str, str], Guard]:
    """The guard of pod certificate requests."""

    async def status(request: Request, new: Object, old: Object | None) -> None:
        if old is None or request.info.subresource != "status" or new.get("status") == old.get("status"):
            return
        signer = old.get("spec", {}).get("signerName", "")
        for name in (signer, f"{signer.partition('/')[0]}/*"):
            question = RequestInfo(
                "sign", is_resource=True, group=GROUP, version="*", resource="signers", name=name
            )
            if (await api.authorize(request.user, question)).allowed:
                return
        problems = Errors()
        user = go.quote(request.user.name)
        problems.forbidden(
            Path("spec") / "signerName",
            f'User {user} is not permitted to "sign" for signer {go.quote(signer)}',
        )
        raise errors.invalid(GROUP, "PodCertificateRequest", old["metadata"]["name"], problems)

    return {(GROUP, "podcertificaterequests"): Guard(after=status)}
