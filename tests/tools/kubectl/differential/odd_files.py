"""Files that are odd: manifests, kubeconfigs and preferences as people have them by mistake or from elsewhere."""

from __future__ import annotations

_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\n"
_SCALARS = (
    _MAP
    + """data:
  time: 2026-01-01T00:00:00Z
  date: 2026-01-01
  octal: 0777
  new-octal: 0o777
  hex: 0xFF
  yes: yes
  off: off
  null: ~
  empty:
  float: 1.50
  exponent: 1e3
  big: 123456789012345678901234567890
  infinite: .inf
  nan: .nan
  binary: !!binary aGVsbG8=
  text: !!str 5
  base: 12:30:45
  folded: >-
    one
    two
  kept: |+
    one

  plain: a
    b
"""
)
_LIST = "apiVersion: v1\nkind: List\nitems:\n"
MANIFESTS: dict[str, str | bytes] = {
    "bom.yaml": "\ufeff" + _MAP,
    "tabs.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: odd\n",
    "comments.json": '{"apiVersion": "v1", /* no */ "kind": "ConfigMap", "metadata": {"name": "odd"}}',
    "list-in-list.yaml": _LIST
    + "- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: inner}}]\n- {apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: typed}}]}\n",
    "anchors.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: &name odd, labels: &labels {a: b}}\ndata: {<<: *labels, name: *name}\n",
    "array.json": '[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}}]',
    "two.json": '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}}',
    "text.yaml": "hello\n",
    "null.yaml": "null\n",
    "number.yaml": "5\n",
    "twice.yaml": _MAP + "data: {a: b, a: c}\n",
    "numbers.yaml": _MAP + "data: {a: 1, b: true}\n",
    "only-separators.yaml": "---\n---\n# nothing\n---\n",
    "no-kind.yaml": "apiVersion: v1\nmetadata: {name: odd}\n",
    "no-version.yaml": "kind: ConfigMap\nmetadata: {name: odd}\n",
    "no-metadata.yaml": "apiVersion: v1\nkind: ConfigMap\n",
    "no-name.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n",
    "name-number.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n",
    "label-number.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd, labels: {a: 5}}\n",
    "elsewhere.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd, namespace: elsewhere}\n",
    "empty-list.yaml": _LIST.replace("items:", "items: []"),
    "binary.yaml": b"\x00\xff\xfe\x01binary",
    "latin.yaml": (_MAP + "data: {a: grün}\n").encode("latin-1"),
    "unknown-field.yaml": _MAP + "data: {a: b}\nfoo: {bar: 1}\n",
    "wrong-type.yaml": _MAP + "data: [a]\n",
    "nul.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: {a: 'b\0c'}\n",
    "deep.yaml": _MAP + "data: {a: " + "[" * 60 + "]" * 60 + "}\n",
    "late-error.yaml": _MAP + "---\na: [\n---\n" + _MAP.replace("odd", "late"),
    "kind-case.yaml": _MAP.replace("ConfigMap", "configmap"),
    "quoted.yaml": '"apiVersion": "v1"\n\'kind\': "ConfigMap"\n? metadata\n: {"name": "odd"}\n',
    "flow.json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"data":{"a":"\\u00fc\\ud83d\\ude00"}}',
    "node.yaml": "apiVersion: v1\nkind: Node\nmetadata: {name: node-1, namespace: default, labels: {disk: ssd}}\n",
    "version-number.yaml": "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: odd}\n",
    "list-of-texts.yaml": _LIST + "- a\n- b\n",
    "items-null.yaml": _LIST.replace("items:", "items: null"),
    "scalars.yaml": _SCALARS,
    "env.txt": "A=1\n\n # comment\n B=2\nC = 3\nD='4'\nE=a=b\nF=\nHOME\nNOT_SET\n",
    "env-bad.txt": "A=1\n1-2/3=x\n",
    "env-bom.txt": "\ufeffA=1\n",
    "env-crlf.txt": "A=1\r\nB=2\r\n",
}

_CLUSTER = "apiVersion: v1\nkind: Config\nclusters: [{name: local, cluster: {server: 'SERVER'}}]\ncontexts: [{name: one, context: {cluster: local, user: admin}}]\ncurrent-context: one\n"
_SECURE = _CLUSTER.replace("SERVER", "https://127.0.0.1:1")


