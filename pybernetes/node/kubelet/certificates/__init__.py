"""The identity of the kubelet: its client certificate and its serving certificate, requested and renewed."""
