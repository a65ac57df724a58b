"""The picture of a pod's creation."""

from pybernetes.tools.trace import picture
from pybernetes.tools.trace.row import Row
from pybernetes.tools.trace.timeline import Trace

STYLE = picture.style("ascii")


def drawn(*rows: Row, **more: object) -> list[str]:
    trace = Trace("shop", "web", node="n1", phase="Running", begin=0.0, precise=True, steps=list(rows))
    for name, value in more.items():
        setattr(trace, name, value)
    return picture.draw(trace, 70, STYLE, 2.0).splitlines()


def test_bars_are_where_the_time_went() -> None:
    lines = drawn(
        Row("request", "kube-apiserver", 0.0, 0.5), Row("start", "kubelet", 0.5, 1.0, "main"), end=1.0
    )
    assert lines[0] == "pod shop/web on n1: Running"
    assert lines[1].split() == ["1", "request", "kube-apiserver", "500.0", "ms", "########"]
    assert lines[2].endswith("        ######## main")
    assert lines[3].endswith("1,000.0 ms, of which the steps account for 100.0%")


def test_what_is_under_way_goes_on_until_now() -> None:
    lines = drawn(Row("image", "kubelet", 1.0, None, "ErrImagePull", "status"))
    assert "1,000.0 ms…" in lines[1] and ".." in lines[1]
    assert lines[1].endswith("ErrImagePull (status)")


def test_what_is_known_to_the_second_says_so() -> None:
    assert (
        "~1 s" in drawn(Row("schedule", "kube-scheduler", 0.0, 1.0, "", "event Scheduled", False), end=1.0)[1]
    )


def test_texts_of_others_do_not_command_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r\n\u202e" + "x" * 100_000
    text = "\n".join(
        drawn(Row("start", "kubelet", 0.0, 1.0, evil, evil), name=evil, notes=[evil[:50]], end=1.0)
    )
    assert not any(character in text for character in "\x1b\x07\r\u202e")
    assert len([line for line in text.splitlines() if line.startswith("  8")]) == 1


def test_a_flood_of_steps_is_cut() -> None:
    assert len(drawn(*[Row("start", "kubelet", 0.0, 1.0)] * 10_000, end=1.0)) < 200


def test_nothing_is_known() -> None:
    assert drawn(begin=None, phase="") == ["pod shop/web on n1: unknown"]
