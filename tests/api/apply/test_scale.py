"""managedFields of the scale subresource."""

from pybernetes.api import schema
from pybernetes.api.apply import managed_fields
from pybernetes.api.apply.scale import parent_to_scale, path_of, scale_to_parent
from pybernetes.api.resource import Object

DEPLOYMENT = schema.kind_type("apps", "v1", "Deployment")


def deployment(replicas: int) -> Object:
    return {"metadata": {"name": "d"}, "spec": {"replicas": replicas, "paused": True}}


def test_scale() -> None:
    paths = {"apps/v1": path_of(".spec.replicas")}
    scale_type = schema.kind_type("autoscaling", "v1", "Scale")
    parent = managed_fields.update(
        None, deployment(1), DEPLOYMENT, manager="m", api_version="apps/v1", now="t1"
    )
    (entry,) = entries = parent_to_scale(parent, paths)
    assert (entry["manager"], entry["apiVersion"]) == ("m", "autoscaling/v1")
    assert entry["fieldsV1"] == {"f:spec": {"f:replicas": {}}}

    live = {"metadata": {"uid": "u", "managedFields": entries}, "spec": {"replicas": 1}}
    kwargs: Object = {"api_version": "autoscaling/v1", "subresource": "scale", "now": "t2"}
    same = managed_fields.update(
        live, {"metadata": {}, "spec": {"replicas": 1}}, scale_type, manager="s", **kwargs
    )
    assert scale_to_parent(parent, same, "apps/v1", paths) == parent

    changed = managed_fields.update(
        live, {"metadata": {}, "spec": {"replicas": 2}}, scale_type, manager="s", **kwargs
    )
    first, second = sorted(
        scale_to_parent(parent, changed, "apps/v1", paths), key=lambda item: item["manager"]
    )
    assert first["fieldsV1"] == {"f:spec": {"f:paused": {}}}
    assert second == {
        "manager": "s", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}}, "subresource": "scale",
    }  # fmt: skip
