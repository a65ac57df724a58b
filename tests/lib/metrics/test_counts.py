from pybernetes.lib.metrics.counts import Counters, Histograms, exponential
from pybernetes.lib.metrics.exposition import Exposition


def test_by_labels() -> None:
    text = Exposition()
    counters = Counters("c_total", "Counted.", ("zone",))
    counters.add("a")
    counters.add("a", by=2)
    counters.add("b", by=0)
    counters.write(text)
    histograms = Histograms("h", "Seen.", exponential(1, 2, 2), ("of",))
    histograms.observe(1.5, "x")
    histograms.write(text)
    lines = text.render().decode().splitlines()
    assert 'c_total{zone="a"} 3' in lines and 'c_total{zone="b"} 0' in lines
    assert [line for line in lines if line.startswith("h_bucket")] == [
        'h_bucket{of="x",le="1"} 0',
        'h_bucket{of="x",le="2"} 1',
        'h_bucket{of="x",le="+Inf"} 1',
    ]


def test_without_labels_there_is_one_from_the_start() -> None:
    text = Exposition()
    Counters("c_total", "Counted.").write(text)
    Histograms("h", "Seen.", (1.0,)).write(text)
    assert {"c_total 0", "h_count 0"} <= set(text.render().decode().splitlines())
