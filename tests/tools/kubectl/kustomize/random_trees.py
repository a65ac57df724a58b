"""Trees that a seed makes: objects, layers over one another, and in each what a kustomization may have."""

from __future__ import annotations

import random
from typing import Any

import yaml

from tests.tools.kubectl.kustomize.compare import Tree

_WORDS = ("web", "api", "db", "cache", "job", "front")
_TEXTS = (
    "plain", "with space", "yes", "1.5", "007", "", "a: b", "#hash", "null", "~", "two\nlines\n", "tail \n", "é",
    "-", "0x1F", "2020-01-02", "<&>", "$(X)", "'single'", '"double"', "x" * 90, "word " * 25, "true", "1e3", "a\tb",
)  # fmt: skip


class Maker:
    """Makes trees from one source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.seed = seed
        self.files: dict[str, str] = {}
        self.objects: list[dict[str, Any]] = []
        self.generated: list[tuple[str, str]] = []

    def tree(self) -> Tree:
        """Return a tree of one to three layers."""
        depth = self.chance.randint(1, 3)
        path = ""
        for level in range(depth):
            lowest = level == depth - 1
            self._layer(path, lowest, depth - level)
            path += "base/"
        return Tree(f"seed {self.seed}", self.files, [], (0, 0))

    def _maybe(self, part: float = 0.3) -> bool:
        return self.chance.random() < part

    def _pick(self, items: Any) -> Any:
        return self.chance.choice(list(items))

    def _layer(self, path: str, lowest: bool, level: int) -> None:
        if not self.objects:
            self._make_objects()
        own: dict[str, Any] = {"resources": ["objects.yaml"] if lowest else ["base"]}
        if lowest:
            self.files[f"{path}objects.yaml"] = yaml.safe_dump_all(self.objects, sort_keys=False)
        self._names(own)
        self._labels(own)
        self._patches(own)
        self._generators(own, lowest, level)
        self._replacements(own)
        if self._maybe():
            own["images"] = [
                {"name": "nginx", self._pick(["newTag", "newName", "tagSuffix"]): self._pick(["v1", "x.y/z"])}
            ]
        workloads = [item["metadata"]["name"] for item in self.objects if item["kind"] == "Deployment"]
        if self._maybe() and workloads:
            own["replicas"] = [{"name": self._pick(workloads), "count": self.chance.randint(0, 9)}]
        if self._maybe(0.1):
            own["sortOptions"] = {"order": self._pick(["fifo", "legacy"])}
        if self._maybe(0.1):
            own["buildMetadata"] = self.chance.sample(["originAnnotations", "transformerAnnotations"], 1)
        if self._maybe(0.2):
            self._component(path, own)
        self.files[f"{path}kustomization.yaml"] = yaml.safe_dump(own, sort_keys=False)

    def _component(self, path: str, own: dict[str, Any]) -> None:
        made: dict[str, Any] = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}
        self._labels(made)
        self._patches(made)
        self.files[f"{path}part/kustomization.yaml"] = yaml.safe_dump(
            {**made, "nameSuffix": "-c"}, sort_keys=False
        )
        own["components"] = ["part"]

    def _make_objects(self) -> None:
        names = self.chance.sample(_WORDS, self.chance.randint(1, 4))
        for name in names:
            self.objects.append(self._deployment(name, names))
            if self._maybe(0.6):
                self.objects.append(self._service(name))
            if self._maybe(0.6):
                self.objects.append(
                    {
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "metadata": self._metadata(name),
                        "data": self._texts(),
                    }
                )
            if self._maybe(0.4):
                self.objects.append(
                    {
                        "apiVersion": "example.com/v1",
                        "kind": "Thing",
                        "metadata": self._metadata(name),
                        "spec": self._fields(),
                    }
                )
        if self._maybe():
            self.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "some"}})
        self.chance.shuffle(self.objects)

    def _metadata(self, name: str) -> dict[str, Any]:
        made: dict[str, Any] = {"name": name}
        if self._maybe():
            made["labels"] = {"app": name, "kind": self._pick(["a", "b", 5, True])}
        if self._maybe():
            made["annotations"] = {"note": self._pick(_TEXTS), "n": 1}
        if self._maybe(0.1):
            made["namespace"] = "some"
        return made

    def _texts(self) -> dict[str, str]:
        return {f"k{number}": self._pick(_TEXTS) for number in range(self.chance.randint(0, 4))}

    def _fields(self) -> dict[str, Any]:
        return {f"f{number}": self._value(2) for number in range(self.chance.randint(0, 3))}

    def _value(self, depth: int) -> Any:
        sort = self.chance.random()
        if depth and sort < 0.4:
            return {f"f{number}": self._value(depth - 1) for number in range(self.chance.randint(0, 3))}
        if depth and sort < 0.6:
            return [self._value(depth - 1) for _ in range(self.chance.randint(0, 3))]
        return self._pick([*_TEXTS, 1, 0, -5, 1.5, True, False, 10**12, 2.5e9])

    def _deployment(self, name: str, names: list[str]) -> dict[str, Any]:
        containers = []
        for number in range(self.chance.randint(1, 3)):
            made: dict[str, Any] = {
                "name": f"c{number}",
                "image": self._pick(["nginx:1", "busybox", "nginx@sha256:ab", "r.io:5/nginx"]),
            }
            if self._maybe(0.6):
                made["env"] = [
                    {"name": f"E{place}", "value": self._pick(_TEXTS)}
                    for place in range(self.chance.randint(1, 3))
                ]
            if self._maybe():
                made["env"] = [
                    *made.get("env", ()),
                    {
                        "name": "REF",
                        "valueFrom": {"configMapKeyRef": {"name": self._pick([*names, "made"]), "key": "k0"}},
                    },
                ]
            if self._maybe():
                made["ports"] = [
                    {"containerPort": port, **({"protocol": "TCP"} if self._maybe() else {})}
                    for port in self.chance.sample([80, 443, 8080], 2)
                ]
            containers.append(made)
        spec: dict[str, Any] = {"containers": containers}
        if self._maybe():
            spec["volumes"] = [{"name": "v", "configMap": {"name": self._pick([*names, "made"])}}]
        return {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": self._metadata(name),
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": spec}},
        }  # fmt: skip

    def _service(self, name: str) -> dict[str, Any]:
        ports: list[dict[str, Any]] = [{"port": 80}]
        if self._maybe():
            ports.append({"port": 443, "name": "tls", "protocol": "TCP"})
        return {"apiVersion": "v1", "kind": "Service", "metadata": self._metadata(name), "spec": {"selector": {"app": name}, "ports": ports}}  # fmt: skip

    def _names(self, own: dict[str, Any]) -> None:
        if self._maybe(0.4):
            own["namePrefix"] = self._pick(["p-", "q-", "1-"])
        if self._maybe():
            own["nameSuffix"] = self._pick(["-s", "-t"])
        if self._maybe():
            own["namespace"] = self._pick(["one", "two"])

    def _labels(self, own: dict[str, Any]) -> None:
        if self._maybe(0.2):
            own["commonLabels"] = {"common": self._pick(["a", "5", "true"])}
        if self._maybe():
            own["labels"] = [
                {
                    "pairs": {"extra": "x", "app.example/y": "1"},
                    **({self._pick(["includeSelectors", "includeTemplates"]): True} if self._maybe() else {}),
                }
            ]
        if self._maybe():
            own["commonAnnotations"] = {"remark": self._pick(_TEXTS)}

    def _patches(self, own: dict[str, Any]) -> None:
        patches: list[dict[str, Any]] = []
        for _ in range(self.chance.randint(0, 2)):
            item = self._pick(self.objects)
            target = {"kind": item["kind"], "name": item["metadata"]["name"]}
            if self._maybe(0.4):
                operations: list[dict[str, Any]] = [
                    {"op": "add", "path": "/metadata/labels", "value": {"patched": self._pick(["1", "x"])}}
                ]
                if item["kind"] == "Deployment":
                    operations.append(
                        {"op": "replace", "path": "/spec/replicas", "value": self.chance.randint(1, 5)}
                    )
                    operations.append(
                        {
                            "op": "add",
                            "path": "/spec/template/spec/containers/0/args",
                            "value": [self._pick(_TEXTS)],
                        }
                    )
                patches.append({"target": target, "patch": yaml.safe_dump(operations)})
                continue
            patch: dict[str, Any] = {
                "apiVersion": item["apiVersion"],
                "kind": item["kind"],
                "metadata": {"name": item["metadata"]["name"]},
            }
            self._fill(patch, item["kind"])
            patches.append(
                {
                    "patch": yaml.safe_dump(patch),
                    **({"target": {"kind": item["kind"]}} if self._maybe(0.5) else {"target": target}),
                }
            )
        if patches:
            own["patches"] = patches

    def _fill(self, patch: dict[str, Any], kind: str) -> None:
        if self._maybe():
            patch["metadata"]["annotations"] = {
                "patched": self._pick(_TEXTS),
                "note": self._pick([None, "new"]),
            }
        if kind == "Deployment":
            container: dict[str, Any] = {"name": self._pick(["c0", "c1", "side"])}
            if self._maybe(0.5):
                container["env"] = [{"name": self._pick(["E0", "E1", "NEW"]), "value": self._pick(_TEXTS)}]
            if self._maybe(0.2):
                container["$patch"] = "delete"
            if self._maybe():
                container["ports"] = [
                    {
                        "containerPort": self._pick([80, 443, 9090]),
                        **({"protocol": self._pick(["TCP", "UDP"])} if self._maybe() else {}),
                    }
                ]
            patch["spec"] = {"template": {"spec": {"containers": [container]}}}
            if self._maybe(0.2):
                patch["spec"]["replicas"] = None
        elif kind == "Service":
            patch["spec"] = {
                "ports": [{"port": self._pick([80, 443, 81]), "name": "patched"}],
                "type": "NodePort",
            }
        elif kind == "ConfigMap":
            patch["data"] = {**self._texts(), "k0": self._pick([None, "patched"])}
        elif kind == "Thing":
            patch["spec"] = self._fields()

    def _generators(self, own: dict[str, Any], lowest: bool, level: int) -> None:
        if lowest and self._maybe(0.6):
            own["configMapGenerator"] = [
                {
                    "name": "made",
                    "literals": [f"k{number}={self._pick(['a', '5', 'x=y'])}" for number in range(2)],
                }
            ]
            self.generated.append(("ConfigMap", "made"))
        if self._maybe(0.2):
            own["secretGenerator"] = [
                {
                    "name": f"secret{level}",
                    "literals": ["a=b"],
                    "options": {"disableNameSuffixHash": self._maybe(0.5)},
                }
            ]

    def _replacements(self, own: dict[str, Any]) -> None:
        sources = [item for item in self.objects if item["kind"] == "Deployment"]
        if not sources or not self._maybe(0.2):
            return
        source = self._pick(sources)
        own["replacements"] = [{
            "source": {"kind": "Deployment", "name": source["metadata"]["name"], "fieldPath": self._pick(["metadata.name", "spec.template.spec.containers.0.image", "spec.template.metadata.labels", "spec.replicas"])},
            "targets": [{"select": {"kind": self._pick(["Service", "ConfigMap", "Deployment", ".*"])}, "fieldPaths": [self._pick(["metadata.labels.copied", "metadata.annotations.copied", "spec.copied.deep"])], "options": {"create": True}}],
        }]  # fmt: skip
