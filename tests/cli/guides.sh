#!/bin/sh
# Every command of the guides runs, from a folder that holds what the guide names, and writes what it says it writes;
# the example of docs/compare.md prints what stands there.
set -u
. tests/support/cli.sh
umask 022

mkdir bin
ln -s "$program" bin/windtunnel
PATH=$scratch/bin:$PATH
for folder in docs scenarios topologies workloads; do
    ln -s "$repository/$folder" $folder
done

# The lines of the sh blocks, one command each.
commands_of() { # guide
    sed -n '/^```sh$/,/^```$/{/^```/d;p;}' "docs/$1"
}

: >followed
# A plan may be not sure, which is status 11.
follow() { # guide
    count=0
    while read -r command; do
        count=$((count + 1))
        grep -qxF -e "$command" followed && continue # another guide has it too
        echo "$command" >>followed
        sh -c "$command" >said.out 2>said.err </dev/null
        status=$?
        [ $status -eq 0 ] || [ $status -eq 11 ] || fail "$1: $command: status $status: $(cat said.err)"
        case $command in
        *--out*) ;;
        *) [ -s said.out ] || fail "$1: $command: prints nothing" ;;
        esac
    done <<COMMANDS
$(commands_of "$1")
COMMANDS
    [ $count -gt 3 ] || fail "$1: only $count commands found"
}

follow planner.md
for page in out/now/report.html out/nodes.html out/policies/report.html out/switched/report.html; do
    grep -q '</html>' $page || fail "no page $page"
done
follow researcher.md
for file in out/philly/result.json out/two/report.html out/mig-share.html out/mig-share.csv out/philly.sqlite; do
    [ -s $file ] || fail "no file $file"
done
follow plan.md

# ---- The example of docs/compare.md prints what stands there. ----

mkdir example
sed -n '/^```json$/,/^```$/p' "$repository/docs/compare.md" | grep -v '^```' >example/gates.json
sed -n '/^```console$/,/^```$/p' "$repository/docs/compare.md" | grep -v '^```' >example/shown
command=$(sed -n '1s/^\$ windtunnel //p' example/shown)
sed 1d example/shown >example/expected
# shellcheck disable=SC2086 # its words
(cd example && "$program" $command >said 2>err) && fail 'the example fails no gate'
diff -u example/expected example/said || fail 'the example of docs/compare.md prints something else'
is_silent example/err 'the example'

finish
