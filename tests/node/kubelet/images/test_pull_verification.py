"""Which settings of image verification there are, and what they mean."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.images import pull_verification as verification


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("busybox", "busybox"), ("busybox:1.36", "busybox"), ("r.example:5000/a/b", "r.example:5000/a/b"),
        ("r.example:5000/a/b:1@sha256:" + "0" * 64, "r.example:5000/a/b"), ("a@sha256:" + "0" * 64, "a"),
    ],
)  # fmt: skip
def test_names_without_tags(image: str, name: str) -> None:
    assert verification.repository(image) == name


@pytest.mark.parametrize(
    ("policy", "allowlist", "words"),
    [
        ("NeverVerify", [], ""), ("AlwaysVerify", [], ""), ("Sometimes", [], 'option "Sometimes" specified'),
        ("AlwaysVerify", ["a"], "can't set `preloadedImagesVerificationAllowlist`"),
        ("NeverVerifyAllowlistedImages", ["r.example/a", "r.example/*"], ""),
        ("NeverVerifyAllowlistedImages", [" a"], "leading/trailing spaces"),
        ("NeverVerifyAllowlistedImages", [""], "too short"),
        ("NeverVerifyAllowlistedImages", ["/*"], "at least registry hostname"),
        ("NeverVerifyAllowlistedImages", ["a*"], "only patterns ending with '/*'"),
        ("NeverVerifyAllowlistedImages", ["r.example/a:1"], "neither tag nor digest"),
        ("NeverVerifyAllowlistedImages", ["A"], "failed to parse"),
    ],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(policy: str, allowlist: list[str], words: str) -> None:
    problems = verification.problems(policy, allowlist)
    assert (not problems) if not words else words in problems[0]


def test_what_a_secret_opened_stays_open_for_it() -> None:
    one, two = ({"uid": uid, "namespace": "n", "name": "s", "credentialHash": uid} for uid in "12")
    known = verification.merged(None, {"kubernetesSecrets": [two]})
    known = verification.merged(known, {"kubernetesSecrets": [one]})
    assert known == {"kubernetesSecrets": [one, two]}
    assert verification.merged(known, {}) == known
    assert verification.merged(known, {"nodePodsAccessible": True}) == {"nodePodsAccessible": True}
    assert verification.merged({"nodePodsAccessible": True}, known) == {"nodePodsAccessible": True}
