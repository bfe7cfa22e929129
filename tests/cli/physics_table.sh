#!/bin/sh
# The table of what the physics costs: its shape, its exit status, its errors.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null || ! command -v valgrind >/dev/null; then
    echo 'skipped: no python3 or no valgrind (make deps installs them)'
    exit 77
fi

case $program in
*sanitized* | *coverage*)
    echo 'skipped: valgrind cannot run a build that is watched'
    exit 77
    ;;
esac

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/physics_table "$@") >said.out 2>said.err
    status=$?
}

short='--days 0.02 --set cluster.pools.h100.nodes=20'
# shellcheck disable=SC2086
table --rows all --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err said.out)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
grep -q '^| none | [0-9,]* | 1.00 | [0-9,]* | 1.00 |$' said.out || fail "none is not the base: $(cat said.out)"
# shellcheck disable=SC2086
table --rows all --most 0.1 $short
[ "$status" -eq 1 ] || fail "beyond --most: status $status"
table --rows nope
[ "$status" -eq 2 ] && grep -q "no row 'nope'" said.err || fail "unknown row: status $status"
table --rows none --scenario nowhere.json
[ "$status" -eq 2 ] && grep -q 'nowhere.json' said.err || fail "no scenario: status $status"
finish
