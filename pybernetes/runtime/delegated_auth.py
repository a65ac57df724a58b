"""Who may see a component's own pages: the API server is asked who a caller is and whether it may look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.tls.serving_certificates import CABundle, verified_chain
from pybernetes.runtime.access_reviews import ANONYMOUS, AccessReviews, bearer_token, certificate_user
from pybernetes.runtime.component_server import text

ALWAYS_ALLOWED = ("/healthz", "/readyz", "/livez")


class Refused(Exception):
    """A caller may not; ``user`` is empty if it is not known who that is."""

    def __init__(self, user: str) -> None:
        super().__init__(user)
        self.user = user


@dataclass(frozen=True)
class FrontProxy:
    """Proxies that may say in headers whom they speak for: who vouches for them, their names, their headers."""

    authorities: CABundle
    names: Sequence[str] = ()
    user_headers: Sequence[str] = ("x-remote-user",)
    uid_headers: Sequence[str] = ()
    group_headers: Sequence[str] = ("x-remote-group",)
    extra_prefixes: Sequence[str] = ("x-remote-extra-",)


class DelegatedAuth:
    """An access check for a ``ComponentServer``: TokenReview for bearer tokens, SubjectAccessReview for everything.

    Certificates count if ``clients`` vouch for them, or if TLS verified them and nothing else was said.
    """

    def __init__(
        self,
        client: Client,
        *,
        allowed: Sequence[str] = ALWAYS_ALLOWED,
        clock: Clock | None = None,
        clients: CABundle | None = None,
        proxy: FrontProxy | None = None,
    ) -> None:
        self._reviews = AccessReviews(client, clock or Clock())
        self._allowed = tuple(allowed)
        self._clients, self._proxy = clients, proxy

    async def __call__(self, request: Request) -> Response | None:
        """Return None if the caller may look, or the refusal."""
        try:
            await self.authorize(request)
        except Refused as refused:
            if not refused.user:
                return text(b"Unauthorized\n", 401)
            return text(f'forbidden: User "{refused.user}" cannot get path "{request.path}"\n'.encode(), 403)
        except (StatusError, OSError) as error:
            return text(f"the API server cannot be asked: {error}\n".encode(), 500)
        return None

    async def authorize(self, request: Request, resource: Object | None = None) -> None:
        """Raise Refused if the caller may not do what ``resourceAttributes`` say, or see the page without them.

        StatusError and OSError say that the API server cannot be asked.
        """
        path = request.path
        if resource is None and any(
            path == allowed or path.startswith(f"{allowed}/") for allowed in self._allowed
        ):
            return
        user = await self._user(request)
        if user is None:
            raise Refused("")
        page = {"nonResourceAttributes": {"path": path, "verb": "get"}}
        asked = {"resourceAttributes": resource} if resource is not None else page
        if not await self._reviews.allows(user, asked):
            raise Refused(user["username"])

    def trust(self, clients: CABundle | None, proxy: FrontProxy | None) -> None:
        """Trust others from now on: authorities of clients, and proxies."""
        self._clients, self._proxy = clients, proxy

    async def _user(self, request: Request) -> Object | None:
        tls = request.connection.tls
        certificate = tls.getpeercert(binary_form=True) if tls is not None else None
        if tls is not None and certificate and (chain := verified_chain(tls)):
            user = certificate_user(tls.getpeercert() or {})
            spoken_for = self._spoken_for(request, user["username"] if user else "", chain)
            if spoken_for is not None:
                return spoken_for
            if user and self._vouched_for(chain):
                return user
        header = request.header(b"authorization")
        token = bearer_token(header)
        if token is None:
            return None if header or certificate else ANONYMOUS
        return await self._reviews.user(token)

    def _vouched_for(self, chain: frozenset[bytes]) -> bool:
        if self._clients is None:
            return self._proxy is None  # verified for what the server trusts
        return not chain.isdisjoint(self._clients.fingerprints)

    def _spoken_for(self, request: Request, name: str, chain: frozenset[bytes]) -> Object | None:
        """Return whom a front proxy names, if the caller is one."""
        proxy = self._proxy
        if proxy is None or chain.isdisjoint(proxy.authorities.fingerprints):
            return None
        if proxy.names and name not in proxy.names:
            return None
        user = _first(request, proxy.user_headers)
        if not user:
            return None
        groups = [group for header in proxy.group_headers for group in _values(request, header) if group]
        extra: dict[str, list[str]] = {}
        for header in request.headers:
            for prefix in proxy.extra_prefixes:
                key = header.decode("latin-1")
                if key.startswith(prefix.lower()):
                    extra.setdefault(unquote(key[len(prefix) :]), []).extend(request.values(header))
        if user != ANONYMOUS["username"] and "system:authenticated" not in groups:
            groups.append("system:authenticated")
        info = {"username": user, "uid": _first(request, proxy.uid_headers), "groups": groups, "extra": extra}
        return {key: value for key, value in info.items() if value}


def _values(request: Request, header: str) -> list[str]:
    return request.values(header.lower().encode())


def _first(request: Request, headers: Sequence[str]) -> str:
    return next((values[0] for header in headers if (values := _values(request, header)) and values[0]), "")
