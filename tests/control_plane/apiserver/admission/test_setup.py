"""Which plugins there are, which run, and how they are configured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pybernetes.control_plane.apiserver.admission.setup import (
    UNAVAILABLE,
    all_plugins,
    chosen,
    flags,
    names,
    read,
    select,
)
from pybernetes.lib.flags import defaults
from tests.control_plane.apiserver.admission.world import World
from tests.support import run

# Every plugin, in the order in which Kubernetes v1.37 runs them.
PLUGINS = [
    "AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists",
    "LimitPodHardAntiAffinityTopology", "LimitRanger", "ServiceAccount", "NodeRestriction", "TaintNodesByCondition",
    "AlwaysPullImages", "PodSecurity", "PodNodeSelector", "Priority", "DefaultTolerationSeconds",
    "PodTolerationRestriction", "ExtendedResourceToleration", "DefaultStorageClass", "StorageObjectInUseProtection",
    "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass", "CertificateApproval",
    "CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass",
    "DenyServiceExternalIPs", "PodTopologyLabels", "NodeDeclaredFeatureValidator", "PodResizeValidator",
    "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny",
]  # fmt: skip
ON = [
    "NamespaceLifecycle", "LimitRanger", "ServiceAccount", "NodeRestriction", "TaintNodesByCondition", "PodSecurity", "Priority",
    "DefaultTolerationSeconds", "DefaultStorageClass", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
    "RuntimeClass", "CertificateApproval", "CertificateSigning", "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction", "DefaultIngressClass", "PodTopologyLabels", "NodeDeclaredFeatureValidator",
    "PodResizeValidator", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook", "ResourceQuota",
]  # fmt: skip


def test_the_plugins_and_their_order() -> None:
    plugins = all_plugins()
    assert list(plugins) == PLUGINS
    assert len({plugin.order for plugin in plugins.values()}) == len(PLUGINS)
    assert running() == ON
    assert len(PLUGINS) + len(UNAVAILABLE) == 39 and not UNAVAILABLE & set(PLUGINS)


def running(enable: Sequence[str] = (), disable: Sequence[str] = ()) -> list[str]:
    """Return the names of the plugins that run."""
    return [plugin.name for plugin in chosen(enable, disable, all_plugins())]


def test_flags_switch_plugins() -> None:
    assert names(["A, B", "C"]) == ["A", "B", "C"]
    assert running(["NamespaceExists", "AlwaysDeny"], ["ServiceAccount", "NodeRestriction", "PodGroupProtection"]) == [
        "NamespaceLifecycle", "NamespaceExists", "LimitRanger", *ON[ON.index("TaintNodesByCondition") :], "AlwaysDeny"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("enable", "disable", "message"),
    [
        (["Nonsense"], [], 'enable-admission-plugins plugin "Nonsense" is unknown'),
        ([], ["Nonsense"], 'disable-admission-plugins plugin "Nonsense" is unknown'),
        (
            ["EventRateLimit"],
            [],
            'enable-admission-plugins plugin "EventRateLimit" is not available in this server',
        ),
        (
            ["NodeRestriction"],
            ["NodeRestriction"],
            "[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped",
        ),
    ],
)
def test_flags_that_make_no_sense(enable: list[str], disable: list[str], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        running(enable, disable)
    assert str(caught.value) == message


CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline}
- name: PodNodeSelector
  path: selectors.yaml
- name: AlwaysPullImages
"""


def test_the_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIGURATION)
    (tmp_path / "selectors.yaml").write_text("podNodeSelectorPluginConfig: {one: a=b}")
    configurations = read(path)
    assert configurations["PodSecurity"]["defaults"] == {"enforce": "baseline"}
    assert configurations["PodNodeSelector"] == {"podNodeSelectorPluginConfig": {"one": "a=b"}}
    assert configurations["AlwaysPullImages"] is None
    assert read(tmp_path / "selectors.yaml") == {"PodNodeSelector": configurations["PodNodeSelector"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "while parsing"),
        ("[]", "not an object"),
        ("kind: Pod", "no AdmissionConfiguration"),
        (
            "{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{nam: x}]}",
            r"unknown field .plugins\[0\]\.nam.",
        ),
    ],
)
def test_configuration_files_that_make_no_sense(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        select(defaults(flags(), admission_control_config_file=str(path)))
    with pytest.raises(ValueError, match="unable to read admission control configuration"):
        select(defaults(flags(), admission_control_config_file=str(tmp_path / "missing")))


def test_a_configuration_that_a_plugin_does_not_take_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIGURATION.replace("- name: PodNodeSelector\n  path", "- name: Priority\n  path"))
    (tmp_path / "selectors.yaml").write_text("a: b")
    with pytest.raises(ValueError, match="Priority: a configuration is not supported by this server"):
        select(defaults(flags(), admission_control_config_file=str(path)))


@pytest.mark.parametrize(
    ("plugin", "document", "message"),
    [
        ("PodSecurity", {"kind": "Pod"}, "expected a PodSecurityConfiguration"),
        (
            "PodSecurity",
            {"defaults": {"enforce": "x", "warn-version": "v2"}},
            'defaults.enforce: Invalid value: "x": must be one of privileged, baseline, restricted, '
            'defaults.warn-version: Invalid value: "v2": must be "latest" or "v1.x"',
        ),
        (
            "PodSecurity",
            {"exemptions": {"namespaces": ["a", "a", "A"], "usernames": [""]}},
            'exemptions.namespaces[1]: Duplicate value: "a", exemptions.namespaces[2]: Invalid value: "A": a',
        ),
        ("ResourceQuota", {"kind": "Pod"}, "expected a ResourceQuotaConfiguration"),
        ("ResourceQuota", {"limitedResources": [{}]}, "limitedResources[0].resource: Required value"),
    ],
)
def test_configurations_that_make_no_sense(plugin: str, document: dict[str, object], message: str) -> None:
    types = {
        "PodSecurity": ("pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration"),
        "ResourceQuota": ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"),
    }
    if "kind" not in document:
        document = {"apiVersion": types[plugin][0], "kind": types[plugin][1], **document}

    async def test() -> None:
        async with World() as world:
            with pytest.raises(ValueError) as caught:
                world.chain(plugin, **{plugin: document})
            assert message in str(caught.value)

    run(test())
