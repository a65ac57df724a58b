"""kubeadm completion: what a shell needs to complete command lines."""

from __future__ import annotations

from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.errors import KubeadmError

SUMMARY = "Output shell completion code for the specified shell (bash or zsh)"


def script(root: Command, shell: str) -> str:
    """Return the code for a shell: what may follow each command, words and flags."""
    cases = []
    for path, command in command_line.walk(root):
        words = [below.name for below in command.commands if not below.hidden]
        flags = [f"--{flag.name}" for flag in (*command.flags, *command_line.GLOBAL, command_line.HELP)]
        cases.append(f'        "{path}") words="{" ".join([*words, *sorted(flags)])}" ;;')
    listed = "\n".join(cases)
    body = f"""\
_kubeadm() {{
    local word path="" words=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$word" in -*) ;; *) path="${{path:+$path }}$word" ;; esac
    done
    case "$path" in
{listed}
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kubeadm kubeadm
"""
    return body if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{body}"


def _work(arguments: Arguments) -> None:
    from pybernetes.tools.kubeadm.main import root

    if not arguments.words:
        raise KubeadmError("shell not specified")
    if len(arguments.words) > 1:
        raise KubeadmError("too many arguments. expected only the shell type")
    shell = arguments.words[0]
    if shell not in ("bash", "zsh"):
        raise KubeadmError(f'unsupported shell type "{shell}", the supported shell types are [bash zsh]')
    print(script(root(), shell), end="")


COMMAND = Command("completion", SUMMARY, _work, words="SHELL", most=1 << 10)
