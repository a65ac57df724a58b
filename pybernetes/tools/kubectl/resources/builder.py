"""From the words on a command line, or from files, to the objects that they mean."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection.client import JSON
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim, raise_all
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LOCAL = """you must specify resources by --filename when --local is set.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'"""


class Builder:
    """What is asked for; ``infos`` finds it. The options are the flags of the commands."""

    args: list[str] = []
    filenames: list[str] = []
    kustomize = ""
    recursive = False
    labels: str | None = None
    fields: str | None = None
    select_all = False
    all_namespaces = False
    empty_selector = False  # a type alone means all of its objects
    enforce_namespace = False  # an object of a file must be in the namespace that is named
    default_namespace = True  # an object of a file that names no namespace is in that of the command line
    latest = False  # objects of files are read from the server
    require_object = True
    flatten = True
    local = False
    single_type = False
    continue_on_error = False
    chunk = 0
    accept = JSON
    query: dict[str, Any] = {}
    subresource = ""
    ignore: Any = None  # which errors do not count
    accepts: Any = None  # raises an error for an object of a file that the command cannot use
    categories = True  # a type may be a category
    scheme = ""  # the original's name of the kinds that the command knows, if it knows the built-in ones only
    settled = False  # an object of a file that names no version has the one that the server prefers
    lists_together = False  # the errors of a list become one, which is printed as it is
    validating = False  # objects of files are looked at before they are sent

    def __init__(self, context: Context, **options: Any) -> None:
        self.context = context
        self.errors: list[CommandError] = []
        self.single = False  # the user means one object
        self.one_file = False  # what there is comes from one file
        for name, value in options.items():
            if not hasattr(Builder, name):
                raise TypeError(name)
            setattr(self, name, value)

    @classmethod
    def from_flags(cls, context: Context, **options: Any) -> Builder:
        """Return a builder with the flags that the command has."""
        flags = context.flags
        options_given: dict[str, Any] = {"args": list(flags.args)}
        for name, flag in (
            ("filenames", "filename"), ("kustomize", "kustomize"), ("recursive", "recursive"),
            ("labels", "selector"), ("fields", "field-selector"), ("all_namespaces", "all-namespaces"),
            ("chunk", "chunk-size"), ("local", "local"), ("select_all", "all"),
        ):  # fmt: skip
            if flags.has(flag):
                options_given[name] = getattr(flags, flag.replace("-", "_"))
        if flags.has("validate"):
            options_given["validating"] = context.validation() != "Ignore"
        options_given["enforce_namespace"] = context.namespace_given and not options_given.get(
            "all_namespaces"
        )
        return cls(context, **{**options_given, **options})

    @property
    def namespace(self) -> str:
        """Where names are looked up; nowhere in particular for all namespaces."""
        return "" if self.all_namespaces else self.context.namespace

    def for_each(self, work: Callable[[Info], None]) -> int:
        """Do work for each object, keep the errors of those that fail, and return how many objects there were."""
        count = 0
        for info in self.infos():
            count += 1
            try:
                work(info)
            except CommandError as error:
                self.errors.append(error)
        self.finish()
        return count

    def infos(self) -> Iterator[Info]:
        """Return the objects, each read when it is asked for; one that cannot be had raises, or is kept in ``errors``."""
        objects = self._objects()
        if not self.scheme:
            return objects
        from pybernetes.tools.kubectl.resources.built_in import known

        return known(objects, self.scheme, self.keep)

    def _objects(self) -> Iterator[Info]:
        self._check_flags()
        if self.filenames or self.kustomize:
            from pybernetes.tools.kubectl.resources import file_objects

            return file_objects.objects(self)
        if self.local:
            raise Verbatim("error: " + LOCAL)
        from pybernetes.tools.kubectl.resources import named_objects

        return self._each_step(named_objects.steps(self))

    def _each_step(self, steps: list[Callable[[], Iterator[Info]]]) -> Iterator[Info]:
        for step in steps:
            try:
                yield from step()
            except CommandError as error:
                self.keep(error)

    def keep(self, error: CommandError) -> None:
        """Keep an error if the rest shall go on, or raise it, unless it does not count."""
        if self.ignore is not None and self.ignore(error):
            return
        if not self.continue_on_error:
            raise error
        self.errors.append(error)

    def all(self) -> list[Info]:
        """Return all objects at once."""
        return list(self.infos())

    def _check_flags(self) -> None:
        if self.kustomize:
            refusals = (
                (self.filenames, "only one of -f or -k can be specified"),
                (self.recursive, "the -k flag can't be used with -f or -R"),
            )
            raise_all([CommandError(text) for flag, text in refusals if flag])
        self.labels = self.labels.strip() if self.labels else None
        self.fields = self.fields.strip() if self.fields else None
        if self.select_all and (self.labels or self.fields):
            raise CommandError("setting 'all' parameter but found a non empty selector. ")

    def finish(self) -> None:
        """Raise the errors that were kept."""
        raise_all(self.errors)
