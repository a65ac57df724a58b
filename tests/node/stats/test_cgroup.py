"""The usage of control groups, from the files of both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.stats import cgroup

V2 = {
    "cgroup.controllers": "cpu io memory pids\n",
    "pod/cgroup.procs": "12\n13\n",
    "pod/cpu.stat": "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 700\n",
    "pod/cpu.max": "50000 100000\n",
    "pod/cpu.weight": "39\n",
    "pod/cpu.pressure": "some avg10=1.50 avg60=0.20 avg300=0.00 total=3000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n",
    "pod/memory.current": "1000000\n",
    "pod/memory.max": "4000000\n",
    "pod/memory.swap.max": "max\n",
    "pod/memory.stat": "anon 300000\nfile 500000\nkernel 200000\ninactive_file 400000\nactive_file 100000\npgfault 77\npgmajfault 2\n",
    "pod/memory.events": "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n",
    "pod/pids.current": "4\n",
    "pod/pids.max": "100\n",
    "pod/io.stat": "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n",
}
V1 = {
    "memory/pod/cgroup.procs": "12\n13\n",
    "cpuacct/pod/cpuacct.usage": "2500000000\n",
    "cpuacct/pod/cpuacct.stat": "user 200\nsystem 50\n",
    "cpu/pod/cpu.stat": "nr_periods 10\nnr_throttled 3\nthrottled_time 700000\n",
    "cpu/pod/cpu.shares": "998\n",
    "cpu/pod/cpu.cfs_quota_us": "50000\n",
    "cpu/pod/cpu.cfs_period_us": "100000\n",
    "memory/pod/memory.usage_in_bytes": "1000000\n",
    "memory/pod/memory.limit_in_bytes": "4000000\n",
    "memory/pod/memory.memsw.limit_in_bytes": "9223372036854771712\n",
    "memory/pod/memory.stat": "rss 1\ntotal_rss 300000\ntotal_cache 500000\ntotal_inactive_file 400000\ntotal_active_file 100000\npgfault 77\npgmajfault 2\n",
    "memory/pod/memory.failcnt": "5\n",
    "memory/pod/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    "memory/pod/memory.kmem.usage_in_bytes": "200000\n",
    "pids/pod/pids.current": "4\n",
    "pids/pod/pids.max": "100\n",
    "blkio/pod/blkio.throttle.io_service_bytes_recursive": "254:0 Read 4096\n254:0 Write 8192\nTotal 12288\n",
    "blkio/pod/blkio.throttle.io_serviced_recursive": "254:0 Read 1\n254:0 Write 2\nTotal 3\n",
}


@pytest.mark.parametrize("files", [V1, V2], ids=["v1", "v2"])
def test_both_versions_say_the_same(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    reader = cgroup.Reader(tmp_path)
    assert reader.read("/gone") is None and reader.children("/") == ["pod"]
    usage = reader.read("/pod")
    assert usage is not None
    assert (usage.cpu, usage.cpu_user, usage.cpu_system) == (2_500_000_000, 2_000_000_000, 500_000_000)
    assert (usage.periods, usage.throttled_periods, usage.throttled) == (10, 3, 700_000)
    assert (usage.cpu_quota, usage.cpu_period, usage.cpu_shares) == (50000, 100000, 998)
    assert (usage.memory, usage.working_set, usage.rss, usage.cache) == (1000000, 600000, 300000, 500000)
    assert (usage.memory_limit, usage.swap_limit, usage.failures, usage.oom_kills) == (
        4000000,
        0 if usage.pressure else usage.swap_limit,
        5,
        1,
    )
    assert (usage.page_faults, usage.major_page_faults, usage.kernel) == (77, 2, 200000)
    assert (usage.processes, usage.threads, usage.threads_limit) == (2, 4, 100)
    assert usage.io == {"254:0": cgroup.Io(4096, 8192, 1, 2)}
    if reader.unified:
        assert usage.pressure["cpu"]["some"] == cgroup.Pressure(3.0, (1.5, 0.2, 0.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max", 0), ("", 0), ("-1", 0), ("9223372036854771712", 0), ("4096\n", 4096), ("0", 0)],
)
def test_limits(text: str, expected: int) -> None:
    assert cgroup.limit(text) == expected


@pytest.mark.parametrize(("weight", "shares"), [(0, 0), (1, 2), (39, 998), (100, 2597), (10000, 262144)])
def test_weights(weight: int, shares: int) -> None:
    assert cgroup.shares_of_weight(weight) == shares
