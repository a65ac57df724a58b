"""PodSecurity: pods, templates and namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.core.pod.security_standards.policy import Standard
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.admission.plugins.pod_security.existing import warnings
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

PREFIX = "pod-security.kubernetes.io/"
HOST = pod(hostNetwork=True)
WHY = "host namespaces (hostNetwork=true)"


def namespace(name: str = "one", **labels: str) -> Object:
    return {
        "metadata": {
            "name": name,
            "labels": {PREFIX + key.replace("_", "-"): value for key, value in labels.items()},
        }
    }


def test_pods_are_refused_noted_and_warned_about() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("PodSecurity")
            assert not await world.refusal(chain, "pods", HOST)
            assert world.annotations == {f"{PREFIX}enforce-policy": "privileged:latest"}
            await world.add(
                "", "namespaces", namespace(enforce="baseline", audit="restricted", warn="restricted")
            )
            message = f'pods "p" is forbidden: violates PodSecurity "baseline:latest": {WHY}'
            assert await world.refusal(chain, "pods", HOST) == message
            assert world.warnings == [] and world.annotations[f"{PREFIX}enforce-policy"] == "baseline:latest"
            assert world.annotations[f"{PREFIX}audit-violations"].startswith(
                f'would violate PodSecurity "restricted:latest": {WHY}, allowPrivilegeEscalation'
            )
            assert not await world.refusal(chain, "pods", pod())
            (warning,) = world.warnings
            assert warning.startswith(
                'would violate PodSecurity "restricted:latest": allowPrivilegeEscalation'
            )
            await world.add("", "namespaces", namespace(enforce="nonsense"))
            assert 'violates PodSecurity "restricted:latest"' in await world.refusal(chain, "pods", pod())
            assert world.annotations[f"{PREFIX}error"].startswith("Failed to parse policy: metadata.labels")

    run(test())


@pytest.mark.parametrize(
    ("new", "old", "subresource", "refused"),
    [
        (HOST, HOST, "", False),
        (pod(hostNetwork=True, container={"image": "new"}), HOST, "", True),
        ({**HOST, "metadata": {"name": "p", "labels": {"a": "b"}}}, HOST, "", False),
        (pod(hostNetwork=True, ephemeralContainers=[{"name": "e"}]), HOST, "ephemeralcontainers", True),
        (pod(hostNetwork=True, initContainers=[{"name": "e"}]), HOST, "", True),
        (pod(hostNetwork=True, container={"image": "new"}), HOST, "status", False),
        (HOST, HOST, "resize", False),
    ],
)
def test_updates_that_matter(new: Object, old: Object, subresource: str, refused: bool) -> None:
    async def test() -> None:
        async with World() as world:
            await world.add("", "namespaces", namespace(enforce="baseline"))
            problem = await world.refusal(
                world.chain("PodSecurity"), "pods", new, old, subresource=subresource
            )
            assert bool(problem) is refused

    run(test())


TEMPLATE = {"metadata": {}, "spec": HOST["spec"]}


@pytest.mark.parametrize(
    ("resource", "content"),
    [
        ("podtemplates", {"template": TEMPLATE}),
        ("replicationcontrollers", {"spec": {"template": TEMPLATE}}),
        ("deployments.apps", {"spec": {"template": TEMPLATE}}),
        ("daemonsets.apps", {"spec": {"template": TEMPLATE}}),
        ("statefulsets.apps", {"spec": {"template": TEMPLATE}}),
        ("replicasets.apps", {"spec": {"template": TEMPLATE}}),
        ("jobs.batch", {"spec": {"template": TEMPLATE}}),
        ("cronjobs.batch", {"spec": {"jobTemplate": {"spec": {"template": TEMPLATE}}}}),
    ],
)
def test_templates_are_warned_about(resource: str, content: Object) -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("PodSecurity")
            given = {"metadata": {"name": "w"}, **content}
            await world.admit(chain, resource, given)
            assert not world.warnings
            await world.add("", "namespaces", namespace(enforce="baseline"))
            await world.admit(chain, resource, given)
            assert world.warnings == [f'would violate PodSecurity "baseline:latest": {WHY}']
            await world.admit(chain, resource, given, given, subresource="scale")
            assert not world.warnings
            await world.admit(chain, resource, {"metadata": {"name": "w"}})

    run(test())


CONFIGURATION = {
    "apiVersion": "pod-security.admission.config.k8s.io/v1",
    "kind": "PodSecurityConfiguration",
    "defaults": {"enforce": "baseline"},
    "exemptions": {"usernames": ["user"], "runtimeClasses": ["rc"], "namespaces": ["one"]},
}


@pytest.mark.parametrize(
    ("exemption", "given"), [("usernames", HOST), ("namespaces", HOST), ("runtimeClasses", pod(hostNetwork=True, runtimeClassName="rc"))]
)  # fmt: skip
def test_exemptions(exemption: str, given: Object) -> None:
    async def test() -> None:
        async with World() as world:
            exemptions: Any = CONFIGURATION["exemptions"]
            only = {**CONFIGURATION, "exemptions": {exemption: exemptions[exemption]}}
            assert not await world.refusal(world.chain("PodSecurity", PodSecurity=only), "pods", given)
            expected = {"usernames": "user", "namespaces": "namespace", "runtimeClasses": "runtimeClass"}[
                exemption
            ]
            assert world.annotations[f"{PREFIX}exempt"] == expected
            none = {**CONFIGURATION, "exemptions": {}}
            assert await world.refusal(world.chain("PodSecurity", PodSecurity=none), "pods", given)

    run(test())


def test_labels_of_namespaces_are_checked() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("PodSecurity")
            bad = namespace("x", enforce="nonsense")
            with pytest.raises(StatusError) as caught:
                await world.admit(chain, "namespaces", bad)
            assert caught.value.code == 422 and caught.value.message == (
                f'Namespace "x" is invalid: metadata.labels[{PREFIX}enforce]: Invalid value: "nonsense": must be one '
                "of privileged, baseline, restricted"
            )
            assert await world.refusal(chain, "namespaces", bad, namespace("x"))
            # What was wrong before does not get in the way of other changes.
            assert not await world.refusal(chain, "namespaces", bad, bad)

    run(test())


def test_a_stricter_namespace_is_told_of_its_pods() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("PodSecurity")
            for name in ("a", "b", "c"):
                await world.add("", "pods", pod(name, hostNetwork=True))
            await world.add("", "pods", pod("d", hostPID=True, hostNetwork=True))
            await world.add("", "pods", pod("e"))
            new = namespace(enforce="baseline")
            await world.admit(chain, "namespaces", new, namespace())
            assert world.warnings == [
                'existing pods in namespace "one" violate the new PodSecurity enforce level "baseline:latest"',
                "a (and 3 other pods): host namespaces",
            ]
            for after, before in ((namespace(), new), (new, new), (new, namespace(enforce="restricted"))):
                await world.admit(chain, "namespaces", after, before)
                assert world.warnings == []
            await world.admit(
                chain, "namespaces", namespace(enforce="baseline", enforce_version="v1.20"), new
            )
            assert world.warnings
            exempt = world.chain("PodSecurity", PodSecurity=CONFIGURATION)
            await world.admit(
                exempt, "namespaces", namespace(enforce="restricted", warn="baseline"), namespace()
            )
            assert world.warnings == [
                'namespace "one" is exempt from Pod Security, and the policy (enforce=restricted:latest, '
                "warn=baseline:latest) will be ignored"
            ]

    run(test())


def test_warnings_about_many_pods() -> None:
    owner = {"ownerReferences": [{"controller": True, "uid": "rs"}]}
    copies = [pod(f"copy-{number:04}", metadata=owner) for number in range(3500)]
    single = pod("single", hostNetwork=True)
    messages = warnings(
        "one",
        [*copies, single, pod("exempt", hostNetwork=True, runtimeClassName="rc")],
        Standard("baseline"),
        {"rc"},
    )
    assert messages == [
        "new PodSecurity enforce level only checked against the first 3000 of 3501 existing pods",
        'existing pods in namespace "one" violate the new PodSecurity enforce level "baseline:latest"',
        "single: host namespaces",
    ]
    two = [pod("b", hostNetwork=True), pod("a", hostNetwork=True)]
    assert warnings("one", two, Standard("baseline"))[1] == "a (and 1 other pod): host namespaces"
