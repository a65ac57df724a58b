"""From the words on a command line, or from files, to the objects that they mean."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection.client import JSON
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, NotValidated, Verbatim
from pybernetes.tools.kubectl.resources.discovery import Resource, split_word, with_types
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MISSING = """You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'"""
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

    def each(self, work: Callable[[Info], None]) -> int:
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
        self._check_flags()
        if self.filenames or self.kustomize:
            return self._from_files()
        if self.local:
            raise Verbatim("error: " + LOCAL)
        return self._steps(self._plan())

    def _steps(self, plan: list[Any]) -> Iterator[Info]:
        for step in plan:
            try:
                yield from step()
            except CommandError as error:
                self._keep(error)

    def _keep(self, error: CommandError) -> None:
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
            from pybernetes.tools.kubectl.errors import raise_all

            raise_all([CommandError(text) for flag, text in refusals if flag])
        self.labels = self.labels.strip() if self.labels else None
        self.fields = self.fields.strip() if self.fields else None
        if self.select_all and (self.labels or self.fields):
            raise CommandError("setting 'all' parameter but found a non empty selector. ")

    # Objects of files

    def _from_files(self) -> Iterator[Info]:
        if self.args:
            if any("/" in word for word in self.args):
                raise CommandError("resource/name arguments cannot be provided when a path is specified")
            if len(self.args) > 1:
                raise CommandError("name cannot be provided when a path is specified")
            raise CommandError(
                "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
            )
        if self.filenames.count("-") > 1:
            raise CommandError("standard input cannot be used for multiple arguments")
        from pybernetes.tools.kubectl.resources import manifests

        names = [self.kustomize] if self.kustomize else manifests.expand(self.filenames, self.recursive)
        matcher = None
        if self.labels:
            from pybernetes.api.selectors import SelectorError, parse_labels

            try:
                matcher = parse_labels(self.labels)
            except SelectorError as error:
                raise CommandError(f'the provided selector "{self.labels}" is not valid: {error}') from None
        self.single = self.one_file = len(names) == 1 and names[0] != "-" and not self.kustomize
        return self._of_names(names, matcher)

    def _of_names(self, names: list[str], matcher: Any) -> Iterator[Info]:
        count = 0
        for name in names:
            for info in self._guarded(name):
                if matcher is not None and not matcher.matches(
                    (info.object.get("metadata") or {}).get("labels") or {}
                ):
                    continue
                count += 1
                yield info
        self.single = self.single and count == 1

    def _guarded(self, name: str) -> Iterator[Info]:
        try:
            for value, source in self._values(name):
                for item in self._flat(value):
                    try:
                        yield self._loaded(item, source)
                    except NotValidated:
                        raise
                    except CommandError as error:
                        self._keep(error)
        except CommandError as error:
            if not self.continue_on_error:
                raise
            self.errors.append(error)

    def _values(self, name: str) -> Iterator[tuple[Any, str]]:
        """Yield what is in a file, or what a kustomization is built to, and what messages call it."""
        if self.kustomize:
            from pybernetes.tools.kubectl.kustomize.build import objects

            for value in objects(name, self.context):
                yield value, name
            return
        from pybernetes.tools.kubectl.resources import manifests

        raw, source = manifests.read(name, self.context.take_input() if name == "-" else None)
        for value in manifests.values(raw, source):
            yield value, source

    def _flat(self, value: Any) -> Iterator[Any]:
        if self.flatten and isinstance(value, dict) and isinstance(value.get("items"), list):
            if str(value.get("kind", "")).endswith("List"):
                kind = str(value["kind"]).removesuffix("List")
                for item in value["items"]:
                    if isinstance(item, dict) and kind:
                        item.setdefault("kind", kind)
                        item.setdefault("apiVersion", value.get("apiVersion", ""))
                    yield from self._flat(item)
                return
        yield value

    def _loaded(self, value: Any, source: str) -> Info:
        from pybernetes.tools.kubectl.resources import object_check

        if self.validating:
            object_check.validate(value, source)
        object_check.check(value, source)
        object_check.check_metadata(value, source)
        if self.accepts is not None:
            self.accepts(value)
        metadata = value.get("metadata") or {}
        name = metadata.get("name") or ""
        if self.local:
            group, _, version = value["apiVersion"].rpartition("/")
            kind = value["kind"]
            resource = Resource(group, version, kind.lower() + "s", kind.lower(), kind, True)
            return Info(resource, metadata.get("namespace") or "", name, value, source)
        if self.validating:
            self._reach(source)
        try:
            resource = self.context.discovery.of_kind(value["apiVersion"], value["kind"], not self.validating)
        except CommandError as error:
            if self.validating and not error.message.startswith("no matches"):
                raise object_check.not_validated(source, error) from None
            if not error.message.startswith("no matches"):
                raise CommandError(f'unable to recognize "{source}": {error.message}') from None
            raise CommandError(
                f'resource mapping not found for name: "{name}" namespace: "{metadata.get("namespace") or ""}" '
                f'from "{source}": {error.message}'
            ) from None
        info = Info(resource, metadata.get("namespace") or "", name, value, source)
        if self.default_namespace:
            self._set_namespace(info)
        if self.latest:
            if resource.namespaced and not info.namespace:
                kind = f"{resource.group}/{resource.version}, Resource={resource.plural}"
                raise CommandError(f'no namespace set on resource {kind} "{name}"')
            info.object = self.context.client.get(
                resource, info.namespace, name, accept=self.accept, query=self.query
            )
        return info

    def _reach(self, source: str) -> None:
        """Refuse an object if the server, which validates it, cannot be reached."""
        client = self.context.client
        try:
            client.open()
        except NoConnection as error:
            from pybernetes.tools.kubectl.resources.object_check import not_validated

            raise not_validated(
                source, error.about("GET", f"{client.access.server}/openapi/v2?timeout=32s")
            ) from None

    def _set_namespace(self, info: Info) -> None:
        if not info.resource.namespaced:
            info.namespace = ""
            return
        wanted = self.context.namespace
        if not info.namespace:
            info.namespace = wanted
            info.object["metadata"] = {**(info.object.get("metadata") or {}), "namespace": wanted}
        elif self.enforce_namespace and info.namespace != wanted:
            raise CommandError(
                f'the namespace from the provided object "{info.namespace}" does not match the namespace "{wanted}". '
                f"You must pass '--namespace={info.namespace}' to perform this operation."
            )

    # Objects of arguments

    def _plan(self) -> list[Any]:
        args = with_types(self.args)
        slashes = sum("/" in word for word in args)
        if slashes and slashes != len(args):
            raise CommandError(
                "there is no need to specify a resource type as a separate argument when passing arguments in "
                "resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of "
                "'kubectl get resource resource/<resource_name>'"
            )
        tuples = [split_word(word) for word in args] if slashes else []
        types, names = ([], []) if tuples else (_types(self, args[0]) if args else [], args[1:])
        selecting = self.labels or self.fields or self.select_all
        if len(args) == 1 and not tuples and self.empty_selector:
            selecting = True
        if selecting:
            return self._by_selector(types, names, tuples)
        if tuples:
            return self._by_tuple(tuples)
        if names:
            if len(types) > 1:
                raise CommandError("you must specify only one resource")
            resource = self.context.discovery.find(types[0])
            self._check_place(resource)
            self.single = len(names) == 1
            return [self._getter(resource, name) for name in names]
        if types:
            for type_name in types:
                self.context.discovery.find(type_name)
            raise CommandError("resource(s) were provided, but no name was specified")
        raise Verbatim("error: " + MISSING)

    def _by_selector(self, types: list[str], names: list[str], tuples: list[tuple[str, str]]) -> list[Any]:
        if names:
            raise CommandError("name cannot be provided when a selector is specified")
        if tuples:
            raise CommandError(
                "selectors and the all flag cannot be used when passing resource/name arguments"
            )
        if not types:
            raise CommandError("at least one resource must be specified to use a selector")
        if self.subresource:
            raise CommandError("subresource cannot be used when bulk resources are specified")
        if len(types) > 1 and self.single_type:
            raise CommandError("you may only specify a single resource type")
        resources = list(dict.fromkeys(self.context.discovery.find(word) for word in types))
        return [self._lister(resource) for resource in resources]

    def _by_tuple(self, tuples: list[tuple[str, str]]) -> list[Any]:
        resources = {word: self.context.discovery.find(word) for word, _ in tuples}
        if self.single_type and len(set(resources.values())) > 1:
            raise CommandError("you may only specify a single resource type")
        for resource in resources.values():
            self._check_place(resource)
        self.single = len(tuples) == 1
        return [self._getter(resources[word], name) for word, name in tuples]

    def _check_place(self, resource: Resource) -> None:
        if resource.namespaced and not (self.default_namespace and self.namespace):
            if self.all_namespaces:
                raise CommandError("a resource cannot be retrieved by name across all namespaces")
            raise CommandError("namespace may not be empty when retrieving a resource by name")

    def _getter(self, resource: Resource, name: str) -> Any:
        def step() -> Iterator[Info]:
            info = Info(resource, self.namespace if resource.namespaced else "", name)
            if self.require_object:
                info.object = self.context.client.get(
                    resource,
                    info.namespace,
                    name,
                    accept=self.accept,
                    query=self.query,
                    subresource=self.subresource,
                )
            yield info

        return step

    def _lister(self, resource: Resource) -> Any:
        def step() -> Iterator[Info]:
            namespace = self.namespace if resource.namespaced else ""
            whole = self.context.client.list(
                resource, namespace, chunk=self.chunk, accept=self.accept, labels=self.labels, fields=self.fields,
                **self.query,
            )  # fmt: skip
            if whole.get("kind") == "Table" or not self.flatten:
                yield Info(resource, namespace, "", whole)
                return
            for item in whole.get("items") or ():
                item.setdefault("apiVersion", resource.api_version)
                item.setdefault("kind", resource.kind)
                metadata = item.get("metadata") or {}
                yield Info(resource, metadata.get("namespace") or "", metadata.get("name") or "", item)

        return step

    def finish(self) -> None:
        """Raise the errors that were kept."""
        from pybernetes.tools.kubectl.errors import raise_all

        raise_all(self.errors)


def _types(builder: Builder, word: str) -> list[str]:
    names: list[str] = []
    for type_name in word.split(",") if builder.categories else ():
        expanded = builder.context.discovery.category(type_name)
        names += [item.full_name for item in expanded] if expanded else [type_name]
    return list(dict.fromkeys(names)) if builder.categories else [word]
