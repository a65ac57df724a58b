"""kuberc set: changes the preferences."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line.preferences import POLICIES
from pybernetes.tools.kubectl.commands.kuberc._preferences import chosen, load, write
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values

SUMMARY = "Set values in the kuberc configuration"
USAGE = "kuberc set --section (defaults|aliases) --command COMMAND"
FLAGS = (
    """
- allowlist-entry array | Allowlist entry the form field=value (can be specified multiple times)
- appendarg array | Argument to append to the command (can be specified multiple times, for aliases only)
- command string | Command to configure (e.g., 'get', 'create', 'set env')
- name string | Alias name (required for --section=aliases)
- option array | Flag option in the form flag=value (can be specified multiple times)
- overwrite bool false | Allow overwriting existing entries
- policy string | Plugin policy to use for exec credential plugins, must be one of 'AllowAll', 'DenyAll' or 'Allowlist'
- prependarg array | Argument to prepend to the command (can be specified multiple times, for aliases only)
- section string | Section to modify: 'defaults', 'aliases', or 'credentialplugin'
""",
)

REQUIRED = ("section",)


def run(context: Context) -> None:
    """Change the section that is named, and write the file."""
    flags = context.flags
    path, _ = chosen(context)
    _check(flags)
    try:
        preference = load(path) or {}
    except FileNotFoundError:
        preference = {}
    options = [_option(text) for text in flags.option]
    if flags.section == "defaults":
        _set_defaults(preference, flags, options)
    elif flags.section == "aliases":
        _set_alias(preference, flags, options)
    else:
        if flags.policy == "Allowlist":
            preference["credentialPluginAllowlist"] = _entries(flags.allowlist_entry)
        preference["credentialPluginPolicy"] = flags.policy
    write(path, preference)
    context.out(f"Updated {path}")


def _check(flags: Values) -> None:
    section = flags.section
    if section not in ("defaults", "aliases", "credentialplugin"):
        raise CommandError(f'--section must be "defaults", "aliases", or "credentialplugin", got: {section}')
    if section == "aliases" and not flags.name:
        raise CommandError("--name is required when --section=aliases")
    if section == "defaults" and flags.name:
        raise CommandError("--name should not be specified when --section=defaults")
    if section == "defaults" and (flags.prependarg or flags.appendarg):
        raise CommandError("--prependarg and --appendarg are only valid for --section=aliases")
    if section != "credentialplugin":
        if not flags.command:
            raise CommandError("--command is required when --section=aliases or --section=defaults")
        return
    if not flags.policy:
        raise CommandError("--policy is required when --section=credentialplugin")
    if flags.policy not in POLICIES:
        raise CommandError(f' --policy must be  "AllowAll", "DenyAll", or "Allowlist", got: {flags.policy}')
    listing = flags.policy == "Allowlist"
    if bool(flags.allowlist_entry) != listing:
        how = "is required" if listing else "may only be used"
        raise CommandError(f"--allowlist-entry {how} when --section=credentialplugin and --policy=Allowlist")


def _option(text: str) -> Object:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"invalid option format {quoted(text)}, expected flag=value")
    return {"name": name.lstrip("-"), "default": value}


def _set_defaults(preference: Object, flags: Values, options: list[Object]) -> None:
    defaults = preference.setdefault("defaults", [])
    for entry in defaults:
        if entry.get("command") == flags.command:
            if not flags.overwrite:
                raise CommandError(
                    f"defaults for command {quoted(flags.command)} already exist, use --overwrite to replace"
                )
            entry["options"] = options or entry.get("options")
            return
    defaults.append({"command": flags.command, "options": options or None})


def _set_alias(preference: Object, flags: Values, options: list[Object]) -> None:
    aliases = preference.setdefault("aliases", [])
    alias = {
        "name": flags.name, "command": flags.command, "prependArgs": flags.prependarg,
        "appendArgs": flags.appendarg, "options": options,
    }  # fmt: skip
    for entry in aliases:
        if entry.get("name") == flags.name:
            if not flags.overwrite:
                raise CommandError(f"alias {quoted(flags.name)} already exists, use --overwrite to replace")
            entry.update((key, value) for key, value in alias.items() if value)
            return
    aliases.append(alias)


def _entries(texts: list[str]) -> list[Object]:
    errors: list[str] = []
    entries: list[Object] = []
    for pair in (part for text in texts for part in text.split(",")):
        field, equals, value = pair.partition("=")
        if not equals:
            errors.append(f"improperly formatted allowlist entry: {quoted(pair)}")
        elif field == "name":
            errors.append('allowlist entry field "name" is deprecated, use "command" instead')
        elif field != "command":
            errors.append(f"unrecognized allowlist entry field: {quoted(field)}")
        elif not value.strip():
            errors.append(f"empty value in allowlist entry for field {quoted(field)}")
        else:
            entries.append({"command": value})
    if errors:
        raise CommandError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return entries
