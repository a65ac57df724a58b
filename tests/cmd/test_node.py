"""The command line of pyb node."""

import pytest

from pybernetes.cmd import node


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("shell one --cluster x -- ls -l --cluster y", ["ls", "-l", "--cluster", "y"]),
        ("shell --cluster x one -- ls -l", ["ls", "-l"]),
        ("--cluster x shell one -- ls", ["ls"]),
        ("shell one ls --cluster x", ["ls"]),
        ("stop one --cluster x", []),
        ("stop --cluster x one", []),
        ("--cluster x stop one", []),
    ],
)
def test_flags_stand_anywhere(line: str, command: list[str]) -> None:
    arguments = node.read(line.split())
    assert (arguments.node, arguments.cluster, arguments.command) == ("one", "x", command)


def test_a_command_is_not_the_name_of_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        node.read(["shell", "--", "one"])
    assert "which node?" in capsys.readouterr().err


def test_what_a_node_is_cut_off_from() -> None:
    assert node.read(["partition", "one", "--from", "two", "three", "--cluster", "x"]).others == [
        "two",
        "three",
    ]
    assert node.read(["partition", "one", "--from", "two", "--from", "@host"]).others == ["two", "@host"]


@pytest.mark.parametrize("line", ["stop one --from two", "heal one --operations 5", "burn one"])
def test_flags_of_other_verbs_are_refused(line: str) -> None:
    with pytest.raises(SystemExit):
        node.read(line.split())
