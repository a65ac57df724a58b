"""Answers of a real API server, and of the scheduler's rules; for those who may see all, some or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.client import Client
from pybernetes.client.errors import Forbidden, NotFound
from pybernetes.client.refs import CONFIG_MAPS, PODS, ROLE_BINDINGS, ROLES, SECRETS, SERVICES
from pybernetes.tools.why import reading
from pybernetes.tools.why.access import User, Wish
from pybernetes.tools.why.finding import Answer
from tests.cluster import Cluster, pod
from tests.control_plane.scheduler.helpers import add_node, message, scheduling
from tests.scheduling.builders import node
from tests.support import eventually
from tests.tools.why.worlds import causes


async def test_a_pod_that_fits_nowhere_gets_the_verdict_on_every_node() -> None:
    async with Cluster() as cluster, scheduling(cluster.client):
        client = cluster.client
        for name in ("n1", "n2"):
            await add_node(client, node(name, "1"))
        await add_node(
            client, node("n3", "64", taints=[{"key": "only", "value": "gpu", "effect": "NoSchedule"}])
        )
        large = pod("large")
        large["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "32"}}
        await client.create(PODS, large)
        said = await eventually(lambda: message(client, "large"))
        answer = await reading.ask(client, "pod", "large", "default")
        (finding,) = answer.findings
        assert finding.title == "None of the 3 nodes will do."
        by_plugin = {group.plugin: set(group.nodes) for group in finding.nodes}
        assert by_plugin == {"NodeResourcesFit": {"n1", "n2"}, "TaintToleration": {"n3"}}
        assert f"The scheduler's last words: {said}" in finding.details
        with pytest.raises(NotFound):
            await reading.ask(client, "pod", "none", "default")
        with pytest.raises(reading.UnknownKind, match="what can be asked about: daemonset, deployment"):
            await reading.ask(client, "configmap", "none", "default")


async def test_a_missing_secret_is_named_and_one_that_is_there_is_not_read() -> None:
    asked: list[tuple[str, str]] = []
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(
            SECRETS, {"metadata": {"name": "there", "namespace": "default"}, "stringData": {"a": "b"}}
        )
        made = pod("web")
        made["spec"]["nodeName"] = "n1"
        made["spec"]["containers"][0]["envFrom"] = [
            {"secretRef": {"name": name}} for name in ("there", "missing")
        ]
        await client.create(PODS, made)
        over_https = cluster.rest_client()
        whole = over_https.call

        async def call(method: str, path: str, *more: Any, **rest: Any) -> Any:
            value = await whole(method, path, *more, **rest)
            if "/secrets/" in path:
                asked.append((path, str(value)))
            return value

        over_https.call = call  # type: ignore[method-assign]
        answer = await reading.ask(over_https, "pod", "web", "default")
        assert "Secret missing, which it refers to, does not exist." in causes(answer.findings)
        assert len(asked) == 1 and "'data'" not in asked[0][1]


async def test_an_answer_has_only_what_its_reader_may_see() -> None:
    tokens = "reader-token,reader,2\nnobody-token,nobody,3\n"
    async with Cluster("--authorization-mode=RBAC", tokens=tokens) as cluster:
        client = cluster.client
        await client.create(PODS, pod("web"))
        await client.create(SERVICES, {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})  # fmt: skip
        rules = [{"apiGroups": [""], "resources": ["pods", "services"], "verbs": ["get"]}]
        await client.create(ROLES, {"metadata": {"name": "reader", "namespace": "default"}, "rules": rules})
        subject = {"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": "Role", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        bound = {
            "metadata": {"name": "reader", "namespace": "default"},
            "roleRef": ref,
            "subjects": [subject],
        }
        await client.create(ROLE_BINDINGS, bound)
        reader, nobody = cluster.rest_client("reader-token"), cluster.rest_client("nobody-token")
        answer = await eventually(lambda: _allowed(reader, "pod"))
        assert answer.state == "Pending, without a node"
        assert any("rules could not be asked" in note for note in answer.notes)
        assert any("Event objects could not be read" in note for note in answer.notes)
        services = await reading.ask(reader, "svc", "web", "default")
        assert causes(services.findings) == []  # no pods are known, which does not mean that there are none
        assert any("Pod objects could not be read" in note for note in services.notes)
        with pytest.raises(Forbidden):
            await reading.ask(nobody, "pod", "web", "default")
        # What he may himself, and what he would need.
        wish = Wish("delete", "pods", "", "", "default", "web")
        refused = await reading.may(reader, wish)
        assert refused.state == "may not delete pods web in default"
        assert (
            "resources: ['pods'], verbs: ['delete'], resourceNames: ['web']" in refused.findings[0].details[0]
        )
        assert any("ClusterRole objects could not be read" in note for note in refused.notes)
        with pytest.raises(Forbidden):  # about others only those may ask who may review access
            await reading.may(reader, wish, User("nobody"))
        of_others = await reading.may(client, wish, User("nobody"))
        assert "ClusterRole" in of_others.findings[1].title
        own = await reading.rights(reader, "default")
        assert any("get: pods" in text for finding in own.findings for text in finding.details)
        of_reader = await reading.rights(client, "default", User("reader"))
        assert [finding.title for finding in of_reader.findings] == ["Role reader in default:"]
        allowed = await reading.may(reader, Wish("get", "pods", "", "", "default"))
        assert allowed.state == "may get pods in default"


async def _allowed(client: Client, kind: str) -> Answer | None:
    try:
        return await reading.ask(client, kind, "web", "default")
    except Forbidden:
        return None  # the role is not known yet


def test_every_kind_can_be_asked_about_by_its_short_name() -> None:
    assert {"po", "svc", "deploy", "rs", "sts", "ds", "job", "hpa", "pvc", "no"} <= set(reading.questions())
    assert CONFIG_MAPS not in {question.ref for question in reading.questions().values()}
