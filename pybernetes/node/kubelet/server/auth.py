"""Who may ask a kubelet for what: the API server is asked who a caller is and what it may do."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client, StatusError
from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import Clock
from pybernetes.lib.flags import duration
from pybernetes.node.kubelet.server.http import Problem, Request

Fields = dict[str, Any]
_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
# What has a name of its own among the subresources of a node; everything else is "proxy".
_SUBRESOURCES = {
    "stats": "stats", "metrics": "metrics", "logs": "log", "checkpoint": "checkpoint", "statusz": "statusz", "flagz": "configz",
}  # fmt: skip
_FINE = {"pods": "pods", "runningpods": "pods", "healthz": "healthz", "configz": "configz"}
_ANONYMOUS = {"username": "system:anonymous", "groups": ["system:unauthenticated"]}
_KEPT = 1000


def attributes(method: str, path: str, node: str) -> list[Fields]:
    """What a request is in the words of authorization; any one of them will do."""
    first = path.strip("/").split("/")[0]
    names = [_FINE[first]] if first in _FINE else []
    names.append(_SUBRESOURCES.get(first, "proxy"))
    verb = _VERBS.get(method, "")
    return [
        {"verb": verb, "version": "v1", "resource": "nodes", "subresource": name, "name": node}
        for name in names
    ]


class KubeletAuth:
    """Lets requests in that may come in."""

    def __init__(self, client: Client | None, clock: Clock, node: str, configuration: Fields) -> None:
        self._client, self._clock, self._node = client, clock, node
        self._authentication, self._authorization = (
            configuration["authentication"],
            configuration["authorization"],
        )
        self._kept: dict[Any, tuple[float, Any]] = {}

    async def check(self, request: Request) -> None:
        """Raises Problem if the request may not come in; notes the user otherwise."""
        user = await self._user(request)
        if user is None:
            raise Problem(401, "Unauthorized")
        request.user = user
        if self._authorization["mode"] == "AlwaysAllow":
            return
        asked = attributes(request.method, request.path, self._node)
        for each in asked:
            if await self._allows(user, each):
                return
        last = asked[-1]
        raise Problem(
            403,
            f"Forbidden (user={user['username']}, verb={last['verb']}, resource=nodes, subresource(s)=[{' '.join(each['subresource'] for each in asked)}])",
        )

    async def _user(self, request: Request) -> Fields | None:
        if request.certificate:  # TLS has verified it
            names: dict[str, list[str]] = {}
            for part in request.certificate.get("subject", ()):
                for key, value in part:
                    names.setdefault(key, []).append(value)
            if names.get("commonName"):
                groups = [*names.get("organizationName", ()), "system:authenticated"]
                return {"username": names["commonName"][0], "groups": groups}
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._authentication["webhook"]["enabled"]:
            return await self._review(token.strip())
        return _ANONYMOUS if not scheme and self._authentication["anonymous"]["enabled"] else None

    async def _review(self, token: str) -> Fields | None:
        found = self._remembered(("token", token))
        if found is None:
            status = (await self._ask(TOKEN_REVIEWS, {"token": token})).get("status", {})
            found = (status["user"] if status.get("authenticated") else None,)
            self._remember(("token", token), found, self._authentication["webhook"]["cacheTTL"])
        return found[0]

    async def _allows(self, user: Fields, asked: Fields) -> bool:
        key = ("access", user["username"], tuple(user.get("groups", ())), tuple(asked.values()))
        found = self._remembered(key)
        if found is None:
            spec = {"user": user["username"], "groups": user.get("groups", []), "resourceAttributes": asked}
            for name in ("uid", "extra"):
                if user.get(name):
                    spec[name] = user[name]
            found = bool((await self._ask(SUBJECT_ACCESS_REVIEWS, spec)).get("status", {}).get("allowed"))
            times = self._authorization["webhook"]
            self._remember(key, found, times["cacheAuthorizedTTL" if found else "cacheUnauthorizedTTL"])
        return found

    async def _ask(self, ref: Any, spec: Fields) -> Fields:
        if self._client is None:
            raise Problem(401, "Unauthorized")
        try:
            return await self._client.create(ref, {"metadata": {}, "spec": spec})
        except (StatusError, OSError) as error:
            raise Problem(500, f"the API server cannot be asked: {error}") from None

    def _remembered(self, key: Any) -> Any:
        kept = self._kept.get(key)
        return kept[1] if kept is not None and kept[0] > self._clock.monotonic() else None

    def _remember(self, key: Any, value: Any, seconds: str) -> None:
        if len(self._kept) > _KEPT:
            self._kept.clear()
        self._kept[key] = (self._clock.monotonic() + float(duration(seconds)), value)
