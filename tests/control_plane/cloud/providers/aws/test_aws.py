"""The provider of AWS against moto's server on loopback."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import CloudError, InstanceNotFound, Route
from pybernetes.control_plane.cloud.providers.aws import aws
from pybernetes.control_plane.cloud.providers.aws.aws import AwsCloud, AwsConfig
from pybernetes.control_plane.cloud.providers.aws.aws_balancer import PREFIX, name_of
from pybernetes.control_plane.cloud.providers.aws.aws_calls import AwsCalls, AwsError
from pybernetes.control_plane.cloud.providers.aws.aws_instances import instance_id
from tests.control_plane.cloud.clouds import node, service

CLUSTER = "kubernetes"


@pytest.fixture(scope="module")
def calls() -> Iterator[AwsCalls]:
    """Yield AWS on loopback."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        for key, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true", "no_proxy": "127.0.0.1",
        }.items():  # fmt: skip
            environment.setenv(key, value)
        yield AwsCalls()
    server.stop()


@pytest.fixture
def cloud(calls: AwsCalls) -> AwsCloud:
    """Return a cloud with a new VPC and nothing in it."""
    with urllib.request.urlopen(f"{calls.ec2.meta.endpoint_url}/moto-api/reset", data=b"", timeout=60):
        pass
    vpc = calls.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    table = calls.ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    return AwsCloud(AwsConfig(vpc=vpc, route_table=table), calls)


def machine(cloud: AwsCloud, zone: str = "eu-central-1a", number: int = 1) -> Object:
    """Start an instance, and return its Node."""
    ec2: Any = cloud.instances._calls.ec2
    vpc = cloud.load_balancers._vpc
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone)["Subnet"][
        "SubnetId"
    ]
    ec2.create_tags(Resources=[subnet], Tags=[{"Key": f"kubernetes.io/cluster/{CLUSTER}", "Value": "owned"}])
    started = ec2.run_instances(
        ImageId="ami-12c6146b", MinCount=1, MaxCount=1, SubnetId=subnet, InstanceType="t3.small"
    )["Instances"][0]  # fmt: skip
    return node(started["PrivateDnsName"], providerID=f"aws:///{zone}/{started['InstanceId']}")


async def test_instances(cloud: AwsCloud) -> None:
    ec2: Any = cloud.instances._calls.ec2
    obj = machine(cloud)
    unnamed = node(obj["metadata"]["name"])
    for asked in (obj, unnamed):
        known = await cloud.instances.metadata(asked)
        assert known is not None and known.provider_id == obj["spec"]["providerID"]
        assert (known.zone, known.region, known.instance_type) == (
            "eu-central-1a",
            "eu-central-1",
            "t3.small",
        )
        kinds = [address.type for address in known.addresses]
        assert kinds[0] == "InternalIP" and {"InternalDNS", "Hostname"} <= set(kinds)
    assert await cloud.instances.exists(obj) and not await cloud.instances.is_shut_down(obj)
    identity = instance_id(obj["spec"]["providerID"])
    ec2.stop_instances(InstanceIds=[identity])
    assert await cloud.instances.exists(obj) and await cloud.instances.is_shut_down(obj)
    ec2.terminate_instances(InstanceIds=[identity])
    assert not await cloud.instances.exists(obj)
    gone = node("x", providerID="aws:///eu-central-1a/i-0123456789abcdef0")
    assert not await cloud.instances.exists(gone)
    with pytest.raises(InstanceNotFound):
        await cloud.instances.metadata(gone)
    for doubtful in (node("nobody.example"), node("x", providerID="gce://1")):  # nothing is known for sure
        with pytest.raises(CloudError):
            await cloud.instances.exists(doubtful)


