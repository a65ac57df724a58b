"""Pods of all sorts, and what Kubernetes v1.37 says about each: ``pod_answers.jsonl`` holds its answers.

Each line has a spec, the errors (in no order), and metadata where that matters. The answers came from a
server whose default service account was set, as here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.schema.decode import Decoder
from pybernetes.api.validation import meta

ANSWERS = [
    json.loads(line)
    for line in Path(__file__).with_name("pod_answers.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_errors(answer: Object) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "n", **answer.get("metadata", {})},
        "spec": {"serviceAccountName": "default", **answer["spec"]},
    }
    pod = Decoder().decode(RESOURCE.type, pod)
    assert RESOURCE.default and RESOURCE.prepare_create and RESOURCE.validate and RESOURCE.validate_create
    RESOURCE.default(pod)
    RESOURCE.prepare_create(pod)
    errors = Errors()
    meta.validate(RESOURCE, pod, errors)
    RESOURCE.validate(pod, errors)
    RESOURCE.validate_create(pod, errors)
    assert sorted({str(error) for error in errors}) == answer["errors"]
