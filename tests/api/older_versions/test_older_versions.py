"""Objects of older versions, as another API server may have stored them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pybernetes.api import protobuf, registry, stored_versions
from pybernetes.api.resource import Object
from pybernetes.api.schema import Decoder

LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
COLUMN = {"name": "Size", "type": "integer"}
SCHEMA = {"openAPIV3Schema": {"type": "object"}}

CASES: list[tuple[str, str, Object, Object]] = [
    # A definition that says everything once.
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition",
     {"spec": {"group": "a.io", "version": "v1", "names": {}, "validation": SCHEMA,
               "subresources": {"status": {}}, "additionalPrinterColumns": [COLUMN | {"JSONPath": ".s"}]}},
     {"spec": {"group": "a.io", "names": {}, "scope": "Namespaced", "preserveUnknownFields": True,
               "versions": [{"schema": SCHEMA, "subresources": {"status": {}},
                             "additionalPrinterColumns": [COLUMN | {"jsonPath": ".s"}],
                             "name": "v1", "served": True, "storage": True}]},
      "status": {"storedVersions": ["v1"]}}),
    # One whose versions differ, with a webhook.
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition",
     {"spec": {"group": "a.io", "version": "v2", "scope": "Cluster", "preserveUnknownFields": False,
               "conversion": {"strategy": "Webhook", "webhookClientConfig": {"url": "https://a"}},
               "versions": [{"name": "v2", "storage": True, "schema": SCHEMA}, {"name": "v1", "schema": None}]},
      "status": {"storedVersions": ["v1"]}},
     {"spec": {"group": "a.io", "scope": "Cluster",
               "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"},
                                                                 "conversionReviewVersions": ["v1beta1"]}},
               "versions": [{"name": "v2", "storage": True, "schema": SCHEMA}, {"name": "v1"}]},
      "status": {"storedVersions": ["v1"]}}),
    ("extensions/v1beta1", "Ingress",
     {"spec": {"backend": {"serviceName": "a", "servicePort": 80},
               "rules": [{"http": {"paths": [{"backend": {"serviceName": "b", "servicePort": "web"}},
                                             {"backend": {"resource": {"kind": "K", "name": "n"}}}]}}]}},
     {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}},
               "rules": [{"http": {"paths": [
                   {"pathType": "ImplementationSpecific",
                    "backend": {"service": {"name": "b", "port": {"name": "web"}}}},
                   {"pathType": "ImplementationSpecific",
                    "backend": {"resource": {"kind": "K", "name": "n"}}}]}}]}}),
    ("discovery.k8s.io/v1beta1", "EndpointSlice",
     {"endpoints": [{"nodeName": "n", "topology": {"topology.kubernetes.io/zone": "z", "kubernetes.io/hostname": "n"}},
                    {"nodeName": "n", "topology": {"kubernetes.io/hostname": "m"}}, {}]},
     {"endpoints": [{"nodeName": "n", "zone": "z"},
                    {"nodeName": "n", "deprecatedTopology": {"kubernetes.io/hostname": "m"}}, {}]}),
    ("flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration",
     {"spec": {"limited": {"assuredConcurrencyShares": 5}}},
     {"spec": {"limited": {"nominalConcurrencyShares": 5}}}),
    ("node.k8s.io/v1alpha1", "RuntimeClass",
     {"spec": {"runtimeHandler": "runc", "overhead": {"podFixed": {"cpu": "1"}}}},
     {"handler": "runc", "overhead": {"podFixed": {"cpu": "1"}}}),
    ("rbac.authorization.k8s.io/v1alpha1", "RoleBinding",
     {"subjects": [{"kind": "User", "name": "*", "apiVersion": "rbac.authorization.k8s.io/v1alpha1"},
                   {"kind": "ServiceAccount", "name": "s", "apiVersion": "v1"},
                   {"kind": "Other", "name": "o", "apiVersion": "a.io/v1"}]},
     {"subjects": [{"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"},
                   {"kind": "ServiceAccount", "name": "s"},
                   {"kind": "Other", "name": "o", "apiGroup": "a.io"}]}),
    ("policy/v1beta1", "PodDisruptionBudget", {"spec": {"selector": {}}},
     {"spec": {"selector": {"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}}}),
    ("policy/v1beta1", "PodDisruptionBudget",
     {"spec": {"selector": {"matchExpressions": [{"key": LABEL, "operator": "DoesNotExist"}]}}},
     {"spec": {"selector": {}}}),
    ("policy/v1beta1", "PodDisruptionBudget", {"spec": {"selector": {"matchLabels": {"a": "b", LABEL: "c"}}}},
     {"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
    ("policy/v1beta1", "PodDisruptionBudget", {"spec": {}}, {"spec": {}}),
    ("resource.k8s.io/v1beta1", "ResourceClaim",
     {"spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "c", "count": 2, "adminAccess": False},
                                        {"name": "b", "deviceClassName": "", "count": 0,
                                         "firstAvailable": [{"name": "s", "deviceClassName": "c"}]},
                                        {"name": "d", "adminAccess": False}, {"name": "e", "selectors": []}]}}},
     {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c", "count": 2,
                                                                  "adminAccess": False}},
                                        {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]},
                                        {"name": "d", "exactly": {"adminAccess": False}},
                                        {"name": "e", "exactly": {"selectors": []}}]}}}),
    ("resource.k8s.io/v1beta1", "ResourceClaimTemplate",
     {"spec": {"spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "c"}]}}}},
     {"spec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}}}),
    ("resource.k8s.io/v1beta1", "ResourceSlice",
     {"spec": {"nodeName": "", "allNodes": False, "driver": "d",
               "devices": [{"name": "a", "basic": {"allNodes": False, "nodeName": "n"}}, {"name": "b"}]}},
     {"spec": {"driver": "d", "devices": [{"name": "a", "allNodes": False, "nodeName": "n"}, {"name": "b"}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("api_version", "kind", "old", "new"), CASES)
def test_conversion(api_version: str, kind: str, old: Object, new: Object) -> None:
    older = stored_versions.older_versions()[api_version, kind]
    assert older.complete(older.convert(old)) == new


def _definition(properties: int, versions: int) -> Object:
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"type": "string"} for number in range(properties)},
    }
    spec = {
        "group": "a.io", "names": {"plural": "as", "kind": "A"}, "validation": {"openAPIV3Schema": schema},
        "versions": [{"name": f"v{number}", "served": True, "storage": not number} for number in range(versions)],
    }  # fmt: skip
    name = {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1"}
    return {**name, "metadata": {"name": "as.a.io"}, "spec": spec}


def test_what_all_versions_of_a_definition_share_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One schema of 3,000 properties in 300 versions took 6.6 s to read."""
    decoded: list[Any] = []
    decode = Decoder.decode

    def counting(self: Decoder, type_: Any, value: Any) -> Any:
        decoded.append(orjson.dumps(value).count(b'"string"'))
        return decode(self, type_, value)

    monkeypatch.setattr(Decoder, "decode", counting)
    versions = stored_versions.adopt(_definition(30, 300))["spec"]["versions"]
    assert decoded == [30]
    assert len(versions) == 300 and all(
        len(version["schema"]["openAPIV3Schema"]["properties"]) == 30 for version in versions
    )
    assert versions[7]["name"] == "v7" and not versions[7]["storage"]


