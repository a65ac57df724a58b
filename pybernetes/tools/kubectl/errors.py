"""Errors that end a command, with the text and the exit code that the user gets.

CommandError            a sentence for the user, an exit code
├── Usage               … and where to read more
├── Exit                nothing to say, only a code
├── Several             more than one error
├── Verbatim            a text that is printed as it is
│   └── Together        … the errors of a list
├── ApiError            the server said no
├── NoConnection        the server cannot be reached
│   └── CutOff          … or goes away before it has said everything
└── BadConfig           the kubeconfig is wrong
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


class CommandError(Exception):
    """Something went wrong; the text is for the user."""

    code = 1

    def __init__(self, message: str = "", code: int = 1) -> None:
        super().__init__(message)
        self.message, self.code = message, code

    def text(self) -> str:
        """Return what is printed when this is the only error."""
        if not self.message or self.message.startswith("error: "):
            return self.message
        return f"error: {self.message}"

    def short(self) -> str:
        """Return what is printed when it is one of several."""
        return self.message


class Verbatim(CommandError):
    """A text that is printed as it is."""

    def text(self) -> str:
        return self.message


class Usage(CommandError):
    """The command line is wrong."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(f"{message}\nSee '{path} -h' for help and examples")


class Exit(CommandError):
    """Ends the command without a word."""

    def __init__(self, code: int = 1) -> None:
        super().__init__("", code)


class NoConnection(CommandError):
    """The server cannot be reached; ``refused`` is the address of one that refuses connections."""

    def __init__(self, reason: str, refused: str = "") -> None:
        super().__init__(reason)
        self.reason, self.refused = reason, refused
        self.request = ""  # which one could not be sent

    def about(self, method: str, url: str) -> NoConnection:
        """Name the request that could not be sent, for messages that this one becomes a part of."""
        self.request = f"{method.capitalize()} {url}:"
        self.message = f"{method.capitalize()} {quoted(url)}: {self.reason}"
        return self

    def text(self) -> str:
        if self.refused:
            return f"The connection to the server {self.refused} was refused - did you specify the right host or port?"
        return f"Unable to connect to the server: {self.reason}"

    def short(self) -> str:
        return self.text()


class CutOff(NoConnection):
    """An answer ends before its end."""

    def __init__(self) -> None:
        super().__init__("unexpected EOF")


class NoMatch(CommandError):
    """No such resource type."""

    def text(self) -> str:
        return f"error: {self.message}"


class NotValidated(CommandError):
    """What a file says cannot be validated; the rest of the file is not looked at."""


class BadConfig(CommandError):
    """The kubeconfig cannot be used."""

    def text(self) -> str:
        return f"Error in configuration: {self.message}"


class ApiError(CommandError):
    """The answer of the server is not a success; ``body`` is its text if it is no Status."""

    body = ""

    def __init__(self, status: Object, http_code: int = 0) -> None:
        self.status = status
        self.http_code = int(status.get("code") or http_code)
        self.reason: str = status.get("reason") or ""
        super().__init__(status.get("message") or "")

    def text(self) -> str:
        return self._invalid() if self.reason == "Invalid" else self.short()

    def short(self) -> str:
        if self.reason == "Unauthorized":
            return f"error: You must be logged in to the server ({self.message})"
        if self.reason:
            return f"Error from server ({self.reason}): {self.message}"
        return f"Error from server: {self.message}"

    def _invalid(self) -> str:
        details = self.status.get("details")
        text = "The request is invalid"
        if details is None:
            return f"{text}: {self.message}" if self.message else text
        causes = details.get("causes") or []
        if details.get("kind") or details.get("name"):
            text = f'The {details.get("kind", "")} "{details.get("name", "")}" is invalid'
        elif self.message and not causes:
            text += f": {self.message}"
        lines = list(
            dict.fromkeys(f"{cause.get('field', '')}: {cause.get('message', '')}" for cause in causes)
        )
        if not lines:
            return text
        if len(lines) == 1:
            return f"{text}: {lines[0]}\n"
        return "\n".join([f"{text}: ", *(f"* {line}" for line in lines), ""])

    def about(self, verb: str, source: str) -> ApiError:
        """Return the same error, naming the file that the object comes from."""
        if not source:
            return self
        message = f'error when {verb} "{source}": {self.message}'
        return ApiError({**self.status, "message": message}, self.http_code)


class Several(CommandError):
    """More than one error."""

    def __init__(self, errors: list[CommandError]) -> None:
        super().__init__()
        self.errors = errors

    def text(self) -> str:
        return "".join(f"{error.short()}\n" for error in self.errors)  # one may end with a line break itself

    def short(self) -> str:
        return self.text().removesuffix("\n")


class Together(Verbatim):
    """The errors of the items of a list, as one that has all of their messages."""

    def __init__(self, errors: list[CommandError]) -> None:
        messages = list(dict.fromkeys(error.message for error in errors))
        super().__init__(messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]")


def raise_all(errors: list[CommandError]) -> None:
    """Raise the errors, if there are any."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Several(errors)


def not_found(error: Exception) -> bool:
    """Return whether an error says that an object does not exist."""
    return isinstance(error, ApiError) and error.reason == "NotFound"


def with_source(error: CommandError, verb: str, source: str) -> CommandError:
    """Return the error with the name of the file that the object comes from."""
    if not source:
        return error
    if isinstance(error, ApiError):
        return error.about(verb, source)
    return CommandError(f'error when {verb} "{source}": {error.message}', error.code)


# What begins a command to the terminal (alone, or in one of the characters that are short for it), and what overwrites a line.
_TERMINAL = {0x1B: "^[", 0x0D: "\\r", **{code: f"^[{chr(code - 0x40)}" for code in range(0x80, 0xA0)}}


def escaped(text: str) -> str:
    """Return a text of others, as it may be shown on a terminal."""
    if text.isascii() and "\x1b" not in text and "\r" not in text:
        return text
    return text.translate(_TERMINAL)


def quoted(text: str) -> str:
    """Return the text in quotes, as Go's %q writes it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from pybernetes.api.text.go_format import quote

    return quote(text)
