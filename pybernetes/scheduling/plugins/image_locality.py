"""ImageLocality: better where a pod's images are already, less so if few nodes have them."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.plugin import MAX_SCORE, ScorePlugin
from pybernetes.scheduling.pods import Pod

_MB = 1024 * 1024
MIN_THRESHOLD = 23 * _MB
MAX_CONTAINER_THRESHOLD = 1000 * _MB


class ImageLocality(ScorePlugin):
    """The size of an image is scaled by the share of nodes that have it, so that not all pods go to one node."""

    name = "ImageLocality"
    points = ("score",)

    def score_key(self, pod: Pod) -> Hashable | None:
        if len(self.snapshot.images.values) == 1:
            return None  # no node says what it has
        return pod.shape.images, pod.shape.image_count, self.snapshot.image_version

    def score(self, pod: Pod, rows: Rows) -> Ints:
        snapshot, images = self.snapshot, self.snapshot.images
        total = np.zeros(len(snapshot.valid[rows]), dtype=np.int64)
        for name in pod.shape.images:
            table = np.array([image_set.size(name) for image_set in images.values], dtype=np.int64)
            sizes = table[images.codes[snapshot.all]]
            share = int((sizes >= 0).sum()) / max(snapshot.node_count, 1)
            total += (np.maximum(sizes, 0) * share).astype(np.int64)[rows]
        most = MAX_CONTAINER_THRESHOLD * max(pod.shape.image_count, 1)
        return MAX_SCORE * (np.clip(total, MIN_THRESHOLD, most) - MIN_THRESHOLD) // (most - MIN_THRESHOLD)


PLUGIN = ImageLocality
