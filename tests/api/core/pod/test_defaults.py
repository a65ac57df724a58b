"""Pod: what a create completes."""

from __future__ import annotations

from pybernetes.api.core import podtemplate
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import make


def test_defaults() -> None:
    pod = make(
        containers=[
            {
                "name": "a",
                "image": "nginx",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1", "memory": "1u"}},
                "livenessProbe": {"httpGet": {"port": 80}},
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }
        ],
        hostNetwork=True,
        volumes=[{"name": "v"}, {"name": "w", "secret": {"secretName": "s"}}],
        serviceAccount="old",
    )
    container = pod["spec"]["containers"][0]
    assert container["imagePullPolicy"] == "Always"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]
    assert container["resources"] == {
        "limits": {"cpu": "1", "memory": "1m"},
        "requests": {"cpu": "1", "memory": "1m"},
    }
    assert container["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert pod["spec"]["volumes"] == [
        {"name": "v", "emptyDir": {}},
        {"name": "w", "secret": {"secretName": "s", "defaultMode": 420}},
    ]
    assert pod["spec"]["serviceAccountName"] == "old"
    assert pod["spec"]["enableServiceLinks"] is True
    assert pod["spec"]["terminationGracePeriodSeconds"] == 30


def test_a_template_gets_no_defaults_that_only_pods_have() -> None:
    obj: Object = {"metadata": {}, "template": {"spec": {"hostNetwork": True, "containers": [
        {"name": "a", "image": "b", "ports": [{"containerPort": 1}], "resources": {"limits": {"cpu": "1"}}},
    ]}}}  # fmt: skip
    podtemplate.default(obj)
    spec: Object = obj["template"]["spec"]
    assert "enableServiceLinks" not in spec
    assert spec["containers"][0]["ports"] == [{"containerPort": 1, "protocol": "TCP"}]
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert obj["template"]["metadata"] == {}


def test_options_of_bind_mounts_are_dropped() -> None:
    mount = {"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}
    pod = make(containers=[{"name": "a", "image": "i", "volumeMounts": [mount]}], volumes=[{"name": "v"}])
    assert pod["spec"]["containers"][0]["volumeMounts"] == [{"name": "v", "mountPath": "/v"}]
