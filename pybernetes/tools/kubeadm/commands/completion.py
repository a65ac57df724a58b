"""kubeadm completion: what a shell needs to complete command lines."""

from __future__ import annotations

from pybernetes.lib import discover
from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.errors import KubeadmError

SUMMARY = "Output shell completion code for the specified shell (bash or zsh)"
_WORDS = {
    "certs": "check-expiration renew generate-csr certificate-key",
    "config": "print validate migrate images",
    "init": "phase",
    "join": "phase",
    "kubeconfig": "user",
    "reset": "phase",
    "token": "create list delete generate",
}


def script(shell: str) -> str:
    """Return the code for a shell."""
    commands = " ".join(discover.names("pybernetes.tools.kubeadm.commands"))
    cases = "\n".join(f'        {name}) words="{words}" ;;' for name, words in _WORDS.items())
    body = f"""\
_kubeadm() {{
    local words="{commands}"
    if [ "$COMP_CWORD" -gt 1 ]; then
        case "${{COMP_WORDS[1]}}" in
{cases}
        *) words="" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kubeadm kubeadm
"""
    return body if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{body}"


def main(argv: list[str]) -> int:
    """Print the code for bash or zsh."""
    arguments = command_line.parse("kubeadm completion", SUMMARY, (), argv, most=2)
    if not arguments.words:
        raise KubeadmError("shell not specified")
    if len(arguments.words) > 1:
        raise KubeadmError("too many arguments. Expected only the shell type")
    if arguments.words[0] not in ("bash", "zsh"):
        raise KubeadmError(f'unsupported shell type "{arguments.words[0]}"')
    print(script(arguments.words[0]), end="")
    return 0
