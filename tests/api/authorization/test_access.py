"""The reviews of access: what a question must say."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.field import Errors
from tests.api import kinds

ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
USER = 'spec.user: Invalid value: "": at least one of user or group must be specified'
CASES: list[Any] = [
    ("SubjectAccessReview", {}, {"user": "a", "resourceAttributes": {}}, []),
    ("SubjectAccessReview", {}, {"groups": ["a"], "nonResourceAttributes": {}}, []),
    ("SubjectAccessReview", {}, {}, [f"spec: Invalid value: null: {ONE_OF}", USER]),
    ("SelfSubjectAccessReview", {}, {}, [f"spec: Invalid value: null: {ONE_OF}"]),
    ("SelfSubjectAccessReview", {"name": "x"}, {"resourceAttributes": {}}, [
        'metadata: Invalid value: {"name":"x"}: must be empty'
    ]),
    ("SubjectAccessReview", {}, {"user": "a", "resourceAttributes": {}, "nonResourceAttributes": {"path": "/"}}, [
        f'spec: Invalid value: {{"Path":"/","Verb":""}}: {ONE_OF}'
    ]),
    ("SubjectAccessReview", {}, {"user": "a", "resourceAttributes": {
        "fieldSelector": {},
        "labelSelector": {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "In"}]},
    }}, [
        "spec.resourceAttributes.fieldSelector.requirements: Required value: "
        "when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
        'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a=b": '
        "may not specified at the same time as requirements",
        "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: "
        "must be specified when `operator` is 'In' or 'NotIn'",
    ]),
    ("SubjectAccessReview", {}, {"user": "a", "resourceAttributes": {"fieldSelector": {"requirements": [
        {"operator": "Newer"}, {"key": "a", "operator": "Exists", "values": ["b"]},
    ]}}}, [
        "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
        "spec.resourceAttributes.fieldSelector.requirements[1].values: Forbidden: "
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ]),
    ("LocalSubjectAccessReview", {"namespace": "n"}, {"user": "a", "resourceAttributes": {"namespace": "n"}}, []),
    ("LocalSubjectAccessReview", {"namespace": "n"}, {"user": "a", "resourceAttributes": {"namespace": "m"}}, [
        'spec.resourceAttributes.namespace: Invalid value: "m": must match metadata.namespace'
    ]),
    ("LocalSubjectAccessReview", {"namespace": "n"}, {"user": "a", "nonResourceAttributes": {"path": "/"}}, [
        'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request'
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "metadata", "spec", "errors"), CASES)
def test_question(kind: str, metadata: Any, spec: Any, errors: Any) -> None:
    obj = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    resource, reported = kinds.resource_of(obj), Errors()
    assert resource.verbs == ("create",) and resource.validate
    resource.validate(obj, reported)
    assert [str(error) for error in reported] == errors
