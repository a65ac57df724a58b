"""Making a cluster a member of a federation, and ending that."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.kubeconfig import Config
from pybernetes.client.refs import NAMESPACES, SECRETS, SERVICE_ACCOUNTS, Ref
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.tools.federation import host_objects, permissions
from pybernetes.tools.federation.errors import FederationError

TOKEN_SECONDS = 30 * 24 * 3600  # the control plane asks for another long before


@dataclass(frozen=True)
class Joining:
    """A cluster that joins, or leaves: its name, the host's, and the namespace of the federation in both."""

    cluster: str
    host: str
    namespace: str
    one_namespace: bool = False

    @property
    def account(self) -> str:
        """The account of the control plane in the member."""
        return permissions.service_account(self.cluster, self.host)


async def check_new(host: Client, member: Client, joining: Joining) -> None:
    """Refuse a cluster that is a member by this name, or was left half joined, before anything is made."""
    if await _get(member, SERVICE_ACCOUNTS, joining.account, joining.namespace):
        raise FederationError(
            f"service account: {joining.account} already exists in joining cluster: {joining.cluster}"
        )
    if await _get(host, KUBEFED_CLUSTERS, joining.cluster, joining.namespace):
        raise FederationError(f"federated cluster {joining.cluster} already exists in host cluster")


async def _get(client: Client, kind: Ref, name: str, namespace: str) -> Object | None:
    try:
        return await client.get(kind, name, namespace)
    except NotFound:
        return None


async def _make(client: Client, kind: Ref, obj: Object) -> None:
    try:
        await client.create(kind, obj, obj["metadata"].get("namespace", ""))
    except AlreadyExists:
        pass


async def prepare_member(member: Client, joining: Joining, types: list[TypeConfig]) -> str:
    """Make the control plane's account in a member, with the rights that the kinds need; return a token of it."""
    meta = {"name": joining.account, "namespace": joining.namespace}
    await _make(member, NAMESPACES, {"metadata": {"name": joining.namespace}})
    await _make(member, SERVICE_ACCOUNTS, {"metadata": meta})
    await grant(member, joining, types)
    request = {"spec": {"expirationSeconds": TOKEN_SECONDS}}
    answer = await member.create(
        SERVICE_ACCOUNTS, request, joining.namespace, name=joining.account, subresource="token"
    )
    return answer["status"]["token"]


async def grant(member: Client, joining: Joining, types: list[TypeConfig]) -> None:
    """Give the control plane's account the rights that the kinds need, and no others."""
    granted = permissions.objects(
        joining.account, joining.namespace, types, one_namespace=joining.one_namespace
    )
    for kind, obj in granted:
        await host_objects.put(member, kind, obj)


def authority_of(config: Config) -> tuple[str, list[str]]:
    """Return the bundle of authorities of a cluster in base64, and which checks of certificates are left out."""
    trust = config.credentials.trust()
    text = trust.text or (trust.path.read_text() if trust.path else "")
    return base64.b64encode(text.encode()).decode(), [] if trust.verify else ["*"]


def cluster_object(joining: Joining, config: Config, secret: str) -> Object:
    """Return the KubeFedCluster of a member."""
    bundle, disabled = authority_of(config)
    spec: Object = {"apiEndpoint": config.server, "secretRef": {"name": secret}}
    if bundle:
        spec["caBundle"] = bundle
    if disabled:
        spec["disabledTLSValidations"] = disabled
    return {"metadata": {"name": joining.cluster, "namespace": joining.namespace}, "spec": spec}


async def register(
    host: Client, joining: Joining, config: Config, token: str, *, secret_name: str = "", new: bool = True
) -> None:
    """Note a member and the token for it in the host."""
    known = await _get(host, KUBEFED_CLUSTERS, joining.cluster, joining.namespace)
    name = secret_name or (known["spec"]["secretRef"]["name"] if known else "")
    secret: Object = {
        "metadata": {"namespace": joining.namespace, **({"name": name} if name else {"generateName": f"{joining.cluster}-"})},
        "data": {"token": base64.b64encode(token.encode()).decode()},
    }  # fmt: skip
    if name and not new:
        await host_objects.put(host, SECRETS, secret)
    else:
        name = (await host.create(SECRETS, secret, joining.namespace))["metadata"]["name"]
    await host_objects.put(host, KUBEFED_CLUSTERS, cluster_object(joining, config, name))


async def forget(host: Client, joining: Joining) -> bool:
    """Remove a member and its secret from the host; return whether it was there."""
    known = await _get(host, KUBEFED_CLUSTERS, joining.cluster, joining.namespace)
    if known is None:
        return False
    try:
        await host.delete(SECRETS, known["spec"]["secretRef"]["name"], joining.namespace)
    except NotFound:
        pass
    await host.delete(KUBEFED_CLUSTERS, joining.cluster, joining.namespace)
    return True


async def leave(member: Client, joining: Joining) -> list[str]:
    """Remove the control plane's account and its rights from a member; return what could not be removed, and why."""
    problems: list[str] = []
    made = permissions.objects(joining.account, joining.namespace, (), one_namespace=True)
    made += permissions.objects(joining.account, joining.namespace, (), one_namespace=False)
    left = {(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]) for kind, obj in made}
    for kind, namespace, name in [*sorted(left), (SERVICE_ACCOUNTS, joining.namespace, joining.account)]:
        try:
            await member.delete(kind, name, namespace)
        except NotFound:
            continue
        except StatusError as error:
            problems.append(f"{kind.kind} {name}: {error}")
        except OSError as error:  # nor will the next one be heard
            return [*problems, str(error)]
    return problems
