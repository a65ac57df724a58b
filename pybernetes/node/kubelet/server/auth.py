"""Who may ask a kubelet for what: the API server is asked who a caller is and what it may do."""

from __future__ import annotations

import ssl

from pybernetes.api.resource import Object
from pybernetes.api.verbs import VERB_OF_METHOD
from pybernetes.client import Client, StatusError
from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.lib.tls.serving_certificates import CABundle, verified_chain
from pybernetes.node.kubelet.server.request import HttpError, Request
from pybernetes.runtime.access_reviews import ANONYMOUS, AccessReviews, bearer_token, certificate_user

# What has a name of its own among the subresources of a node; everything else is "proxy".
_SUBRESOURCES = {
    "stats": "stats", "metrics": "metrics", "logs": "log", "checkpoint": "checkpoint", "statusz": "statusz", "flagz": "configz",
}  # fmt: skip
_ACTIONS = frozenset(("exec", "attach", "portforward", "run"))
_FINE = {"pods": "pods", "runningpods": "pods", "healthz": "healthz", "configz": "configz"}


def attributes(method: str, path: str, node: str) -> list[Object]:
    """Return what a request is in the words of authorization; any one of them will do."""
    first = path.strip("/").split("/")[0]
    names = [_FINE[first]] if first in _FINE else []
    names.append(_SUBRESOURCES.get(first, "proxy"))
    # A WebSocket begins with GET, whatever is then done with it: whoever may only look at a node runs nothing there.
    verb = "create" if first.lower() in _ACTIONS else VERB_OF_METHOD.get(method, "")
    return [
        {"verb": verb, "version": "v1", "resource": "nodes", "subresource": name, "name": node}
        for name in names
    ]


class KubeletAuth:
    """Authentication and authorization of the kubelet's server, as its configuration has them."""

    def __init__(self, client: Client | None, clock: Clock, node: str, configuration: Object) -> None:
        self._node, self._clock = node, clock
        self.clients: CABundle | None = None  # who vouches for client certificates
        self._authentication = configuration["authentication"]
        self._authorization = configuration["authorization"]
        self._reviews: AccessReviews | None = None
        if client is not None:
            seconds = self._authorization["webhook"]
            self._reviews = AccessReviews(
                client,
                clock,
                token_seconds=float(duration(self._authentication["webhook"]["cacheTTL"])),
                allowed_seconds=float(duration(seconds["cacheAuthorizedTTL"])),
                denied_seconds=float(duration(seconds["cacheUnauthorizedTTL"])),
            )

    async def check(self, request: Request) -> None:
        """Raise HttpError if the request may not come in."""
        try:
            user = await self._user(request)
            if user is None:
                raise HttpError(401, "Unauthorized")
            if self._authorization["mode"] == "AlwaysAllow":
                return
            asked = attributes(request.method, request.path, self._node)
            for candidate in asked:
                if await self._asked().allows(user, {"resourceAttributes": candidate}):
                    return
        except (StatusError, OSError) as error:
            raise HttpError(500, f"the API server cannot be asked: {error}") from None
        names = " ".join(candidate["subresource"] for candidate in asked)
        raise HttpError(
            403,
            f"Forbidden (user={user['username']}, verb={asked[-1]['verb']}, resource=nodes, subresource(s)=[{names}])",
        )

    async def _user(self, request: Request) -> Object | None:
        tls = request.connection.tls
        shown = tls is not None and tls.getpeercert(binary_form=True) is not None
        if tls is not None and shown:
            user = self._vouched_for(tls)
            if user is not None:
                return user
        header = request.header(b"authorization")
        token = bearer_token(header)
        if token is not None and self._authentication["webhook"]["enabled"]:
            return await self._asked().user(token)
        # Whoever shows a certificate that is not good is not taken for somebody who shows none.
        unknown = not header and not shown
        return ANONYMOUS if unknown and self._authentication["anonymous"]["enabled"] else None

    def _vouched_for(self, tls: ssl.SSLObject) -> Object | None:
        """Return the user of a certificate that one of the authorities of today vouches for, and that has not ended."""
        if self.clients is None or verified_chain(tls).isdisjoint(self.clients.fingerprints):
            return None
        certificate = tls.getpeercert() or {}
        ended = self._clock.now() > ssl.cert_time_to_seconds(str(certificate["notAfter"]))
        return None if ended else certificate_user(certificate)

    def _asked(self) -> AccessReviews:
        if self._reviews is None:
            raise HttpError(401, "Unauthorized")
        return self._reviews
