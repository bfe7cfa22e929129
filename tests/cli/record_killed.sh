#!/bin/sh
# A run that replaces a record is killed at random moments: the folder then holds the one record or the other, whole, or
# `report` says that it is none.  tests/fault/test_record_replaced.c kills it before each of its system calls.
set -u
. tests/support/cli.sh

kills=10
[ "${WINDTUNNEL_TEST_SIZE:-small}" = full ] && kills=200

run() { # placement, end
    exec "$program" run small.json --set "policy.placement=$1" --set "world.end=$2" --quiet --out rec >/dev/null 2>&1
}
(run best_fit 1h) || fail 'the first run fails'
"$program" report rec --json >first.json
(run best_fit 5m) || fail 'the second run fails'
"$program" report rec --json >second.json
cmp -s first.json second.json && fail 'both runs tell the same'

# The moments cover what a run takes, fast machine or slow.
begin=$(date +%s%N)
(run best_fit 1h)
span=$(($(date +%s%N) - begin))
moments=$(awk -v count=$kills -v span=$span '
    BEGIN { srand(7); for (i = 0; i < count; i++) printf "%.4f ", rand() * span / 1e9 }')
old=0 new=0 none=0
for moment in $moments; do
    (run best_fit 1h) || fail 'a run after a killed one fails'
    (run best_fit 5m) &
    victim=$!
    sleep "$moment"
    kill -9 $victim 2>/dev/null
    wait $victim 2>/dev/null
    if "$program" report rec --json >told.json 2>told.err; then
        if cmp -s told.json first.json; then
            old=$((old + 1))
        elif cmp -s told.json second.json; then
            new=$((new + 1))
        else
            fail "killed after $moment s: the record tells of neither run"
        fi
    elif grep -q -e 'is a broken record' -e 'result.json: No such file' told.err; then
        none=$((none + 1))
    else
        fail "killed after $moment s: $(cat told.err)"
    fi
done
echo "note: of $kills killed runs $old left the old record, $new the new one, $none none"
[ $((old + new + none)) -eq $kills ] || fail "only $((old + new + none)) of $kills kills were looked at"
finish
