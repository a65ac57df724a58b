from pybernetes.control_plane.apiserver.observability import version


def test_it_has_the_keys_of_upstream_and_speaks_of_itself() -> None:
    found = version.document()
    assert list(found) == [
        "major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor",
        "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform",
    ]  # fmt: skip
    assert (found["major"], found["minor"], found["gitVersion"]) == ("1", "37", "v1.37.0")
    assert found["minCompatibilityMinor"] == "36"
    assert found["goVersion"].startswith("python3.")
    assert found["platform"].startswith("linux/")
