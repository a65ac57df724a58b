"""The files that the command lines name."""

from __future__ import annotations

from pathlib import Path

_DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "nginx:%s", env: [{name: LEVEL, value: low}]}]}}}
"""
_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: web}}\nspec: {containers: [{name: web, image: 'nginx:1'}]}\n"
_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {a: b}\n"
_CONFIG = """apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: 'SERVER'}}, {name: c, cluster: {server: 'https://c.example'}}]
contexts: [{name: one, context: {cluster: local, user: admin}}, {name: two, context: {cluster: c, user: u, namespace: other}}]
users: [{name: admin, user: {}}, {name: u, user: {token: secret}}]
current-context: one
"""
CONFIG = "config.yaml"
FILES = {
    "pod.yaml": _POD % "web-1",
    "new.yaml": _MAP % "fresh",
    "list.yaml": f"{_MAP % 'first'}---\n{_MAP % 'second'}",
    "dir/one.yaml": _MAP % "first",
    "dir/two.json": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "second"}}',
    "dir/ignored.txt": "nothing",
    "bad.yaml": "apiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n",
    "broken.yaml": "a: [",
    "empty.yaml": "",
    "generate.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n",
    "items.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: second}}\n",
    "wrong-items.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}\n- {apiVersion: v1, kind: Pod, metadata: {name: second}, spec: {containers: {}, extra: 1}}\n",
    "unversioned-items.yaml": "kind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}\n",
    "half.yaml": f"{_MAP % 'first'}---\nkind: ConfigMap\nmetadata: {{name: second}}\n---\n{_MAP % 'third'}",
    "deploy.yaml": _DEPLOYMENT % 1,
    "changed.yaml": _DEPLOYMENT % 2,
    "kust/kustomization.yaml": "resources: [settings.yaml, deploy.yaml]\n",
    "kust/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {level: low}\n",
    "kust/deploy.yaml": _DEPLOYMENT % 1,
    "patch.yaml": "spec: {replicas: 7}\n",
    "file.txt": "a file\n",
    "env.txt": "A=1\n# comment\nB=2\n",
    "rbac.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reader}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]\n",
}


def write(folder: Path, server: str) -> None:
    """Write all files to a folder, the kubeconfig of a server among them."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    write_config(folder, server)


def write_config(folder: Path, server: str) -> None:
    """Write the kubeconfig as it was at first."""
    (folder / CONFIG).write_text(_CONFIG.replace("SERVER", server))
