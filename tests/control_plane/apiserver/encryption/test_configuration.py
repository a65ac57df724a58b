"""EncryptionConfiguration: what is wrong with a file is told in upstream's words, with the path of the field."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.encryption import configuration
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption

KEY = base64.b64encode(b"k" * 32).decode()
KEYS: dict[str, Any] = {"keys": [{"name": "key1", "secret": KEY}]}
KMS: dict[str, Any] = {"apiVersion": "v2", "name": "a", "endpoint": "unix:///tmp/a.sock"}


def document(*entries: tuple[list[str], list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a configuration with these resources and providers."""
    return {
        "kind": "EncryptionConfiguration",
        "apiVersion": "apiserver.config.k8s.io/v1",
        "resources": [{"resources": resources, "providers": providers} for resources, providers in entries],
    }


def problem(tmp_path: Path, content: Any) -> str:
    """Return what is said of a file, without what is said of any."""
    path = tmp_path / "encryption.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    with pytest.raises(ValueError) as error:
        Encryption((), str(path))
    return str(error.value).removeprefix("error while parsing file: ").replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("providers", "text"),
    [
        ([], 'providers: Required value: at least one resources[0].providers is required'),
        ([{"aesgcm": {"keys": []}}], "providers[0].aesgcm.keys: Required value: at least one keys is required"),
        (
            [{"aescbc": {"keys": [{"secret": KEY}]}}],
            "providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key",
        ),
        (
            [{"aescbc": {"keys": [{"name": "a"}]}}],
            "providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key",
        ),
        (
            [{"secretbox": {"keys": [{"name": "a", "secret": "not base64"}]}}],
            'providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
        ),
        (
            [{"secretbox": {"keys": [{"name": "a", "secret": base64.b64encode(b"x" * 16).decode()}]}}],
            'providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]',
        ),
        (
            [{"aesgcm": {"keys": [{"name": "a", "secret": "YWE="}]}}],
            'providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 2, expected one of [16 24 32]',
        ),
        (
            [{"kms": {**KMS, "endpoint": "tcp://1.2.3.4"}}],
            'providers[0].kms.endpoint: Invalid value: "tcp://1.2.3.4": unsupported scheme "tcp" for KMS provider, only unix is supported',
        ),
        (
            [{"kms": {**KMS, "endpoint": ""}}],
            'providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms',
        ),
        (
            [{"kms": {**KMS, "timeout": "0s"}}],
            'providers[0].kms.timeout: Invalid value: "0s": timeout should be a positive value',
        ),
        (
            [{"kms": {**KMS, "cachesize": 5}}],
            "providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2",
        ),
        (
            [{"kms": {**KMS, "name": "a:b"}}],
            "providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'",
        ),
        (
            [{"kms": KMS}, {"kms": KMS}],
            'providers[1].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique',
        ),
        (
            [{"kms": {**KMS, "apiVersion": "v3"}}],
            'providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
        ),
        (
            [{"aesgcm": KEYS, "aescbc": KEYS}],
            'providers[0]: Invalid value: {"AESGCM":"REDACTED","AESCBC":"REDACTED","Secretbox":null,"Identity":null,"KMS":null}: '
            "more than one provider specified in a single element, should split into different list elements",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_providers(tmp_path: Path, providers: Any, text: str) -> None:
    assert problem(tmp_path, document((["secrets"], providers))) == f"resources[0].{text}"


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ([], "Required value: at least one resources[0].resources is required"),
        (["*"], "[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
        (["Secrets"], '[0]: Invalid value: "Secrets": resource name should not contain capital letters'),
        (["events.events.k8s.io"], "[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"),
        (["secrets.*"], '[0]: Invalid value: "secrets.*": encrypting the same resource across groups is not supported'),
        (["x.extensions"], "[0]: Invalid value: \"x.extensions\": 'extensions' group has been removed and cannot be used for encryption"),
        (["serviceipallocations"], '[0]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted'),
        (["secrets", "secrets"], 'Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times'),
        (["secrets", "*."], "Invalid value: [\"secrets\",\"*.\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_resources(tmp_path: Path, resources: list[str], text: str) -> None:
    begin = "resources[0].resources" + ("" if text.startswith("[") else ": ")
    assert problem(tmp_path, document((resources, [{"identity": {}}]))) == begin + text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "error while loading file: encryption provider configuration file \"FILE\" is empty"),
        ("kind: [", 'error decoding encryption provider configuration file "FILE": error converting YAML to JSON: yaml: '),
        ("a: b\n", "error decoding encryption provider configuration file \"FILE\": Object 'Kind' is missing in \"a: b\\n\""),
        (
            {"kind": "EncryptionConfig", "apiVersion": "v1"},
            'error decoding encryption provider configuration file "FILE": no kind "EncryptionConfig" is registered for version "v1" in scheme ',
        ),
        (
            {**document((["secrets"], [{"identity": {}}])), "more": 1},
            'error decoding encryption provider configuration file "FILE": strict decoding error: unknown field "more"',
        ),
        (
            document((["secrets"], [{"rot13": {}}])),
            'error decoding encryption provider configuration file "FILE": strict decoding error: unknown field "resources[0].providers[0].rot13"',
        ),
        (document(), "resources: Required value: at least one resources is required"),
        (
            document((["*.*"], [{"identity": {}}]), (["secrets"], [{"identity": {}}])),
            'error while building transformers: resource "secrets" is masked by earlier rule "*.*"',
        ),
        (
            document((["*."], [{"identity": {}}]), (["secrets"], [{"identity": {}}])),
            'error while building transformers: resource "secrets" is masked by earlier rule "*."',
        ),
        (
            document((["secrets"], [{"kms": {"name": "a", "endpoint": "unix:///a"}}])),
            "error while building transformers: KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  "
            "Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_documents(tmp_path: Path, content: Any, text: str) -> None:
    assert problem(tmp_path, content).startswith(text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"error reading encryption provider configuration file .* no such file"
    ):
        Encryption((), str(tmp_path / "missing"))


def test_the_example_of_the_documents(tmp_path: Path) -> None:
    """The page on encryption at rest has this one: of providers and wildcards all sorts, the first of each list writes."""
    path = tmp_path / "encryption.yaml"
    path.write_text(
        textwrap.dedent(
            """
            apiVersion: apiserver.config.k8s.io/v1
            kind: EncryptionConfiguration
            resources:
              - resources: [secrets, configmaps, pandas.awesome.bears.example]
                providers:
                  - identity: {}
                  - aesgcm: {keys: [{name: key1, secret: c2VjcmV0IGlzIHNlY3VyZQ==}, {name: key2, secret: dGhpcyBpcyBwYXNzd29yZA==}]}
                  - aescbc: {keys: [{name: key1, secret: c2VjcmV0IGlzIHNlY3VyZQ==}, {name: key2, secret: dGhpcyBpcyBwYXNzd29yZA==}]}
                  - secretbox: {keys: [{name: key1, secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=}]}
              - resources: [events]
                providers: [{identity: {}}]
              - resources: ['*.apps']
                providers: [{aescbc: {keys: [{name: key2, secret: c2VjcmV0IGlzIHNlY3VyZSwgb3IgaXMgaXQ/}]}}]
              - resources: ['*.*']
                providers: [{aescbc: {keys: [{name: key3, secret: c2VjcmV0IGlzIHNlY3VyZSwgSSB0aGluaw==}]}}]
            """
        )
    )
    with pytest.raises(ValueError) as error:
        configuration.load(str(path))
    begin = 'Invalid value: "REDACTED": secret is not of the expected length, got'
    # Two of its keys are no keys of AES, which upstream says of it, too.
    assert str(error.value) == (
        f"error while parsing file: [resources[2].providers[0].aescbc.keys[0].secret: {begin} 27, expected one of [16 24 32], "
        f"resources[3].providers[0].aescbc.keys[0].secret: {begin} 25, expected one of [16 24 32]]"
    )
