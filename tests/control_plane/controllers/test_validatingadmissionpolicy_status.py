"""Warnings about expressions of policies."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, VALIDATING_ADMISSION_POLICIES
from pybernetes.control_plane.controllers import validatingadmissionpolicy_status
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


def policy(name: str, group: str, resource: str, *validations: Object, **more: Any) -> Object:
    rule = {"operations": ["*"], "apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": list(validations), **more}
    return {"metadata": {"name": name}, "spec": spec}


async def test_expressions_are_checked_against_the_types_of_what_they_are_about() -> None:
    properties = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}
    definition = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
                }
            ],
        },
    }
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)

        async def established() -> bool:
            definition = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
            conditions = (definition.get("status") or {}).get("conditions") or ()
            return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

        await eventually(established)
        async with controllers(client, validatingadmissionpolicy_status.CONTROLLER):
            fine = {"expression": "object.spec.replicas > 1 && has(object.metadata.labels)"}
            wrong = {
                "expression": "object.spec.replicas > '1'",
                "messageExpression": "string(object.spec.missing)",
            }
            variables = [{"name": "v", "expression": "object.spec.template.spec"}]
            through = {"expression": "variables.v.contaners.size() == 0"}
            made = policy("deployments", "apps", "deployments", fine, wrong, through, variables=variables)
            await client.create(VALIDATING_ADMISSION_POLICIES, made)
            custom = {"expression": "object.spec.size > 1 && object.spec.weight > 1"}
            await client.create(
                VALIDATING_ADMISSION_POLICIES, policy("custom", "example.com", "widgets", custom)
            )
            await client.create(VALIDATING_ADMISSION_POLICIES, policy("fine", "apps", "deployments", fine))

            async def warnings(name: str) -> Any:
                policy = await client.get(VALIDATING_ADMISSION_POLICIES, name)
                status = policy.get("status") or {}
                if status.get("observedGeneration") != policy["metadata"]["generation"]:
                    return None
                given = status["typeChecking"].get("expressionWarnings", [])
                return {item["fieldRef"]: item["warning"] for item in given}

            async def all_are_there() -> bool:
                return None not in [await warnings(name) for name in ("deployments", "custom", "fine")]

            await eventually(all_are_there)
            assert await warnings("fine") == {}
            texts = await warnings("deployments")
            assert texts["spec.validations[1].expression"] == (
                "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to "
                "'(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n"
            )
            assert "undefined field 'missing'" in texts["spec.validations[1].messageExpression"]
            assert "undefined field 'contaners'" in texts["spec.validations[2].expression"]
            assert len(texts) == 3
            texts = await warnings("custom")
            assert "example.com/v1, Kind=Widget: ERROR" in texts["spec.validations[0].expression"]
            assert "undefined field 'weight'" in texts["spec.validations[0].expression"]