def _user(text: str, rest: str = _CLUSTER) -> str:
    return f"{rest}users: [{{name: admin, user: {text}}}]\n"


def _program(
    script: str, version: str = "client.authentication.k8s.io/v1", more: str = "interactiveMode: Never"
) -> str:
    """Return a kubeconfig whose credentials come from a line of shell; it is asked only where there is TLS."""
    arguments = f"[-c, '{script}']"
    return _user(f"{{exec: {{apiVersion: {version}, command: sh, args: {arguments}, {more}}}}}", _SECURE)


def _given(status: str, version: str = "v1", kind: str = "ExecCredential") -> str:
    return f'echo "{{apiVersion: client.authentication.k8s.io/{version}, kind: {kind}, status: {status}}}"'


KUBECONFIGS: dict[str, str | bytes] = {
    "empty.yaml": "",
    "no-context.yaml": _user("{}").replace("current-context: one\n", ""),
    "no-cluster.yaml": _user("{}").replace("cluster: local, user", "cluster: gone, user"),
    "empty-user.yaml": _user("{}").replace("user: admin}", "user: gone}"),
    "bad-ca.yaml": _user("{}", _SECURE.replace("'https", "'https").replace("1'}", "1', certificate-authority: nothere}")),
    "bad-ca-data.yaml": _user("{}", _SECURE.replace("1'}", "1', certificate-authority-data: aGVsbG8=}")),
    "token-file.yaml": _user("{tokenFile: file.txt}", _SECURE),
    "no-token-file.yaml": _user("{tokenFile: nothere}", _SECURE),
    "both-tokens.yaml": _user("{tokenFile: file.txt, token: t}", _SECURE),
    "exec-missing.yaml": _user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: nothere, installHint: 'get it\n\n  there', interactiveMode: Never}}", _SECURE),
    "exec-fails.yaml": _program("exit 3"),
    "exec-no-version.yaml": _program("true", '""'),
    "exec-old.yaml": _program("true", "client.authentication.k8s.io/v1alpha1"),
    "exec-text.yaml": _program("echo hello"),
    "exec-expired.yaml": _program(_given("{token: t, expirationTimestamp: 2020-01-01}")),
    "exec-kind.yaml": _program(_given("{token: t}", kind="Other")),
    "exec-env.yaml": _program("exit 4", more="interactiveMode: Never, env: [{name: A, value: b}, {name: C}]"),
    "exec-never.yaml": _program(_given("{}")),
    "exec-always.yaml": _program(_given("{token: t}"), more="interactiveMode: Always"),
    "exec-info.yaml": _program('echo "$KUBERNETES_EXEC_INFO" > info.json; exit 1', more="interactiveMode: IfAvailable, provideClusterInfo: true"),
    "twice.yaml": _user("{}").replace("contexts: [", "contexts: [{name: one, context: {cluster: gone, user: gone}}, "),
    "null.yaml": "apiVersion: v1\nkind: Config\nclusters: null\ncontexts: null\nusers: null\ncurrent-context: null\n",
    "flow.json": '{"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "local", "cluster": {"server": "SERVER"}}], "contexts": [{"name": "one", "context": {"cluster": "local", "user": "admin"}}], "current-context": "one"}',
    "flow.yaml": "{apiVersion: v1, kind: Config, clusters: [{name: local, cluster: {server: 'SERVER'}}], contexts: [{name: one, context: {cluster: local, user: ''}}], current-context: one}\n",
    "list.yaml": "- apiVersion: v1\n  kind: Config\n",
    "kind.yaml": _user("{}").replace("kind: Config", "kind: Other"),
    "version.yaml": _user("{}").replace("apiVersion: v1", "apiVersion: v2"),
    "unknown-fields.yaml": _user("{unknown: 1}") + "more: {a: b}\n",
    "impersonate.yaml": _user("{as: me, as-groups: [g, h], as-uid: '7', as-user-extra: {a: [b, c]}}"),
    "namespace.yaml": _user("{}").replace("user: admin}", "user: admin, namespace: other}"),
    "relative.yaml": _user("{client-certificate: ../tls.crt, client-key: ../tls.key}", _CLUSTER.replace("'SERVER'", "'SERVER', certificate-authority: ../tls.crt")),
    "insecure-and-ca.yaml": _user("{}", _SECURE.replace("1'}", "1', certificate-authority-data: aGVsbG8=, insecure-skip-tls-verify: true}")),
    "username.yaml": _user("{username: u, password: p}", _SECURE),
    "username-token.yaml": _user("{username: u, password: p, token: t}", _SECURE),
    "cert-only.yaml": _user("{client-certificate: ../tls.crt}", _SECURE),
    "cert-data.yaml": _user("{client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=}", _SECURE),
    "proxy.yaml": _user("{}", _SECURE.replace("1'}", "1', proxy-url: 'http://127.0.0.1:2'}")),
    "proxy-bad.yaml": _user("{}", _SECURE.replace("1'}", "1', proxy-url: 'ftp://127.0.0.1:2'}")),
    "extensions.yaml": _user("{extensions: [{name: a, extension: {b: c}}]}") + "extensions: [{name: x, extension: {apiVersion: a/v1, kind: K, c: 1}}]\npreferences: {colors: true}\n",
    "server-path.yaml": _user("{}", _CLUSTER.replace("SERVER", "SERVER/prefix/")),
    "no-server.yaml": _user("{}", _CLUSTER.replace("server: 'SERVER'", "")),
    "server-text.yaml": _user("{}", _CLUSTER.replace("SERVER", "a b")),
    "wrong-type.yaml": _user("[]"),
    "current-number.yaml": _user("{}").replace("current-context: one", "current-context: 1"),
    "anchors.yaml": _user("&user {token: t}").replace("users: [", "users: [") + "x: *user\n",
    "twice-keys.yaml": _user("{token: a, token: b}"),
    "tabs.yaml": "apiVersion: v1\nkind: Config\nclusters:\n\t- name: local\n",
    "binary.yaml": b"\x00\xff\xfe\x01binary",
    "auth-provider.yaml": _user("{auth-provider: {name: oidc, config: {client-id: a, idp-issuer-url: 'https://127.0.0.1:1'}}}", _SECURE),
    "auth-unknown.yaml": _user("{auth-provider: {name: gcp}}", _SECURE),
}  # fmt: skip

