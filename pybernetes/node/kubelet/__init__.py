"""kubelet: makes the containers of a node match the pods that are bound to it, and tells how they are.

``state`` is what the runtime has, ``plan`` (pure) what to do about it, ``status`` (pure) what to report.
"""
