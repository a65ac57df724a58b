"""The parameters of operations, as OpenAPI lists them."""

from __future__ import annotations

from typing import NamedTuple


class Parameter(NamedTuple):
    """A parameter of a path or a query."""

    name: str
    type: str
    description: str
    location: str = "query"


NAME = Parameter("name", "string", "The name of the {kind}.", "path")
NAMESPACE = Parameter(
    "namespace", "string", "The namespace of the object, such as a team or a project.", "path"
)
PROXY_PATH = Parameter("path", "string", "The path of the request behind the proxy.", "path")
PRETTY = Parameter("pretty", "string", "If 'true', the output is indented for people to read.")

_DRY_RUN = Parameter("dryRun", "string", "'All' goes through every stage but does not store the result.")
_WRITE = (
    _DRY_RUN,
    Parameter("fieldManager", "string", "The name of the writer, which owns the fields that it sets."),
    Parameter(
        "fieldValidation",
        "string",
        "What to do about unknown and duplicate fields: 'Ignore' drops them, 'Warn' (the default) drops them "
        "with a warning, 'Strict' refuses the request.",
    ),
)
_SELECT = (
    Parameter("continue", "string", "The token of an earlier answer with a limit, to get what comes next."),
    Parameter(
        "fieldSelector", "string", "A selector that restricts the list of returned objects by their fields."
    ),
    Parameter(
        "labelSelector", "string", "A selector that restricts the list of returned objects by their labels."
    ),
    Parameter("limit", "integer", "How many objects to return at most; the answer has a token for the rest."),
    Parameter("resourceVersion", "string", "Restricts which version of the data may be returned."),
    Parameter("resourceVersionMatch", "string", "How resourceVersion applies: 'Exact' or 'NotOlderThan'."),
    Parameter("sendInitialEvents", "boolean", "Whether a watch begins with the objects that exist."),
    Parameter("timeoutSeconds", "integer", "How long the call may last."),
)
_DELETE = (
    _DRY_RUN,
    Parameter("gracePeriodSeconds", "integer", "Seconds until the object is deleted; zero means at once."),
    Parameter(
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "boolean",
        "Deletes an object that cannot be read from the store, without finalizers.",
    ),
    Parameter("orphanDependents", "boolean", "Deprecated: use propagationPolicy."),
    Parameter("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
)


def _sorted(*groups: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    return tuple(
        sorted((parameter for group in groups for parameter in group), key=lambda parameter: parameter.name)
    )


LIST = _sorted(
    _SELECT,
    (
        Parameter("allowWatchBookmarks", "boolean", "Whether a watch may send bookmarks."),
        Parameter(
            "watch",
            "boolean",
            "Watch for changes to the described resources: a stream of events instead of a list.",
        ),
    ),
)
CREATE = UPDATE = _WRITE
PATCH = (*_WRITE, Parameter("force", "boolean", "Takes over fields that other managers own; for apply only."))
DELETE = _DELETE
DELETE_COLLECTION = _sorted(_SELECT, _DELETE)
NONE: tuple[Parameter, ...] = ()

_CONTAINER = Parameter("container", "string", "The container; by default the only one or the annotated one.")
_STREAMS = (
    Parameter("stderr", "boolean", "Whether standard error is sent."),
    Parameter("stdin", "boolean", "Whether standard input is read."),
    Parameter("stdout", "boolean", "Whether standard output is sent."),
    Parameter("tty", "boolean", "Whether a terminal is allocated."),
)
# What subresources that are no objects take in their query.
CONNECT: dict[str, tuple[Parameter, ...]] = {
    "attach": (_CONTAINER, *_STREAMS),
    "exec": (Parameter("command", "string", "The command, one parameter a word."), _CONTAINER, *_STREAMS),
    "log": (
        _CONTAINER,
        Parameter("follow", "boolean", "Whether to go on sending what is logged."),
        Parameter(
            "insecureSkipTLSVerifyBackend", "boolean", "Whether the node's certificate is not checked."
        ),
        Parameter("limitBytes", "integer", "How many bytes to send at most."),
        PRETTY,
        Parameter("previous", "boolean", "Whether to send the log of the terminated container before this."),
        Parameter("sinceSeconds", "integer", "Only what was logged in the last seconds."),
        Parameter("stream", "string", "Which stream to send: All, Stdout or Stderr."),
        Parameter("tailLines", "integer", "How many lines at the end to send."),
        Parameter("timestamps", "boolean", "Whether each line begins with its time."),
    ),
    "portforward": (Parameter("ports", "integer", "The ports to forward."),),
    "proxy": (Parameter("path", "string", "The path of the request behind the proxy."),),
}
