"""/statusz and /flagz: which form an Accept header gets, what the pages say, and that no secret is shown."""

from __future__ import annotations

import argparse
import json

import pytest
import yaml

from pybernetes.api.zpages import Zpages, flags_of, negotiated

_FORM = "g=config.k8s.io;as=Statusz"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", ("text/plain", "")),
        ("*/*", ("text/plain", "")),
        ("text/plain", ("text/plain", "")),
        (f"application/json;v=v1beta1;{_FORM}", ("application/json", "v1beta1")),
        (f"application/yaml; v=v1alpha1; {_FORM}", ("application/yaml", "v1alpha1")),
        (f"application/json;v=v9;{_FORM},text/plain", ("text/plain", "")),
        ("application/json;v=v1beta1;g=config.k8s.io;as=Flagz", None),
        ("application/json", None),
        ("application/cbor", None),
    ],
)
def test_negotiation(accept: str, form: tuple[str, str] | None) -> None:
    assert negotiated(accept, "Statusz") == form


def pages() -> Zpages:
    times = iter([1_800_000_000.5, 1_800_003_723.0])
    return Zpages(
        "part", {"b": "2", "a": "1"}, lambda: ["/healthz/ping", "/apis/x", "/"], lambda: next(times)
    )


def test_status_as_text_and_as_an_object() -> None:
    text = pages().answer("/statusz").body.decode()
    assert text.startswith("\npart statusz\nWarning: This endpoint is not meant to be machine parseable")
    assert "Started: Fri Jan 15 08:00:00 UTC 2027\nUp: 1 hr 02 min 02 sec\n" in text
    assert "Paths: /flagz /healthz /statusz\n" in text
    answer = pages().answer("/statusz", f"application/json;v=v1beta1;{_FORM}")
    value = json.loads(answer.body)
    assert (
        answer.content_type == "application/json;g=config.k8s.io;v=v1beta1;as=Statusz" and not answer.headers
    )
    assert (value["kind"], value["apiVersion"]) == ("Statusz", "config.k8s.io/v1beta1")
    assert value["metadata"] == {"name": "part"} and value["startTime"] == "2027-01-15T08:00:00Z"
    assert (value["uptimeSeconds"], value["binaryVersion"]) == (3722, "1.37")
    assert value["paths"] == ["/flagz", "/healthz", "/statusz"]


def test_flags_as_text_and_as_an_object() -> None:
    assert pages().answer("/flagz").body.decode().endswith("purposes only.\na: 1\nb: 2\n")
    old = pages().answer("/flagz", "application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz")
    assert yaml.safe_load(old.body)["flags"] == {"a": "1", "b": "2"}
    assert "deprecated" in dict(old.headers)["Warning"]
    refused = pages().answer("/flagz", "application/json")
    assert refused.status == 406 and json.loads(refused.body)["reason"] == "NotAcceptable"


def test_flags_are_texts_and_hold_no_secret() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cloud-password", default="hunter2")
    parser.add_argument("--token-auth-file", default="/f")
    parser.add_argument("--on", default=True)
    parser.add_argument("--some", dest="field_some", default=("x", "y"))
    parser.add_argument("-v", "--v", type=int, default=2)
    parser.add_argument("--none", default=None)
    assert flags_of(parser.parse_args([]), parser) == {
        "cloud-password": "CLASSIFIED", "token-auth-file": "/f", "on": "true", "some": "[x,y]", "v": "2", "none": "",
    }  # fmt: skip
    assert flags_of(argparse.Namespace(secure_port=6443)) == {"secure-port": "6443"}
