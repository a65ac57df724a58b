"""RBAC against the independent model, asked over HTTP: by access reviews, and by doing it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.control_plane.apiserver.authz.rbac.generated import SUBJECTS, Generator, every_question
from tests.control_plane.apiserver.authz.rbac.model import Model, Question, Subject
from tests.control_plane.apiserver.authz.users import AUTHORIZATION, RBAC, As
from tests.servers import TOKEN, Server

Object = dict[str, Any]
PLURALS = {"ClusterRole": "clusterroles", "Role": "roles", "ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings"}  # fmt: skip
METHODS = {
    "get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
    "delete": "DELETE", "deletecollection": "DELETE",
}  # fmt: skip
# What nodes may do besides is the Node authorizer's business.
PEOPLE = [who for who in SUBJECTS if not who.name.startswith("system:node:")]


@pytest.fixture(scope="module")
def everything(server: Server) -> Iterator[Model]:
    """Yield a model of all roles and bindings that the server has: its own, and generated ones."""
    admin, generator = As(server, TOKEN), Generator(11)
    wanted: dict[tuple[str, str, str], Object | None] = {}
    for kind, namespace, name, obj in generator.changes(200):
        wanted[kind, namespace, name] = obj
    made = []
    for namespace in ("one", "two", "three"):
        admin("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for (kind, namespace, name), obj in wanted.items():
        if obj is None or "aggregationRule" in obj:  # nobody gathers here
            continue
        where = f"{RBAC}/namespaces/{namespace}/{PLURALS[kind]}" if namespace else f"{RBAC}/{PLURALS[kind]}"
        body = {"metadata": {"name": name, "labels": obj.get("labels", {})}, **obj}
        body.pop("labels", None)
        status, answer = admin("POST", where, body)
        assert status == 201, answer
        made.append(f"{where}/{name}")
    yield read(admin)
    for path in made:
        admin("DELETE", path)
    for namespace in ("one", "two", "three"):
        admin("DELETE", f"/api/v1/namespaces/{namespace}")


def read(admin: As) -> Model:
    model = Model()
    for kind, plural in PLURALS.items():
        for obj in admin("GET", f"{RBAC}/{plural}")[1]["items"]:
            # Roles that gather others have gathered them when the server wrote them.
            shown = {key: obj.get(key) or [] for key in ("rules", "subjects")} | {
                "roleRef": obj.get("roleRef")
            }
            model.put(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"], shown)
    return model


def chosen(model: Model, seed: int, count: int) -> Iterator[tuple[Subject, Question, bool]]:
    """Yield questions with their answers, half of them with yes."""
    generator = Generator(seed)
    questions = list(every_question())
    generator.random.shuffle(questions)
    for expected in (True, False):
        left = count // 2
        for question in questions:
            who = generator.random.choice(PEOPLE)
            if model.allows(who, question) is expected:
                yield who, question, expected
                left -= 1
            if not left:
                break


def test_access_reviews_say_what_the_model_says(server: Server, everything: Model) -> None:
    admin = As(server, TOKEN)
    asked = 0
    for who, question, expected in chosen(everything, 12, 300):
        spec: Object = {"user": who.name, "groups": list(who.groups)}
        if question.path:
            spec["nonResourceAttributes"] = {"path": question.path, "verb": question.verb}
        else:
            attributes = question._asdict()
            attributes.pop("path")
            spec["resourceAttributes"] = attributes
        status, answer = admin("POST", f"{AUTHORIZATION}/subjectaccessreviews", {"spec": spec})
        assert (status, answer["status"]["allowed"]) == (201, expected), (who, question, answer)
        asked += 1
    assert asked == 300


def test_requests_are_refused_as_the_model_says(server: Server, everything: Model) -> None:
    connection = server.connection()
    asked = 0
    for who, question, expected in chosen(everything, 13, 1800):
        request = as_request(question)
        if request is None:
            continue
        method, path = request
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
            "Impersonate-User": who.name,
        }
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        for group in who.groups:
            connection.putheader("Impersonate-Group", group)
        body = b"{}" if method in ("POST", "PUT", "PATCH") else b""
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read()
        refused = response.status == 403 and f"cannot {question.verb} " in json.loads(text)["message"]
        assert refused is not expected, (who, question, response.status, text[:300])
        asked += 1
    assert asked > 300


def as_request(question: Question) -> tuple[str, str] | None:
    """Return the method and path that ask for something, None if no request does."""
    verb, group, resource, subresource, namespace, name, path = question
    if path:
        return (METHODS[verb], path) if verb == "get" else None
    if verb not in METHODS or "*" in (group, resource) or resource == "namespaces":
        return None
    single = verb in ("get", "update", "patch", "delete") or (bool(subresource) and verb == "create")
    if bool(name) is not single or (subresource and not single):
        return None
    start = f"/apis/{group}/v1" if group else "/api/v1"
    middle = f"/namespaces/{namespace}" if namespace else ""
    whole = "/".join(filter(None, (resource, name, subresource)))
    # What is allowed fails for other reasons, or is not done.
    query = "watch=1&resourceVersion=none" if verb == "watch" else "dryRun=All"
    return METHODS[verb], quote(f"{start}{middle}/{whole}") + f"?{query}"
