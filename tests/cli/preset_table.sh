#!/bin/sh
# The table of presets: its figures are those of the runs' own records, its shapes, its errors; and both scenarios of
# the benchmarks run.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null; then
    echo 'skipped: no python3 (make deps installs it)'
    exit 77
fi

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/preset_table "$@") >said.out 2>said.err
    status=$?
}
short='--set workload.synth.duration=6h --set world.warmup=0 --set world.end=6h'

# shellcheck disable=SC2086
table --presets fifo,windtunnel+kill $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(wc -l <said.out)" -eq 19 ] || fail "not 19 lines: $(cat said.out)"
# shellcheck disable=SC2086
"$program" run "$repository/scenarios/h100-500x8.json" --quiet --policy windtunnel \
    --set policy.preemption.policy=kill $short --out record >/dev/null || fail 'the run of its own failed'
for metric in allocation_ratio goodput_ratio; do
    own=$(sed -n "s/^ *\"$metric\": {\"value\": \([0-9.]*\),.*/\1/p" record/result.json | head -n 1)
    shown=$(awk -v metric=$metric '$1 == metric { print $3 }' said.out)
    [ -n "$own" ] && [ "$(printf '%.3f' "$own")" = "$shown" ] || fail "$metric: '$own' is shown as '$shown'"
done

# shellcheck disable=SC2086
table --presets fifo,slurm --markdown $short
[ "$status" -eq 0 ] && [ "$(grep -c '^| .* | .* | .* |$' said.out)" -eq 17 ] ||
    fail 'the table in Markdown has not 17 rows'

table --presets fifo --timeout 0
[ "$status" -eq 1 ] && grep -q '^fifo: incomplete' said.out || fail "no time: status $status"
table --presets nope
[ "$status" -eq 2 ] && grep -q "no policy preset 'nope'" said.err || fail "unknown preset: status $status"
table --presets fifo+other
[ "$status" -eq 2 ] && grep -q "no variant 'other'" said.err || fail "unknown variant: status $status"

for scenario in bench bench-windtunnel; do
    "$program" run "$repository/scenarios/$scenario.json" --quiet --check --strict --set workload.synth.jobs=300 \
        --set workload.synth.load_whole_gpu=1000 >said.out || fail "$scenario does not run"
done
finish
