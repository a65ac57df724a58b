from pybernetes.api import version


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
