"""Tokens of service accounts for pods, renewed well before they expire."""

from __future__ import annotations

import random

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import SERVICE_ACCOUNTS
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.volume_inputs import Credential
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile, VolumeRequest

_RENEW_AFTER = 0.8
_LONGEST = 24 * 3600.0


async def token(request: VolumeRequest, source: Object, mode: int) -> dict[str, VolumeFile]:
    """Return the file of a token."""
    inputs, pod = request.inputs, request.pod
    if inputs.client is None:
        raise VolumeError("this kubelet has no API server to ask for a token")
    meta = pod["metadata"]
    account = pod["spec"].get("serviceAccountName") or "default"
    seconds = source.get("expirationSeconds") or 3600
    key = (meta["uid"], account, source.get("audience", ""), seconds)
    kept = inputs.credentials.get(key)
    if kept is None or inputs.clock.now() >= kept.renew_at:
        spec: Object = {
            "expirationSeconds": seconds,
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]},
        }
        if source.get("audience"):
            spec["audiences"] = [source["audience"]]
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        try:
            answer = await inputs.client.create(
                SERVICE_ACCOUNTS, body, meta["namespace"], name=account, subresource="token"
            )
        except (StatusError, OSError) as error:
            if kept is None or inputs.clock.now() >= kept.expires_at:
                raise VolumeError(f"failed to fetch token: {error}") from None
            return _files(request, source, kept.parts[0], mode)
        now = inputs.clock.now()
        expires = rfc3339.parse(answer["status"]["expirationTimestamp"])
        # Not all pods of a node at once.
        due = now + min((expires - now) * _RENEW_AFTER, _LONGEST) - random.random() * 10
        text = answer["status"]["token"].encode()
        kept = inputs.credentials[key] = Credential((text,), due, expires)
    return _files(request, source, kept.parts[0], mode)


def _files(request: VolumeRequest, source: Object, data: bytes, mode: int) -> dict[str, VolumeFile]:
    owner, mode = owner_and_mode(request, mode)
    return {source["path"]: VolumeFile(data, mode, owner)}


def owner_and_mode(request: VolumeRequest, mode: int) -> tuple[int | None, int]:
    """Return the owner and the mode of a file with a secret: a single user's alone."""
    user = _only_user(request.pod["spec"])
    return user, 0o600 if user is not None or request.fs_group is not None else mode


def _only_user(spec: Object) -> int | None:
    """Return the user of all containers, if they share one: the token is that user's file."""
    default = (spec.get("securityContext") or {}).get("runAsUser")
    users = {
        (container.get("securityContext") or {}).get("runAsUser", default)
        for group in ("initContainers", "containers")
        for container in spec.get(group, ())
    }
    return users.pop() if len(users) == 1 else None
