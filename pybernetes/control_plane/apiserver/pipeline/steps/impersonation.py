"""Impersonation: a request made in another's name, by someone who may do so.

There are four constrained modes, in which one needs the right to be someone and, for each verb, the right to use it
in that role, and the old mode, in which the right to be someone is enough. The first mode that allows it is used.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from pybernetes.api import errors
from pybernetes.api.field import Errors, Path
from pybernetes.api.text import go_format
from pybernetes.api.validation.domains import domain_prefixed_path
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.control_plane.apiserver.authn.extra_headers import extra
from pybernetes.control_plane.apiserver.authn.user import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
    User,
    service_account_groups,
    split_service_account,
)
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.forbidden import forbidden
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, after
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo, attributes
from pybernetes.lib.http.server_connection import Answer

_PREFIX = b"impersonate-"
_EXTRA = b"impersonate-extra-"
_GROUP = "authentication.k8s.io"
_NODE = "system:node:"
_NODES = "system:nodes"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_ASSOCIATED = "associated-node"
# From this many groups or values on, the right to all of them is asked for first.
_MANY = 4
Authorize = Callable[[User, RequestInfo], Awaitable[Verdict]]


def impersonation(authorize: Authorize) -> Step:
    """Return the step that lets a request be someone else's; 403 if its sender may not be them."""

    async def become(request: Request, wanted: User) -> None:
        asking = Impersonation(authorize, request.user, attributes(request))
        request.user, constraint = await asking.become(wanted)
        if request.audit is not None:
            request.audit.become(request.user, constraint)
        for name in [name for name in request.headers if name.startswith(_PREFIX)]:
            del request.headers[name]

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            for name in request.headers:
                if name.startswith(_PREFIX):
                    wanted = asked_for(request)
                    waiting = None if wanted is None else become(request, wanted)
                    return after(waiting, following, request)
            return following(request)

        return handle

    return step


def asked_for(request: Request) -> User | None:
    """Return the user that the headers of a request name, or None; 400 for parts of a user without a name."""
    name = (request.values(b"impersonate-user") or [""])[0]
    uid = (request.values(b"impersonate-uid") or [""])[0]
    groups = tuple(request.values(b"impersonate-group"))
    more = {key: tuple(values) for key, values in extra(request, _EXTRA).items()}
    if name:
        return User(name, uid, groups, more)
    if uid or groups or more:
        raise errors.bad_request(
            f'requested &user.DefaultInfo{{Name:"", UID:{go_format.quote(uid)}, Groups:{_texts(groups)}, '
            f"Extra:{_map(more)}}} without impersonating a user name"
        )
    return None


def _texts(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(go_format.quote, values))}}}" if values else "[]string(nil)"


def _map(values: dict[str, tuple[str, ...]]) -> str:
    listed = ", ".join(f"{go_format.quote(key)}:{_texts(values[key])}" for key in sorted(values))
    return f"map[string][]string{{{listed}}}" if values else "map[string][]string(nil)"


def node_name(user: str) -> str:
    """Return the node whose user name this is, or nothing."""
    name = user.removeprefix(_NODE) if user.startswith(_NODE) else ""
    return "" if not name or dns_subdomain(name) else name


