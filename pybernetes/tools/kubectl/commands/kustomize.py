"""kustomize: builds the kustomization of a folder and prints its objects."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.kustomize.options import Options

SUMMARY = "Build a kustomization target from a directory or URL"
USAGE = "kustomize DIR [flags]"
EXAMPLES = """
  # Build the current working directory
  kubectl kustomize

  # Build some shared configuration directory
  kubectl kustomize /home/config/production

  # Build from github
  kubectl kustomize https://github.com/kubernetes-sigs/kustomize.git/examples/helloWorld?ref=v1.0.6
"""
FLAGS = (
    """
- as-current-user bool false | use the uid and gid of the command executor to run the function in the container
- enable-alpha-plugins bool false | enable kustomize plugins
- enable-helm bool false | Enable use of the Helm chart inflator generator.
- enable-managedby-label bool false |
e env array | a list of environment variables to be used by functions
- helm-api-versions array | Kubernetes api versions used by Helm for Capabilities.APIVersions
- helm-command string helm | helm command (path to executable)
- helm-debug bool false | Enable debug output from the Helm chart inflator generator.
- helm-kube-version string | Kubernetes version used by Helm for Capabilities.KubeVersion
- load-restrictor string LoadRestrictionsRootOnly | if set to 'LoadRestrictionsNone', local kustomizations may load files from outside their root. This does, however, break the relocatability of the kustomization.
- mount array | a list of storage options read from the filesystem
- network bool false | enable network access for functions that declare it
- network-name string bridge | the docker network to run the container in
o output string | If specified, write output to this path.
- reorder string legacy |
""",
)
_RESTRICTIONS = ("LoadRestrictionsRootOnly", "LoadRestrictionsNone")
DEPRECATED = {
    "enable-managedby-label": "The flag `enable-managedby-label` has been deprecated. Use the `managedByLabel` option "
    "in the `buildMetadata` field instead.",
    "reorder": "use the new 'sortOptions' field in kustomization.yaml instead.",
}
_FOR_FUNCTIONS = ("as-current-user", "env", "mount", "network", "network-name")


def run(context: Context) -> None:
    """Build a kustomization and print or write its objects."""
    import os

    from pybernetes.tools.kubectl.kustomize.build import build
    from pybernetes.tools.kubectl.kustomize.writer import documents

    for name in _FOR_FUNCTIONS:
        if name in context.flags.changed:
            context.warn(f"Flag --{name} changes nothing: functions in containers are not run")
    if len(context.args) > 1:
        raise CommandError("specify one path to kustomization.yaml")
    options = _options(context)
    resources = build(context.args[0] if context.args else ".", options, context.warn)
    output = context.flags.output
    if output and os.path.isdir(output):
        from pybernetes.tools.kubectl.kustomize.files import write_each

        write_each(resources, output)
        return
    text = documents(resources)
    if not output:
        context.stdout.write(text)
        return
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CommandError(f"open {output}: {(error.strerror or '').lower()}") from None


def _options(context: Context) -> Options:
    from pybernetes.tools.kubectl.kustomize.options import Options

    flags = context.flags
    if flags.load_restrictor and flags.load_restrictor not in _RESTRICTIONS:
        raise CommandError(
            f"illegal flag value --load-restrictor {flags.load_restrictor}; "
            f"legal values: [{' '.join(_RESTRICTIONS)}]"
        )
    if flags.reorder not in ("legacy", "none"):
        raise CommandError(f"illegal flag value --reorder {flags.reorder}; legal values: [legacy none]")
    return Options(
        restriction=flags.load_restrictor or _RESTRICTIONS[0],
        reorder=flags.reorder if "reorder" in flags.changed else "unspecified",
        managed_by=flags.enable_managedby_label
        or context.environment.get("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL") == "on",
        plugins=flags.enable_alpha_plugins,
        helm=flags.enable_helm or flags.enable_alpha_plugins,
        helm_command=flags.helm_command,
        helm_api_versions=list(flags.helm_api_versions),
        helm_kube_version=flags.helm_kube_version,
        helm_debug=flags.helm_debug,
        environment=context.environment,
    )
