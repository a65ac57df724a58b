"""The real kubectl, with objects of every kind, in as few invocations as it can be."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.api.registry import builtin
from tests.api.examples import every_example, example
from tests.servers import Server
from tests.support import require_program, until

# Kinds that are asked and answered, not kept.
_NOT_KEPT = {"Binding", "ComponentStatus", "SelfSubjectReview", "TokenReview", "LocalSubjectAccessReview",
             "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}  # fmt: skip
_KINDS = {(resource.api_version, resource.kind): resource for resource in builtin()}


@pytest.fixture(autouse=True, scope="module")
def _program() -> None:
    require_program("kubectl")


def manifests(namespace: str) -> list[dict[str, Any]]:
    """Return an object of every kind that is kept, in a namespace."""
    made = []
    for obj in every_example():
        if obj["kind"] in _NOT_KEPT:
            continue
        if (obj["apiVersion"], obj["kind"]) == ("autoscaling/v1", "HorizontalPodAutoscaler"):
            continue  # the same object as in autoscaling/v2
        if _KINDS[obj["apiVersion"], obj["kind"]].namespaced:
            obj["metadata"]["namespace"] = namespace
        for reference in ("involvedObject", "regarding"):
            if reference in obj:
                obj[reference]["namespace"] = namespace
        if obj["kind"] == "IPAddress":
            obj["metadata"]["name"] = "10.1.0.9"
        made.append(obj)
    return made


def write(directory: Path, objects: list[dict[str, Any]]) -> str:
    path = directory / f"{len(objects)}.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def test_every_kind_from_creation_to_deletion(server: Server, namespace: str, tmp_path: Path) -> None:
    objects = manifests(namespace)
    path = write(tmp_path, objects)
    made = server.kubectl("create", "-f", path)
    assert made.count(" created") == len(objects), made
    try:
        _use(server, path, tmp_path, objects)
    finally:
        gone = server.kubectl("delete", "-f", path, "--wait=false", "--ignore-not-found")
    assert gone.count(" deleted") == len(objects), gone


def _use(server: Server, path: str, tmp_path: Path, objects: list[dict[str, Any]]) -> None:
    count = len(objects)
    names = server.kubectl("get", "-f", path, "-o", "name").split()
    assert len(names) == count
    assert "NAME" in server.kubectl("get", "-f", path, "-o", "wide", "--show-labels")
    assert server.kubectl("label", "-f", path, "team=blue").count(" labeled") == count
    assert server.kubectl("annotate", "-f", path, "example.com/note=1").count(" annotated") == count
    listed = json.loads(server.kubectl("get", "-f", path, "-o", "json"))["items"]
    for obj, sent in zip(listed, objects, strict=True):
        assert (obj["apiVersion"], obj["kind"]) == (sent["apiVersion"], sent["kind"])
        assert obj["metadata"]["labels"]["team"] == "blue"
        assert obj["metadata"]["annotations"]["example.com/note"] == "1"
    patch = '{"metadata":{"labels":{"team":null,"color":"red"}}}'
    assert server.kubectl("patch", "-f", path, "--type=merge", "-p", patch).count(" patched") == count
    # What was created can be applied, on the client's side and then on the server's.
    applied = server.kubectl("apply", "-f", path)
    assert applied.count(" configured") == count, applied
    versions = ("get", "-f", path, "-o", "jsonpath={.items[*].metadata.resourceVersion}")
    before = server.kubectl(*versions)
    server.kubectl("apply", "-f", path)  # sends a few kinds again whose defaults it does not know
    assert server.kubectl(*versions) == before
    sided = server.kubectl("apply", "--server-side", "--force-conflicts", "-f", path)
    assert sided.count(" serverside-applied") == count, sided
    # What reads much takes its time, and no store makes a difference to it.
    if "memory" in server.directory.name:
        assert server.kubectl("diff", "-f", path) == ""
    read = server.kubectl("get", "-f", path, "-o", "json")
    assert server.kubectl("replace", "-f", "-", given=read).count(" replaced") == count
    if "memory" not in server.directory.name:
        return
    # kubectl before 1.33 describes these through beta versions that are no longer there.
    beta = ("IPAddress", "ServiceCIDR", "VolumeAttributesClass")
    described = server.kubectl(
        "describe", "-f", write(tmp_path, [o for o in objects if o["kind"] not in beta])
    )
    assert described.count("\nName:  ") >= count - 9


def test_forms_of_output(server: Server, namespace: str) -> None:
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap",
         "metadata": {"name": f"c{number}", "labels": {"number": str(number % 2)}}, "data": {"value": str(9 - number)}}
        for number in range(7)
    ]  # fmt: skip
    server.kubectl("create", "-n", namespace, "-f", "-", given=yaml.safe_dump_all(objects))
    get = ("get", "configmaps", "-n", namespace)
    assert server.kubectl(*get, "-o", "jsonpath={.items[*].metadata.name}") == " ".join(
        f"c{n}" for n in range(7)
    )
    columns = server.kubectl(
        *get, "-o", "custom-columns=N:.metadata.name,V:.data.value", "--sort-by=.data.value"
    )
    assert [line.split() for line in columns.splitlines()][:3] == [["N", "V"], ["c6", "3"], ["c5", "4"]]
    assert server.kubectl(*get, "-l", "number in (1)", "-o", "name").split() == [
        f"configmap/c{n}" for n in (1, 3, 5)
    ]
    assert server.kubectl(*get, "--field-selector=metadata.name=c3", "-o", "name") == "configmap/c3\n"
    assert len(server.kubectl(*get, "--chunk-size=2", "--no-headers").splitlines()) == 7
    everywhere = server.kubectl("get", "cm", "-A", "-L", "number", "-l", "number").splitlines()
    assert everywhere[0].split() == ["NAMESPACE", "NAME", "DATA", "AGE", "NUMBER"] and len(everywhere) >= 8
    shown = yaml.safe_load(server.kubectl(*get, "c0", "-o", "yaml"))
    assert shown["kind"] == "ConfigMap" and "managedFields" not in shown["metadata"]
    template = "{{range .items}}{{.data.value}}{{end}}"
    assert server.kubectl(*get, "-o", "go-template=" + template) == "9876543"
    assert server.kubectl("get", "all", "-n", namespace, "--ignore-not-found") == ""


def test_watching(server: Server, namespace: str) -> None:
    """Every change is printed as it happens."""
    command = [
        "kubectl",
        "get",
        "configmaps",
        "-n",
        namespace,
        "--watch",
        "--output-watch-events",
        "--no-headers",
    ]
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(server.directory)}
    server.kubectl("create", "configmap", "first", "-n", namespace)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().split()[:2] == ["ADDED", "first"]
        configmaps = f"/api/v1/namespaces/{namespace}/configmaps"
        server.call("POST", configmaps, {"metadata": {"name": "second"}})
        server.call("PUT", f"{configmaps}/second", {"metadata": {"name": "second"}, "data": {"a": "1"}})
        server.call("DELETE", f"{configmaps}/second")
        seen = [process.stdout.readline().split()[:3] for _ in range(3)]
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
    assert seen == [["ADDED", "second", "0"], ["MODIFIED", "second", "1"], ["DELETED", "second", "1"]]


def test_applying_again(server: Server, namespace: str) -> None:
    """What the manifest no longer has goes; what others added stays; owners are asked."""
    base = example("apps/v1", "Deployment")
    base["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    apply = ("apply", "-n", namespace, "-f", "-")
    server.kubectl(*apply, given=yaml.safe_dump(base))
    server.kubectl("set", "env", "-n", namespace, "deployment/example", "B=2")
    server.kubectl("label", "-n", namespace, "deployment/example", "extra=yes")
    base["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "C", "value": "3"}]
    text = yaml.safe_dump(base)
    assert "-        - name: A" in _diff(server, namespace, text)
    assert server.kubectl(*apply, given=text) == "deployment.apps/example configured\n"
    _, deployment = server.call("GET", f"/apis/apps/v1/namespaces/{namespace}/deployments/example")
    names = {item["name"] for item in deployment["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert names == {"B", "C"} and deployment["metadata"]["labels"]["extra"] == "yes"
    base["spec"]["replicas"] = 3
    side = ("apply", "--server-side", "-n", namespace, "-f", "-")
    server.kubectl(*side, "--field-manager=one", "--force-conflicts", given=yaml.safe_dump(base))
    base["spec"]["replicas"] = 4
    conflict = server.kubectl(*side, "--field-manager=two", given=yaml.safe_dump(base), fails=True)
    assert 'conflict with "one": .spec.replicas' in conflict and "--force-conflicts" in conflict
    server.kubectl(*side, "--field-manager=two", "--force-conflicts", given=yaml.safe_dump(base))
    owners = server.kubectl(
        "get", "deployment", "example", "-n", namespace, "-o", "yaml", "--show-managed-fields"
    )
    assert {"one", "two", "kubectl-set", "kubectl-label"} <= {
        entry["manager"] for entry in yaml.safe_load(owners)["metadata"]["managedFields"]
    }


def _diff(server: Server, namespace: str, text: str) -> str:
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(server.directory)}
    done = subprocess.run(
        ["kubectl", "diff", "-n", namespace, "-f", "-"],
        input=text, text=True, capture_output=True, timeout=60, env=environment,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr  # it says that there are differences
    return done.stdout


def test_changing(server: Server, namespace: str) -> None:
    """patch, edit, scale, autoscale, set, wait."""
    server.kubectl("create", "deployment", "web", "--image=registry.example/web:1", "-n", namespace)
    where = ("-n", namespace, "deployment/web")
    server.kubectl("patch", *where, "--type=json", "-p", '[{"op":"add","path":"/spec/paused","value":true}]')
    server.kubectl(
        "patch", *where, "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"web","tty":true}]}}}}'
    )
    server.kubectl("patch", *where, "--type=merge", "-p", '{"spec":{"paused":null}}')
    environment = {"KUBE_EDITOR": "sed -i s/revisionHistoryLimit:.10/revisionHistoryLimit:\\ 4/"}
    edited = server.kubectl("edit", *where, environment=environment)
    assert edited == "deployment.apps/web edited\n"
    assert (
        server.kubectl("scale", *where, "--replicas=5", "--current-replicas=1")
        == "deployment.apps/web scaled\n"
    )
    assert "Expected replicas to be 2, was 5" in server.kubectl(
        "scale", *where, "--replicas=1", "--current-replicas=2", fails=True
    )
    server.kubectl("set", "image", *where, "web=registry.example/web:2")
    server.kubectl("autoscale", *where, "--max=7", "--cpu-percent=50")
    _, deployment = server.call("GET", f"/apis/apps/v1/namespaces/{namespace}/deployments/web")
    spec = deployment["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["replicas"], spec["revisionHistoryLimit"]) == (5, 4) and "paused" not in spec
    assert (container["image"], container["tty"]) == ("registry.example/web:2", True)
    status = '{"status":{"conditions":[{"type":"Available","status":"True"}]}}'
    server.kubectl("patch", *where, "--subresource=status", "--type=merge", "-p", status)
    server.kubectl("wait", *where, "--for=condition=Available", "--timeout=60s")
    server.kubectl("wait", *where, "--for=jsonpath={.spec.replicas}=5", "--timeout=60s")
    server.kubectl("delete", *where)
    server.kubectl("wait", *where, "--for=delete", "--timeout=60s")


def test_generators(server: Server, namespace: str, tmp_path: Path) -> None:
    """What kubectl makes out of its own flags is accepted, first as a dry run."""
    (tmp_path / "file").write_text("content")
    commands = [
        "create configmap c --from-literal=a=b",
        f"create secret generic s --from-file={tmp_path / 'file'}",
        "create secret docker-registry r --docker-username=u --docker-password=p",
        "create serviceaccount a",
        "create role r --verb=get,list --resource=pods,deployments.apps --dry-run=server",
        "create rolebinding b --role=r --user=jane",
        "create quota q --hard=pods=3",
        "create poddisruptionbudget p --selector=app=a --min-available=1",
        "create service clusterip s --tcp=80:8080",
        "create service nodeport n --tcp=80:8080",
        "create service externalname e --external-name=example.com",
        "create ingress i --rule=example.com/*=svc:80",
        "create job j --image=busybox -- true",
        "create cronjob k --image=busybox --schedule='*/1 * * * *'",
        "run pod --image=busybox --env=A=b --labels=x=y --port=80",
        "expose pod pod --port=80",
    ]
    for command in commands:
        words = [word.strip("'") for word in command.replace("'*/1 * * * *'", "*/1_*_*_*_*").split()]
        words = [word.replace("_", " ") if "schedule" in word else word for word in words]
        assert server.kubectl(*words[:2], "-n", namespace, *words[2:]), command
    clusterwide = [
        "create clusterrole generated --verb=get --non-resource-url=/metrics",
        "create clusterrole gathered --aggregation-rule=a=b",
        "create clusterrolebinding generated --clusterrole=generated --group=g",
        "create priorityclass generated --value=5",
        "create namespace generated",
    ]
    for command in clusterwide:
        assert "(server dry run)" in server.kubectl(*command.split(), "--dry-run=server")


def test_what_there_is(server: Server) -> None:
    rows = server.kubectl("api-resources", "--no-headers", "--cached=false", "-o", "name").split()
    expected = {f"{r.plural}.{r.group}".rstrip(".") for r in _KINDS.values()}
    assert set(rows) == expected
    assert set(server.kubectl("api-versions").split()) == {version for version, _ in _KINDS}
    assert "Kubernetes control plane" in server.kubectl("cluster-info")
    assert "Server Version: v1.37" in server.kubectl("version")
    assert server.kubectl("auth", "can-i", "create", "deployments.apps", "--all-namespaces") == "yes\n"
    assert server.kubectl("auth", "can-i", "delete", "nodes/status") == "yes\n"
    assert server.kubectl("get", "--raw", "/readyz") == "ok"


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (
            ("pods.spec.containers.resources",),
            ("FIELD: resources <ResourceRequirements>", "limits", "<map[string]"),
        ),
        (
            ("deployment", "--recursive"),
            ("KIND:       Deployment", "maxSurge", "selector\t<LabelSelector> -required-"),
        ),
        (("hpa", "--api-version=autoscaling/v1"), ("VERSION:    v1", "spec\t<HorizontalPodAutoscalerSpec>")),
        (("crontabs.stable.example.com",), ()),
    ],
)
def test_explain(server: Server, arguments: tuple[str, ...], texts: tuple[str, ...]) -> None:
    if not texts:
        assert "the server doesn't have a resource type" in server.kubectl("explain", *arguments, fails=True)
        return
    shown = server.kubectl("explain", *arguments)
    assert all(text in shown for text in texts), shown


def test_errors(server: Server, namespace: str) -> None:
    """What kubectl says when something is wrong."""
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}
    unknown = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "nonsense": {"a": 1}}
    create = ("create", "-n", namespace, "-f", "-")
    cases: list[tuple[tuple[str, ...], Any, str]] = [
        (("get", "nothings"), None, 'error: the server doesn\'t have a resource type "nothings"'),
        (("get", "pod", "missing"), None, 'Error from server (NotFound): pods "missing" not found'),
        (create, pod, 'The Pod "x" is invalid: spec.containers: Required value'),
        (create, unknown, 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
                          'unknown field "nonsense"'),
        (("create", "namespace", namespace), None, f'(AlreadyExists): namespaces "{namespace}" already exists'),
        (("create", "configmap", "c", "-n", "none"), None, 'namespaces "none" not found'),
        (("label", "ns", namespace, "bad=_"), None, "error: invalid label value"),
        (("delete", "ns", "kube-system"), None, '(Forbidden): namespaces "kube-system" is forbidden: this namespace '
                                                "may not be deleted"),
        (("get", "pods", "--field-selector=spec.bogus=1"), None, '(BadRequest): Unable to find "/v1, Resource=pods" '
                                                                 "that match label selector"),
        (("patch", "ns", namespace, "-p", "{"), None,
         "(BadRequest): invalid JSON patch: unexpected end of JSON input at line 1, column 2"),
    ]  # fmt: skip
    for arguments, given, expected in cases:
        text = None if given is None else yaml.safe_dump(given)
        assert expected in server.kubectl(*arguments, given=text, fails=True), arguments


def test_deletion_waits_for_finalizers(server: Server, namespace: str) -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "held", "finalizers": ["example.com/hold"]}}  # fmt: skip
    server.kubectl("create", "-n", namespace, "-f", "-", given=yaml.safe_dump(held))
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(server.directory)}
    command = ["kubectl", "delete", "configmap", "held", "-n", namespace]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    path = f"/api/v1/namespaces/{namespace}/configmaps/held"
    try:
        until(lambda: "deletionTimestamp" in server.call("GET", path)[1]["metadata"])
        assert process.poll() is None
        server.kubectl("patch", "configmap", "held", "-n", namespace, "--type=merge", "-p",
                       '{"metadata":{"finalizers":null}}')  # fmt: skip
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
