"""Labels and annotations: what label and annotate share."""

from __future__ import annotations

import copy

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted, raise_all
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Callable

    from pybernetes.api.resource import Object


_CHANGE_CAUSE = "kubernetes.io/change-cause"


def flags(manager: str, what: str, files: str = shared_flags.FILES) -> tuple[str, ...]:
    """Return the flags of a command that changes labels or annotations."""
    return (
        files, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.RECORD,
        shared_flags.ALL_NAMESPACES, shared_flags.field_manager(manager),
        f"""
- all bool false | all objects of the types in the namespace
- list bool false | show the {what}
- local bool false | do not ask the server
- overwrite bool false | change {what} that are there already
- resource-version string | only if the object has this version
""",
    )  # fmt: skip


def is_pair(word: str) -> bool:
    """Return whether an argument sets a key or removes it."""
    return ("=" in word and word[0] != "=") or (word.endswith("-") and word != "-")


def split(
    args: list[str], what: str, is_change: Callable[[str], bool] = is_pair
) -> tuple[list[str], list[str]]:
    """Split the arguments into objects and changes, which come last."""
    resources: list[str] = []
    changes: list[str] = []
    for word in args:
        if is_change(word):
            changes.append(word)
        elif changes:
            raise CommandError(f"all resources must be specified before {what} changes: {word}")
        else:
            resources.append(word)
    return resources, changes


def _parse(what: str, pairs: list[str]) -> tuple[dict[str, str], list[str]]:
    wanted: dict[str, str] = {}
    removed: list[str] = []
    for pair in pairs:
        if "=" in pair:
            if what == "label":
                _check_label(pair)
            key, _, value = pair.partition("=")
            wanted[key] = value
        else:
            removed.append(pair[:-1])
    both = [key for key in removed if key in wanted]
    if both and what == "label":
        raise CommandError("can not both modify and remove a label in the same command")
    if both:
        raise CommandError(
            f"can not both modify and remove the following annotation(s) in the same command: {', '.join(both)}"
        )
    return wanted, removed


def _check_label(pair: str) -> None:
    from pybernetes.api.validation.names import label_value

    if pair.count("=") != 1:
        raise CommandError(f"invalid label spec: {pair}")
    if errors := label_value(pair.partition("=")[2]):
        raise CommandError(f"invalid label value: {quoted(pair)}: {';'.join(errors)}")


def change(context: Context, what: str, done: str, field: str) -> None:
    """Set and remove labels or annotations of what the arguments name."""
    flags = context.flags
    dry_run = context.dry_run()
    resources, pairs = split(context.args, what)
    wanted, removed = _parse(what, pairs)
    if flags.list and flags.output:
        raise CommandError("--list and --output may not be specified together")
    _check(context, what, resources, dry_run)
    if not wanted and not removed and not flags.list:
        raise CommandError(f"at least one {what} update is required")
    builder = Builder.from_flags(
        context, args=resources, continue_on_error=True, latest=not flags.local, select_all=False,
        empty_selector=flags.all,
    )  # fmt: skip
    infos = builder.infos()
    if flags.resource_version and not builder.single:
        raise CommandError("--resource-version may only be used with a single resource")
    for info in infos:
        try:
            _one(context, info, what, done, field, wanted, removed, dry_run, builder.single)
        except CommandError as error:
            builder.errors.append(error)
    builder.finish()


def _check(context: Context, what: str, resources: list[str], dry_run: str) -> None:
    flags = context.flags
    name = "pod" if what == "label" else "rsrc"
    if flags.all and flags.selector:
        raise CommandError("cannot set --all and --selector at the same time")
    if flags.all and flags.field_selector:
        raise CommandError("cannot set --all and --field-selector at the same time")
    if flags.local:
        if dry_run == "server":
            raise CommandError("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
        if resources:
            raise CommandError(
                f"can only use local files by -f {name}.yaml or --filename={name}.json when --local=true is set"
            )
        if not flags.filename and not flags.kustomize:
            raise CommandError(
                f"one or more files must be specified as -f {name}.yaml or --filename={name}.json"
            )
    elif not resources and not flags.filename and not flags.kustomize:
        raise CommandError(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>"
        )


def _one(
    context: Context, info: Info, what: str, done: str, field: str, wanted: dict[str, str], removed: list[str],
    dry_run: str, single: bool,
) -> None:  # fmt: skip
    flags = context.flags
    value = copy.deepcopy(info.object)
    metadata = value.setdefault("metadata", {})
    marks = dict(metadata.get(field) or {})
    local = dry_run == "client" or flags.local or flags.list
    if what == "label" and not local:
        for key in removed:
            if key not in marks:
                context.out(f"label {quoted(key)} not found.")
    if not flags.overwrite:
        _check_overwrites(what, marks, wanted)
    added = [key for key in wanted if marks.get(key) != wanted[key]]
    dropped = [key for key in removed if key in marks]
    marks.update(wanted)
    for key in removed:
        marks.pop(key, None)
    metadata[field] = marks
    recorded = context.record({}).get("metadata") or {}
    if recorded:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **recorded["annotations"]}
    if flags.list:
        if not single:
            context.out(f"Listing {field} for {info.resource.kind}.{info.resource.group}/{info.name}:")
        for key in sorted(marks):
            context.out(context.shown(f"{'' if single else ' '}{key}={marks[key]}"))
        return
    if what == "label":
        done = _label_message(added, dropped)
    if not local:
        changes: Object = {**{key: wanted[key] for key in added}, **dict.fromkeys(dropped)}
        patch: Object = {"metadata": {field: changes}} if changes or _emptied(info, field) else {}
        for key, text in (recorded.get("annotations") or {}).items():
            patch.setdefault("metadata", {}).setdefault("annotations", {})[key] = text
        if flags.resource_version:
            patch.setdefault("metadata", {})["resourceVersion"] = flags.resource_version
        if patch or what == "annotation":  # labels that are as they shall be need no request
            answer = context.client.patch(
                info.resource, info.namespace, info.name, patch, query=context.write_query()
            )
            value = answer if what == "annotation" else value
    printers.make(context, done)(value)


def _emptied(info: Info, field: str) -> bool:
    """Return whether an object has no annotations, and gets an empty map of them."""
    return field == "annotations" and not (info.object.get("metadata") or {}).get(field)


def _check_overwrites(what: str, marks: dict[str, str], wanted: dict[str, str]) -> None:
    taken = [key for key in wanted if key in marks and marks[key] != wanted[key] and key != _CHANGE_CAUSE]
    if not taken:
        return
    if what == "label":
        raise_all(
            [
                CommandError(f"'{key}' already has a value ({marks[key]}), and --overwrite is false")
                for key in taken
            ]
        )
    raise CommandError(
        "--overwrite is false but found the following declared annotation(s): "
        + "; ".join(f"'{key}' already has a value ({marks[key]})" for key in taken)
    )


def _label_message(added: list[str], dropped: list[str]) -> str:
    if added and dropped:
        return "modified"
    if added:
        return "labeled"
    return "unlabeled" if dropped else "not labeled"
