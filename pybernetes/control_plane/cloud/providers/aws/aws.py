"""The provider of Amazon Web Services, and its configuration.

The file of ``--cloud-config`` is the one that upstream's provider reads, as far as it goes: a section ``[Global]`` with
``VPC``, ``RouteTableID``, ``KubernetesClusterID`` and ``Region``. Credentials and endpoints are boto3's own business.
"""

from __future__ import annotations

import configparser
from dataclasses import dataclass

from pybernetes.control_plane.cloud.providers.aws.aws_calls import AwsCalls
from pybernetes.control_plane.cloud.providers.aws.aws_instances import AwsInstances
from pybernetes.control_plane.cloud.providers.aws.aws_load_balancers import AwsLoadBalancers
from pybernetes.control_plane.cloud.providers.aws.aws_routes import AwsRoutes

_FIELDS = ("vpc", "routetableid", "kubernetesclusterid", "region")


@dataclass(frozen=True, slots=True)
class AwsConfig:
    """What the file says; an empty text means that it says nothing."""

    vpc: str = ""
    route_table: str = ""
    cluster_id: str = ""
    region: str = ""


def read(text: str) -> AwsConfig:
    """Read a configuration; ValueError if it has what is not known here."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    unknown = [name for name in parser.sections() if name.lower() != "global"]
    if unknown:
        raise ValueError(f"the section [{unknown[0]}] is not supported, only [Global] is")
    section = {key: value.strip('"') for name in parser.sections() for key, value in parser[name].items()}
    for key in section:
        if key not in _FIELDS:
            raise ValueError(f"the field {key} of [Global] is not supported; these are: {', '.join(_FIELDS)}")
    return AwsConfig(*(section.get(field, "") for field in _FIELDS))


class AwsCloud:
    """The cloud. Without a route table in the configuration it has no routes."""

    name = "aws"

    def __init__(self, config: AwsConfig, calls: AwsCalls | None = None) -> None:
        calls = calls or AwsCalls(config.region)
        self.instances = AwsInstances(calls)
        self.load_balancers = AwsLoadBalancers(calls, config.vpc, config.cluster_id)
        self.routes = AwsRoutes(calls, config.route_table) if config.route_table else None

    async def run(self) -> None:
        """Return: nothing happens in the background."""


def make(text: str) -> AwsCloud:
    """Make the provider of the text of its configuration."""
    return AwsCloud(read(text))


PROVIDER = make
