"""Network load balancers (ELBv2): one for each service, with a listener and a target group for each port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import CloudError, Ingress
from pybernetes.control_plane.cloud.providers.aws import aws_balancer
from pybernetes.control_plane.cloud.providers.aws.aws_balancer import AwsBalancer, Port
from pybernetes.control_plane.cloud.providers.aws.aws_calls import AwsCalls, AwsError, tags
from pybernetes.control_plane.cloud.providers.aws.aws_instances import instance_id

_NO_GROUP = ("TargetGroupNotFound", "TargetGroupNotFoundException")
_SERVICE_TAG = "kubernetes.io/service-name"
_ROLES = {True: "kubernetes.io/role/internal-elb", False: "kubernetes.io/role/elb"}


class AwsLoadBalancers:
    """The load balancers of a VPC. Only what has the tags of the cluster and of the service is changed or deleted."""

    def __init__(self, calls: AwsCalls, vpc: str, cluster_id: str) -> None:
        self._calls, self._elb, self._vpc, self._cluster_id = calls, calls.elb, vpc, cluster_id

    def _tags(self, cluster: str, service: Object) -> dict[str, str]:
        meta = service["metadata"]
        return {
            f"kubernetes.io/cluster/{self._cluster_id or cluster}": "owned",
            _SERVICE_TAG: f"{meta['namespace']}/{meta['name']}",
        }

    async def _find(self, cluster: str, service: Object) -> dict[str, Any] | None:
        """Return the load balancer of a service; CloudError if another one has its name."""
        names = [aws_balancer.name_of(service)]
        try:
            answer = await self._calls.ask(self._elb.describe_load_balancers, Names=names)
        except AwsError as error:
            if error.code in ("LoadBalancerNotFound", "LoadBalancerNotFoundException"):
                return None
            raise
        balancer = answer["LoadBalancers"][0]
        arn = balancer["LoadBalancerArn"]
        described = await self._calls.ask(self._elb.describe_tags, ResourceArns=[arn])
        present = {tag["Key"]: tag["Value"] for tag in described["TagDescriptions"][0]["Tags"]}
        if not self._tags(cluster, service).items() <= present.items():
            raise CloudError(f"the load balancer {names[0]} is not one of this cluster: it has other tags")
        return balancer

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return the name of a service's load balancer."""
        balancer = await self._find(cluster, service)
        return None if balancer is None else [Ingress(hostname=balancer["DNSName"])]

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Make or change a load balancer."""
        asked = aws_balancer.read(service)
        present = await self._find(cluster, service)
        scheme = "internal" if asked.internal else "internet-facing"
        if present is not None and present["Scheme"] != scheme:
            await self._delete(present)  # it cannot be changed
            present = None
        own = {**asked.tags, **self._tags(cluster, service)}
        if present is None:
            present = await self._create(asked, scheme, own)
        arn = present["LoadBalancerArn"]
        attributes = tags(asked.attributes)
        await self._calls.ask(
            self._elb.modify_load_balancer_attributes, LoadBalancerArn=arn, Attributes=attributes
        )
        groups = {port: await self._group(asked, port, own, nodes, present["VpcId"]) for port in asked.ports}
        affine = service["spec"].get("sessionAffinity") == "ClientIP"
        for group in groups.values():
            sticky = {"stickiness.enabled": str(affine).lower(), "stickiness.type": "source_ip"}
            await self._calls.ask(
                self._elb.modify_target_group_attributes, TargetGroupArn=group, Attributes=tags(sticky)
            )
        await self._listen(arn, groups)
        return [Ingress(hostname=present["DNSName"])]

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Change the nodes behind a load balancer."""
        present = await self._find(cluster, service)
        if present is None:
            raise CloudError("there is no such load balancer")
        for group in await self._groups(present["LoadBalancerArn"]):
            await self._register(group["TargetGroupArn"], nodes)

    async def delete(self, cluster: str, service: Object) -> None:
        """Remove a load balancer with its target groups."""
        present = await self._find(cluster, service)
        if present is not None:
            await self._delete(present)

    # -- parts ---------------------------------------------------------------------------------------------

    async def _create(self, asked: AwsBalancer, scheme: str, own: dict[str, str]) -> dict[str, Any]:
        subnets = asked.subnets or await self._subnets(asked.internal, own)
        if asked.allocations and len(asked.allocations) != len(subnets):
            raise CloudError(f"{len(asked.allocations)} addresses are given for {len(subnets)} subnets")
        where: dict[str, Any] = {"Subnets": list(subnets)}
        if asked.allocations:
            pairs = zip(subnets, asked.allocations, strict=True)
            where = {
                "SubnetMappings": [{"SubnetId": subnet, "AllocationId": given} for subnet, given in pairs]
            }
        answer = await self._calls.ask(
            self._elb.create_load_balancer, Name=asked.name, Type="network", Scheme=scheme, Tags=tags(own), **where
        )  # fmt: skip
        return answer["LoadBalancers"][0]

    async def _subnets(self, internal: bool, own: dict[str, str]) -> list[str]:
        """Return a subnet of each zone: those with the tag of their role first, then by name."""
        cluster_tag = next(key for key in own if key.startswith("kubernetes.io/cluster/"))
        filters = [{"Name": "tag-key", "Values": [cluster_tag]}]
        if self._vpc:
            filters.append({"Name": "vpc-id", "Values": [self._vpc]})
        subnets = await self._calls.pages(self._calls.ec2, "describe_subnets", "Subnets", Filters=filters)

        def rank(subnet: dict[str, Any]) -> tuple[bool, str]:
            return not any(tag["Key"] == _ROLES[internal] for tag in subnet.get("Tags") or ()), subnet[
                "SubnetId"
            ]

        by_zone: dict[str, str] = {}
        for subnet in sorted(subnets, key=rank):
            by_zone.setdefault(subnet["AvailabilityZone"], subnet["SubnetId"])
        if not by_zone:
            raise CloudError(
                f"could not find any suitable subnets for creating the ELB: none has the tag {cluster_tag}"
            )
        return sorted(by_zone.values())

    async def _group(
        self, asked: AwsBalancer, port: Port, own: dict[str, str], nodes: Sequence[Object], vpc: str
    ) -> str:
        """Make or change the target group of a port; return its ARN."""
        name = asked.group_name(port)
        try:
            answer = await self._calls.ask(self._elb.describe_target_groups, Names=[name])
            group = answer["TargetGroups"][0]["TargetGroupArn"]
            await self._calls.ask(self._elb.modify_target_group, TargetGroupArn=group, **asked.health)
        except AwsError as error:
            if error.code not in _NO_GROUP:
                raise
            answer = await self._calls.ask(
                self._elb.create_target_group, Name=name, Protocol=port.protocol, Port=port.node_port, VpcId=vpc,
                TargetType="instance", Tags=tags(own), **asked.health,
            )  # fmt: skip
            group = answer["TargetGroups"][0]["TargetGroupArn"]
        await self._register(group, nodes)
        return group

    async def _register(self, group: str, nodes: Sequence[Object]) -> None:
        """Make the targets of a group these nodes; AWS drains those that leave."""
        wanted = {
            instance_id(identity)
            for node in nodes
            if (identity := (node.get("spec") or {}).get("providerID"))
        }
        answer = await self._calls.ask(self._elb.describe_target_health, TargetGroupArn=group)
        present = {
            entry["Target"]["Id"]
            for entry in answer["TargetHealthDescriptions"]
            if entry["TargetHealth"]["State"] != "draining"
        }
        for call, ids in (
            (self._elb.register_targets, wanted - present),
            (self._elb.deregister_targets, present - wanted),
        ):
            if ids:
                await self._calls.ask(
                    call, TargetGroupArn=group, Targets=[{"Id": target} for target in sorted(ids)]
                )

    async def _listen(self, arn: str, groups: dict[Port, str]) -> None:
        """Make the listeners those of the ports, then remove target groups that nobody needs."""
        listeners = await self._calls.pages(self._elb, "describe_listeners", "Listeners", LoadBalancerArn=arn)
        before = await self._groups(arn)
        wanted = {(port.protocol, port.port): group for port, group in groups.items()}
        for listener in listeners:
            key, own = (listener["Protocol"], listener["Port"]), listener["ListenerArn"]
            group = wanted.pop(key, None)
            if group is None:
                await self._calls.ask(self._elb.delete_listener, ListenerArn=own)
            elif [action.get("TargetGroupArn") for action in listener["DefaultActions"]] != [group]:
                await self._calls.ask(
                    self._elb.modify_listener, ListenerArn=own, DefaultActions=_forward(group)
                )
        for (protocol, number), group in wanted.items():
            await self._calls.ask(
                self._elb.create_listener, LoadBalancerArn=arn, Protocol=protocol, Port=number,
                DefaultActions=_forward(group),
            )  # fmt: skip
        for unneeded in {entry["TargetGroupArn"] for entry in before} - set(groups.values()):
            await self._calls.ask(self._elb.delete_target_group, TargetGroupArn=unneeded)

    async def _groups(self, arn: str) -> list[dict[str, Any]]:
        try:
            return await self._calls.pages(
                self._elb, "describe_target_groups", "TargetGroups", LoadBalancerArn=arn
            )
        except AwsError as error:
            if error.code in _NO_GROUP:
                return []
            raise

    async def _delete(self, balancer: dict[str, Any]) -> None:
        arn = balancer["LoadBalancerArn"]
        groups = await self._groups(arn)
        for listener in await self._calls.pages(
            self._elb, "describe_listeners", "Listeners", LoadBalancerArn=arn
        ):
            await self._calls.ask(self._elb.delete_listener, ListenerArn=listener["ListenerArn"])
        for group in groups:  # before the balancer: it is by the balancer that they are found
            await self._calls.ask(self._elb.delete_target_group, TargetGroupArn=group["TargetGroupArn"])
        await self._calls.ask(self._elb.delete_load_balancer, LoadBalancerArn=arn)


def _forward(group: str) -> list[dict[str, Any]]:
    return [{"Type": "forward", "TargetGroupArn": group}]
