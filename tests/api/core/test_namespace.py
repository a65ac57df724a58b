from pybernetes.api.core.namespace import RESOURCE, validate_finalize_update
from pybernetes.api.field import Errors
from tests.api.writes import create, row_by_name, update, update_status


def test_a_new_namespace_is_active_labelled_and_kept() -> None:
    namespace, errors = create(
        RESOURCE, {"status": {"phase": "Terminating"}, "spec": {"finalizers": ["a/b"]}}
    )
    assert errors == []
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x"}
    assert namespace["spec"]["finalizers"] == ["a/b", "kubernetes"]
    assert namespace["status"] == {"phase": "Active"}
    assert row_by_name(RESOURCE, namespace) == {"Name": "x", "Status": "Active"}
    assert RESOURCE.selectable["status.phase"](namespace) == "Active"


def test_a_generated_name_is_labelled_late() -> None:
    namespace = {"metadata": {"generateName": "a-"}}
    assert RESOURCE.default and RESOURCE.prepare_create
    RESOURCE.default(namespace)
    namespace["metadata"]["name"] = "a-1"
    RESOURCE.prepare_create(namespace)
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a-1"}  # type: ignore[comparison-overlap]


def test_finalizers_change_only_by_finalize() -> None:
    old = create(RESOURCE, {})[0]
    assert update(RESOURCE, old, {"spec.finalizers": None})[0]["spec"] == {"finalizers": ["kubernetes"]}
    errors = Errors()
    validate_finalize_update({"metadata": {}, "spec": {"finalizers": ["kubernetes", "x"]}}, old, errors)
    text = "name is neither a standard finalizer name nor is it fully qualified"
    assert [str(error) for error in errors] == [f'spec.finalizers[1]: Invalid value: "x": {text}']


def test_the_phase_fits_the_deletion() -> None:
    old = create(RESOURCE, {})[0]
    text = "may only be 'Active' if `deletionTimestamp` is empty"
    assert update_status(RESOURCE, old, {"phase": "Terminating"})[1] == [
        f'status.Phase: Invalid value: "Terminating": {text}'
    ]
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert update_status(RESOURCE, old, {"phase": "Terminating"})[1] == []
    assert update_status(RESOURCE, old, {"phase": "Active"})[1] != []
