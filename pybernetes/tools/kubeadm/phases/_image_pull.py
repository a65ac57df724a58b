"""What init and join do about images before anything is changed."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.checks import images, run
from pybernetes.tools.kubeadm.init_data import say


async def pull(cluster: Object, registration: Object, ignored: frozenset[str], *, dry_run: bool) -> None:
    """Pull the images of a control plane, unless this is a dry run."""
    if dry_run:
        say("[preflight] Would pull the required images (like 'kubeadm config images pull')")
        return
    say("[preflight] Pulling images required for setting up a Kubernetes cluster")
    say("[preflight] This might take a minute or two, depending on the speed of your internet connection")
    say("[preflight] You can also perform this action beforehand using 'kubeadm config images pull'")
    await run([images.ImagePull(cluster, registration)], ignored)
