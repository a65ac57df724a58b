"""ServiceAccount."""

from pybernetes.api.core.serviceaccount import serviceaccount
from tests.api.writes import create


def test_service_account() -> None:
    resource = serviceaccount.RESOURCE
    obj = create(resource, {"secrets": [{"name": "s", "kind": "Secret"}]})[0]
    assert obj["secrets"] == [{"name": "s"}]
    key = "kubernetes.io/enforce-mountable-secrets"
    annotated = create(resource, {"metadata": {"annotations": {key: "true"}}})[0]
    assert resource.warnings is not None
    assert resource.warnings(obj, None) == [] and len(resource.warnings(annotated, None)) == 1
    assert resource.warnings(annotated, annotated) == []
