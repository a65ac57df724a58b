"""token: a new token for a service account."""

from __future__ import annotations

import time

from pybernetes.api import errors
from pybernetes.api.core.serviceaccount.token_request import TOKEN_REQUEST, is_for_webhook
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authn.service_accounts.claims import Reference, issue
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import (
    EXTENDED_SECONDS,
    WARN_SECONDS,
    ServiceAccounts,
)
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.managed_fields import update_managed_fields
from pybernetes.control_plane.apiserver.storage.object_meta import settle_namespace
from pybernetes.control_plane.apiserver.storage.options import write_options
from pybernetes.lib.http.messages import Response
from pybernetes.lib.tokens import jose

_KIND = Kind(TOKEN_REQUEST)
_BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_GATE = "APIServerWebhookAuthenticationToken"
_ISSUED = "authentication.kubernetes.io/issued-credential-id"


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Make a token for the service account of the path."""
    accounts = context.authentication.accounts
    if request.request_info.verb != "create":
        raise errors.method_not_allowed()
    if accounts is None:
        raise errors.no_such_resource()
    form = negotiation.plain(request)
    options = write_options(request, "CreateOptions")
    unsaid = (TOKEN_REQUEST.group, "v1", TOKEN_REQUEST.kind)
    asked = await read_object(TOKEN_REQUEST, request, options.validation, unsaid)
    name = request.request_info.name
    settle_namespace(kind, asked["metadata"], request.request_info.namespace)
    assert TOKEN_REQUEST.default is not None and TOKEN_REQUEST.validate is not None
    TOKEN_REQUEST.default(asked)
    attributes = context.admission.attributes("CREATE", kind.resource, request, asked, None, options.dry_run)
    await context.admission.mutate(attributes)
    update_managed_fields(context, TOKEN_REQUEST, None, asked, options, "token")
    await context.fresh()
    account = _complete(context, kind, accounts, asked, name)
    problems = Errors()
    TOKEN_REQUEST.validate(asked, problems)
    if problems:
        raise errors.invalid(TOKEN_REQUEST.group, TOKEN_REQUEST.kind, "", problems)
    await context.admission.validate(attributes)
    asked["status"] = _token(context, request, accounts, account, asked)
    spec = asked["spec"]
    asked["spec"] = {"audiences": spec["audiences"], "expirationSeconds": spec["expirationSeconds"],
                     "boundObjectRef": spec.get("boundObjectRef")}  # fmt: skip
    return rendering.render(_KIND, asked, form, context.clock(), status=201)


def _complete(
    context: ServerContext, kind: Kind, accounts: ServiceAccounts, asked: Object, name: str
) -> Object:
    """Fill in what the account and the server's settings say; return the account."""
    meta = asked["metadata"]
    if meta.setdefault("name", name) != name:
        problems = Errors()
        problems.invalid("metadata.name", meta["name"], "must match the service account name if specified")
        raise errors.invalid(TOKEN_REQUEST.group, TOKEN_REQUEST.kind, name, problems)
    record = context.store.get(kind.key(meta["namespace"], name))
    if record is None:
        raise errors.not_found("", "serviceaccounts", name)
    account = kind.object(record)
    uid = account["metadata"]["uid"]
    if meta.setdefault("uid", uid) != uid:
        raise errors.conflict(
            TOKEN_REQUEST.group, TOKEN_REQUEST.kind, name,
            f"the UID in the token request ({meta['uid']}) does not match the UID of the service account ({uid})",
        )  # fmt: skip
    if not asked["spec"].get("audiences"):
        asked["spec"]["audiences"] = list(accounts.audiences)
    meta["creationTimestamp"] = context.timestamp()
    asked.pop("status", None)
    return account


def _token(
    context: ServerContext, request: Request, accounts: ServiceAccounts, account: Object, asked: Object
) -> dict[str, str]:
    """Return the status with the token."""
    spec = asked["spec"]
    bound = _bound(context, asked)
    seconds = spec["expirationSeconds"]
    if 0 < accounts.max_seconds < seconds:
        request.warn(f"requested expiration of {seconds} seconds shortened to {accounts.max_seconds} seconds")
        seconds = spec["expirationSeconds"] = accounts.max_seconds
    lasts, warn_after = seconds, 0
    for_us = set(spec["audiences"]) <= set(accounts.audiences)
    if accounts.extend and "pod" in bound and seconds == WARN_SECONDS and for_us:
        lasts, warn_after = EXTENDED_SECONDS, seconds
    now = context.clock()
    claims = issue(account, issuer=accounts.issuers[0], audiences=spec["audiences"], now=now, seconds=lasts,
                   warn_after=warn_after, bound=bound)  # fmt: skip
    if request.audit is not None:
        request.audit.annotations[_ISSUED] = f"JTI={claims['jti']}"
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(now) + seconds))
    return {"token": jose.sign(accounts.signer, claims), "expirationTimestamp": ends}


def _bound(context: ServerContext, asked: Object) -> dict[str, Reference]:
    """Return the objects that the token is bound to: the one that was asked for, and with a pod its node."""
    reference = asked["spec"].get("boundObjectRef")
    if reference is None:
        return {}
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    what, name = reference.get("kind", ""), reference.get("name", "")
    if is_for_webhook(reference):
        raise errors.bad_request(
            f"cannot bind token to object of type {group}/{version}, Kind={what} (feature gate {_GATE} is disabled)"
        )
    if group or what not in _BOUND:
        raise errors.bad_request(f"cannot bind token to object of type {group}/{version}, Kind={what}")
    obj = _get(context, _BOUND[what], asked["metadata"]["namespace"], name)
    if obj is None:
        raise errors.not_found("", _BOUND[what], name)
    account = asked["metadata"]["name"]
    if what == "Pod" and obj["spec"].get("serviceAccountName", "") != account:
        raise errors.bad_request(
            f"cannot bind token for serviceaccount {go_format.quote(account)} to pod running with different "
            "serviceaccount name."
        )
    uid = obj["metadata"]["uid"]
    if reference.get("uid") and reference["uid"] != uid:
        raise errors.conflict(
            "", what, name, f"the UID in the bound object reference ({reference['uid']}) does not match the UID in "
            "record. The object might have been deleted and then recreated",
        )  # fmt: skip
    bound = {what.lower(): Reference(name, uid)}
    node = obj["spec"].get("nodeName", "") if what == "Pod" else ""
    if node:
        stored = _get(context, "nodes", "", node)
        bound["node"] = Reference(node, stored["metadata"]["uid"] if stored is not None else "")
    return bound


def _get(context: ServerContext, plural: str, namespace: str, name: str) -> Object | None:
    kind = context.kinds.find("", plural)
    record = context.store.get(kind.key(namespace, name))
    return None if record is None else kind.object(record)