async def test_load_balancers(cloud: AwsCloud) -> None:
    elb: Any = cloud.instances._calls.elb
    balancers = cloud.load_balancers
    ports = [
        {"port": 80, "protocol": "TCP", "nodePort": 30080},
        {"port": 53, "protocol": "UDP", "nodePort": 30053},
    ]
    obj = service(ports=ports)
    obj["metadata"]["uid"] = "01234567-89ab-cdef-0123-456789abcdef"
    with pytest.raises(CloudError, match="suitable subnets"):
        await balancers.ensure(CLUSTER, obj, [])
    first, second = machine(cloud), machine(cloud, "eu-central-1b", 2)
    assert await balancers.get(CLUSTER, obj) is None
    given = await balancers.ensure(CLUSTER, obj, [first])
    assert given[0].hostname and await balancers.get(CLUSTER, obj) == given

    def targets() -> list[set[str]]:
        groups = elb.describe_target_groups()["TargetGroups"]
        return [
            {
                entry["Target"]["Id"]
                for entry in elb.describe_target_health(TargetGroupArn=group["TargetGroupArn"])["TargetHealthDescriptions"]
                if entry["TargetHealth"]["State"] not in ("draining", "unused")
            }
            for group in groups
        ]  # fmt: skip

    def listeners() -> set[tuple[str, int]]:
        (balancer,) = elb.describe_load_balancers()["LoadBalancers"]
        entries = elb.describe_listeners(LoadBalancerArn=balancer["LoadBalancerArn"])["Listeners"]
        return {(entry["Protocol"], entry["Port"]) for entry in entries}

    ids = [instance_id(entry["spec"]["providerID"]) for entry in (first, second)]
    assert listeners() == {("TCP", 80), ("UDP", 53)} and targets() == [{ids[0]}] * 2
    await balancers.update(CLUSTER, obj, [first, second])
    assert targets() == [set(ids)] * 2
    await balancers.update(CLUSTER, obj, [second])
    assert targets() == [{ids[1]}] * 2
    obj["spec"]["ports"] = [{"port": 81, "protocol": "TCP", "nodePort": 30081}]
    assert await balancers.ensure(CLUSTER, obj, [second]) == given
    assert listeners() == {("TCP", 81)} and targets() == [{ids[1]}]
    obj["metadata"]["annotations"] = {f"{PREFIX}internal": "true"}
    await balancers.ensure(CLUSTER, obj, [second])
    (balancer,) = elb.describe_load_balancers()["LoadBalancers"]
    assert balancer["Scheme"] == "internal" and balancer["LoadBalancerName"] == name_of(obj)
    with pytest.raises(CloudError, match="other tags"):  # of another cluster: it is not touched
        await balancers.delete("another", obj)
    for _ in range(2):
        await balancers.delete(CLUSTER, obj)
    assert not elb.describe_load_balancers()["LoadBalancers"] and targets() == []
    with pytest.raises(CloudError, match="no such load balancer"):
        await balancers.update(CLUSTER, obj, [])


async def test_routes(cloud: AwsCloud) -> None:
    routes = cloud.routes
    assert routes is not None
    assert await routes.list(CLUSTER) == []
    obj = machine(cloud)
    wanted = Route("10.244.0.0/24", obj["metadata"]["name"])
    await routes.create(CLUSTER, "hint", wanted)
    (present,) = await routes.list(CLUSTER)
    assert (present.destination, present.target_node) == (wanted.destination, wanted.target_node)
    await routes.delete(CLUSTER, present)
    assert await routes.list(CLUSTER) == []
    with pytest.raises(CloudError):
        await routes.create(CLUSTER, "hint", Route("10.244.1.0/24", "nobody.example"))


async def test_a_cloud_that_is_away(monkeypatch: pytest.MonkeyPatch, calls: AwsCalls) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    away = AwsCloud(AwsConfig())
    with pytest.raises(AwsError):
        await away.instances.exists(node("x", providerID="aws:///z/i-1"))


def test_configuration() -> None:
    text = '[Global]\nVPC = vpc-1\nRouteTableID = "rtb-1"\nKubernetesClusterID=mine\n'
    assert aws.read(text) == AwsConfig("vpc-1", "rtb-1", "mine")
    assert aws.read("") == AwsConfig()
    for wrong in ("VPC = x", "[Other]\na = b\n", "[Global]\nRoleARN = x\n"):
        with pytest.raises(ValueError):
            aws.read(wrong)
