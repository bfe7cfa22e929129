#!/bin/sh
# The completions of zsh and fish run in their shells and offer values where these are known (completion.sh: the rest).
set -u
. tests/support/cli.sh
for shell in zsh fish; do
    command -v $shell >/dev/null || {
        echo "skipped: $shell is not installed (make deps installs it)"
        is_finished=1
        exit 77
    }
    "$program" completion $shell >script.$shell || fail "completion $shell: status $?"
done
mkdir -p folder "a blank"
touch trace.csv track.txt 'a file'

# ---- zsh: each command hands its own options to _arguments ----

zsh -n script.zsh || fail 'zsh refuses the script'
cat >ask.zsh <<'END'
compdef() { registered="$*" }
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- "${(P@)2}" }
compadd() { print -rl -- "$@" }
_files() { print -r -- "files $*" }
source ./script.zsh
[[ $registered == '_windtunnel windtunnel' ]] || print 'not registered'
words=("$@") CURRENT=$#
if [[ $1 == offer ]]; then _windtunnel_offer "${@:2}"; else _windtunnel; fi
END
zsh_offers() { # pattern of a line; words
    wanted=$1
    shift
    zsh -f ask.zsh "$@" >said.zsh 2>&1
    grep -qE -e "$wanted" said.zsh || fail "zsh, $*: no '$wanted' in $(cat said.zsh)"
}
zsh_offers '^trace:' windtunnel ''
zsh_offers '^freeze:' windtunnel trace ''
zsh_offers '^\(-o --out\)--out=\[.*\]:FILE: _windtunnel_offer "files"' windtunnel trace freeze ''
zsh_offers '^\(-p --policy\)--policy=\[.*\]:PRESET\|FILE: _windtunnel_offer "files" .*\<kai\>' windtunnel run ''
zsh_offers '^\*:operand: _windtunnel_offer "folders"' windtunnel report --json ''
zsh_offers '^files -/$' offer 'folders'
zsh_offers '^kai$' offer 'files' fifo kai

# ---- fish, for real ----

fish -n script.fish || fail 'fish refuses the script'
fish_completes() { # what is offered; the line
    got=$(HOME=$scratch fish --no-config -c "source script.fish; complete -C '$2'" 2>&1 | cut -f1 | LC_ALL=C sort |
        paste -sd,)
    [ "$got" = "$1" ] || fail "fish, '$2': '$got' in place of '$1'"
}
fish_completes 'report,reproduce,run' 'windtunnel r'
fish_completes 'compare,convert,fit,freeze,info,synth,validate' 'windtunnel trace '
fish_completes 'kai' 'windtunnel run --policy ka'
fish_completes '--plugin,--plugin-timeout,--policy' 'windtunnel run --p'
fish_completes 'pai,philly,philly-log,pollux' 'windtunnel trace info -f p'
fish_completes 'trace.csv,track.txt' 'windtunnel run --trace tra'
fish_completes '--out' 'windtunnel trace freeze --o'
fish_completes '' 'windtunnel trace info --o'
fish_completes 'folder/' 'windtunnel report fo'

finish
