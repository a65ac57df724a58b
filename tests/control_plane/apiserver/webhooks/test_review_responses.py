"""What webhooks answer is read or refused, whatever it is."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.patch import json_patch
from pybernetes.control_plane.apiserver.admission.dynamic import admission_review
from pybernetes.control_plane.apiserver.custom_resources import conversion_webhook
from pybernetes.control_plane.apiserver.webhooks import review_responses
from pybernetes.lib.http.messages import Reply

JSON = [(b"Content-Type", b"application/json")]
SENT = {
    "AdmissionReview": {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"},
    "ConversionReview": {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"},
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.text(max_size=3), inner)
    ),
    max_leaves=6,
)
PATHS = st.sampled_from(["", "/a", "/a/b/0", "/a/b/-", "/a/b/x", "/z/z", "a"]) | ANYTHING
OPERATION = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]) | ANYTHING,
        "path": PATHS,
        "from": PATHS,
        "value": ANYTHING,
    },
)
PATCHES = (st.lists(OPERATION | ANYTHING, max_size=3) | ANYTHING).map(
    lambda value: base64.b64encode(json.dumps(value).encode()).decode()
)
FIELDS = {
    "uid": st.just("u") | ANYTHING, "allowed": st.booleans() | ANYTHING, "status": ANYTHING, "patch": PATCHES | ANYTHING,
    "patchType": st.just("JSONPatch") | ANYTHING, "auditAnnotations": ANYTHING, "warnings": ANYTHING,
    "result": st.just({"status": "Success"}) | ANYTHING, "convertedObjects": ANYTHING,
}  # fmt: skip
RESPONSES = st.fixed_dictionaries({}, optional=FIELDS) | ANYTHING


def reply(value: Any) -> Reply:
    return Reply(200, JSON, value if isinstance(value, bytes) else json.dumps(value).encode())


@pytest.mark.parametrize("kind", SENT)
@given(said=st.binary(max_size=30) | ANYTHING)
def test_any_answer_is_read_or_refused(kind: str, said: Any) -> None:
    try:
        assert isinstance(review_responses.decoded(reply(said), SENT[kind]), dict)
    except review_responses.Unreadable as error:
        assert str(error)


@given(response=RESPONSES, mutating=st.booleans())
def test_any_response_about_admission_is_an_answer_or_is_refused(response: Any, mutating: bool) -> None:
    sent = SENT["AdmissionReview"]
    try:
        value = review_responses.decoded(reply({**sent, "response": response}), sent)
        answer = admission_review.answer(value, "u", "v1", mutating)
    except (review_responses.Unreadable, admission_review.Unusable, admission_review.Undecodable) as error:
        assert str(error)
        return
    assert admission_review.denial("x", answer.status).code >= 400
    if answer.patch:
        try:
            json_patch.run({"a": {"b": [1]}}, answer.patch)
        except json_patch.DoesNotApply as error:
            assert str(error)


@given(response=RESPONSES)
def test_any_response_about_conversion_is_an_answer_or_is_refused(response: Any) -> None:
    sent = SENT["ConversionReview"]
    before = {"kind": "T", "apiVersion": "g/v1", "metadata": {"name": "a", "uid": "u"}}
    try:
        value = review_responses.decoded(reply({**sent, "response": response}), sent)
        for after in conversion_webhook._answer(value, "u", "v1"):
            conversion_webhook._restored(before, after, "g/v2")
    except (review_responses.Unreadable, conversion_webhook._Unusable, conversion_webhook._Unfit) as error:
        assert str(error)


@pytest.mark.parametrize(
    ("status", "media", "body", "why"),
    [
        (500, "text/plain", b"broken", 'an error on the server ("broken") has prevented the request from succeeding'),
        (500, "application/json", b"broken", 'an error on the server ("unknown") has prevented the request from succeeding'),
        (403, "text/plain; charset=utf-8", b"go away", "go away"),
        (404, "", b"", "the server could not find the requested resource"),
        (400, "application/json", b'{"kind": "Status", "message": "so not"}', "so not"),
        (302, "", b"", "the server responded with the status code 302 but did not return more information"),
        (204, "application/json", b"", "0-length response with status code: 204 and content type: application/json"),
    ],
)  # fmt: skip
def test_refusals_are_told(status: int, media: str, body: bytes, why: str) -> None:
    with pytest.raises(review_responses.Unreadable) as caught:
        review_responses.decoded(
            Reply(status, [(b"Content-Type", media.encode())], body), SENT["AdmissionReview"]
        )
    assert str(caught.value) == why
