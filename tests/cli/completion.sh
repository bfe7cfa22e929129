#!/bin/sh
# Completions name every command and option of the help; the script of bash runs, and offers values where these are
# known (completion_shells.sh runs those of zsh and fish).
set -u
. tests/support/cli.sh
formats=azure-llm,batsim,borg,burstgpt,chronus,columns,gavel,helios
formats=$formats,jsonl,kalos,mooncake,muri,native,openb,pai,philly,philly-log
formats=$formats,pollux,sacct,seren,spot,swf

for shell in bash zsh fish; do
    "$program" completion $shell >script.$shell || fail "completion $shell: status $?"
done
windtunnel completion tcsh
said 2 'completion tcsh' <<'END'
error: there are no completions for the shell 'tcsh'
  there are for bash, zsh and fish
END
windtunnel completion
[ "$status" -eq 2 ] || fail "completion of no shell: status $status"

# ---- Every command and option ----

"$program" help | sed -n '/^commands:/,/^$/ s/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -ge 15 ] || fail "few commands in the help: $(cat commands)"
options=0
while read -r command; do
    # shellcheck disable=SC2086 # two words
    "$program" $command --help | sed -n 's/^  \(    \|-., \)--\([a-z-]*\).*/--\2/p' >wanted
    # shellcheck disable=SC2086
    "$program" complete $command - | cut -f1 >got
    cmp -s wanted got || fail "$command: its help has other options than its completion: $(diff wanted got)"
    options=$((options + $(wc -l <got)))
done <commands
[ $options -ge 60 ] || fail "only $options options"
{ cut -d' ' -f1 commands | uniq && echo help; } >wanted
"$program" complete '' | cut -f1 | grep -v '^-' >got
cmp -s wanted got || fail "other first words than the help: $(diff wanted got)"
[ "$("$program" complete run --policy=ka)" = '--policy=kai
:files' ] || fail 'no values behind --name='

# ---- bash, for real ----

mkdir -p folder "a blank"
touch trace.csv track.txt 'a file'
cat >ask.bash <<'END'
source ./script.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_windtunnel
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd,
END
completes() { # what is offered; the words, the last of which is completed
    wanted=$1
    shift
    got=$(bash ask.bash "$program" "$@" 2>&1)
    [ "$got" = "$wanted" ] || fail "bash, $*: '$got' in place of '$wanted'"
}
presets=$("$program" policy list | sed -n '/^presets/,/^$/ s/^  \([^ ]*\) .*/\1/p' | LC_ALL=C sort)
completes 'report,reproduce,run' r
completes '--version' --v
completes 'compare,convert,fit,freeze,info,synth,validate' trace ''
completes 'fit,freeze' trace f
completes 'info' help trace i
completes 'trace' help tr
completes 'kai' run --policy ka
completes 'kai' run -p ka
completes 'kai' run --policy = ka
completes "$(echo "$presets" | grep '^k' | paste -sd,)" run --set a.b=1 --policy k
completes "$(echo "$presets" | paste -sd,)" policy show ''
completes "$formats" run --format ''
completes "$formats" run --format =
completes 'trace.csv,track.txt' run --trace tra
completes 'trace.csv' trace info --cluster trace
completes 'a blank,a file' run 'a '
completes 'a blank' run --out 'a '
completes 'folder' report fo
completes '--plugin,--plugin-timeout,--policy' run --p
completes '--out' trace freeze small.json --o
completes '' trace info --o
completes '' run --seed ''
completes '' run --seed --
completes 'core,leaf,spine' validate-model --tier ''
completes 'goodput_ratio' metrics goodput_
completes 'bash,fish,zsh' completion ''
completes '' no-such-command --

# ---- A first word of several commands answers ----

for family in $(sed -n 's/ .*//p' commands | sort -u); do
    for help in --help -h; do
        windtunnel "$family" $help
        { [ "$status" -eq 0 ] && grep -q "^usage: windtunnel $family COMMAND" said.out; } ||
            fail "$family $help: status $status: $(cat said.err)"
        is_silent said.err "$family $help"
    done
done
finish
