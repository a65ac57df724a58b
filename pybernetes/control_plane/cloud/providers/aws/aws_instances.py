"""Instances of EC2. A provider id is ``aws:///ZONE/i-0123…``; a node without one has the private name of its instance."""

from __future__ import annotations

import re
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import (
    EXTERNAL_IP,
    HOSTNAME,
    INTERNAL_IP,
    CloudError,
    InstanceMetadata,
    InstanceNotFound,
    NodeAddress,
)
from pybernetes.control_plane.cloud.providers.aws.aws_calls import AwsCalls

_ID = re.compile(r"aws://(?:/[^/]*)?/(i-[0-9a-z]+)\Z")
_ALIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]


def instance_id(provider_id: str) -> str:
    """Return the instance that a provider id names; CloudError if it is none of AWS."""
    match = _ID.match(provider_id)
    if match is None:
        raise CloudError(f"Invalid format for AWS instance ({provider_id})")
    return match[1]


def metadata_of(instance: dict[str, Any]) -> InstanceMetadata:
    """Return what EC2 says of an instance."""
    zone = instance["Placement"]["AvailabilityZone"]
    addresses = [
        NodeAddress(INTERNAL_IP, address["PrivateIpAddress"])
        for interface in sorted(
            instance.get("NetworkInterfaces") or (),
            key=lambda interface: interface["Attachment"].get("DeviceIndex", 0),
        )
        if interface.get("Status") == "in-use"
        for address in sorted(interface["PrivateIpAddresses"], key=lambda address: not address.get("Primary"))
    ]
    if not addresses and instance.get("PrivateIpAddress"):
        addresses.append(NodeAddress(INTERNAL_IP, instance["PrivateIpAddress"]))
    if instance.get("PublicIpAddress"):
        addresses.append(NodeAddress(EXTERNAL_IP, instance["PublicIpAddress"]))
    for type_, key in (
        ("InternalDNS", "PrivateDnsName"),
        (HOSTNAME, "PrivateDnsName"),
        ("ExternalDNS", "PublicDnsName"),
    ):
        if instance.get(key):
            addresses.append(NodeAddress(type_, instance[key]))
    return InstanceMetadata(
        f"aws:///{zone}/{instance['InstanceId']}",
        instance.get("InstanceType", ""),
        tuple(addresses),
        zone,
        zone.rstrip("abcdefghijklmnopqrstuvwxyz") if zone[-1:].isalpha() else zone,
        {"topology.k8s.aws/zone-id": zone_id} if (zone_id := instance["Placement"].get("AvailabilityZoneId")) else {},
    )  # fmt: skip


class AwsInstances:
    """The machines."""

    def __init__(self, calls: AwsCalls) -> None:
        self._calls = calls

    async def _describe(self, node: Object) -> dict[str, Any]:
        """Return the instance of a node; InstanceNotFound if AWS is sure that there is none."""
        identity = (node.get("spec") or {}).get("providerID", "")
        if identity:
            wanted = instance_id(identity)
            reservations = await self._calls.ask(self._calls.ec2.describe_instances, InstanceIds=[wanted])
            instances = [entry for group in reservations["Reservations"] for entry in group["Instances"]]
            if len(instances) != 1:
                raise CloudError(f"AWS answered with {len(instances)} instances for {wanted}")
            return instances[0]
        return await self.by_name(node["metadata"]["name"])

    async def by_name(self, name: str) -> dict[str, Any]:
        """Return the instance with a private name; an error if there is none, or several."""
        filters = [
            {"Name": "private-dns-name", "Values": [name]},
            {"Name": "instance-state-name", "Values": _ALIVE},
        ]
        groups = await self._calls.pages(
            self._calls.ec2, "describe_instances", "Reservations", Filters=filters
        )
        instances = [instance for group in groups for instance in group["Instances"]]
        if len(instances) != 1:  # a name proves nothing: nodes may have others
            raise CloudError(f"there are {len(instances)} instances with the private name {name}")
        return instances[0]

    async def exists(self, node: Object) -> bool:
        """Return whether the instance is there; one that is terminated is not."""
        try:
            return (await self._describe(node))["State"]["Name"] != "terminated"
        except InstanceNotFound:
            return False

    async def is_shut_down(self, node: Object) -> bool:
        """Return whether the instance is stopped."""
        return (await self._describe(node))["State"]["Name"] == "stopped"

    async def metadata(self, node: Object) -> InstanceMetadata | None:
        """Return what EC2 says of the instance."""
        return metadata_of(await self._describe(node))