@dataclass(frozen=True, slots=True)
class Impersonation:
    """One request: whether its sender may become someone for it."""

    authorize: Authorize
    requestor: User
    request: RequestInfo

    async def become(self, wanted: User) -> tuple[User, str]:
        """Return the user to go on as, and the narrow right that allows it; 403 with the first reason if no mode does."""
        problem: errors.StatusError | None = None
        for mode in modes(wanted, self.requestor):
            try:
                return await self._constrained(mode, wanted), f"impersonate:{mode}"
            except errors.StatusError as error:
                problem = problem or error
        try:
            return await self._whole(wanted, "impersonate", ""), ""
        except errors.StatusError as error:
            raise problem or error from None

    async def _constrained(self, mode: str, wanted: User) -> User:
        asking = self.requestor
        if mode == _ASSOCIATED:  # which node it is has been checked: the right is to whichever node one is on
            keys = {"authentication.kubernetes.io/associated-node-keys": tuple(sorted(asking.extra))}
            asking = replace(asking, extra=keys)
        impersonation = replace(self, requestor=asking)
        await impersonation._check(self.request._replace(verb=f"impersonate-on:{mode}:{self.request.verb}"))
        return await impersonation._whole(wanted, f"impersonate:{mode}", _GROUP)

    async def _whole(self, wanted: User, verb: str, group: str) -> User:
        """Ask for every part of a user."""
        constrained = bool(group)
        groups = await self._name(wanted, verb, group)
        if wanted.uid:
            await self._check(_right(verb, _GROUP, "uids", wanted.uid))
        await self._groups(wanted.groups, verb, group)
        await self._extra(wanted.extra, verb, constrained)
        if wanted.name == ANONYMOUS.name:
            groups = groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
        elif UNAUTHENTICATED not in groups and AUTHENTICATED not in groups:
            groups = (*groups, AUTHENTICATED)
        return replace(wanted, groups=groups)

    async def _name(self, wanted: User, verb: str, group: str) -> tuple[str, ...]:
        """Ask for the name; return the groups that come with it."""
        account, node = split_service_account(wanted.name), node_name(wanted.name)
        if account is not None:
            namespace, name = account
            await self._check(_right(verb, group, "serviceaccounts", name)._replace(namespace=namespace))
            return wanted.groups or service_account_groups(namespace)
        if node and group:
            anywhere = "*" if verb.endswith(_ASSOCIATED) else node
            await self._check(_right(verb, group, "nodes", anywhere))
            return (_NODES,)
        await self._check(_right(verb, group, "users", wanted.name))
        return wanted.groups

    async def _groups(self, groups: tuple[str, ...], verb: str, group: str) -> None:
        right = _right(verb, group, "groups", "")
        if group:
            if "" in groups:
                raise self._refused(right, "impersonating the empty string group is not allowed")
            if MASTERS in groups:
                why = "impersonating the system:masters group is not allowed"
                raise self._refused(right._replace(name=MASTERS), why)
            if len(groups) >= _MANY and await self._may(right._replace(name="*")):
                return
        for name in groups:
            await self._check(right._replace(name=name))

    async def _extra(self, more: dict[str, tuple[str, ...]], verb: str, constrained: bool) -> None:
        right = _right(verb, _GROUP, "userextras", "")
        if constrained and more:
            problem = extra_problem(more)
            if problem:
                raise self._refused(right, problem)
            if sum(map(len, more.values())) >= _MANY and await self._may(
                right._replace(subresource="*", name="*")
            ):
                return
        for key, values in more.items():
            for value in values:
                await self._check(right._replace(subresource=key, name=value))

    async def _may(self, right: RequestInfo) -> bool:
        return (await self.authorize(self.requestor, right)).allowed

    async def _check(self, right: RequestInfo) -> None:
        verdict = await self.authorize(self.requestor, right)
        if not verdict.allowed:
            raise self._refused(right, verdict.reason)

    def _refused(self, right: RequestInfo, why: str) -> errors.StatusError:
        return forbidden(self.requestor, right, why)


def modes(wanted: User, requestor: User) -> list[str]:
    """Return the constrained modes in which this user may be asked for."""
    name_only = not (wanted.uid or wanted.groups or wanted.extra)
    node = node_name(wanted.name)
    if split_service_account(wanted.name) is not None:
        return ["serviceaccount"] if name_only else []
    if not node:
        return ["user-info"]
    if not name_only:
        return []
    is_account = split_service_account(requestor.name) is not None
    associated = is_account and requestor.extra.get(_NODE_NAME) == (node,)
    return [_ASSOCIATED, "arbitrary-node"] if associated else ["arbitrary-node"]


def _right(verb: str, group: str, resource: str, name: str) -> RequestInfo:
    return RequestInfo(verb, is_resource=True, group=group, version="v1", resource=resource, name=name)


def extra_problem(more: dict[str, tuple[str, ...]]) -> str:
    """Return why these additions to a user are not allowed in the constrained modes, or nothing."""
    for key, values in more.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        problems = Errors()
        domain_prefixed_path(key, Path("extra") / "key", problems)
        if problems:
            return f"impersonating an invalid key in extra is not allowed: {problems[0]}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {go_format.quote(key)}"
        if not values:
            return "impersonating empty values in extra is not allowed"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""