_RC = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n"
_DEFAULT = "defaults: [{command: get, options: [{name: output, default: name}]}]\n"
PREFERENCES = {
    "rc.yaml": _RC + "aliases: [{name: names, command: get, prependArgs: [pods], options: [{name: output, default: name}]}]\n" + _DEFAULT,
    "rc-broken.yaml": "a: [",
    "rc-kind.yaml": _RC.replace("Preference", "Other") + _DEFAULT,
    "rc-version.yaml": _RC.replace("v1beta1", "v9") + _DEFAULT,
    "rc-old.yaml": "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\noverrides: [{command: get, flags: [{name: output, default: name}]}]\n",
    "rc-twice.yaml": _RC + "defaults: [{command: get, options: [{name: output, default: name}]}, {command: get, options: [{name: output, default: json}]}]\n",
    "rc-shadow.yaml": _RC + "aliases: [{name: get, command: describe}]\n",
    "rc-space.yaml": _RC + "aliases: [{name: 'a b', command: get}]\n",
    "rc-flag.yaml": _RC + "defaults: [{command: get, options: [{name: nothere, default: x}]}]\n",
    "rc-bool.yaml": _RC + "defaults: [{command: get, options: [{name: show-labels, default: 'true'}, {name: no-headers, default: maybe}]}]\n",
    "rc-empty.yaml": _RC,
    "rc-plugins.yaml": _RC + "credentialPluginPolicy: Nope\n",
    "rc-unknown.yaml": _RC + "more: 1\n" + _DEFAULT,
    "rc-names.yaml": _RC + "aliases: [{name: mine, command: get, appendArgs: [pods, --show-labels]}, {name: deep, command: config view, options: [{name: output, default: json}]}]\n",
    "rc-sub.yaml": _RC + "defaults: [{command: config view, options: [{name: output, default: json}]}, {command: set env, options: [{name: output, default: yaml}]}]\n",
}  # fmt: skip


def all_files() -> dict[str, str | bytes]:
    """Return the odd files with their paths."""
    files: dict[str, str | bytes] = {f"odd/{name}": text for name, text in MANIFESTS.items()}
    return files | {f"kc/{name}": text for name, text in {**KUBECONFIGS, **PREFERENCES}.items()}
