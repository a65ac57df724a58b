"""completion: prints a script that completes command lines in a shell."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context

SUMMARY = "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)"
USAGE = "completion SHELL"
FLAGS = ()
_BASH = """# Completes kubectl command lines: the command itself says what could follow.
__kubectl_complete() {
    local words line
    words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    while IFS= read -r line; do
        [[ $line == :* ]] || COMPREPLY+=("${line%%$'\\t'*}")
    done < <(kubectl __complete "${words[@]}" 2>/dev/null)
}
complete -F __kubectl_complete kubectl
"""
_ZSH = """#compdef kubectl
# Completes kubectl command lines: the command itself says what could follow.
_kubectl() {
    local -a found
    found=(${(f)"$(kubectl __complete "${(@)words[2,CURRENT]}" 2>/dev/null | grep -v '^:' | cut -f 1)"})
    compadd -- $found
}
compdef _kubectl kubectl
"""
_FISH = """# Completes kubectl command lines: the command itself says what could follow.
function __kubectl_complete
    set -l words (commandline -opc) (commandline -ct)
    kubectl __complete $words[2..-1] 2>/dev/null | string match -v -r '^:'
end
complete -c kubectl -e
complete -c kubectl -f -a '(__kubectl_complete)'
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def run(context: Context) -> None:
    """Prints the script of a shell."""
    if not context.args:
        raise context.usage("Shell not specified.")
    if len(context.args) > 1:
        raise context.usage("Too many arguments. Expected only the shell type.")
    if context.args[0] not in _SCRIPTS:
        raise context.usage(f'Unsupported shell type "{context.args[0]}".')
    context.stdout.write(_SCRIPTS[context.args[0]])
