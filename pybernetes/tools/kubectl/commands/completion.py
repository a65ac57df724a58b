"""completion: prints a script that completes command lines in a shell."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context

SUMMARY = "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)"
USAGE = "completion SHELL"
COMPLETION = "words powershell bash zsh fish"
FLAGS = ()
# Each script asks `kubectl __complete` and obeys the number that comes last: 2, no space after it; 4, no file names;
# 8, what was said are endings of file names.
_BASH = """# Completes kubectl command lines: the command itself says what could follow.
__kubectl_complete() {
    local words line directive=0 word=${COMP_WORDS[COMP_CWORD]} cut=
    words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    # bash splits words at = and :, and wants only what comes after them.
    if [[ ${COMP_LINE:0:COMP_POINT} =~ [^[:space:]]*[=:][^[:space:]]*$ ]]; then
        local whole=${BASH_REMATCH[0]}
        words=(${COMP_LINE:0:COMP_POINT-${#whole}} "$whole")
        words=("${words[@]:1}")
        cut=${whole%"${whole##*[=:]}"}
        word=${whole##*[=:]}
    fi
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :* ]]; then directive=${line#:}; continue; fi
        line=${line%%$'\\t'*}
        COMPREPLY+=("${line#"$cut"}")
    done < <(kubectl __complete "${words[@]}" 2>/dev/null)
    if ((directive & 8)); then
        COMPREPLY=($(compgen -d -- "$word") $(compgen -f -X '!*.@(json|yaml|yml)' -- "$word"))
        compopt -o filenames
    elif ((!(directive & 4) && ${#COMPREPLY[@]} == 0)); then
        compopt -o default
    fi
    ((directive & 2)) && compopt -o nospace
}
shopt -s extglob
complete -F __kubectl_complete kubectl
"""
_ZSH = """#compdef kubectl
# Completes kubectl command lines: the command itself says what could follow.
_kubectl() {
    local -a found space
    local line directive=0
    while IFS= read -r line; do
        if [[ $line == :* ]]; then
            directive=${line#:}
        else
            line=${line//:/\\\\:}
            found+=(${line/$'\\t'/:})
        fi
    done < <(kubectl __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    ((directive & 2)) && space=(-S '')
    if ((directive & 8)); then
        _files -g '*.(json|yaml|yml)(-.)'
    elif ((${#found})); then
        [[ $PREFIX == -*=* ]] && compset -P '*='
        _describe 'kubectl' found "${space[@]}"
    elif ((!(directive & 4))); then
        _files
    fi
}
compdef _kubectl kubectl
"""
_FISH = """# Completes kubectl command lines: the command itself says what could follow.
function __kubectl_complete
    set -l word (commandline -ct)
    set -l words (commandline -opc) "$word"
    set -l found (kubectl __complete $words[2..-1] 2>/dev/null)
    test (count $found) -gt 0; or return
    set -l directive (string sub -s 2 -- $found[-1])
    set -e found[-1]
    if test (math "bitand($directive, 8)") -ne 0
        __fish_complete_suffix "$word" .json
        __fish_complete_suffix "$word" .yaml
        __fish_complete_suffix "$word" .yml
    else if test (count $found) -gt 0
        set -l before (string match -r -- '^-.*=' "$word"; or echo)
        printf '%s\\n' $before$found
    else if test (math "bitand($directive, 4)") -eq 0
        __fish_complete_path "$word"
    end
end
complete -c kubectl -e
complete -c kubectl -f -k -a '(__kubectl_complete)'
"""
_POWERSHELL = """# Completes kubectl command lines: the command itself says what could follow.
Register-ArgumentCompleter -Native -CommandName 'kubectl' -ScriptBlock {
    param($WordToComplete, $CommandAst, $CursorPosition)
    $words = @($CommandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $CursorPosition } | ForEach-Object { $_.ToString() })
    if ($WordToComplete -eq '') {
        $words += if ($PSNativeCommandArgumentPassing -in $null, 'Legacy') { '""' } else { '' }
    }
    $found = @(kubectl __complete @words 2>$null)
    if ($found.Count -lt 2) { return }
    $directive = [int]$found[-1].Substring(1)
    if ($directive -band 8) { return }
    $before = if ($WordToComplete -match '^(-[^=]*=)') { $Matches[1] } else { '' }
    $found[0..($found.Count - 2)] | ForEach-Object {
        $name, $text = $_ -split "`t", 2
        $space = if ($directive -band 2) { '' } else { ' ' }
        if (-not $text) { $text = $name }
        [System.Management.Automation.CompletionResult]::new("$before$name$space", $name, 'ParameterValue', $text)
    }
}
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}


def run(context: Context) -> None:
    """Print the script of a shell."""
    if not context.args:
        raise context.usage("Shell not specified.")
    if len(context.args) > 1:
        raise context.usage("Too many arguments. Expected only the shell type.")
    if context.args[0] not in _SCRIPTS:
        raise context.usage(f'Unsupported shell type "{context.args[0]}".')
    context.stdout.write(_SCRIPTS[context.args[0]])
