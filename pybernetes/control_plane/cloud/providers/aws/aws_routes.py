"""Routes to nodes in one route table of a VPC."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.control_plane.cloud.provider import CloudError, Route
from pybernetes.control_plane.cloud.providers.aws.aws_calls import AwsCalls
from pybernetes.control_plane.cloud.providers.aws.aws_instances import AwsInstances


class AwsRoutes:
    """The routes of a table that lead to instances."""

    def __init__(self, calls: AwsCalls, table: str) -> None:
        self._calls, self._table = calls, table
        self._instances = AwsInstances(calls)

    async def list(self, cluster: str) -> Sequence[Route]:
        """Return the routes that lead to instances; those to gateways and the like are not about nodes."""
        answer = await self._calls.ask(self._calls.ec2.describe_route_tables, RouteTableIds=[self._table])
        entries = [
            entry
            for table in answer["RouteTables"]
            for entry in table["Routes"]
            if entry.get("DestinationCidrBlock") and entry.get("InstanceId")
        ]
        name_by_id: dict[str, str] = {}
        ids = sorted({entry["InstanceId"] for entry in entries})
        if ids:  # as a filter: one that is gone must not make the question fail
            filters = [{"Name": "instance-id", "Values": ids}]
            groups = await self._calls.pages(
                self._calls.ec2, "describe_instances", "Reservations", Filters=filters
            )
            name_by_id = {
                instance["InstanceId"]: instance.get("PrivateDnsName", "")
                for group in groups
                for instance in group["Instances"]
            }
        return [
            Route(
                entry["DestinationCidrBlock"],
                name_by_id.get(entry["InstanceId"], ""),
                f"{cluster}-{entry['DestinationCidrBlock']}",
                blackhole=entry.get("State") == "blackhole",
            )
            for entry in entries
        ]

    async def create(self, cluster: str, name_hint: str, route: Route) -> None:
        """Make a route to a node, which has to let packets for others pass."""
        instance = (await self._instances.by_name(route.target_node))["InstanceId"]
        ec2 = self._calls.ec2
        await self._calls.ask(
            ec2.modify_instance_attribute, InstanceId=instance, SourceDestCheck={"Value": False}
        )
        await self._calls.ask(
            ec2.create_route,
            RouteTableId=self._table,
            DestinationCidrBlock=route.destination,
            InstanceId=instance,
        )

    async def delete(self, cluster: str, route: Route) -> None:
        """Remove a route."""
        try:
            await self._calls.ask(
                self._calls.ec2.delete_route,
                RouteTableId=self._table,
                DestinationCidrBlock=route.destination,
            )
        except CloudError as error:
            if getattr(error, "code", "") != "InvalidRoute.NotFound":
                raise
