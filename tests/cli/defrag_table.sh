#!/bin/sh
# The table of defragmentation: its figures are those of the runs' own records; its shapes, its errors.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null || ! command -v zstd >/dev/null; then
    echo 'skipped: no python3 or no zstd (make deps installs them)'
    exit 77
fi

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/defrag_table "$@") >said.out 2>said.err
    status=$?
}
short='--set workload.synth.duration=2d --set world.warmup=0 --set world.end=2d'

# shellcheck disable=SC2086
table --rows none,both --gang 64 --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
grep -q '^| none | .* | 0 | 0 | 0 | 0 | [0-9.]* | 0 | 0 |$' said.out ||
    fail "without a policy something moved: $(cat said.out)"

# shellcheck disable=SC2086
"$program" run "$repository/scenarios/h100-500x8.json" --quiet --policy fifo --set policy.blocking=skip \
    --set policy.estimate=declared --set world.estimates.kind=perfect \
    --set 'policy.preemption={"policy": "checkpoint", "grace_s": 120, "search": "node"}' \
    --set 'policy.actions=["allocate", "consolidation"]' \
    --set 'policy.defrag={"policy": "consolidation_and_drain", "gang_gpus_min": 64, "moves_per_plan": 64,
                          "moves_per_h": 120, "drain_nodes_ratio": 0.15, "wait_s": 3600}' \
    $short --out record >/dev/null || fail 'the run of its own failed'
kept=$(sed -n 's/.*"kept_gpu_h": \([0-9.]*\).*/\1/p' record/result.json | head -n 1)
moves=$(zstd -dcq record/attempts.csv.zst | grep -c ',Consolidated,')
[ "$moves" -gt 0 ] && [ "${kept%%.*}" -gt 0 ] || fail "nothing to compare with: $moves moves, $kept GPU h"
kept_text=$(LC_ALL=C printf '%.0f' "$kept" | sed 's/\(.*[0-9]\)\([0-9]\{3\}\)$/\1,\2/')
grep -q "^| both | .* | $moves | [0-9]* | [0-9,]* | $kept_text | " said.out ||
    fail "$moves moves and $kept GPU h are shown as $(grep both said.out)"

table --rows nope
[ "$status" -eq 2 ] && grep -q "no row 'nope'" said.err || fail "unknown row: status $status"
table --rows none --timeout 0
[ "$status" -eq 1 ] || fail "no time: status $status"
table --rows none --scenario nowhere.json
[ "$status" -eq 2 ] && grep -q 'nowhere.json' said.err || fail "no scenario: status $status"
finish
