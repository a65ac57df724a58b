"""ComponentStatus."""

from pybernetes.api.core import componentstatus
from tests.kinds import row


def test_component_status() -> None:
    resource = componentstatus.RESOURCE
    assert row(resource, componentstatus.component_status("etcd-0", True, "ok")) == {
        "Name": "etcd-0", "Status": "Healthy", "Message": "ok", "Error": "",
    }  # fmt: skip
    assert row(resource, componentstatus.component_status("a", False, error="e"))["Status"] == "Unhealthy"
    assert row(resource, {"metadata": {"name": "a"}})["Status"] == "Unknown"
