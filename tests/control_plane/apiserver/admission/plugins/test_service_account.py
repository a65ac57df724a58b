"""ServiceAccount: the default account, its token, its pull secrets, and what it may mount."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.admission.plugins.service_account import mount_token
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
FORBIDDEN = 'pods "p" is forbidden: '
ENFORCED = {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
ACCOUNTS: list[Object] = [
    {"metadata": {"name": "default"}},
    {"metadata": {"name": "quiet"}, "automountServiceAccountToken": False},
    {"metadata": {"name": "pulls"}, "imagePullSecrets": [{"name": "pull"}]},
    {"metadata": {"name": "strict", **ENFORCED}, "secrets": [{"name": "good"}], "imagePullSecrets": [{"name": "pull"}],
     "automountServiceAccountToken": False},
]  # fmt: skip


async def admitted(given: Object, **options: Any) -> Any:
    async with World() as world:
        for account in ACCOUNTS:
            await world.add("", "serviceaccounts", account)
        chain = world.chain("ServiceAccount")
        if options.pop("refused", False):
            return await world.refusal(chain, "pods", given, **options)
        return (await world.admit(chain, "pods", given, **options))["spec"]


def test_the_default_account_and_its_token() -> None:
    spec = run(admitted(pod(initContainers=[{"name": "i", "image": "i"}])))
    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    (volume,) = spec["volumes"]
    name = volume["name"]
    assert name.startswith("kube-api-access-") and len(name) == len("kube-api-access-") + 5
    assert volume["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {
                            "path": "namespace",
                            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                        }
                    ]
                }
            },
        ],
    }
    mount = {"name": name, "readOnly": True, "mountPath": PATH}
    assert spec["containers"][0]["volumeMounts"] == spec["initContainers"][0]["volumeMounts"] == [mount]


@pytest.mark.parametrize(
    ("given", "mounted"),
    [
        ({}, True),
        ({"automountServiceAccountToken": False}, False),
        ({"serviceAccountName": "quiet"}, False),
        ({"serviceAccountName": "quiet", "automountServiceAccountToken": True}, True),
    ],
)
def test_who_wants_no_token_gets_none(given: Object, mounted: bool) -> None:
    spec = run(admitted(pod(**given)))
    assert bool(spec.get("volumes")) is mounted and bool(spec["containers"][0].get("volumeMounts")) is mounted


def test_what_is_mounted_already_stays() -> None:
    spec: Object = pod(container={"volumeMounts": [{"name": "x", "mountPath": PATH}]})["spec"]
    mount_token(spec)
    assert "volumes" not in spec
    spec = pod(volumes=[{"name": "kube-api-access-mine", "emptyDir": {}}])["spec"]
    mount_token(spec)
    assert (
        len(spec["volumes"]) == 1
        and spec["containers"][0]["volumeMounts"][0]["name"] == "kube-api-access-mine"
    )


def test_pull_secrets_come_from_the_account_unless_the_pod_has_its_own() -> None:
    spec = run(admitted(pod(serviceAccountName="pulls")))
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    spec = run(admitted(pod(serviceAccountName="pulls", imagePullSecrets=[{"name": "own"}])))
    assert spec["imagePullSecrets"] == [{"name": "own"}]


TAIL = "is not allowed because service account strict does not reference that"
ENV = {"name": "E", "valueFrom": {"secretKeyRef": {"name": "bad", "key": "k"}}}
FROM = {"secretRef": {"name": "bad"}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pod(), ""),
        (pod(volumes=[{"name": "v", "secret": {"secretName": "good"}}]), ""),
        (
            pod(volumes=[{"name": "v", "secret": {"secretName": "bad"}}]),
            f'volume with secret.secretName="bad" {TAIL} secret',
        ),
        (
            pod(container={"env": [ENV]}),
            f'container c with envVar E referencing secret.secretName="bad" {TAIL} secret',
        ),
        (
            pod(container={"envFrom": [FROM]}),
            f'container c with envFrom referencing secret.secretName="bad" {TAIL} secret',
        ),
        (
            pod(initContainers=[{"name": "i", "image": "i", "envFrom": [FROM]}]),
            f'init container i with envFrom referencing secret.secretName="bad" {TAIL} secret',
        ),
        (
            pod(imagePullSecrets=[{"name": "pull"}, {"name": "bad"}]),
            f'imagePullSecrets[1].name="bad" {TAIL} imagePullSecret',
        ),
    ],
)
def test_an_account_may_limit_what_is_mounted(given: Object, message: str) -> None:
    given["spec"]["serviceAccountName"] = "strict"
    assert run(admitted(given, refused=True)) == (FORBIDDEN + message if message else "")


def test_ephemeral_containers_are_limited_too() -> None:
    new = pod(
        serviceAccountName="strict", ephemeralContainers=[{"name": "e", "image": "i", "envFrom": [FROM]}]
    )
    problem = run(
        admitted(new, old=pod(serviceAccountName="strict"), subresource="ephemeralcontainers", refused=True)
    )
    assert (
        problem
        == FORBIDDEN + f'ephemeral container e with envFrom referencing secret.secretName="bad" {TAIL} secret'
    )
    problem = run(admitted(pod(), old=pod(), subresource="ephemeralcontainers", refused=True))
    assert problem == FORBIDDEN + "no service account specified for pod one/p"


MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, ""),
        ({"serviceAccountName": "default"}, "a mirror pod may not reference service accounts"),
        ({"imagePullSecrets": [{"name": "x"}]}, "a mirror pod may not reference secrets"),
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "x"}}]},
            "a mirror pod may not reference secrets",
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
def test_mirror_pods_are_left_alone(spec: Object, message: str) -> None:
    given = pod(metadata=MIRROR, **spec)
    assert run(admitted(given, refused=True)) == (FORBIDDEN + message if message else "")
    if not message:
        assert run(admitted(given)) == given["spec"]


def test_a_missing_account() -> None:
    message = 'error looking up service account one/nope: serviceaccount "nope" not found'
    assert run(admitted(pod(serviceAccountName="nope"), refused=True)) == FORBIDDEN + message
    given = pod("", metadata={"generateName": "web-"}, serviceAccountName="nope")
    assert run(admitted(given, refused=True)) == f'pods "web-" is forbidden: {message}'


def test_the_default_account_is_waited_for() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ServiceAccount")
            waiting = asyncio.create_task(world.admit(chain, "pods", pod()))
            await asyncio.sleep(0)
            assert not waiting.done()
            await world.add("", "serviceaccounts", ACCOUNTS[0])
            assert (await asyncio.wait_for(waiting, 60))["spec"]["serviceAccountName"] == "default"

    run(test())


def test_old_pods_keep_what_they_have() -> None:
    assert run(admitted(pod(), old=pod())) == pod()["spec"]
