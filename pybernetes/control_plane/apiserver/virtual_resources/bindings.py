"""Binding: posted to a namespace's bindings, it is the binding subresource of the pod that it names."""

from pybernetes.control_plane.apiserver.subresources.binding import handle

__all__ = ["handle"]
