"""An operator written with kopf, with admission webhooks of its own, driven by kubectl."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pybernetes.lib.tls import tls
from tests.servers import Server, running
from tests.support import end, require_program

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
OPERATOR = """
import kopf

@kopf.on.startup()
def configure(settings, **_):
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1", host="127.0.0.1", port=PORT, certfile=CERTIFICATE, pkeyfile=KEY, cafile=AUTHORITY)
    settings.admission.managed = "auto.kopf.dev"
    settings.networking.request_timeout = 30

@kopf.on.mutate("widgets")
def complete(spec, patch, **_):
    if "color" not in spec:
        patch.spec["color"] = "red"

@kopf.on.validate("widgets")
def check(spec, warnings, **_):
    warnings.append("somebody looks at widgets")
    if spec.get("size", 0) > 10:
        raise kopf.AdmissionError("too large", code=403)

@kopf.on.create("widgets")
def created(spec, **_):
    return {"size": spec["size"], "color": spec["color"]}

@kopf.on.update("widgets")
def resized(old, new, **_):
    return {"before": old["spec"]["size"], "after": new["spec"]["size"]}

@kopf.on.delete("widgets")
def deleted(name, logger, **_):
    print("DELETED", name, flush=True)
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def operator(server: Server, directory: Path) -> Iterator[Path]:
    """Yield kopf with the operator, as a program of its own."""
    authority = tls.create_authority("operator")
    pair = tls.issue(authority, "operator", names=("127.0.0.1",), server=True)
    files = {}
    for name, data in (
        ("CERTIFICATE", pair.certificate),
        ("KEY", pair.key),
        ("AUTHORITY", authority.certificate),
    ):
        path = directory / f"{name.lower()}.pem"
        path.write_bytes(data)
        files[name] = str(path)
    values = "".join(f"{name} = {value!r}\n" for name, value in {**files, "PORT": free_port()}.items())
    script = directory / "operator.py"
    script.write_text(values + textwrap.dedent(OPERATOR))
    log = directory / "operator.log"
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(directory)}
    command = [sys.executable, "-m", "kopf", "run", "--namespace=default", "--standalone", str(script)]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
        try:
            yield log
        finally:
            end(process)


def test_an_operator_with_webhooks(tmp_path: Path) -> None:
    require_program("kubectl")
    with running(tmp_path, "--storage-backend=memory") as server, operator(server, tmp_path) as log:
        kubectl = server.kubectl
        kubectl("apply", "-f", "-", given=DEFINITION)
        kubectl("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=60s")
        # The operator registers its webhooks when it sees the kind.
        for sort in ("mutating", "validating"):
            kubectl("wait", "--for=create", f"{sort}webhookconfiguration/auto.kopf.dev", "--timeout=60s")
            path = "jsonpath={.webhooks[0].rules[0].resources[0]}=widgets"
            kubectl("wait", f"--for={path}", f"{sort}webhookconfiguration/auto.kopf.dev", "--timeout=60s")
        widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: %d}\n"
        refused = kubectl("apply", "-f", "-", given=widget % 11, fails=True)
        assert 'admission webhook "check.auto.kopf.dev" denied the request: too large' in refused
        kubectl("apply", "-f", "-", given=widget % 3)
        kubectl("wait", "--for=jsonpath={.status.created.size}=3", "wd/a", "--timeout=60s")
        assert kubectl("get", "wd", "a", "-o", "jsonpath={.status.created.color}") == "red"
        kubectl("patch", "wd", "a", "--type=merge", "-p", '{"spec": {"size": 4}}')
        kubectl("wait", "--for=jsonpath={.status.resized.after}=4", "wd/a", "--timeout=60s")
        kubectl("delete", "wd", "a", "--timeout=60s")
        assert "DELETED a" in log.read_text()
        assert kubectl("get", "wd", "--no-headers", "--ignore-not-found") == ""
