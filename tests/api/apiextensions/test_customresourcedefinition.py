"""CustomResourceDefinition: what is refused, what is completed, what may change, what is printed."""

from __future__ import annotations

from typing import Any

from tests.api import tables
from tests.api.apiextensions.definitions import SHORT_NAMED, SPEC, VERSION, make

REFUSED: list[Any] = [
    (
        {"spec": {}},
        [
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
            "spec.group: Required value",
            "spec.scope: Required value",
            "spec.versions: Invalid value: null: must have exactly one version marked as storage version",
            "spec.names.plural: Required value",
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ],
    ),
    (
        {"spec": {"versions": [{}]}},
        [
            'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
            "spec.group: Required value",
            "spec.scope: Required value",
            "spec.versions[0].schema.openAPIV3Schema: Required value",
            "spec.versions[0].name: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'spec.versions: Invalid value: [{"Name":"","Served":false,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
            "spec.names.plural: Required value",
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
            "status.storedVersions: Invalid value: null: must have at least one stored version",
        ],
    ),
    (
        {
            "metadata": {"name": "foos.a"},
            "spec": {
                "group": "a",
                "scope": "x",
                "names": {
                    "plural": "foos",
                    "kind": "F_",
                    "singular": "A",
                    "listKind": "F_",
                    "shortNames": ["A"],
                    "categories": ["B"],
                },
                "versions": [VERSION],
            },
        },
        [
            'spec.group: Invalid value: "a": should be a domain with at least one dot',
            'spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"',
            "spec.names.singular: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.kind: Invalid value: \"F_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.listKind: Invalid value: \"F_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "spec.names.shortNames[0]: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            'spec.names.listKind: Invalid value: "F_": kind and listKind may not be the same',
            "spec.names.categories[0]: Invalid value: \"B\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        ],
    ),
    (
        {
            "metadata": {"name": "foos.x.k8s.io"},
            "spec": {
                "group": "x.k8s.io",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [VERSION],
            },
        },
        [
            'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
        ],
    ),
]
COMPLETED: list[Any] = [
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": SPEC,
        },
        {
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
                "versions": [VERSION],
                "conversion": {"strategy": "None"},
            },
            "status": {"acceptedNames": {"kind": "", "plural": ""}, "storedVersions": ["v1"]},
        },
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [VERSION],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"service": {"name": "a", "namespace": "b"}},
                        "conversionReviewVersions": ["v1"],
                    },
                },
            },
        },
        {
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"},
                "versions": [VERSION],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"service": {"name": "a", "namespace": "b", "port": 443}},
                        "conversionReviewVersions": ["v1"],
                    },
                },
            },
            "status": {"acceptedNames": {"kind": "", "plural": ""}, "storedVersions": ["v1"]},
        },
    ),
]
UPDATES: list[Any] = [
    (
        SHORT_NAMED,
        {"spec.group": "c.d"},
        [
            'metadata.name: Invalid value: "foos.a.b": must be spec.names.plural+"."+spec.group',
            'spec.group: Invalid value: "c.d": field is immutable',
        ],
    ),
    (
        SHORT_NAMED,
        {"spec.versions.0.name": "v2"},
        [
            'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions'
        ],
    ),
    (
        SHORT_NAMED,
        {"spec.scope": "Namespaced"},
        [],
    ),
]
STATUSES: list[Any] = [
    (
        SHORT_NAMED,
        {"acceptedNames": {"plural": "A"}},
        [
            "status.acceptedNames.plural: Invalid value: \"A\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
        ],
    )
]
ROWS: list[Any] = [
    (
        SHORT_NAMED,
        ["foos.a.b", "Cluster", "v1(storage)", "2026-01-02T03:04:05Z", "a.b", "Foo", "fo,f", False],
    ),
    (
        {
            "metadata": {"name": "foos.a.b"},
            "spec": {
                "group": "a.b",
                "scope": "Cluster",
                "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]},
                "versions": [VERSION],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        },
        ["foos.a.b", "Cluster", "v1(storage)", "2026-01-02T03:04:05Z", "a.b", "Foo", "fo,f", True],
    ),
]

test_refused = tables.refused(make, REFUSED)
test_completed = tables.completed(make, COMPLETED)
test_updates = tables.updated(make, UPDATES)
test_status = tables.reported(make, STATUSES)
test_row = tables.printed(make, ROWS)
