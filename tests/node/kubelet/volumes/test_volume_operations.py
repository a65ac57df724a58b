"""Mounts and unmounts are counted by upstream's names of plugins, with how they ended."""

from __future__ import annotations

import pytest

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.volumes.volume_operations import VolumeOperations, plugin_name


def test_operations_are_counted() -> None:
    metrics, out = KubeletMetrics(), Exposition()
    operations = VolumeOperations(metrics)
    with pytest.raises(OSError), operations.mounting(("u", "v"), "persistentVolumeClaim"):
        raise OSError("not yet")
    with operations.mounting(("u", "v"), "persistentVolumeClaim") as sources:
        sources.append("local")
    with operations.mounting(("u", "w"), "secret"):
        pass
    with operations.unmounting("u"):
        pass
    metrics.render(out)
    counts = [line for line in out.render().decode().splitlines() if "_count{" in line]
    prefix = 'storage_operation_duration_seconds_count{migrated="false",operation_name='
    assert counts == [
        prefix + '"volume_mount",status="fail-unknown",volume_plugin="kubernetes.io/persistentVolumeClaim"} 1',
        prefix + '"volume_mount",status="success",volume_plugin="kubernetes.io/local-volume"} 1',
        prefix + '"volume_mount",status="success",volume_plugin="kubernetes.io/secret"} 1',
        prefix + '"volume_unmount",status="success",volume_plugin="kubernetes.io/local-volume"} 1',
        prefix + '"volume_unmount",status="success",volume_plugin="kubernetes.io/secret"} 1',
        'volume_operation_total_seconds_count{operation_name="overall_volume_mount",plugin_name="kubernetes.io/local-volume"} 1',
        'volume_operation_total_seconds_count{operation_name="overall_volume_mount",plugin_name="kubernetes.io/secret"} 1',
    ]  # fmt: skip


def test_names_of_plugins() -> None:
    names = ["kubernetes.io/configmap", "kubernetes.io/empty-dir", "kubernetes.io/projected"]
    assert [plugin_name(source) for source in ("configMap", "emptyDir", "projected")] == names


def test_counters_without_labels_are_there_from_the_start() -> None:
    out = Exposition()
    KubeletMetrics().render(out)
    samples = {line for line in out.render().decode().splitlines() if line[0] != "#"}
    assert samples == {
        "kubelet_started_pods_total 0", "kubelet_image_volume_requested_total 0",
        "kubelet_image_volume_mounted_succeed_total 0", "kubelet_image_volume_mounted_errors_total 0",
    }  # fmt: skip
