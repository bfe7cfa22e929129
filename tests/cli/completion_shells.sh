#!/bin/sh
# The completions of zsh and fish run in their shells (completion.sh: the rest).
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
_describe() { print -rl -- "${(P@)2}" }
_files() { print -r -- "files $*" }
compset() { print -r -- "compset $*" }
source ./script.zsh
[[ $registered == '_windtunnel windtunnel' ]] || print 'not registered'
words=("$@") CURRENT=$# PREFIX=$@[-1]
_windtunnel
END
zsh_offers() { # pattern of a line; words
    wanted=$1
    shift
    zsh -f ask.zsh "$program" "$@" >said.zsh 2>&1
    grep -qE -e "$wanted" said.zsh || fail "zsh, $*: no '$wanted' in $(cat said.zsh)"
}
zsh_offers '^run:simulate a scenario' ''
zsh_offers '^freeze:' trace ''
zsh_offers '^files $' trace freeze --out ''
zsh_offers '^kai$' run --policy ''
zsh_offers '^--policy=kai$' run --policy=ka
zsh_offers '^compset -P \*=$' run --policy=ka
zsh_offers '^files -/$' report --json ''

# ---- fish, for real ----

fish -n script.fish || fail 'fish refuses the script'
fish_completes() { # what is offered; the line
    got=$(PATH=${program%/*}:$PATH HOME=$scratch fish --no-config -c "source script.fish; complete -C '$2'" 2>&1 |
        cut -f1 | LC_ALL=C sort | paste -sd,)
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
fish_completes '--trace=trace.csv,--trace=track.txt' 'windtunnel run --trace=tra'

finish
