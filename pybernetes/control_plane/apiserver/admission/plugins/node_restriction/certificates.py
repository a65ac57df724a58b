"""Certificates: a node asks for its own, and for those that pods on it mount."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.certificates.certificatesigningrequest import certificate_request
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import verdict
from pybernetes.control_plane.apiserver.admission.plugin import failure
from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.lookups import Lookups
from pybernetes.control_plane.apiserver.authz.node.references import MIRROR


def request(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a kubelet ask for a certificate under its own name only."""
    spec = (attributes.obj or {}).get("spec", {})
    signers = (certificate_request.KUBELET_SERVING_SIGNER, certificate_request.KUBELET_CLIENT_SIGNER)
    if attributes.operation != CREATE or spec.get("signerName") not in signers:
        return
    try:
        subject = certificate_request.subject(spec.get("request", ""))
    except ValueError as error:
        attributes.refuse(f"unable to parse csr: {error}")
    if subject.common_name != f"system:node:{node}":
        attributes.refuse(f"can only create a node CSR with CN=system:node:{node}")


async def pod_request(lookups: Lookups, node: str, attributes: Attributes) -> None:
    """Let a node ask for certificates of pods that run on it, and for what the pod is."""
    if attributes.operation != CREATE:
        attributes.refuse(f"unexpected operation {attributes.operation}")
    if attributes.subresource:
        attributes.refuse(f"unexpected subresource {attributes.subresource}")
    spec = (attributes.obj or {}).get("spec", {})
    name = f"{attributes.namespace}/{spec.get('podName', '')}"
    _node(lookups, node, attributes, name)
    pod = _pod(lookups, attributes, name)
    _account(lookups, attributes, pod, name)
    signer = spec.get("signerName", "")
    if not _mounts(pod, signer):
        # A resource with a slash in its name could not be granted.
        resource, group = signer.replace("/", ":"), attributes.resource.group
        verb = "request-serviceaccounts-podcertificate-signer"
        answer = await verdict(
            lookups.context, attributes.user, verb, group, resource, spec.get("serviceAccountName", ""),
            version=attributes.resource.version, namespace=attributes.namespace,
        )  # fmt: skip
        if not answer.allowed:
            attributes.refuse(
                f"pod {go_format.quote(name)} does not mount a podCertificate projected volume for signer {go_format.quote(signer)}"
            )


def _retrieving(what: str, name: str, why: errors.StatusError) -> errors.StatusError:
    return failure(
        f"while retrieving {what} {go_format.quote(name)} named in the PodCertificateRequest: {why.message}"
    )


def _node(lookups: Lookups, node: str, attributes: Attributes, pod: str) -> None:
    spec = (attributes.obj or {}).get("spec", {})
    given = spec.get("nodeName", "")
    if given != node:
        attributes.refuse(
            f"PodCertificateRequest.Spec.NodeName={go_format.quote(given)}, which is not the requesting node {go_format.quote(node)}"
        )
    node_object = lookups.nodes.get("", node)
    if node_object is None:
        raise _retrieving("node", node, errors.not_found("", "node", node))
    uid, given_uid = node_object["metadata"].get("uid", ""), spec.get("nodeUID", "")
    if uid != given_uid:
        raise failure(
            f"PodCertificateRequest for pod {go_format.quote(pod)} names node UID {go_format.quote(given_uid)}, "
            f"inconsistent with the running node ({go_format.quote(uid)})"
        )


def _pod(lookups: Lookups, attributes: Attributes, name: str) -> Object:
    spec = (attributes.obj or {}).get("spec", {})
    pod = lookups.pods.get(attributes.namespace, spec.get("podName", ""))
    if pod is None:
        raise _retrieving("pod", name, errors.not_found("", "pod", spec.get("podName", "")))
    uid, given = pod["metadata"].get("uid", ""), spec.get("podUID", "")
    if uid != given:
        raise failure(
            f"PodCertificateRequest for pod {go_format.quote(name)} contains pod UID ({go_format.quote(given)}) which differs "
            f"from running pod {go_format.quote(uid)}"
        )
    if pod["spec"].get("nodeName") != spec.get("nodeName"):
        node = go_format.quote(spec.get("nodeName", ""))
        attributes.refuse(
            f"pod {go_format.quote(name)} is not running on node {node} named in the PodCertificateRequest"
        )
    if MIRROR in (pod["metadata"].get("annotations") or {}):
        attributes.refuse(f"pod {go_format.quote(name)} is a mirror pod")
    return pod


def _account(lookups: Lookups, attributes: Attributes, pod: Object, name: str) -> None:
    spec = (attributes.obj or {}).get("spec", {})
    given, running = spec.get("serviceAccountName", ""), pod["spec"].get("serviceAccountName", "")
    if given != running:
        attributes.refuse(
            f"PodCertificateRequest for pod {go_format.quote(name)} contains serviceAccountName ({go_format.quote(given)}) that "
            f"differs from running pod ({go_format.quote(running)})"
        )
    account = lookups.accounts.get(attributes.namespace, given)
    if account is None:
        full = f"{attributes.namespace}/{given}"
        raise _retrieving("service account", full, errors.not_found("", "serviceaccount", given))
    uid, given_uid = account["metadata"].get("uid", ""), spec.get("serviceAccountUID", "")
    if uid != given_uid:
        raise failure(
            f"PodCertificateRequest for pod {go_format.quote(name)} names service account UID {go_format.quote(given_uid)}, "
            f"which differs from the running service account ({go_format.quote(uid)})"
        )


def _mounts(pod: Object, signer: str) -> bool:
    return any(
        (source.get("podCertificate") or {}).get("signerName") == signer
        for volume in pod["spec"].get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    )
