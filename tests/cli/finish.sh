#!/bin/sh
# The status of a test that sources tests/support/cli.sh: 0 only after `finish`, and only if nothing failed.
set -u
. tests/support/cli.sh

ends() { # expected status, the rest of the script
    printf '. tests/support/cli.sh\n%s\n' "$2" >inner.sh
    (cd "$repository" && WINDTUNNEL=$program sh "$scratch/inner.sh") >said.out 2>&1
    status=$?
    [ "$status" -eq "$1" ] || fail "'$2' ends with $status, not $1: $(cat said.out)"
}

ends 0 finish
ends 1 'fail one; finish'
ends 1 'fail one; true'
grep -q "inner.sh does not end with 'finish'" said.out || fail "it does not say why: $(cat said.out)"
ends 1 true
ends 1 'exit 0'
ends 77 'exit 77'
ends 4 'exit 4'
finish
