"""Nonsense of every kind: not one answer may be a 500, and every error is a Status.

Run it for longer, and differently each time, with FUZZ_EXAMPLES=5000.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api.registry import builtin
from tests.api.examples import example
from tests.servers import TOKEN, Server, running

JSON = "application/json"
PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
           "application/apply-patch+yaml")  # fmt: skip
KINDS = [resource for resource in builtin() if "create" in resource.verbs]
_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
CHOSEN = settings(
    derandomize=not _EXAMPLES,
    database=None,
    max_examples=_EXAMPLES or 400,
    suppress_health_check=list(HealthCheck),
)


# Answers of 500 and above that say the truth, upstream too: somebody else is not there, or time is not ripe.
HONEST = (
    b"Too large resource version", b"no endpoints available for service", b"no service port",
    b"failed calling webhook", b"conversion webhook for", b"service unavailable", b"no preferred addresses found",
)  # fmt: skip


class Fuzzed:
    """A server and one connection to it, made anew when the server closes it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.connection = server.connection()

    def send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, str]:
        """Return the status, the body and the content type of the answer."""
        headers = {"Authorization": f"Bearer {TOKEN}", **headers}
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, body, headers)
                response = self.connection.getresponse()
                return response.status, response.read(), response.headers.get("Content-Type", "")
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = self.server.connection()
                if attempt == 2:
                    raise
        raise AssertionError

    def check(self, method: str, path: str, body: bytes | None = None, **headers: str) -> int:
        """Send it, look at what kind of answer comes; return the status."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        status, answer, content_type = self.send(method, path, body, sent)
        told = f"{method} {path} {sent} {(body or b'')[:2000]!r} -> {status} {answer[:2000]!r}"
        # A version of the future is waited for in vain, and a service, a webhook or another API server may have
        # nobody behind it, upstream too.
        assert status < 500 or any(text in answer for text in HONEST), told
        if status >= 400 and method != "HEAD" and not content_type.startswith("text/plain"):
            value = yaml.safe_load(answer) if "yaml" in content_type else json.loads(answer)
            assert (value["kind"], value["status"], value["code"]) == ("Status", "Failure", status), told
            assert value["message"], told
        return status


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with running(tmp_path_factory.mktemp("fuzz"), "--storage-backend=memory") as server:
        yield Fuzzed(server)
        log = (server.directory / "log").read_text()
        assert "Traceback" not in log, log[-4000:]


_TEXTS = st.one_of(
    st.sampled_from((
        "", "a", "x" * 300, "A_b", "..", "a/b/c", "a=b", "%", "é", "\u0000", "\ud800", "-1", "0", "1e3", "10Gi", "true",
        "null", "2026-01-02T03:04:05Z", "9999-99-99T99:99:99Z", "0001-01-01T00:00:00Z", "1.2.3.4", "::1", "10.0.0.0/8",
        "YQ==", "!!", "Always", "metadata.name", "{", "$patch", "k:{\"name\":\"a\"}", "*/5 * * * *",
    )),
    st.text(max_size=8),
)  # fmt: skip
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.sampled_from((0, -1, 2**31, 2**63, 2**64, 1e300, 0.5)), _TEXTS
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a JSON value, as the container and the key in it."""
    places: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        places.append((value, key))
        places += _places(item)
    return places


@st.composite
def spoiled(draw: Any, start: Any) -> Any:
    """Return a value with a few of its parts replaced, taken out or added to."""
    for _ in range(draw(st.integers(1, 4))):
        places = _places(start)
        if not places:
            break
        container, key = draw(st.sampled_from(places))
        action = draw(st.integers(0, 4))
        if action == 0:
            del container[key]
        elif action == 1 and isinstance(container, dict):
            container[draw(_TEXTS)] = draw(_VALUES)
        elif action == 2 and isinstance(container, list):
            container.append(container[key])
        else:
            container[key] = draw(_VALUES)
    return start


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@st.composite
def objects(draw: Any) -> tuple[Any, str, str, Any]:
    """Return a kind, the paths of its collection and of an object, and a manifest that is not quite right."""
    resource = draw(st.sampled_from(KINDS))
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    if resource.namespaced:
        base += "/namespaces/default"
    collection = f"{base}/{resource.plural}"
    obj = draw(spoiled(example(resource.api_version, resource.kind)))
    return resource, collection, f"{collection}/example", obj


