"""The files that the command lines name."""

from __future__ import annotations

import functools
from pathlib import Path

from pybernetes.lib.tls.tls import create_authority
from tests.tools.kubectl.differential import odd_files

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
_SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
_READERS = """apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
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
    "tree/deploy.yml": _DEPLOYMENT % 1,
    "tree/a/settings.yaml": _MAP % "settings",
    "tree/a/b/service.json": '{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}',
    "tree/a/notes.txt": "a: [",
    "svc.yaml": _SERVICE,
    "crlf.yaml": (_POD % "web-1").replace("\n", "\r\n"),
    "secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {key: other, more: text}\n",
    "readers.yaml": _READERS,
    "other-role.yaml": _READERS.replace("Role, name: reader", "Role, name: other"),
    "custom.yaml": "env: [{name: A, value: b}]\nworkingDir: /x\n",
    "path.txt": "{.items[*].metadata.name}\n",
    "columns.txt": "NAME             IMAGE\n.metadata.name   .spec.containers[*].image\n",
    "patch.yaml": "spec: {replicas: 7}\n",
    "file.txt": "a file\n",
    "env.txt": "A=1\n# comment\nB=2\n",
    "rbac.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reader}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]\n",
}


@functools.cache
def _made() -> dict[str, bytes]:
    """Return files that are made anew in each run."""
    pair, other = create_authority("a"), create_authority("b")
    return {"tls.crt": pair.certificate, "tls.key": pair.key, "other.key": other.key}


def contents(server: str) -> dict[str, bytes]:
    """Return what is in each of the files, the kubeconfig of a server among them."""
    texts: dict[str, str | bytes] = {**FILES, **odd_files.all_files(), CONFIG: _CONFIG}
    data = {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}
    return {name: text.replace(b"SERVER", server.encode()) for name, text in data.items()} | _made()


class Folder:
    """A folder with all files, which knows what a command line did to them and undoes it."""

    def __init__(self, path: Path, server: str) -> None:
        self._path, self._given = path, contents(server)
        for name in self._given:
            self._put_back(name)

    def changes(self) -> str:
        """Return what was written, made and removed since this was asked last, and put everything back."""
        now = {
            str(path.relative_to(self._path)): path
            for path in self._path.rglob("*")
            if path.is_file() and path.relative_to(self._path).parts[0] != "cache"
        }
        lines = []
        for name in sorted(now.keys() | self._given.keys()):
            if name not in now:
                lines.append(f"{name} is gone")
            elif now[name].read_bytes() != self._given.get(name):
                lines.append(f"{name}: {now[name].read_text(errors='replace')}")
            else:
                continue
            if name in self._given:
                self._put_back(name)
            else:
                now[name].unlink()
        return "\n".join(lines).replace(str(self._path), "<folder>")

    def _put_back(self, name: str) -> None:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._given[name])
