"""Conversion of custom resources by a webhook: one review for many objects, its answer checked as upstream does."""

from __future__ import annotations

import uuid
from typing import Any

from pybernetes.api import go
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.webhooks.caller import Caller, CallFailed

_GROUP = "apiextensions.k8s.io"
_SECONDS = 30.0


class Converter:
    """The webhook of one definition."""

    def __init__(self, api: Api, webhook: dict[str, Any]) -> None:
        self._caller = Caller(api)
        self._client: dict[str, Any] = webhook.get("clientConfig", {})
        versions = webhook.get("conversionReviewVersions", ())
        self._version = next((version for version in versions if version in ("v1", "v1beta1")), "")

    async def convert(self, objects: list[Object], api_version: str) -> list[Object]:
        """The objects at another version; StatusError if the webhook does not do its work."""
        if not objects:
            return []
        start = f"conversion webhook for {_named(objects[0])}"
        if not self._version:
            raise _failure("no supported conversion review versions")
        uid = str(uuid.uuid4())
        request = {"uid": uid, "desiredAPIVersion": api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": f"{_GROUP}/{self._version}", "request": request}
        try:
            value = await self._caller.post(self._client, review, _SECONDS, tell=False)
            found = _answer(value, uid, self._version)
        except (CallFailed, _Unusable) as error:
            raise _failure(f"{start} failed: {error}") from None
        if len(found) != len(objects):
            raise _failure(f"{start} returned {len(found)} objects, expected {len(objects)}")
        made = []
        for index, (before, after) in enumerate(zip(objects, found, strict=True)):
            try:
                made.append(_restored(before, after, api_version))
            except _Unusable as error:
                raise _failure(
                    f"{start} returned invalid converted object at index {index}: {error}"
                ) from None
        return made


class _Unusable(Exception):
    """An answer that makes no sense."""


def _failure(message: str) -> StatusError:
    return StatusError(500, "", message)


def _named(obj: Object) -> str:
    return f"{obj.get('apiVersion', '')}, Kind={obj.get('kind', '')}"


def _answer(value: Object, uid: str, version: str) -> list[Any]:
    response = value.get("response")
    if version == "v1":
        given = value.get("apiVersion", ""), value.get("kind", "")
        if given != (f"{_GROUP}/v1", "ConversionReview"):
            shown = f"{given[0] if '/' in given[0] else '/' + given[0]}, Kind={given[1]}"
            raise _Unusable(f"expected webhook response of {_GROUP}/v1, Kind=ConversionReview, got {shown}")
    if not isinstance(response, dict):
        raise _Unusable("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise _Unusable(
            f"expected response.uid={go.quote(uid)}, got {go.quote(str(response.get('uid', '')))}"
        )
    result = response.get("result") or {}
    if result.get("status") != "Success":
        if result.get("message"):
            raise _Unusable(result["message"])
        raise _Unusable(f"response.result.status was '{result.get('status', '')}', not 'Success'")
    found = response.get("convertedObjects")
    return found if isinstance(found, list) else []


def _restored(before: Object, after: Any, api_version: str) -> Object:
    """The converted object with the metadata that conversion may not change."""
    if not isinstance(after, dict):
        raise _Unusable("json: cannot unmarshal into Go value of type map[string]interface {}")
    if after.get("apiVersion") != api_version:
        got = after.get("apiVersion", "")
        raise _Unusable(f"invalid groupVersion (expected {api_version}, received {got})")
    if after.get("kind") != before["kind"]:
        raise _Unusable(f"invalid kind (expected {before['kind']}, received {after.get('kind', '')})")
    metadata = after.get("metadata")
    if not isinstance(metadata, dict):
        raise _Unusable("missing metadata in converted object")
    own = before["metadata"]
    for key, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if own.get(key, "") != metadata.get(key, ""):
            raise _Unusable(f"must have the same {name}: {own.get(key, '')} != {metadata.get(key, '')}")
    kept = {key: value for key, value in own.items() if key not in ("labels", "annotations")}
    for key in ("labels", "annotations"):
        texts = metadata.get(key)
        if texts is None:
            continue
        if not isinstance(texts, dict):
            raise _Unusable(f"invalid metadata.{key} in converted object")
        for text in texts.values():
            if not isinstance(text, str):
                raise _Unusable(f"metadata.{key} must be strings in converted object")
        kept[key] = texts
    rest = {key: value for key, value in after.items() if key not in ("kind", "apiVersion", "metadata")}
    return {"kind": after["kind"], "apiVersion": api_version, "metadata": kept, **rest}