_OPTIONS = ("dryRun", "fieldManager", "fieldValidation", "force", "pretty", "watch", "limit", "continue", "resourceVersion",
            "resourceVersionMatch", "labelSelector", "fieldSelector", "timeoutSeconds", "allowWatchBookmarks",
            "sendInitialEvents", "gracePeriodSeconds", "propagationPolicy", "orphanDependents", "includeObject", "as",
            "container", "follow", "tailLines", "path", "shardSelector")  # fmt: skip
_OPTION_VALUES = st.one_of(
    st.sampled_from(("All", "Strict", "Warn", "Ignore", "true", "1", "0", "Exact", "NotOlderThan", "a in (b)", "a!=b,!c",
                     "metadata.name=x", "metadata.name!=x", "a=b=c", "(", "\\,", "Orphan", "Foreground", "None", "Object",
                     "99999999", "-1", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0")),
    _TEXTS,
)  # fmt: skip
_QUERIES = st.lists(st.tuples(st.sampled_from(_OPTIONS), _OPTION_VALUES), max_size=3).map(
    # A watch would go on: its time is short.
    lambda pairs: urlencode([*pairs, ("timeoutSeconds", "1")][:4], errors="replace")
)


@CHOSEN
@given(data=st.data())
def test_creations_and_updates(fuzzed: Fuzzed, data: Any) -> None:
    _, collection, one, obj = data.draw(objects())
    query = data.draw(st.one_of(st.just("dryRun=All"), st.just(""), _QUERIES))
    if (
        fuzzed.check("POST", f"{collection}?{query}", dumped(obj), Content_Type=JSON) == 201
        and "dryRun" not in query
    ):
        name = (obj.get("metadata") or {}).get("name") or "example"
        fuzzed.check("DELETE", f"{collection}/{quote(str(name), safe='')}?gracePeriodSeconds=0")
    fuzzed.check("PUT", f"{one}?{query}", dumped(obj), Content_Type=JSON)


@CHOSEN
@given(data=st.data())
def test_changes_of_what_exists(fuzzed: Fuzzed, data: Any) -> None:
    """Patches and updates of an object that is there, and of its subresources."""
    resource, collection, one, obj = data.draw(objects())
    fuzzed.check("POST", collection, dumped(example(resource.api_version, resource.kind)), Content_Type=JSON)
    below = data.draw(st.sampled_from(("", "", *resource.subresources)))
    path = f"{one}/{below}" if below else one
    media_type = data.draw(st.sampled_from(PATCHES))
    if media_type == PATCHES[0]:
        paths = st.sampled_from(("", "/", "/metadata", "/metadata/labels/a", "/spec", "/spec/template/spec/containers/0",
                                 "/spec/template/spec/containers/-", "/status", "/kind", "/a~1b~0c", "/~2"))  # fmt: skip
        operation = st.fixed_dictionaries(
            {"op": st.sampled_from(("add", "remove", "replace", "move", "copy", "test", "x"))},
            optional={"path": paths | _TEXTS, "from": paths | _TEXTS, "value": _VALUES},
        )
        patch = data.draw(st.lists(operation, max_size=3) | _VALUES)
    else:
        patch = data.draw(st.one_of(st.just(obj), _VALUES, st.dictionaries(st.sampled_from(("spec", "metadata", "status",
                          "$patch", "$retainKeys", "$setElementOrder/spec")), _VALUES, max_size=3)))  # fmt: skip
    query = "fieldManager=fuzz&force=true" if media_type == PATCHES[3] else data.draw(_QUERIES)
    fuzzed.check("PATCH", f"{path}?{query}", dumped(patch), Content_Type=media_type)
    fuzzed.check("PUT", path, dumped(obj), Content_Type=JSON)
    fuzzed.check(data.draw(st.sampled_from(("GET", "POST", "DELETE"))), path, dumped(obj), Content_Type=JSON)


@CHOSEN
@given(
    method=st.sampled_from(("GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")),
    parts=st.lists(
        st.sampled_from(("api", "apis", "v1", "apps", "namespaces", "default", "pods", "deployments", "x", "log", "status",
                         "proxy", "exec", "watch", "healthz", "openapi", "v2", "v3", "version", "metrics", "..", "",
                         "configmaps", "scale", "events", "services", "nodes", "finalize", "token", "a:b:c")) | _TEXTS,
        max_size=7,
    ),
    query=_QUERIES,
    accept=st.sampled_from((JSON, "*/*", "application/yaml", "text/html", "a", ";;;q=x", "application/vnd.kubernetes.protobuf",
                            "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;"
                            "v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")),
)  # fmt: skip
def test_paths_and_queries(fuzzed: Fuzzed, method: str, parts: list[str], query: str, accept: str) -> None:
    path = "/" + "/".join(quote(part, safe="", errors="replace") for part in parts)
    fuzzed.check(method, f"{path}?{query}", None, Accept=accept)


@CHOSEN
@given(data=st.data())
def test_reads(fuzzed: Fuzzed, data: Any) -> None:
    """Lists, watches and deletions of what is there, in every form, with odd options."""
    resource, collection, one, _ = data.draw(objects())
    fuzzed.check("POST", collection, dumped(example(resource.api_version, resource.kind)), Content_Type=JSON)
    form = data.draw(
        st.sampled_from(
            ("", "as=Table;v=v1;g=meta.k8s.io", "as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
        )
    )
    path = data.draw(st.sampled_from((collection, collection, one)))
    fuzzed.check("GET", f"{path}?{data.draw(_QUERIES)}", None, Accept=f"{JSON};{form}".rstrip(";"))
    options = data.draw(st.none() | _VALUES | st.dictionaries(
        st.sampled_from(("gracePeriodSeconds", "propagationPolicy", "preconditions", "dryRun", "orphanDependents", "kind",
                         "apiVersion")), _VALUES, max_size=3))  # fmt: skip
    body = None if options is None else dumped(options)
    fuzzed.check(
        "DELETE",
        f"{data.draw(st.sampled_from((one, collection)))}?{data.draw(_QUERIES)}",
        body,
        Content_Type=JSON,
    )


@CHOSEN
@given(
    body=st.one_of(st.binary(max_size=200), st.text(max_size=60).map(str.encode),
                   st.sampled_from((b"[" * 100_000, b'{"a":' * 5000, b'{"metadata":{"labels":' * 400 + b"1" + b"}}" * 400,
                                    b"&a [*a]", b"a: &a {b: *a}", b"? [a]\n: b\n", b"a: !!python/object:os.system x",
                                    b"a: 2026-01-01", b"<<: 1", b"- " * 3000, b"{" * 3000, b"a: 1e400", b".nan"))),
    media_type=st.sampled_from((JSON, "application/yaml", *PATCHES, "application/vnd.kubernetes.protobuf", "x", "")),
    method=st.sampled_from(("POST", "PUT", "PATCH", "DELETE")),
)  # fmt: skip
def test_bytes(fuzzed: Fuzzed, body: bytes, media_type: str, method: str) -> None:
    path = "/api/v1/namespaces/default/configmaps" + ("" if method == "POST" else "/example")
    fuzzed.check(method, f"{path}?fieldManager=f", body, Content_Type=media_type)


@pytest.mark.parametrize("depth", [50, 240, 400, 900, 5000])
def test_nesting_without_end(fuzzed: Fuzzed, depth: int) -> None:
    """Depth that a schema allows is bounded all the same."""
    deep = '{"type":"object","properties":{"a":' * depth + '{"type":"object"}' + "}}" * depth
    crd = example("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = "DEEP"
    revision = {**example("apps/v1", "ControllerRevision"), "data": "DEEP"}
    paths = (
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/apps/v1/namespaces/default/controllerrevisions",
    )
    for path, obj in zip(paths, (crd, revision), strict=True):
        body = json.dumps(obj).replace('"DEEP"', deep).encode()
        fuzzed.check("POST", f"{path}?dryRun=All", body, Content_Type=JSON)
        name = obj["metadata"]["name"]
        for media_type in PATCHES[1:]:
            fuzzed.check("PATCH", f"{path}/{name}?dryRun=All&fieldManager=f", body, Content_Type=media_type)
