"""The network of pods: every pod reaches every pod, on whatever node.

``model`` decides from the Node objects which links, routes and neighbours a node needs; ``netlink`` and
``firewall`` make the kernel have just those; ``cni`` writes the configuration that the runtime's plugins follow;
``agent`` does all of it again whenever a node or the kernel changes.
"""
