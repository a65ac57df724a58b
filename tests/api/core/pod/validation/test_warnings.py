"""Pod: what a client is warned about."""

from __future__ import annotations

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import CONTAINER, make


@pytest.mark.parametrize(
    ("metadata", "spec", "expected"),
    [
        ({}, {}, []),
        ({"name": "a.b"}, {}, ["metadata.name: this is used in the Pod's hostname, which can result in surprising "
                               "behavior; a DNS label is recommended: [must not contain dots]"]),
        ({"annotations": {"security.alpha.kubernetes.io/sysctls": ""}}, {},
         ['metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" '
          "field instead"]),
        ({}, {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
         ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead']),
        ({}, {"containers": [{**CONTAINER, "env": [{"name": "E"}, {"name": "E", "value": "x"}]}]},
         ['spec.containers[0].env[1]: hides previous definition of "E", which may be dropped when using apply']),
        ({}, {"containers": [{**CONTAINER, "ports": [{"containerPort": 1}, {"containerPort": 1}]}]},
         ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"]),
        ({}, {"imagePullSecrets": [{"name": "s"}, {"name": "s"}]},
         ['spec.imagePullSecrets[1].name: duplicate name "s"']),
        ({}, {"volumes": [{"name": "v", "configMap": {"name": "m", "items": [
            {"key": "a", "path": "p"}, {"key": "b", "path": "p/q"}]}}]},
         ['volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p"']),
    ],
)  # fmt: skip
def test_warnings(metadata: Object, spec: Object, expected: list[str]) -> None:
    pod = make(metadata, **spec)
    assert RESOURCE.warnings
    assert RESOURCE.warnings(pod, None) == expected
    assert RESOURCE.warnings(pod, pod) == []
