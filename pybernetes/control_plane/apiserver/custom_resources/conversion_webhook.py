"""Conversion of custom resources by a webhook: one review for many objects, its answer checked as upstream does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import orjson

from pybernetes.api.errors import StatusError
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.schema.decode import json_name
from pybernetes.api.text import go_format
from pybernetes.api.validation.meta import METADATA, check_annotations, check_labels
from pybernetes.control_plane.apiserver.authz.verdict import listed
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.webhooks.caller import Caller, CallFailed

_GROUP = "apiextensions.k8s.io"
_SECONDS = 30.0


class Converter:
    """The webhook of one definition."""

    def __init__(self, context: ServerContext, webhook: dict[str, Any]) -> None:
        self._caller = Caller(context)
        self._client: dict[str, Any] = webhook.get("clientConfig", {})
        versions = webhook.get("conversionReviewVersions", ())
        self._version = next((version for version in versions if version in ("v1", "v1beta1")), "")

    async def convert(
        self, objects: list[Object], api_version: str, finish: Callable[[Object], bytes], size: int
    ) -> list[bytes]:
        """Return the objects at another version, each as ``finish`` has it; StatusError if the webhook does not do its work.

        ``size`` is how many bytes they have together.
        """
        if not objects:
            return []
        start = f"conversion webhook for {_named(objects[0])}"
        if not self._version:
            raise _failure("no supported conversion review versions")
        uid = str(uuid.uuid4())
        request = {"uid": uid, "desiredAPIVersion": api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": f"{_GROUP}/{self._version}", "request": request}
        words = _ALONE if len(objects) == 1 else _AMONG_OTHERS

        def read(value: Object) -> list[bytes]:
            converted = _answer(value, uid, self._version)
            if len(converted) != len(objects):
                raise _failure(f"{start} returned {len(converted)} objects, expected {len(objects)}")
            made = []
            for index, (before, after) in enumerate(zip(objects, converted, strict=True)):
                try:
                    made.append(finish(_restored(before, after, api_version)))
                except _Unfit as error:
                    raise _failure(words[error.stage].format(start=start, index=index, why=error)) from None
            return made

        try:
            return await self._caller.post(self._client, review, _SECONDS, read, size=size, tell=False)
        except (CallFailed, _Unusable) as error:
            raise _failure(f"{start} failed: {error}") from None


class _Unusable(Exception):
    """An answer that makes no sense."""


class _Unfit(Exception):
    """A converted object that cannot be taken: no object at all, of another kind, another object, or bad metadata."""

    def __init__(self, stage: str, why: str) -> None:
        super().__init__(why)
        self.stage = stage


_AMONG_OTHERS = {
    **dict.fromkeys(
        ("object", "kind", "identity"), "{start} returned invalid converted object at index {index}: {why}"
    ),
    "metadata": "{start} returned invalid metadata in object at index {index}: {why}",
}
_ALONE = {
    "object": "{why}",
    "kind": "{start} returned invalid object at index {index}: {why}",
    "identity": "{start} returned invalid object: {why}",
    "metadata": "{start} returned invalid metadata: {why}",
}


def _failure(message: str) -> StatusError:
    return StatusError(500, "", message)


def _named(obj: Object) -> str:
    return f"{obj.get('apiVersion', '')}, Kind={obj.get('kind', '')}"


def _answer(value: Object, uid: str, version: str) -> list[Any]:
    response = value.get("response")
    if version == "v1":
        given = value.get("apiVersion") or "", value.get("kind") or ""
        if given != (f"{_GROUP}/v1", "ConversionReview"):
            shown = f"{given[0] if '/' in given[0] else '/' + given[0]}, Kind={given[1]}"
            raise _Unusable(f"expected webhook response of {_GROUP}/v1, Kind=ConversionReview, got {shown}")
    if response is None:
        raise _Unusable("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise _Unusable(
            f"expected response.uid={go_format.quote(uid)}, got {go_format.quote(response.get('uid', ''))}"
        )
    result = response.get("result") or {}
    if result.get("status") != "Success":
        if result.get("message"):
            raise _Unusable(result["message"])
        raise _Unusable(f"response.result.status was '{result.get('status', '')}', not 'Success'")
    return response.get("convertedObjects") or []


def _restored(before: Object, after: Any, api_version: str) -> Object:
    """Return the converted object with the metadata that conversion may not change."""
    if after is None:
        raise _Unfit("object", "unexpected end of JSON input")
    if not isinstance(after, dict):
        text = f"json: cannot unmarshal {json_name(after)} into Go value of type map[string]interface {{}}"
        raise _Unfit("object", text)
    if not after.get("kind"):
        raise _Unfit("object", f"Object 'Kind' is missing in '{orjson.dumps(after).decode()}'")
    if after.get("apiVersion") != api_version:
        got = after.get("apiVersion", "")
        raise _Unfit("kind", f"invalid groupVersion (expected {api_version}, received {got})")
    if after["kind"] != before["kind"]:
        raise _Unfit("kind", f"invalid kind (expected {before['kind']}, received {after['kind']})")
    given, own = after.get("metadata"), before["metadata"]
    metadata = given if isinstance(given, dict) else {}
    for key, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if own.get(key, "") != metadata.get(key, ""):
            text = f"must have the same {name}: {own.get(key, '')} != {metadata.get(key, '')}"
            raise _Unfit("identity", text)
    kept = {key: value for key, value in own.items() if key not in ("labels", "annotations")}
    for key in ("labels", "annotations"):
        texts = metadata.get(key)
        if texts is not None:
            _check_texts(key, texts, own.get(key))
            kept[key] = texts
    rest = {key: value for key, value in after.items() if key not in ("kind", "apiVersion", "metadata")}
    return {"kind": after["kind"], "apiVersion": api_version, "metadata": kept, **rest}


def _check_texts(key: str, texts: Any, before: Any) -> None:
    """Refuse labels or annotations that the webhook changed to what nobody could write."""
    if not isinstance(texts, dict):
        raise _Unfit(
            "metadata", f"invalid metadata.{key} of type {go_format.type_name(texts)} in converted object"
        )
    for name, text in texts.items():
        if not isinstance(text, str):
            kind = go_format.type_name(text)
            raise _Unfit(
                "metadata", f"metadata.{key}[{name}] must be a string, but is {kind} in converted object"
            )
    if texts != before:
        problems = Errors()
        if key == "labels":
            check_labels(texts, METADATA / "labels", problems)
        else:
            check_annotations(texts, METADATA / "annotation", problems)
        if problems:
            raise _Unfit("metadata", listed([str(problem) for problem in problems]))
