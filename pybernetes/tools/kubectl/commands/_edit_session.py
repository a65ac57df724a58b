"""A session in the editor: objects are shown until what is saved can be sent, or nothing changes any more."""

from __future__ import annotations

import os
from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands._editor import HEAD, as_text, in_editor, parsed, without_comments
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


class Results:
    """What came of an attempt: reasons to edit again, and how many objects need something else."""

    def __init__(self, about: str = HEAD) -> None:
        self.about = about
        self.reasons: list[str] = []
        self.retryable = self.missing = 0

    def invalid(self, info: Info, causes: list[str]) -> str:
        """Note that an object is to be edited again, and return what to say."""
        named = f'{info.resource.full_name} "{info.name}"'
        self.reasons += [
            f"{named} was not valid{':' if causes else ''}",
            *(f"* {cause}" for cause in causes),
            "",
        ]
        return f"error: {named} is invalid"

    def head(self) -> str:
        """Return the comment that the editor shows above the object."""
        lines = [line for reason in self.reasons for line in (reason.split("\n") if reason else [""])]
        return self.about + "".join(f"# {line}".rstrip() + "\n" for line in lines)


def session(
    context: Context, infos: list[Info], shown: list[Object], send: Callable[[Object, Info, Results], None],
    about: str = HEAD,
) -> None:  # fmt: skip
    """Let the user edit the objects, several as a list, and send each with the one that it was."""
    form = "json" if context.flags.output == "json" else "yaml"
    several = {"apiVersion": "v1", "items": shown, "kind": "List", "metadata": {}}
    original = body = as_text(shown[0] if len(shown) == 1 else several, form)
    results, kept = Results(about), ""
    while True:
        edited, file = in_editor(context, results.head() + body, f".{form}")
        if results.reasons and without_comments(edited) == without_comments(body):
            _preserved(context, file)
            raise CommandError("Edit cancelled, no valid changes were saved.")
        if kept:
            os.unlink(kept)
        kept, body, results = file, without_comments(edited), Results(about)
        if body == without_comments(original):
            os.unlink(file)
            context.warn("Edit cancelled, no changes made.")
            return
        try:
            objects = _objects(edited, len(infos) > 1)
        except CommandError as error:
            cause = f'<nil>: Invalid value: "The edited file failed validation": {error.message}'
            context.warn(results.invalid(infos[0], [cause]))
            continue
        try:
            _send_all(context, infos, objects, send, results)
        except CommandError:
            _preserved(context, file)
            raise
        if results.retryable:
            context.warn(f"You can run `kubectl replace -f {file}` to try this update again.")
            raise Exit(1)
        if results.missing:
            context.warn(f'The edits you made on deleted resources have been saved to "{file}"')
            raise Exit(1)
        if not results.reasons:
            os.unlink(file)
            return


def _preserved(context: Context, path: str) -> None:
    context.warn(f'A copy of your changes has been stored to "{path}"')


def _objects(text: str, several: bool) -> list[Object]:
    """Return the objects in an edited text."""
    value = parsed(text)
    if value is None:
        raise CommandError("EOF")
    objects = value.get("items") or [] if several and value.get("kind") == "List" else [value]
    for obj in objects:
        for field in ("apiVersion", "kind"):
            if not obj.get(field):
                raise CommandError(f"{field} not set")
    return objects


def _send_all(
    context: Context, infos: list[Info], objects: list[Object], send: Callable[[Object, Info, Results], None],
    results: Results,
) -> None:  # fmt: skip
    """Send each object with the one that has its UID."""
    for after in objects:
        try:
            resource = context.discovery.of_kind(str(after["apiVersion"]), str(after["kind"]))
        except CommandError as error:
            results.reasons += [f"The edited file had a syntax error: {error.message}", ""]
            return
        if resource.namespaced:
            after["metadata"] = {"namespace": context.namespace, **(after.get("metadata") or {})}
    for after in objects:
        uid = (after.get("metadata") or {}).get("uid")
        info = next((info for info in infos if info.object["metadata"].get("uid") == uid), None)
        if info is None:
            from pybernetes.api.text.go_printf import sharp

            raise CommandError(
                f"no original object found for &unstructured.Unstructured{{Object:{sharp(after)}}}"
            )
        send(after, info, results)
