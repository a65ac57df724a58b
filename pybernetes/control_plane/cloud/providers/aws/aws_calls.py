"""Calls of AWS: in threads, each within a time; what goes wrong becomes an error of the cloud."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pybernetes.control_plane.cloud.provider import CloudError, InstanceNotFound

_CONNECT_SECONDS, _READ_SECONDS, _TRIES = 5, 20, 2
_GONE = ("InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed")


class AwsCalls:
    """EC2 and ELBv2, as boto3 has them."""

    def __init__(self, region: str = "") -> None:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            raise ValueError("boto3 is missing; install it with: pip install 'pybernetes[aws]'") from None
        self._failures = (BotoCoreError, ClientError)
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": _TRIES},
        )
        try:
            session = boto3.session.Session(region_name=region or None)
            self.ec2: Any = session.client("ec2", config=config)
            self.elb: Any = session.client("elbv2", config=config)
        except self._failures as error:
            raise ValueError(str(error)) from error

    async def ask(self, call: Callable[..., Any], **parameters: Any) -> Any:
        """Make a call; CloudError if it fails, InstanceNotFound if there is certainly no such instance."""
        try:
            return await asyncio.to_thread(call, **parameters)
        except self._failures as error:
            code = code_of(error)
            if code in _GONE:
                raise InstanceNotFound(str(error)) from error
            raise AwsError(str(error), code) from error

    async def pages(self, client: Any, operation: str, key: str, **parameters: Any) -> list[Any]:
        """Return everything of a list that comes in pages."""

        def collect() -> list[Any]:
            pages = client.get_paginator(operation).paginate(**parameters)
            return [item for page in pages for item in page[key]]

        return await self.ask(collect)


class AwsError(CloudError):
    """AWS refused something, for a reason that has a code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def code_of(error: Exception) -> str:
    """Return the code of an error of AWS; empty if it never got there."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def tags(mapping: dict[str, str]) -> list[dict[str, str]]:
    """Return tags as AWS takes them."""
    return [{"Key": key, "Value": value} for key, value in mapping.items()]
