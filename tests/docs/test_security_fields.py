"""The table of security settings: no field of the schema is missing, and every test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pybernetes.api.schema import load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security-fields.md").read_text()
TYPES = (
    "PodSecurityContext", "SecurityContext", "PodSpec", "Container", "VolumeMount", "ContainerPort", "SeccompProfile",
    "AppArmorProfile", "SELinuxOptions", "WindowsSecurityContextOptions", "Capabilities", "Sysctl",
)  # fmt: skip
# Of kinds that set rules: by the package of their definitions.
POLICY_TYPES = {
    "io.k8s.api.core.v1": ("LimitRangeSpec", "LimitRangeItem", "ResourceQuotaSpec", "ScopeSelector",
                           "ScopedResourceSelectorRequirement"),
    "io.k8s.api.networking.v1": ("NetworkPolicySpec", "NetworkPolicyIngressRule", "NetworkPolicyEgressRule",
                                 "NetworkPolicyPeer", "IPBlock", "NetworkPolicyPort"),
    "io.k8s.api.policy.v1": ("PodDisruptionBudgetSpec",),
    "io.k8s.api.node.v1": ("RuntimeClass", "Overhead", "Scheduling"),
    "io.k8s.api.scheduling.v1": ("PriorityClass",),
    "io.k8s.api.admissionregistration.v1": (
        "ValidatingAdmissionPolicySpec", "MutatingAdmissionPolicySpec", "Validation", "Variable", "MatchCondition",
        "AuditAnnotation", "ParamKind", "ParamRef", "ValidatingAdmissionPolicyBindingSpec",
        "MutatingAdmissionPolicyBindingSpec", "MatchResources", "NamedRuleWithOperations", "RuleWithOperations", "Mutation",
        "ApplyConfiguration", "JSONPatch", "ValidatingWebhook", "MutatingWebhook", "WebhookClientConfig", "ServiceReference",
    ),
}  # fmt: skip
DEFINITIONS = [f"io.k8s.api.core.v1.{type_}" for type_ in TYPES] + [
    f"{package}.{type_}" for package, types in POLICY_TYPES.items() for type_ in types
]
_CODE = re.compile(r"`([^`]+)`")


def _rows() -> list[list[str]]:
    lines = [
        line
        for line in PAGE.splitlines()
        if line.startswith("| ") and not line.startswith(("| field", "| kind"))
    ]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def _harmless(type_: str) -> set[str]:
    """Return the fields of a type that the page says to confine nothing."""
    sentence = re.search(
        rf"^Fields of `{type_}` that confine nothing: (.*?)$\n\n", PAGE + "\n\n", re.MULTILINE | re.DOTALL
    )
    return set(_CODE.findall(sentence[1])) if sentence else set()


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_every_field_has_a_row(definition: str) -> None:
    type_ = definition.rpartition(".")[2]
    listed = {name for row in _rows() for name in _CODE.findall(row[0]) if name.startswith(f"{type_}.")}
    named = {name.removeprefix(f"{type_}.") for name in listed}
    properties = load.definitions()[definition]["properties"]
    assert named | _harmless(type_) == set(properties)
    assert not named & _harmless(type_)


def test_every_row_names_code_and_tests_that_exist() -> None:
    rows = _rows()
    assert len(rows) > 50 and {len(row) for row in rows} == {4}
    for row in rows:
        assert _CODE.findall(row[2]), row
        tests = _CODE.findall(row[3])
        assert tests, row
        for test in tests:
            file, _, name = test.partition("::")
            text = (ROOT / "tests" / file).read_text()
            assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), test
