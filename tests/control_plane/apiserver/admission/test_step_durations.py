"""The time that admission takes is counted, refusals too."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.step_durations import StepDurations
from pybernetes.lib.exposition import Exposition
from tests.servers import Server


def test_steps_are_counted() -> None:
    durations, out = StepDurations(), Exposition()
    durations.note("admit", "CREATE", False, 0.001)
    durations.note("admit", "CREATE", False, 3.0)
    durations.note("validate", "DELETE", True, 0.02)
    durations.render(out)
    text = out.render().decode()
    name = "apiserver_admission_step_admission_duration_seconds"
    assert f'{name}_bucket{{operation="CREATE",rejected="false",type="admit",le="2.5"}} 1' in text
    assert f'{name}_count{{operation="CREATE",rejected="false",type="admit"}} 2' in text
    assert f'{name}_sum{{operation="DELETE",rejected="true",type="validate"}} 0.02' in text


def test_a_write_goes_through_both(server: Server, namespace: str) -> None:
    server.call("POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "a"}})
    text = server.call("GET", "/metrics")[1]
    for step in ("admit", "validate"):
        assert f'duration_seconds_count{{operation="CREATE",rejected="false",type="{step}"}}' in text
