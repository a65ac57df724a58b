"""ServiceAccount: every pod runs as a service account that exists, and gets its token and its pull secrets."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.authz.node.references import MIRROR, named_by_pod
from pybernetes.control_plane.apiserver.storage.generated_names import random_suffix

DEFAULT = "default"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
_VOLUME = "kube-api-access-"
_ENFORCE = "kubernetes.io/enforce-mountable-secrets"
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
# Kubelets renew the token hourly; it lasts a little longer, so that clients which never read it again can be found.
_TOKEN_SECONDS = 3607
# A namespace's default account is made by a controller, a moment after the namespace.
_PATIENCE = 1.5


class ServiceAccount(Plugin):
    """The plugin."""

    name = "ServiceAccount"
    order = 70
    on_by_default = True
    scope = Scope(resources=("pods",), subresources=("", "ephemeralcontainers"))

    def __init__(self, inputs: PluginInputs) -> None:
        self._accounts = Lookup(inputs.context, "", "serviceaccounts")

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Complete a new pod."""
        if attributes.operation != CREATE or attributes.subresource:
            return None
        pod = attributes.obj
        assert pod is not None
        if _is_mirror(pod):
            # A mirror pod is what runs already: it cannot be changed, so it has to be fine.
            _check_mirror(attributes, pod)
            return None
        spec = pod["spec"]
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = spec["serviceAccount"] = DEFAULT
        account = self._accounts.get(attributes.namespace, spec["serviceAccountName"])
        if account is None:
            return self._wait(attributes, pod)
        _complete(attributes, pod, account)
        return None

    async def _wait(self, attributes: Attributes, pod: Object) -> None:
        namespace, name = attributes.namespace, pod["spec"]["serviceAccountName"]
        seconds = _PATIENCE if name == DEFAULT else 0
        account = await self._accounts.appears(namespace, name, seconds)
        if account is None:
            raise _missing(attributes, name)
        _complete(attributes, pod, account)

    def validate(self, attributes: Attributes) -> None:
        """Refuse pods without an account, and secrets that the account may not mount where that is enforced."""
        pod = attributes.obj
        assert pod is not None
        if attributes.operation != CREATE and not attributes.subresource:
            return
        if not attributes.subresource and _is_mirror(pod):
            _check_mirror(attributes, pod)
            return
        name = pod["spec"].get("serviceAccountName")
        if not name:
            pod_name = pod["metadata"].get("name", "")
            attributes.refuse(f"no service account specified for pod {attributes.namespace}/{pod_name}")
        account = self._accounts.get(attributes.namespace, name)
        if account is None:
            raise _missing(attributes, name)
        if _enforces(account):
            _check_secrets(attributes, pod, account)


def _is_mirror(pod: Object) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or ())


def _missing(attributes: Attributes, name: str) -> Exception:
    why = errors.not_found("", "serviceaccount", name)
    return attributes.forbidden(f"error looking up service account {attributes.namespace}/{name}: {why}")


def _check_mirror(attributes: Attributes, pod: Object) -> None:
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        attributes.refuse("a mirror pod may not reference service accounts")
    if any(resource == "secrets" and name for resource, name in named_by_pod(pod)):
        attributes.refuse("a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if source.get("serviceAccountToken") is not None:
                attributes.refuse("a mirror pod may not use ServiceAccountToken volume projections")


def _complete(attributes: Attributes, pod: Object, account: Object) -> None:
    spec = pod["spec"]
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken")
    if wanted is not False:
        mount_token(spec)
    secrets = account.get("imagePullSecrets")
    if secrets and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": secret.get("name", "")} for secret in secrets]
    if _enforces(account):
        _check_secrets(attributes, pod, account)


def mount_token(spec: dict[str, Any]) -> None:
    """Mount the account's token into every container that has nothing else in its place."""
    volumes = spec.get("volumes") or []
    existing = next(
        (volume["name"] for volume in volumes if volume.get("name", "").startswith(_VOLUME)), None
    )
    name = existing
    for key in ("initContainers", "containers"):
        for container in spec.get(key) or ():
            mounts = container.get("volumeMounts") or []
            if any(mount.get("mountPath") == MOUNT_PATH for mount in mounts):
                continue
            name = name or _VOLUME + random_suffix()
            container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
    if name and not existing:
        spec["volumes"] = [*volumes, _token_volume(name)]


def _token_volume(name: str) -> dict[str, Any]:
    """Return the token, the authority to know the API server by, and the namespace."""
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources: list[dict[str, Any]] = [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [{"fieldRef": field, "path": "namespace"}]}},
    ]
    return {"name": name, "projected": {"defaultMode": 420, "sources": sources}}


def _enforces(account: Object) -> bool:
    annotations = account["metadata"].get("annotations")
    return bool(annotations) and annotations.get(_ENFORCE) in _TRUE


def _check_secrets(attributes: Attributes, pod: Object, account: Object) -> None:
    """Refuse secrets that the account does not list."""
    name = account["metadata"]["name"]
    mountable = {reference.get("name", "") for reference in account.get("secrets") or ()}
    tail = f"is not allowed because service account {name} does not reference that"
    for what, secret in _secrets(pod, attributes.subresource):
        if secret not in mountable:
            attributes.refuse(f'{what}secret.secretName="{secret}" {tail} secret')
    if attributes.subresource:
        return
    pulling = {reference.get("name", "") for reference in account.get("imagePullSecrets") or ()}
    for index, reference in enumerate(pod["spec"].get("imagePullSecrets") or ()):
        if reference.get("name", "") not in pulling:
            attributes.refuse(
                f'imagePullSecrets[{index}].name="{reference.get("name", "")}" {tail} imagePullSecret'
            )


def _secrets(pod: Object, subresource: str) -> Iterator[tuple[str, str]]:
    """Return where secrets are named, and their names."""
    spec = pod["spec"]
    lists = {"ephemeralContainers": "ephemeral container"}
    if not subresource:
        lists = {"initContainers": "init container", "containers": "container"}
        for volume in spec.get("volumes") or ():
            if volume.get("secret") is not None:
                yield "volume with ", volume["secret"].get("secretName", "")
    for key, words in lists.items():
        for container in spec.get(key) or ():
            where = f"{words} {container.get('name', '')} with"
            for variable in container.get("env") or ():
                reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
                if reference is not None:
                    yield f"{where} envVar {variable.get('name', '')} referencing ", reference.get("name", "")
            for source in container.get("envFrom") or ():
                if source.get("secretRef") is not None:
                    yield f"{where} envFrom referencing ", source["secretRef"].get("name", "")


PLUGIN = ServiceAccount
