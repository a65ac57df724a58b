"""Acts on the preferences of the user before a command line is run: aliases, defaults of flags, allowed plugins."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line.flags import FlagError, Values, declare
from pybernetes.tools.kubectl.command_line.lookup import find, texts_of_flags
from pybernetes.tools.kubectl.command_line.preferences import StrictError, check, file_of, read
from pybernetes.tools.kubectl.errors import CommandError, Verbatim, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Flag


def apply(
    argv: list[str], common: dict[str, Flag], environment: Mapping[str, str], stderr: TextIO
) -> tuple[list[str], Object]:
    """Return the command line that preferences make of one, and the preferences."""
    try:
        preference = _load(_explicit(argv), environment, stderr)
        if preference is None:
            return argv, {}
        check(preference)
        command, path, _ = find(argv, common)
        if command is None:
            return _alias(argv, preference, common, stderr), preference
        return _defaults(argv, path, preference, common, stderr), preference
    except CommandError as error:
        raise Verbatim(f"error occurred while applying preferences {error.message}") from None


def _explicit(argv: list[str]) -> str:
    for place, argument in enumerate(argv):
        if argument == "--":
            break
        if argument == "--kuberc" or argument.startswith("--kuberc="):
            text = argument[9:] if "=" in argument else "".join(argv[place + 1 : place + 2])
            if not text:
                raise CommandError("kuberc file is not found")
            return text
    return ""


def _load(given: str, environment: Mapping[str, str], stderr: TextIO) -> Object | None:
    try:
        path, explicit = file_of(environment, given)
    except CommandError as error:
        raise CommandError(f"kuberc error {error.message}") from None
    if not path:
        return None
    try:
        return read(path)
    except StrictError as error:
        stderr.write(f"kuberc: ignoring strict decoding error in {path}: {error.message}")
        return error.preference
    except (OSError, CommandError) as error:
        if isinstance(error, FileNotFoundError) and not explicit:
            return None
        why = (
            f"open {path}: {(error.strerror or '').lower()}" if isinstance(error, OSError) else error.message
        )
        if explicit:
            raise CommandError(f"kuberc error kuberc: {why}") from None
        stderr.write(f"kuberc: no preferences loaded from {path}: {why}")
        return None


def _options(
    entry: Object, words: list[str], arguments: list[str], common: dict[str, Flag], failure: str, unknown: str
) -> list[str]:
    """Return the flags that an entry sets and that the user does not, as arguments."""
    command, _, _ = find(words, common)
    flags = {**common, **declare(*(texts_of_flags(command) if command is not None else ()))}
    shorts = {flag.short for flag in flags.values() if flag.short}
    given = []
    for option in entry.get("options") or ():
        name, default = option.get("name") or "", option.get("default") or ""
        flag = flags.get(name)
        if flag is None:
            raise CommandError(unknown.format(name=name))
        if _is_given(flag, shorts, arguments):
            continue
        try:
            Values(flags).put(flag, default)
        except FlagError as error:
            raise CommandError(failure.format(name=name, value=default) + f" err: {error.message}") from None
        given.append(f"--{name}={default}")
    return given


def _is_given(flag: Flag, shorts: set[str], arguments: list[str]) -> bool:
    for argument in arguments:
        if argument == f"--{flag.name}" or argument.startswith(f"--{flag.name}="):
            return True
        if not flag.short or argument[:1] != "-":
            continue
        letters = argument[1:]
        if letters.startswith(flag.short):
            return True
        if letters.isalpha() and letters.isascii() and flag.short in shorts and flag.short in letters:
            return True
    return False


def _defaults(
    argv: list[str], path: str, preference: Object, common: dict[str, Flag], stderr: TextIO
) -> list[str]:
    last = path.rpartition(" ")[2]
    given: list[str] = []
    for entry in preference.get("defaults") or ():
        text = entry.get("command") or ""
        other, other_path, _ = find(text.split(), common)
        if other is None:
            stderr.write(f"Warning: command {quoted(text)} not found to set kuberc override\n")
            continue
        if other_path.rpartition(" ")[2] != last:
            continue
        given += _options(
            entry, path.split()[1:], argv, common,
            f"could not apply override value {{value}} to flag {{name}} in command {text}",
            f"invalid flag {{name}} for command {text}",
        )  # fmt: skip
    return _after_command(argv, len(path.split()) - 1, given, common)


def _after_command(argv: list[str], count: int, given: list[str], common: dict[str, Flag]) -> list[str]:
    """Return a command line with flags put behind the words of the command."""
    if not given:
        return argv
    from pybernetes.tools.kubectl.command_line.lookup import first_word

    place = 0
    for _ in range(count):
        place = first_word(argv, place, common) + 1
    return [*argv[:place], *given, *argv[place:]]


def _alias(argv: list[str], preference: Object, common: dict[str, Flag], stderr: TextIO) -> list[str]:
    place = next((index for index, argument in enumerate(argv) if not argument.startswith("-")), None)
    if place is None:
        return argv
    for alias in preference.get("aliases") or ():
        if alias.get("name") != argv[place]:
            continue
        text = alias.get("command") or ""
        words = text.split()
        if find(words, common)[0] is None:
            raise CommandError(
                f"command {quoted(text)} not found to set alias {quoted(alias['name'])}: {words}"
            )
        given = _options(
            alias, words, argv, common, "could not apply value {value} to flag {name} in alias kubectl",
            "invalid alias flag {name} in alias kubectl",
        )  # fmt: skip
        rest = [*(alias.get("prependArgs") or ()), *argv[place + 1 :], *(alias.get("appendArgs") or ())]
        return [*argv[:place], *words, *given, *rest]
    return argv
