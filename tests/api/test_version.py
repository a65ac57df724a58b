from collections.abc import Iterator

import pytest

from pybernetes import KUBERNETES_VERSION
from pybernetes.api import version


@pytest.fixture
def own_version() -> Iterator[None]:
    """Report the own version again afterwards."""
    yield
    version.report(KUBERNETES_VERSION)


def test_it_has_the_keys_of_upstream_and_speaks_of_itself() -> None:
    document = version.document()
    assert list(document) == [
        "major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor",
        "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform",
    ]  # fmt: skip
    assert (document["major"], document["minor"], document["gitVersion"]) == ("1", "37", "v1.37.0")
    assert document["minCompatibilityMinor"] == "36"
    assert document["goVersion"].startswith("python3.")
    assert document["platform"].startswith("linux/")


@pytest.mark.usefixtures("own_version")
@pytest.mark.parametrize("more", ["-custom", "-alpha.1+build.7", "+a-b", ""])
def test_another_build_of_the_same_version_can_be_reported(more: str) -> None:
    version.report(KUBERNETES_VERSION + more)
    assert version.reported() == version.document()["gitVersion"] == KUBERNETES_VERSION + more


@pytest.mark.parametrize(
    "text", ["v1.36.0", "v1.37.1-custom", "v1.37.0-", "v1.37.0 custom", "v1.37.0\n", "vv"]
)
def test_another_version_cannot_be_reported(text: str) -> None:
    with pytest.raises(ValueError, match="must match major/minor/patch of default version"):
        version.report(text)
    assert version.reported() == KUBERNETES_VERSION
