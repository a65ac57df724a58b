"""VolumeBinding: where a pod's volumes let it be, and having them bound once its node is chosen."""
