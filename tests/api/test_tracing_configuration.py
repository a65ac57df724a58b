from typing import Any

import pytest

from pybernetes.api.field import Path
from pybernetes.api.tracing_configuration import problems, settings
from pybernetes.lib.tracing import TracingSettings


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"samplingRatePerMillion": -1}, "tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"),
        ({"samplingRatePerMillion": 1000001}, "tracing.samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million"),
        ({"endpoint": "https://a"}, 'tracing.endpoint: Invalid value: "https://a": unsupported scheme: https.  Options are none, dns, unix, or unix-abstract.  '
         "See https://github.com/grpc/grpc/blob/master/doc/naming.md"),
    ],
)  # fmt: skip
def test_what_is_wrong(document: dict[str, Any], problem: str) -> None:
    assert [str(error) for error in problems(document, Path("tracing"))] == [problem]


def test_what_is_right() -> None:
    assert not problems({}) and settings({}) == TracingSettings("localhost:4317", 0)
    document = {"endpoint": "unix:///a", "samplingRatePerMillion": 7}
    assert not problems(document) and settings(document) == TracingSettings("unix:///a", 7)
