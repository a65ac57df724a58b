"""ComponentStatus."""

from pybernetes.api.core import componentstatus
from tests.api.writes import row_by_name


def test_component_status() -> None:
    resource = componentstatus.RESOURCE
    assert row_by_name(resource, componentstatus.component_status("etcd-0", True, "ok")) == {
        "Name": "etcd-0", "Status": "Healthy", "Message": "ok", "Error": "",
    }  # fmt: skip
    assert (
        row_by_name(resource, componentstatus.component_status("a", False, error="e"))["Status"]
        == "Unhealthy"
    )
    assert row_by_name(resource, {"metadata": {"name": "a"}})["Status"] == "Unknown"
