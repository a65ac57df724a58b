"""What commands print, in every format: the same objects as upstream's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pybernetes.tools.kubeadm.main import main

PROXY = "registry.k8s.io/kube-proxy:v1.37.0"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("go-template={{index .images 3}}", PROXY),
        ("jsonpath={.images[3]}", PROXY),
        ("jsonpath-as-json={.images[3]}", f'[\n    "{PROXY}"\n]\n'),
        (
            "template={{.kind}} {{.apiVersion}} {{.nothing}}",
            "Images output.kubeadm.k8s.io/v1alpha3 <no value>",
        ),
        ("jsonpath={.nothing}", ""),
    ],
)
def test_templates(words: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "images", "list", "-o", words]) == 0
    assert capsys.readouterr().out == shown


def test_templates_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t").write_text("{{len .images}} {{.kind}}")
    (tmp_path / "p").write_text("{.kind}")
    for output, shown in (("go-template-file", "7 Images"), ("templatefile", "7 Images")):
        assert main(["config", "images", "list", "-o", f"{output}={tmp_path}/t"]) == 0
        assert capsys.readouterr().out == shown
    assert main(["config", "images", "list", "-o", f"jsonpath-file={tmp_path}/p"]) == 0
    assert capsys.readouterr().out == "Images"


def test_structures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "images", "list", "-o", "JSON"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        '{\n    "kind": "Images",\n    "apiVersion": "output.kubeadm.k8s.io/v1alpha3",\n    "images": ['
    )
    assert main(["config", "images", "list", "-o", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == json.loads(text)
    assert main(["config", "images", "list", "-o", "kyaml"]) == 0
    assert capsys.readouterr().out.startswith(
        '---\n{\n  kind: "Images",\n  apiVersion: "output.kubeadm.k8s.io/v1alpha3",\n  images: ['
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xml"], 'unable to match a printer suitable for the output format "xml", allowed formats are: '
                  "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,template,templatefile,text,yaml"),
        (["go-template"], "template format specified but no template given"),
        (["jsonpath={.a"], "error parsing jsonpath {.a, unclosed action"),
        (["go-template={{.a"], "error parsing template {{.a, template: output:1: unclosed action"),
        (["jsonpath-file=/nonexistent"],
         "error reading --template /nonexistent, open /nonexistent: no such file or directory"),
    ],
)  # fmt: skip
def test_no_such_output(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "images", "list", "-o", *words]) == 1
    error = capsys.readouterr().err.partition("\n")[0]
    assert error == f"error: could not construct output printer: {message}"


def test_a_key_that_is_missing_may_be_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    flag = "--allow-missing-template-keys=false"
    assert main(["config", "images", "list", flag, "-o", "jsonpath={.nothing}"]) == 1
    assert "nothing is not found" in capsys.readouterr().err


def test_when_certificates_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--cert-dir", str(tmp_path)]
    assert main(["init", "phase", "certs", "ca", *where]) == 0
    capsys.readouterr()
    check = ["certs", "check-expiration", *where, "--kubeconfig", str(tmp_path / "none")]
    assert main([*check, "-o", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    ca = next(entry for entry in value["certificateAuthorities"] if entry["name"] == "ca")
    assert list(ca) == ["name", "expirationDate", "residualTime", "externallyManaged", "missing"]
    assert not ca["missing"] and not ca["externallyManaged"] and ca["residualTime"] > 0
    server = next(entry for entry in value["certificates"] if entry["name"] == "apiserver")
    assert server == {"name": "apiserver", "expirationDate": None, "residualTime": 0, "externallyManaged": False,
                      "missing": True}  # fmt: skip
    assert main(check) == 0
    shown = capsys.readouterr().out
    assert "CERTIFICATE                " in shown and "!MISSING! apiserver" in shown
    assert main([*check, "-o", "jsonpath={.certificateAuthorities[?(@.name=='ca')].missing}"]) == 0
    assert capsys.readouterr().out == "false"
