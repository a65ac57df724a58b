import pytest

from pybernetes.api.core.pod import image_names

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nginx", ("docker.io/library/nginx", "latest", "")),
        ("me/nginx:1.2", ("docker.io/me/nginx", "1.2", "")),
        ("localhost/x", ("localhost/x", "latest", "")),
        ("localhost:5000/a/b:t", ("localhost:5000/a/b", "t", "")),
        ("index.docker.io/x", ("docker.io/library/x", "latest", "")),
        (f"a.b/c@{DIGEST}", ("a.b/c", "", DIGEST)),
        (f"a.b/c:t@{DIGEST}", ("a.b/c", "t", DIGEST)),
        ("", None),
        ("UPPER", None),
        ("a b", None),
        ("x@sha256:abc", None),
        ("f" * 64, None),
    ],
)
def test_parse(image: str, expected: tuple[str, str, str] | None) -> None:
    assert image_names.parse(image) == expected


@pytest.mark.parametrize(
    ("image", "policy"),
    [("nginx", "Always"), ("nginx:latest", "Always"), ("nginx:1", "IfNotPresent"), (f"nginx@{DIGEST}", "IfNotPresent"),
     ("", "IfNotPresent")],
)  # fmt: skip
def test_default_pull_policy(image: str, policy: str) -> None:
    assert image_names.default_pull_policy(image) == policy
