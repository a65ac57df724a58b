"""The index of roles and bindings: it follows the store, and answers as reading everything would."""

from __future__ import annotations

import random
from typing import Any
from unittest.mock import patch

import orjson
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.rbac import grants
from pybernetes.control_plane.apiserver.authz.rbac.role_index import RoleIndex
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store, StoreError
from tests.support import run

Object = dict[str, Any]
GROUP = "rbac.authorization.k8s.io"


def text(obj: Object) -> bytes:
    return orjson.dumps(obj)


class Cluster:
    """A store with roles and bindings in it, and the index that follows it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.index = RoleIndex(store)

    async def put(self, key: str, obj: Object) -> None:
        if self.store.get(key) is None:
            await self.store.create(key, text(obj))
        else:
            await self.store.update(key, text(obj), 0)

    async def drop(self, key: str) -> None:
        if self.store.get(key) is not None:
            await self.store.delete(key, 0)

    async def role(self, place: str, *rules: Object) -> None:
        await self.put(
            f"/registry/{'roles' if '/' in place else 'clusterroles'}/{place}", {"rules": list(rules)}
        )

    async def bind(self, place: str, role: str, *subjects: Object) -> None:
        kind = "roles" if "/" in place else "clusterroles"
        kind_name, _, name = role.rpartition(":")
        reference = {"kind": kind_name or "ClusterRole", "name": name}
        await self.put(
            f"/registry/{kind[:-1]}bindings/{place}", {"roleRef": reference, "subjects": list(subjects)}
        )


def on_cluster(test: Any) -> None:
    async def go() -> None:
        store = open_store("memory")
        await store.start()
        try:
            await test(Cluster(store))
        finally:
            await store.close()

    run(go())


def ask(verb: str, resource: str, namespace: str = "", name: str = "") -> RequestInfo:
    resource, _, subresource = resource.partition("/")
    return RequestInfo(
        verb, is_resource=True, resource=resource, subresource=subresource, namespace=namespace, name=name
    )


def user(name: str) -> Object:
    return {"kind": "User", "name": name, "apiGroup": GROUP}


READ_PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}


def test_who_may_and_why() -> None:
    async def test(cluster: Cluster) -> None:
        cluster.index.start()
        await cluster.role("reader", READ_PODS)
        await cluster.role("one/local", READ_PODS)
        await cluster.bind("b1", "reader", user("ann"), {"kind": "Group", "name": "dev"})
        await cluster.bind("one/b2", "Role:local", user("bea"), {"kind": "ServiceAccount", "name": "robot"})
        await cluster.bind(
            "two/b3", "reader", {"kind": "ServiceAccount", "name": "robot", "namespace": "one"}
        )
        robot = "system:serviceaccount:one:robot"
        table = [
            (User("ann"), "two", 'RBAC: allowed by ClusterRoleBinding "b1" of ClusterRole "reader" to User "ann"'),
            (User("x", groups=("ops", "dev")), "",
             'RBAC: allowed by ClusterRoleBinding "b1" of ClusterRole "reader" to Group "dev"'),
            (User("bea"), "one", 'RBAC: allowed by RoleBinding "b2/one" of Role "local" to User "bea"'),
            (User("bea"), "two", None),
            (User("bea"), "", None),
            (User(robot), "one", 'RBAC: allowed by RoleBinding "b2/one" of Role "local" to ServiceAccount "robot/one"'),
            (User(robot), "two",
             'RBAC: allowed by RoleBinding "b3/two" of ClusterRole "reader" to ServiceAccount "robot/one"'),
            (User("robot"), "one", None),
            (User("dev"), "one", None),
            (User("x", groups=("ann",)), "one", None),
        ]  # fmt: skip
        for who, namespace, reason in table:
            verdict = cluster.index.authorize(who, ask("get", "pods", namespace, "p"))
            assert (verdict.allowed, verdict.reason or None) == (reason is not None, reason), (who, namespace)

    on_cluster(test)


def test_it_follows_every_change() -> None:
    async def test(cluster: Cluster) -> None:
        await cluster.bind("one/b", "reader", user("ann"))
        cluster.index.start()
        question = ask("get", "pods", "one", "p")

        def verdict() -> tuple[bool, str]:
            decision = cluster.index.authorize(User("ann"), question)
            return decision.allowed, "" if decision.allowed else decision.reason

        missing = f'RBAC: clusterrole.{GROUP} "reader" not found'
        assert verdict() == (False, missing)
        await cluster.role("reader", READ_PODS)
        assert verdict() == (True, "")
        await cluster.role("reader")
        assert verdict() == (False, "")
        await cluster.role("reader", READ_PODS)
        await cluster.bind("one/b", "reader", user("bea"))
        assert verdict() == (False, "")
        await cluster.bind("one/b", "reader", user("bea"), user("ann"))
        assert verdict() == (True, "")
        await cluster.drop("/registry/clusterroles/reader")
        assert verdict() == (False, missing)
        await cluster.drop("/registry/rolebindings/one/b")
        assert verdict() == (False, "")
        index = cluster.index
        assert (index._roles, index._absent, index._filed, list(index._scopes)) == ({}, set(), {}, [""])

    on_cluster(test)


def test_all_missing_roles_are_named_once() -> None:
    async def test(cluster: Cluster) -> None:
        cluster.index.start()
        await cluster.bind("b1", "gone", user("ann"))
        await cluster.bind("b2", "gone", user("ann"))
        await cluster.bind("one/b3", "Role:local", user("ann"))
        verdict = cluster.index.authorize(User("ann"), ask("get", "pods", "one"))
        assert (
            verdict.reason == f'RBAC: [clusterrole.{GROUP} "gone" not found, role.{GROUP} "local" not found]'
        )
        assert cluster.index.authorize(User("bea"), ask("get", "pods", "one")).reason == ""

    on_cluster(test)


def test_an_object_that_makes_no_sense_costs_no_other() -> None:
    async def test(cluster: Cluster) -> None:
        cluster.index.start()
        await cluster.role("reader", READ_PODS)
        await cluster.bind("good", "reader", user("ann"))
        await cluster.store.create("/registry/clusterroles/broken", b"{")
        await cluster.store.create("/registry/clusterrolebindings/broken", b"[]")
        await cluster.bind("later", "reader", user("bea"))
        for name in ("ann", "bea"):
            assert cluster.index.authorize(User(name), ask("get", "pods")).allowed

    on_cluster(test)


def test_a_store_that_lost_its_place_is_read_again() -> None:
    async def test(cluster: Cluster) -> None:
        cluster.index.start()
        await cluster.role("reader", READ_PODS)
        await cluster.bind("b1", "reader", user("ann"))
        mirror = cluster.store.mirror  # type: ignore[attr-defined]
        mirror.load(
            [record for key, record in mirror.records.items() if "bindings" not in key], mirror.revision
        )
        mirror.end_watches(StoreError("lost"))
        assert not cluster.index.authorize(User("ann"), ask("get", "pods")).allowed
        await cluster.bind("b2", "reader", user("bea"))
        assert cluster.index.authorize(User("bea"), ask("get", "pods")).allowed

    on_cluster(test)


# --- the property: the index agrees with a plain reading of all roles and bindings


def matches(rule: Object, info: RequestInfo) -> bool:
    """Return a rule and a request, compared word by word."""
    if info.verb not in rule["verbs"] and "*" not in rule["verbs"]:
        return False
    if not info.is_resource:
        return any(
            url in ("*", info.path) or (url.endswith("*") and info.path.startswith(url.rstrip("*")))
            for url in rule.get("nonResourceURLs", ())
        )
    groups, names = rule.get("apiGroups", ()), rule.get("resourceNames", ())
    combined = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    return (
        ("*" in groups or info.group in groups)
        and any(
            resource in ("*", combined) or (info.subresource and resource == f"*/{info.subresource}")
            for resource in rule.get("resources", ())
        )
        and (not names or info.name in names)
    )


def applies(subject: Object, who: User, namespace: str) -> bool:
    if subject["kind"] == "User":
        return subject["name"] == who.name
    if subject["kind"] == "Group":
        return subject["name"] in who.groups
    home = subject.get("namespace") or namespace
    return bool(home) and who.name == f"system:serviceaccount:{home}:{subject['name']}"


def plainly(objects: dict[str, Object], who: User, info: RequestInfo) -> bool:
    """Return the slow way: every binding is read for every question."""
    for key, binding in objects.items():
        _, _, resource, *place = key.split("/")
        namespace = place[0] if len(place) > 1 else ""
        if not resource.endswith("bindings") or (namespace and namespace != info.namespace):
            continue
        reference = binding["roleRef"]
        role_key = (
            f"/registry/roles/{namespace}/" if reference["kind"] == "Role" else "/registry/clusterroles/"
        )
        role = objects.get(role_key + reference["name"], {})
        if reference["kind"] == "Role" and not namespace:
            continue
        if any(applies(subject, who, namespace) for subject in binding["subjects"]):
            if any(matches(rule, info) for rule in role.get("rules", ())):
                return True
    return False


class Chance:
    """Roles, bindings and questions at random, from few enough words that many of them meet."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        # Some clusters have stars everywhere and some none, and some users have very many roles.
        self.stars = pick([0.0, 0.1, 0.4])
        self.role_names = [f"r{number}" for number in range(pick([2, 4, 24]))]

    def words(self, words: str, star: str = "*") -> list[str]:
        chosen = self.random.sample(
            [word.replace("-", "") for word in words.split()], self.random.randint(1, 2)
        )
        return [*chosen, star] if self.random.random() < self.stars else chosen

    def rule(self) -> Object:
        kind = self.random.random()
        if kind < 0.2:
            return {"verbs": self.words("get list post"), "nonResourceURLs": self.words("/a /a/* /b* /c")}
        if kind < 0.3:  # too large to be spread out
            crowd = [f"word{number}" for number in range(20)]
            rule = {"verbs": [*crowd, "get"], "apiGroups": [*crowd, ""], "resources": [*crowd, "nodes"]}
        else:
            resources = self.words("pods pods/log nodes", self.random.choice(["*", "*/log"]))
            rule = {
                "verbs": self.words("get list watch"),
                "apiGroups": self.words("- apps"),
                "resources": resources,
            }
        return rule | ({"resourceNames": self.words("a b -", "c")} if self.random.random() < 0.3 else {})

    def subject(self) -> Object:
        kind = self.random.choice(["User", "Group", "ServiceAccount"])
        if kind != "ServiceAccount":
            return {"kind": kind, "name": self.random.choice(["ann", "dev"])}
        return {
            "kind": kind,
            "name": "robot",
            **self.random.choice([{}, {"namespace": "one"}, {"namespace": "two"}]),
        }

    def change(self) -> tuple[str, Object | None]:
        namespace = self.random.choice(["", "", "one/", "two/"])
        if self.random.random() < 0.5:
            key = f"/registry/{'roles' if namespace else 'clusterroles'}/{namespace}{self.random.choice(self.role_names)}"
            obj: Object = {"rules": [self.rule() for _ in range(self.random.randint(0, 3))]}
        else:
            bindings = "rolebindings" if namespace else "clusterrolebindings"
            key = f"/registry/{bindings}/{namespace}b{self.random.randrange(30)}"
            reference = {
                "kind": self.random.choice(["Role", "ClusterRole", "ClusterRole"]),
                "name": self.random.choice(self.role_names),
            }
            obj = {
                "roleRef": reference,
                "subjects": [self.subject() for _ in range(self.random.randint(0, 3))],
            }
        return key, obj if self.random.random() < 0.85 else None

    def question(self) -> tuple[User, RequestInfo]:
        pick = self.random.choice
        names = ["ann", "bea", "system:serviceaccount:one:robot", "system:serviceaccount:two:robot"]
        who = User(pick(names), groups=pick([(), ("dev",), ("ann", "dev")]))
        if self.random.random() < 0.2:
            return who, RequestInfo(pick(["get", "post"]), pick(["/a", "/a/b", "/bb", "/c", "/d"]))
        return who, RequestInfo(
            pick(["get", "list", "watch", "*"]), is_resource=True, group=pick(["", "apps", "word3"]),
            resource=pick(["pods", "nodes", "*", "word5"]), subresource=pick(["", "", "log"]),
            namespace=pick(["", "one", "two", "three"]), name=pick(["", "a", "b", "z"]),
        )  # fmt: skip


@given(seed=st.integers(0, 2**32), many=st.sampled_from([0, 2, 8]))
def test_the_index_agrees_with_a_plain_evaluation(seed: int, many: int) -> None:
    with patch.object(grants, "_MANY", many):  # also where few roles count as many
        agrees(seed)


def agrees(seed: int) -> None:
    async def test(cluster: Cluster) -> None:
        chance = Chance(seed)
        objects: dict[str, Object] = {}
        for round_ in range(6):
            if round_ == 1:  # the first round is there already when the index starts
                cluster.index.start()
            for _ in range(40 if round_ == 0 else 6):
                key, obj = chance.change()
                if obj is None:
                    objects.pop(key, None)
                    await cluster.drop(key)
                else:
                    objects[key] = obj
                    await cluster.put(key, obj)
            for _ in range(30 if round_ else 0):
                who, info = chance.question()
                assert cluster.index.authorize(who, info).allowed is plainly(objects, who, info), (who, info)

    on_cluster(test)
