"""A kustomization that is being built: its resources, then its generators, components and transformers."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import configuration, crds, kustomization, plugins, schema
from pybernetes.tools.kubectl.kustomize.accumulator import Accumulator, Variable
from pybernetes.tools.kubectl.kustomize.built_in import generators, transformers
from pybernetes.tools.kubectl.kustomize.errors import BuildError, TooLarge, wrapped
from pybernetes.tools.kubectl.kustomize.factory import from_bytes, handled
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec
from pybernetes.tools.kubectl.kustomize.origin import Origin, mark_generated, mark_transformed, of_plugin
from pybernetes.tools.kubectl.kustomize.remote import NotHttp, TimedOut
from pybernetes.tools.kubectl.kustomize.resource import ORIGIN, Resource
from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList
from pybernetes.tools.kubectl.kustomize.transformers._entries import add_entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader
    from pybernetes.tools.kubectl.kustomize.options import Options

MAX_DEPTH = 50
_ANNOTATIONS = FieldSpec("metadata/annotations", create=True)


class Target:
    """A folder with a kustomization."""

    def __init__(self, loader: Loader, options: Options, warn: Callable[[str], None], depth: int = 0) -> None:
        self.loader, self.options, self.warn, self.depth = loader, options, warn, depth
        self.plugin = plugins.Plugin(loader, options)
        loader.budget.enter()
        data, self.file_name = kustomization.find(loader)
        self.kustomization = kustomization.read(data, loader.root, warn)
        self.origin: Origin | None = None
        self.helm_namespace = ""
        if depth > MAX_DEPTH:
            raise TooLarge(f"kustomizations refer to one another more than {MAX_DEPTH} deep")

    def get(self, field: str) -> Any:
        """Return a field of the kustomization that is a list."""
        return self.kustomization.get(field) or []

    def use_schema(self, first: bool) -> None:
        """Take the schema that the kustomization names, unless one above it did."""
        wanted = self.kustomization.get("openapi") or {}
        data = self.loader.load(wanted["path"]) if "path" in wanted else None
        if not first and schema.is_chosen():
            return
        if data is not None:
            if "version" in wanted:
                raise BuildError("builtin version and custom schema provided, cannot use both")
            from pybernetes.tools.kubectl.kustomize.typed import load

            document = load(data)
            schema.use(document if isinstance(document, dict) else {})
            return
        version = wanted.get("version", "")
        if version and version != schema.BUILT_IN:
            raise BuildError("the specified OpenAPI version is not built in")
        schema.use(None, version)

    def accumulate(self, accumulator: Accumulator) -> Accumulator:
        """Return what the kustomization comes to, added to what is there."""
        with wrapped("accumulating resources"):
            accumulator = self._resources(accumulator, self.get("resources"))
        accumulator.configuration = accumulator.configuration.merge(
            configuration.load(self.loader, self.get("configurations"))
        )
        paths = self.get("crds")
        with wrapped(f"loading CRDs [{' '.join(paths)}]"):
            added = crds.load(self.loader, paths) if paths else None
        if added is not None:
            accumulator.configuration = accumulator.configuration.merge(added)
        self._generate(accumulator)
        with wrapped("accumulating components"):
            accumulator = self._components(accumulator, self.get("components"))
        self._transform(accumulator)
        self._validate(accumulator)
        if variables := [Variable(value) for value in self.get("vars")]:
            with wrapped(f"merging vars [{' '.join(variable.written for variable in variables)}]"):
                accumulator.merge_variables(variables)
        return accumulator

    # Resources

    def _resources(self, accumulator: Accumulator, paths: list[str]) -> Accumulator:
        for path in paths:
            try:
                self._file(accumulator, path)
                continue
            except (NotHttp, TooLarge):
                raise
            except BuildError as error:
                first = error
            try:
                loader = self.loader.new(path)
            except BuildError as error:
                if "MalformedYAMLError" in first.message and not isinstance(error, TimedOut):
                    raise first from None
                raise BuildError(f"accumulation err='{first.message}': {error.message}") from None
            try:
                accumulator = self._directory(accumulator, loader, path, component=False)
            except TooLarge:
                raise
            except BuildError as error:
                error.message = f"accumulation err='{first.message}': {error.message}"
                raise
        return accumulator

    def _file(self, accumulator: Accumulator, path: str) -> None:
        with wrapped(f"accumulating resources from '{path}'"):
            data = self.loader.load(path)
            try:
                resources = ResourceList(from_bytes(data))
            except BuildError as error:
                raise handled(error, path) from None
        if self.origin is not None:
            add_entries(resources, {ORIGIN: self.origin.append(path).text()}, [_ANNOTATIONS])
        with wrapped(f"merging resources from '{path}'"):
            accumulator.resources.append_all(resources.items)

    def _components(self, accumulator: Accumulator, paths: list[str]) -> Accumulator:
        from pybernetes.api.text.go_format import quote

        for path in paths:
            try:
                loader = self.loader.new(path)
            except BuildError as error:
                raise BuildError(f"loader.New {quote(error.message)}") from None
            try:
                accumulator = self._directory(accumulator, loader, path, component=True)
            except BuildError as error:
                raise BuildError(f"accumulateDirectory: {quote(error.message)}") from None
        return accumulator

    def _directory(self, accumulator: Accumulator, loader: Loader, path: str, component: bool) -> Accumulator:
        try:
            with wrapped(f"couldn't make target for path '{loader.root}'"):
                inner = Target(loader, self.options, self.warn, self.depth + 1)
            return self._included(accumulator, inner, path, component)
        finally:
            loader.clean()

    def _included(self, accumulator: Accumulator, inner: Target, path: str, component: bool) -> Accumulator:
        root, kind = inner.loader.root, inner.kustomization["kind"]
        inner.origin = self.origin.append(path) if self.origin is not None else None
        inner.helm_namespace = self.kustomization.get("namespace") or self.helm_namespace
        inner.use_schema(first=False)
        if component and kind != "Component":
            raise BuildError(f"expected kind 'Component' for path '{root}' but got '{kind}'")
        if not component and kind == "Component":
            raise BuildError(f"expected kind != 'Component' for path '{root}'")
        with wrapped(f"recursed accumulation of path '{root}'"):
            made = inner.accumulate(accumulator if component else Accumulator())
        if component:
            accumulator = Accumulator()
        with wrapped(f"recursed merging from path '{root}'"):
            accumulator.merge(made)
        return accumulator

    # Generators and transformers

    def _configured(self, texts: list[str]) -> list[Resource]:
        """Return the objects that configure plugins: those of texts, and those of the files that others name."""
        accumulator, paths = Accumulator(), []
        for text in texts:
            try:
                resources = ResourceList(from_bytes(text.encode()))
            except BuildError:
                paths.append(text)
                continue
            if self.origin is not None:
                place = self.origin.append(self.file_name).text()
                for resource in resources.items:
                    resource.set_map("annotations", {**resource.annotations, ORIGIN: place})
            accumulator.resources.append_all(resources.items)
        return self._resources(accumulator, paths).resources.items

    def _generate(self, accumulator: Accumulator) -> None:
        with_origins = [(plugin, self._built_in(kind)) for kind, plugin in generators(self)]
        with wrapped("loading generator plugins"):
            for resource in self._configured(self.get("generators")):
                with wrapped("failed to load generator"):
                    plugin = plugins.from_resource(resource, self.plugin)
                    if not hasattr(plugin, "generate"):
                        raise BuildError(f"plugin {resource.original_id} not a generator")
                with_origins.append((plugin, of_plugin(resource, self.origin)))
        for plugin, origin in with_origins:
            made = ResourceList(plugin.generate())
            mark_generated(made.items, origin)
            with wrapped(f"merging from generator {_shown(plugin)}"):
                accumulator.resources.absorb(made.items)

    def _built_in(self, kind: str) -> Origin | None:
        return self.origin.configuring(self.file_name, kind) if self.origin is not None else None

    def _external(self, field: str) -> list[tuple[Any, Origin | None]]:
        with_origins = []
        for resource in self._configured(self.get(field)):
            plugin = plugins.from_resource(resource, self.plugin)
            if not hasattr(plugin, "transform"):
                raise BuildError(f"plugin {resource.original_id} not a transformer")
            with_origins.append((plugin, of_plugin(resource, self.origin)))
        return with_origins

    def _transform(self, accumulator: Accumulator) -> None:
        with_origins = [
            (plugin, self._built_in(kind)) for kind, plugin in transformers(self, accumulator.configuration)
        ]
        for plugin, origin in [*with_origins, *self._external("transformers")]:
            plugin.transform(accumulator.resources)
            if origin is not None:
                mark_transformed(accumulator.resources.items, origin)
            accumulator.resources.drop_gone()

    def _validate(self, accumulator: Accumulator) -> None:
        for validator, _ in self._external("validators"):
            before = [resource.value() for resource in accumulator.resources.items]
            validator.transform(accumulator.resources)
            after = []
            for resource in accumulator.resources.items:
                copied = resource.copy()
                labels = copied.labels
                if labels.pop("validated-by", None) is not None:
                    copied.set_map("labels", labels)
                after.append(copied.value())
            if before != after:
                raise BuildError("validator shouldn't modify the resource map: nodes unequal")


def _shown(plugin: Any) -> str:
    return type(plugin).__module__.rpartition(".")[2]
