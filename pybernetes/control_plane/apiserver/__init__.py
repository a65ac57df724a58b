"""kube-apiserver: the one door to the store."""
