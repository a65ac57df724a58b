"""The time that admission takes is counted, refusals too."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pybernetes.api.core.pod.pod import RESOURCE as PODS
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope
from pybernetes.control_plane.apiserver.admission.step_durations import StepDurations
from pybernetes.lib.metrics.exposition import Exposition
from tests.servers import Server
from tests.support import hold_the_loop


def test_steps_are_counted() -> None:
    durations, out = StepDurations(), Exposition()
    durations.timing("admit", "CREATE", False).observe(0.001)
    durations.timing("admit", "CREATE", False).observe(3.0)
    durations.timing("validate", "DELETE", True).observe(0.02)
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


async def test_plugins_are_counted_one_by_one() -> None:
    class Slow(Plugin):
        name, scope = "Slow", Scope(resources=None)

        def __init__(self) -> None:
            """Make it without a server."""

        def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
            async def take_its_time() -> None:
                hold_the_loop(0.006)

            return take_its_time()

    class No(Slow):
        name = "No"

        def validate(self, attributes: Attributes) -> None:
            raise StatusError(403, "Forbidden", "no")

        mutate = Plugin.mutate

    class Quick(Slow):
        name = "Quick"
        mutate = Plugin.mutate

        def validate(self, attributes: Attributes) -> None:
            """Let it pass."""

    class Behind(Quick):
        name = "Behind"

    chain, out = Chain([Slow(), Quick(), No(), Behind()]), Exposition()
    write = Attributes(CREATE, PODS, "one", "p", None, None)
    for _ in range(2):
        with pytest.raises(StatusError):
            await chain.admit(write)
    chain.durations.render(out)
    samples = {
        (sample.labels["name"], sample.labels["type"], sample.labels["rejected"], sample.labels.get("le")): sample.value
        for family in text_string_to_metric_families(out.render().decode())
        for sample in family.samples
        if sample.name.startswith("apiserver_admission_controller_admission_duration_seconds_")
        and not sample.name.endswith("_sum")
    }  # fmt: skip
    assert samples["Slow", "admit", "false", None] == 2 and samples["Slow", "admit", "false", "0.005"] == 0
    assert samples["Slow", "admit", "false", "+Inf"] == 2
    assert (
        samples["Quick", "validate", "false", None] == 2
        and samples["Quick", "validate", "false", "0.005"] == 2
    )
    assert not [key for key in samples if key[0] == "Behind"]
    assert samples["No", "validate", "true", None] == 2 and ("No", "validate", "false", None) not in samples
