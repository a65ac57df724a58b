"""Requests that are passed on: to kubelets, pods, services and other API servers."""
