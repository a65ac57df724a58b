"""Kinds of the group admissionregistration.k8s.io."""

GROUP = "admissionregistration.k8s.io"
