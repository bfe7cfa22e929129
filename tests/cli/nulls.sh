#!/bin/sh
# The table of nulls and slips: a case of each kind of null is made, judged before and after, and counted.
set -u
. tests/support/cli.sh
ln -s "$repository/tools" tools

WINDTUNNEL=$program tools/table nulls --days 0.25 --mixes 1 --policies fifo --seeds-max 5 --nulls 5 --slips 0 \
    --named-count 0 --bound 5 >said.out 2>said.err || fail "nulls: $(cat said.err)"
for kind in 'a job added' 'a job later' 'a job longer' 'two pools' 'queues'; do
    grep -q "^mix 1 under fifo, $kind: passed before, passed after 5 seeds" said.err ||
        fail "no '$kind' that passes: $(cat said.err)"
done
grep -q '^nulls, after *5 *0 *0 *5 *5.0 ' said.out || fail "not five nulls that pass: $(cat said.out)"
finish
