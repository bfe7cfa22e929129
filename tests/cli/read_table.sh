#!/bin/sh
# The table of what reading costs: its rows are read, its shape, its exit status, its errors.
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
    (cd "$repository" && WINDTUNNEL=$program tools/read_table "$@") >said.out 2>said.err
    status=$?
}

table --rows 1000 --write "$scratch/traces"
[ "$status" -eq 0 ] || fail "--write: status $status: $(cat said.err)"
for kind in native short swf sacct; do
    windtunnel trace validate "traces/$kind-random.txt"
    [ $status -eq 0 ] || fail "$kind rows: status $status: $(cat said.err)"
    says said.out ': 1000 jobs, 0 rows left out, 0 unreadable lines$'
    [ "$(sort "traces/$kind-random.txt" | cksum)" = "$(sort "traces/$kind-sorted.txt" | cksum)" ] ||
        fail "$kind: other rows in random order"
done

table --rows 1000 --only native --most 1e6 --markdown
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err said.out)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
table --rows 1000 --only native --orders random --verbs info --most 1
[ "$status" -eq 1 ] || fail "beyond --most: status $status"
table --rows 1000 --only swf --orders random --verbs info --memory
[ "$status" -eq 0 ] && grep -q ' swf *random *[0-9.]* *[0-9.]*$' said.out || fail "--memory: $status $(cat said.out)"
table --only nope
[ "$status" -eq 2 ] && grep -q "no 'nope'" said.err || fail "unknown kind: status $status"
finish
