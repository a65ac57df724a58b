"""/metrics/cadvisor: the usage of every control group, under cAdvisor's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pybernetes.lib.metrics.exposition import Exposition, Labels
from pybernetes.node.stats.cgroup import Usage
from pybernetes.node.stats.filesystem import Filesystem
from pybernetes.node.stats.network import Interface

Values = Iterable[tuple[Labels, float]]


@dataclass(slots=True)
class Group:
    """A control group with what is known about it."""

    id: str
    usage: Usage
    started: float = 0.0
    pod: str = ""
    namespace: str = ""
    container: str = ""
    image: str = ""
    name: str = ""
    interfaces: list[Interface] = field(default_factory=list)
    disk: tuple[str, Filesystem, int] | None = None  # device, filesystem, what is used of it

    def labels(self, more: Labels) -> Labels:
        """Return the labels of a sample, in the order of their names."""
        own = [("container", self.container), ("id", self.id), ("image", self.image), ("name", self.name),
               ("namespace", self.namespace), ("pod", self.pod)]  # fmt: skip
        return sorted([*own, *more])


@dataclass(frozen=True, slots=True)
class Metric:
    """One family: its name without ``container_``, its type, its help and its values for a group."""

    name: str
    kind: str
    text: str
    values: Callable[[Group], Values]
    timed: bool = True


def _one(read: Callable[[Usage], float]) -> Callable[[Group], Values]:
    return lambda group: (((), read(group.usage)),)


def _quota(read: Callable[[Usage], float]) -> Callable[[Group], Values]:
    """Return a reader that gives a value only where the CPU is limited."""
    return lambda group: (((), read(group.usage)),) if group.usage.cpu_quota else ()


def _network(attribute: str) -> Callable[[Group], Values]:
    return lambda group: [
        ((("interface", interface.name),), getattr(interface, attribute)) for interface in group.interfaces
    ]


def _io(attribute: str) -> Callable[[Group], Values]:
    return lambda group: [
        ((("device", device),), getattr(io, attribute)) for device, io in group.usage.io.items()
    ]


def _disk(read: Callable[[Filesystem, int], float]) -> Callable[[Group], Values]:
    return lambda group: (
        ((("device", group.disk[0]),), read(group.disk[1], group.disk[2])),
    ) if group.disk is not None else ()  # fmt: skip


def _stall(resource: str, kind: str) -> Callable[[Group], Values]:
    return lambda group: (
        ((), group.usage.pressure[resource][kind].total),
    ) if kind in group.usage.pressure.get(resource, {}) else ()  # fmt: skip


def _failures(group: Group) -> Values:
    usage = group.usage
    return [
        ((("failure_type", kind), ("scope", scope)), count)
        for scope in ("container", "hierarchy")
        for kind, count in (("pgfault", usage.page_faults), ("pgmajfault", usage.major_page_faults))
    ]


def _device_usage(group: Group) -> Values:
    for device, io in group.usage.io.items():
        major, _, minor = device.partition(":")
        for operation, count in (("Read", io.read_bytes), ("Write", io.written_bytes)):
            yield (("device", device), ("major", major), ("minor", minor), ("operation", operation)), count


_S = 1e9
METRICS = (
    Metric("last_seen", "gauge", "Last time a container was seen by the exporter", lambda group: ()),
    Metric("cpu_user_seconds_total", "counter", "Cumulative user cpu time consumed in seconds.",
           _one(lambda u: u.cpu_user / _S)),
    Metric("cpu_system_seconds_total", "counter", "Cumulative system cpu time consumed in seconds.",
           _one(lambda u: u.cpu_system / _S)),
    Metric("cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.",
           lambda group: (((("cpu", "total"),), group.usage.cpu / _S),)),
    Metric("cpu_cfs_periods_total", "counter", "Number of elapsed enforcement period intervals.",
           _quota(lambda u: u.periods)),
    Metric("cpu_cfs_throttled_periods_total", "counter", "Number of throttled period intervals.",
           _quota(lambda u: u.throttled_periods)),
    Metric("cpu_cfs_throttled_seconds_total", "counter", "Total time duration the container has been throttled.",
           _quota(lambda u: u.throttled / _S)),
    Metric("memory_cache", "gauge", "Number of bytes of page cache memory.", _one(lambda u: u.cache)),
    Metric("memory_rss", "gauge", "Size of RSS in bytes.", _one(lambda u: u.rss)),
    Metric("memory_kernel_usage", "gauge", "Size of kernel memory allocated in bytes.", _one(lambda u: u.kernel)),
    Metric("memory_mapped_file", "gauge", "Size of memory mapped files in bytes.", _one(lambda u: u.mapped_file)),
    Metric("memory_swap", "gauge", "Container swap usage in bytes.", _one(lambda u: u.swap)),
    Metric("memory_failcnt", "counter", "Number of memory usage hits limits", _one(lambda u: u.failures)),
    Metric("memory_usage_bytes", "gauge",
           "Current memory usage in bytes, including all memory regardless of when it was accessed",
           _one(lambda u: u.memory)),
    Metric("memory_max_usage_bytes", "gauge", "Maximum memory usage recorded in bytes", _one(lambda u: u.largest)),
    Metric("memory_working_set_bytes", "gauge", "Current working set in bytes.", _one(lambda u: u.working_set)),
    Metric("memory_total_active_file_bytes", "gauge", "Current total active file in bytes.",
           _one(lambda u: u.active_file)),
    Metric("memory_total_inactive_file_bytes", "gauge", "Current total inactive file in bytes.",
           _one(lambda u: u.inactive_file)),
    Metric("memory_failures_total", "counter", "Cumulative count of memory allocation failures.", _failures),
    Metric("fs_inodes_free", "gauge", "Number of available Inodes", _disk(lambda disk, used: disk.inodes_free)),
    Metric("fs_inodes_total", "gauge", "Number of Inodes", _disk(lambda disk, used: disk.inodes)),
    Metric("fs_limit_bytes", "gauge", "Number of bytes that can be consumed by the container on this filesystem.",
           _disk(lambda disk, used: disk.capacity)),
    Metric("fs_usage_bytes", "gauge", "Number of bytes that are consumed by the container on this filesystem.",
           _disk(lambda disk, used: used)),
    Metric("fs_reads_bytes_total", "counter", "Cumulative count of bytes read", _io("read_bytes")),
    Metric("fs_reads_total", "counter", "Cumulative count of reads completed", _io("reads")),
    Metric("fs_writes_bytes_total", "counter", "Cumulative count of bytes written", _io("written_bytes")),
    Metric("fs_writes_total", "counter", "Cumulative count of writes completed", _io("writes")),
    Metric("blkio_device_usage_total", "counter", "Blkio Device bytes usage", _device_usage),
    Metric("network_receive_bytes_total", "counter", "Cumulative count of bytes received", _network("received_bytes")),
    Metric("network_receive_packets_total", "counter", "Cumulative count of packets received",
           _network("received_packets")),
    Metric("network_receive_packets_dropped_total", "counter", "Cumulative count of packets dropped while receiving",
           _network("received_dropped")),
    Metric("network_receive_errors_total", "counter", "Cumulative count of errors encountered while receiving",
           _network("received_errors")),
    Metric("network_transmit_bytes_total", "counter", "Cumulative count of bytes transmitted", _network("sent_bytes")),
    Metric("network_transmit_packets_total", "counter", "Cumulative count of packets transmitted",
           _network("sent_packets")),
    Metric("network_transmit_packets_dropped_total", "counter",
           "Cumulative count of packets dropped while transmitting", _network("sent_dropped")),
    Metric("network_transmit_errors_total", "counter", "Cumulative count of errors encountered while transmitting",
           _network("sent_errors")),
    Metric("processes", "gauge", "Number of processes running inside the container.", _one(lambda u: u.processes)),
    Metric("threads", "gauge", "Number of threads running inside the container", _one(lambda u: u.threads)),
    Metric("threads_max", "gauge", "Maximum number of threads allowed inside the container, infinity if value is zero",
           _one(lambda u: u.threads_limit)),
    Metric("oom_events_total", "counter", "Count of out of memory events observed for the container",
           _one(lambda u: u.oom_kills)),
    *(
        Metric(f"pressure_{resource}_{word}_seconds_total", "counter",
               f"Total time duration {who} due to {label} congestion.", _stall(resource, kind))
        for resource, label in (("cpu", "CPU"), ("memory", "memory"), ("io", "IO"))
        for word, kind, who in (("stalled", "full", "no tasks in the container could make progress"),
                                ("waiting", "some", "tasks in the container have waited"))
    ),
    Metric("start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds.",
           lambda group: (((), int(group.started)),), timed=False),
    Metric("spec_cpu_period", "gauge", "CPU period of the container.", _one(lambda u: u.cpu_period), timed=False),
    Metric("spec_cpu_quota", "gauge", "CPU quota of the container.", _quota(lambda u: u.cpu_quota), timed=False),
    Metric("spec_cpu_shares", "gauge", "CPU share of the container.", _one(lambda u: u.cpu_shares), timed=False),
    Metric("spec_memory_limit_bytes", "gauge", "Memory limit for the container.", _one(lambda u: u.memory_limit),
           timed=False),
    Metric("spec_memory_swap_limit_bytes", "gauge", "Memory swap limit for the container.",
           _one(lambda u: u.swap_limit), timed=False),
    Metric("spec_memory_reservation_limit_bytes", "gauge", "Memory reservation limit for the container.",
           _one(lambda u: u.memory_reservation), timed=False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """What the machine is and has."""

    cores: int
    physical_cores: int
    sockets: int
    memory: int
    swap: int
    machine_id: str
    system_uuid: str
    boot_id: str
    kernel: str
    system: str


def write(text: Exposition, groups: list[Group], machine: Machine, now: float) -> None:
    """Write all metrics."""
    moment = int(now * 1000)
    text.family("cadvisor_version_info", "gauge",
                "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor"
                " version & cadvisor revision.")  # fmt: skip
    text.sample("cadvisor_version_info", (
        ("cadvisorRevision", ""), ("cadvisorVersion", ""), ("dockerVersion", ""),
        ("kernelVersion", machine.kernel), ("osVersion", machine.system),
    ), 1)  # fmt: skip
    for metric in METRICS:
        name = f"container_{metric.name}"
        text.family(name, metric.kind, metric.text)
        for group in groups:
            values = (((), int(now)),) if metric.name == "last_seen" else metric.values(group)
            for labels, value in values:
                text.sample(name, group.labels(labels), value, moment if metric.timed else None)
    for name in ("container_scrape_error", "machine_scrape_error"):
        what = name.partition("_")[0]
        text.family(name, "gauge", f"1 if there was an error while getting {what} metrics, 0 otherwise.")
        text.sample(name, (), 0)
    own = (
        ("boot_id", machine.boot_id),
        ("machine_id", machine.machine_id),
        ("system_uuid", machine.system_uuid),
    )
    for name, help_, value in (
        ("cpu_cores", "Number of logical CPU cores.", machine.cores),
        ("cpu_physical_cores", "Number of physical CPU cores.", machine.physical_cores),
        ("cpu_sockets", "Number of CPU sockets.", machine.sockets),
        ("memory_bytes", "Amount of memory installed on the machine.", machine.memory),
        ("swap_bytes", "Amount of swap memory available on the machine.", machine.swap),
    ):
        text.family(f"machine_{name}", "gauge", help_)
        text.sample(f"machine_{name}", own, value)
