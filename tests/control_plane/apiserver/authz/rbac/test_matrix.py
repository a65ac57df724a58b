"""RBAC against an independent model: every verb on every resource at every scope for every sort of subject."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.rbac.role_index import RoleIndex
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store
from tests.control_plane.apiserver.authz.rbac.generated import (
    SUBJECTS,
    Generator,
    apply,
    every_question,
)
from tests.control_plane.apiserver.authz.rbac.model import Model, Question, Subject, covers
from tests.support import run

Object = dict[str, Any]
QUESTIONS = list(every_question())
PLURALS = {"ClusterRole": "clusterroles", "Role": "roles", "ClusterRoleBinding": "clusterrolebindings", "RoleBinding": "rolebindings"}  # fmt: skip


class Index:
    """The index of roles and bindings, which follows a store."""

    def __init__(self, store: Store) -> None:
        self.store, self.index = store, RoleIndex(store)
        self.index.start()

    async def follow(self, model: Model, change: tuple[str, str, str, Object | None]) -> None:
        """Store a change, and the rules of gathered roles as the controller that gathers them would."""
        apply(model, *change)
        kind, namespace, name, obj = change
        await self.put(kind, namespace, name, obj)
        for (kind, _, name), role in model.objects.items():
            if kind == "ClusterRole" and "aggregationRule" in role:
                await self.put(kind, "", name, {"rules": model.cluster_role_rules(name)})

    async def put(self, kind: str, namespace: str, name: str, obj: Object | None) -> None:
        key = "/".join(filter(None, ("/registry", PLURALS[kind], namespace, name)))
        record = self.store.get(key)
        if obj is None:
            if record is not None:
                await self.store.delete(key, 0)
            return
        value = orjson.dumps(obj)
        if record is None:
            await self.store.create(key, value)
        elif record.value != value:
            await self.store.update(key, value, 0)

    def allows(self, who: User, question: Question) -> bool:
        return self.index.authorize(who, info_of(question)).allowed


def info_of(question: Question) -> RequestInfo:
    verb, group, resource, subresource, namespace, name, path = question
    if path:
        return RequestInfo(verb, path)
    return RequestInfo(
        verb, is_resource=True, group=group, version="v1", resource=resource, subresource=subresource,
        namespace=namespace, name=name,
    )  # fmt: skip


def compare(index: Index, model: Model, questions: list[Question], *subjects: Subject) -> tuple[int, int]:
    """Ask both; return how many questions there were and how many were answered with yes."""
    asked = allowed = 0
    for who in subjects:
        user = User(who.name, groups=who.groups)
        rules = {namespace: model.rules(who, namespace) for namespace in ("", "one", "two", "three")}
        for question in questions:
            expected = any(covers(rule, question) for rule in rules[question.namespace])
            assert index.allows(user, question) is expected, (who, question)
            asked += 1
            allowed += expected
    return asked, allowed


def on_index(test: Any) -> None:
    async def go() -> None:
        store = open_store("memory")
        await store.start()
        try:
            await test(Index(store))
        finally:
            await store.close()

    run(go())


def test_every_question_of_every_subject() -> None:
    async def test(index: Index) -> None:
        model, generator = Model(), Generator(1)
        for change in generator.changes(200):
            await index.follow(model, change)
        asked, allowed = compare(index, model, QUESTIONS, *SUBJECTS)
        assert asked > 100_000 and 0.05 < allowed / asked < 0.6, (asked, allowed)

    on_index(test)


@pytest.mark.parametrize("seed", range(2, 6))
def test_roles_and_bindings_that_change(seed: int) -> None:
    async def test(index: Index) -> None:
        model, generator = Model(), Generator(seed)
        for _ in range(12):
            for change in generator.changes(8):
                await index.follow(model, change)
            compare(index, model, generator.random.sample(QUESTIONS, 70), *SUBJECTS)
        for kind, namespace, name in list(model.objects):
            await index.follow(model, (kind, namespace, name, None))
        assert compare(index, model, generator.random.sample(QUESTIONS, 50), *SUBJECTS)[1] == 0

    on_index(test)


def test_rules_of_a_user_are_those_that_allow() -> None:
    """What a rules review lists covers exactly what is allowed."""

    async def test(index: Index) -> None:
        model, generator = Model(), Generator(7)
        for change in generator.changes(200):
            await index.follow(model, change)
        for who in SUBJECTS:
            user = User(who.name, groups=who.groups)
            listed = {namespace: index.index.rules(user, namespace) for namespace in ("", "one", "two")}
            for question in generator.random.sample(QUESTIONS, 500):
                expected = any(covers(rule, question) for rule in listed[question.namespace])
                assert index.allows(user, question) is expected, (who, question)

    on_index(test)


def test_a_user_of_the_model_is_somebody() -> None:
    """The model itself, where it could be wrong in the same way as the authorizer."""
    model = Model()
    model.put(
        "ClusterRole", "", "c", {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]}]}
    )
    reference = {"kind": "ClusterRole", "name": "c"}
    robot = {"kind": "ServiceAccount", "name": "robot"}
    model.put("RoleBinding", "one", "b", {"roleRef": reference, "subjects": [robot]})
    of_one, of_two = (Subject(f"system:serviceaccount:{place}:robot") for place in ("one", "two"))
    log = Question("get", resource="pods", subresource="log", namespace="one", name="p")
    assert model.allows(of_one, log) and not model.allows(of_two, log)
    for other in (
        log._replace(namespace="two"), log._replace(namespace=""), log._replace(subresource=""),
        log._replace(verb="list"), log._replace(group="apps"), log._replace(resource="pod"),
    ):  # fmt: skip
        assert not model.allows(of_one, other)
