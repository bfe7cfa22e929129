#!/bin/sh
# Tables of what things cost: what the physics costs, and what reading costs; shapes, exit status, errors.
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
    (cd "$repository" && WINDTUNNEL=$program tools/table "$@") >said.out 2>said.err
    status=$?
}

short='--days 0.02 --set cluster.pools.h100.nodes=20'
# shellcheck disable=SC2086
table physics --rows none,all --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err said.out)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
grep -q '^| none | [0-9,]* | 1.00 | [0-9,]* | 1.00 |$' said.out || fail "none is not the base: $(cat said.out)"
# shellcheck disable=SC2086
table physics --rows none,all --most 0.1 $short
[ "$status" -eq 1 ] || fail "beyond --most: status $status"
table physics --rows nope
[ "$status" -eq 2 ] && grep -q 'there is no nope' said.err || fail "unknown row: status $status"
table physics --rows none --scenario nowhere.json
[ "$status" -eq 2 ] && grep -q 'nowhere.json' said.err || fail "no scenario: status $status"

# ---- Presets ----

table cliff --groups main --rows fifo,kai --end 1m --cost 'instructions alone' --load 0.5 --most 1e6
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err said.out)"
grep -q '^fifo  *[0-9,.]* M  *1.0 ' said.out || fail "fifo is not the base: $(cat said.out)"
few=$(sed -n 's/^fifo  *\([0-9,.]*\) M.*/\1/p' said.out)
table cliff --groups main --rows fifo --end 1m --cost 'instructions alone' --load 2 --most 1e6
[ "$few" != "$(sed -n 's/^fifo  *\([0-9,.]*\) M.*/\1/p' said.out)" ] || fail "--load changes nothing: $(cat said.out)"
table cliff --groups main --rows fifo --mix nowhere.json
[ "$status" -eq 2 ] && grep -q 'nowhere.json' said.err || fail "no scenario: status $status"

# ---- Reading ----

table read --rows 1000 --write "$scratch/traces"
[ "$status" -eq 0 ] || fail "--write: status $status: $(cat said.err)"
for kind in native short swf sacct; do
    windtunnel trace validate "traces/$kind-random.txt"
    [ $status -eq 0 ] || fail "$kind rows: status $status: $(cat said.err)"
    says said.out ': 1000 jobs, 0 rows left out, 0 unreadable lines$'
    [ "$(sort "traces/$kind-random.txt" | cksum)" = "$(sort "traces/$kind-sorted.txt" | cksum)" ] ||
        fail "$kind: other rows in random order"
done

table read --rows 1000 --only native --most 1e6 --markdown
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err said.out)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
table read --rows 1000 --only native --orders random --verbs info --most 1
[ "$status" -eq 1 ] || fail "beyond --most: status $status"
table read --rows 1000 --only swf --orders random --verbs info --memory
[ "$status" -eq 0 ] && grep -q ' swf *random *[0-9.]* *[0-9.]*$' said.out || fail "--memory: $status $(cat said.out)"
table read --only nope
[ "$status" -eq 2 ] && grep -q "no 'nope'" said.err || fail "unknown kind: status $status"
finish
