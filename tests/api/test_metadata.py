from pybernetes.api.apps import deployment
from pybernetes.api.metadata import keep_metadata


def test_status_writes_keep_metadata() -> None:
    new = {"metadata": {"name": "a", "labels": {"a": "b"}, "annotations": {"c": "d"}}}
    keep_metadata(new, {"metadata": {"name": "a", "labels": {"x": "y"}}})
    assert new == {"metadata": {"name": "a", "labels": {"x": "y"}}}


def test_the_status_of_a_deployment_comes_with_annotations() -> None:
    new = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}
    deployment.prepare_status_update(new, {"metadata": {}})
    assert new == {"metadata": {"annotations": {"c": "d"}}}