def test_a_definition_that_no_request_could_have_brought_is_not_written_out() -> None:
    with pytest.raises(ValueError, match=r"its versions would be .* bytes"):
        stored_versions.adopt(_definition(3000, 300))


def test_every_older_version_becomes_one_that_is_stored() -> None:
    stored = {(kind.api_version, kind.kind) for kind in registry.builtin() if kind.storage_version is None}
    for (_, kind), older in stored_versions.older_versions().items():
        assert (older.api_version, kind) in stored


@pytest.mark.parametrize("name", sorted(stored_versions.older_versions()), ids="-".join)
def test_every_older_version_has_a_message(name: tuple[str, str]) -> None:
    group, _, version = name[0].rpartition("/")
    assert stored_versions.message_name(group, version, name[1])


def test_an_unknown_version_has_none() -> None:
    with pytest.raises(KeyError):
        stored_versions.message_name("policy", "v9", "PodDisruptionBudget")


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        # Defaults of today.
        ({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "spec": {}}, "status.phase", "Pending"),
        ({"kind": "CronJob", "apiVersion": "batch/v1beta1", "spec": {"schedule": "* * * * *"}},
         "spec.concurrencyPolicy", "Allow"),
        # Zeros that Go always writes.
        ({"kind": "DaemonSet", "apiVersion": "apps/v1", "status": {}}, "status.numberReady", 0),
        ({"kind": "ReplicaSet", "apiVersion": "apps/v1", "status": {}}, "status.replicas", 0),
        # What is not built in stays as it is.
        ({"kind": "Widget", "apiVersion": "example.com/v1", "spec": None}, "spec", None),
    ],
)  # fmt: skip
def test_adopt(given: Object, path: str, expected: Any) -> None:
    held: Any = stored_versions.adopt({**given, "metadata": {"name": "a"}})
    assert held["apiVersion"] in (given["apiVersion"], "batch/v1")
    for name in path.split("."):
        held = held[name]
    assert held == expected


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="replicas"):
        stored_versions.adopt({"kind": "ReplicaSet", "apiVersion": "apps/v1", "spec": {"replicas": "many"}})


def test_a_claim_of_the_beta_is_read_from_its_own_message() -> None:
    """Its tolerations have other numbers in a subrequest, and a request has no ``exactly``."""
    tolerations = [{"key": "k", "operator": "Exists"}]
    requests = [
        {"name": "a", "deviceClassName": "c", "tolerations": tolerations},
        {"name": "b", "firstAvailable": [{"name": "s", "deviceClassName": "c", "tolerations": tolerations}]},
    ]
    claim = {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "x"},
             "spec": {"devices": {"requests": requests}}}  # fmt: skip
    message = protobuf.encode(claim, stored_versions.message_name)
    assert b"\x3a\x0f\x0a\x01k\x12\x06Exists" in message  # field 7
    read = stored_versions.adopt(protobuf.decode(message, ("", "", ""), stored_versions.message_name))
    first, second = read["spec"]["devices"]["requests"]
    assert read["apiVersion"] == "resource.k8s.io/v1"
    assert first["exactly"]["tolerations"] == tolerations and first["exactly"]["count"] == 1
    assert second["firstAvailable"][0]["tolerations"] == tolerations
