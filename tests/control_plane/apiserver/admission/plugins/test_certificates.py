"""Certificates: who approves, signs and attests, and which subjects may be asked for."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pybernetes.api.certificates.certificatesigningrequest import certificate_request
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.lib.tls.certificate_subject import Subject
from tests.control_plane.apiserver.admission.world import Object, World
from tests.support import run

REQUESTS = "certificatesigningrequests.certificates.k8s.io"
BUNDLES = "clustertrustbundles.certificates.k8s.io"
SIGNER = "example.com/signer"


def request(name: str, *groups: str) -> str:
    """Return a certificate request as objects carry it."""
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    attributes += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(attributes))
    signed = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def object_(signer: str = SIGNER, **more: Any) -> Object:
    return {"metadata": {"name": "r"}, "spec": {"signerName": signer, **more.pop("spec", {})}, **more}


def test_the_subject_of_a_request() -> None:
    assert certificate_request.subject(request("me", "a", "b")) == Subject("me", ("a", "b"))
    assert certificate_request.subject(request("me")).organizations == ()
    for text in ("", "bm90aGluZw=="):
        with pytest.raises(ValueError, match="PEM block type must be CERTIFICATE REQUEST"):
            certificate_request.subject(text)
    block = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"
    with pytest.raises(ValueError, match="asn1"):
        certificate_request.subject(base64.b64encode(block.encode()).decode())


@pytest.mark.parametrize(
    ("plugin", "subresource", "verb"),
    [("CertificateApproval", "approval", "approve"), ("CertificateSigning", "status", "sign")],
)
@pytest.mark.parametrize(
    ("allowed", "fine"), [(None, False), (SIGNER, True), ("example.com/*", True), ("*", False)]
)
def test_approval_and_signing(
    plugin: str, subresource: str, verb: str, allowed: str | None, fine: bool
) -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain(plugin)
            if allowed:
                world.permissions.allowed = {(verb, "signers", allowed)}
            # The signer that is sent does not count.
            new = object_(
                "other.example.com/x", status={"conditions": [{"type": "Approved"}], "certificate": "x"}
            )
            problem = await world.refusal(chain, REQUESTS, new, object_(), subresource=subresource)
            message = f'user not permitted to {verb} requests with signerName "{SIGNER}"'
            assert problem == ("" if fine else f'{REQUESTS} "r" is forbidden: {message}')
            asked = world.permissions.asked[0]
            assert (asked.group, asked.resource, asked.verb) == ("certificates.k8s.io", "signers", verb)
            assert not await world.refusal(chain, REQUESTS, object_(), object_())

    run(test())


def test_a_status_without_certificate_needs_no_permission() -> None:
    async def test() -> None:
        async with World() as world:
            new, old = (
                object_(metadata={"name": "r", "labels": {}}, status={}),
                object_(status={"conditions": []}),
            )
            chain = world.chain("CertificateSigning")
            assert not await world.refusal(chain, REQUESTS, new, old, subresource="status")

    run(test())


@pytest.mark.parametrize(
    ("signer", "groups", "message"),
    [
        (certificate_request.CLIENT_SIGNER, ("devs",), ""),
        (SIGNER, ("system:masters",), ""),
        (
            certificate_request.CLIENT_SIGNER,
            ("devs", "system:masters"),
            "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
        ),
    ],
)
def test_nobody_asks_to_be_an_administrator(signer: str, groups: tuple[str, ...], message: str) -> None:
    async def test() -> None:
        async with World() as world:
            given = object_(signer, spec={"request": request("me", *groups)})
            problem = await world.refusal(world.chain("CertificateSubjectRestriction"), REQUESTS, given)
            assert problem == (f'{REQUESTS} "r" is forbidden: {message}' if message else "")
            bad = object_(certificate_request.CLIENT_SIGNER, spec={"request": ""})
            problem = await world.refusal(world.chain("CertificateSubjectRestriction"), REQUESTS, bad)
            assert problem.endswith("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST")

    run(test())


def test_who_publishes_roots_speaks_for_the_signer() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ClusterTrustBundleAttest")
            message = f'{BUNDLES} "r" is forbidden: user not permitted to attest for signerName "{SIGNER}"'
            assert await world.refusal(chain, BUNDLES, object_()) == message
            assert not await world.refusal(chain, BUNDLES, object_(""))
            collected = {**object_(), "metadata": {"name": "r", "finalizers": ["x"]}}
            assert not await world.refusal(chain, BUNDLES, collected, object_())
            changed = object_(spec={"trustBundle": "x"})
            assert await world.refusal(chain, BUNDLES, changed, object_()) == message
            world.permissions.allowed = {("attest", "signers", SIGNER)}
            assert not await world.refusal(chain, BUNDLES, changed, object_())

    run(test())


@pytest.mark.parametrize(
    ("signer", "name", "message"),
    [
        (certificate_request.KUBELET_SERVING_SIGNER, "system:node:n1", ""),
        (
            certificate_request.KUBELET_SERVING_SIGNER,
            "system:node:n2",
            "can only create a node CSR with CN=system:node:n1",
        ),
        (
            certificate_request.KUBELET_CLIENT_SIGNER,
            "me",
            "can only create a node CSR with CN=system:node:n1",
        ),
        (SIGNER, "me", ""),
    ],
)
def test_nodes_ask_for_their_own_certificates(signer: str, name: str, message: str) -> None:
    async def test() -> None:
        async with World() as world:
            node = User("system:node:n1", groups=("system:nodes",))
            given = object_(signer, spec={"request": request(name, "system:nodes")})
            problem = await world.refusal(world.chain("NodeRestriction"), REQUESTS, given, user=node)
            assert problem == (f'{REQUESTS} "r" is forbidden: {message}' if message else "")
            given["spec"]["request"] = "AAAA"
            problem = await world.refusal(world.chain("NodeRestriction"), REQUESTS, given, user=node)
            assert ("unable to parse csr" in problem) == (signer != SIGNER)

    run(test())
