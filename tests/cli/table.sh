#!/bin/sh
# Tables of runs: their figures are those of the runs' own records, also of several seeds and by group; a row stands
# for the settings that it names; shapes, errors, runs that take too long.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null || ! command -v zstd >/dev/null; then
    echo 'skipped: no python3 or no zstd (make deps installs them)'
    exit 77
fi

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/table "$@") >said.out 2>said.err
    status=$?
}
short='--set workload.synth.duration=1d --set world.warmup=2h --set world.end=1d'

own_run() { # seed, settings as words
    own_seed=$1
    shift
    # shellcheck disable=SC2086
    "$program" run "$repository/scenarios/gangs-network.json" --quiet --seed "$own_seed" $short "$@" \
        --out "record$own_seed" >/dev/null || fail "the run of its own failed: $*"
}

told() { # metric, seed, unit: of the whole run
    sed -n 's/^ *"'"$1"'": {"value": \([0-9.]*\),.*/\1/p' "record$2/result.json" | head -n 1 |
        LC_ALL=C awk -v unit="${3:-1}" '{ print $1 / unit }' OFMT=%.9f CONVFMT=%.9f
}

jobs() { # awk program over the rows of jobs of seed 1; a function of theirs: value("column")
    zstd -dcq record1/jobs.csv.zst | LC_ALL=C awk -F, 'function value(name) { return $column[name] }
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        '"$1"
}

wait_of() { # least and most GPUs, percent
    jobs "value(\"is_counted\") == 1 && value(\"gpus\") >= $1 && value(\"gpus\") <= $2 {
        printf \"%.9f\\n\", value(\"wait_s\") / 3600 }" | sort -n >waits
    sed -n "$(((($(wc -l <waits) * $3) + 99) / 100))p" waits
}

cell() { # row, number of the column after the name
    grep "^| $1 | " said.out | cut -d '|' -f $(($2 + 2)) | sed 's/±.*//' | tr -d ' '
}

is() { # what, cell, figure, digits
    expected=$(LC_ALL=C printf "%.$4f" "$3")
    [ -n "$3" ] && [ "$2" = "$expected" ] || fail "$1 is $3 in the record, $2 in the table"
}

# ---- Every figure of a row is the run's own ----

# shellcheck disable=SC2086
table network --groups 8 --rows best_fit,required,loose+spread --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(grep -c '^| .* |$' said.out)" -eq 4 ] || fail "not a head and three rows: $(cat said.out)"
own_run 1 --set cluster.fabric.leaf_oversubscription=8 --set policy.placement=best_fit
is 'the mean slowdown' "$(cell best_fit 1)" "$(told communication_slowdown_mean 1)" 3
is 'the slowdown p95' "$(cell best_fit 2)" "$(told communication_slowdown_p95 1)" 3
is 'GB/s' "$(cell best_fit 3)" "$(told network_gb_per_s_mean 1)" 1
is 'the MFU' "$(cell best_fit 4)" "$(told mfu_ratio 1)" 3
is 'the time that GPUs wait' "$(cell best_fit 5)" "$(told communication_gpu_h 1 1000)" 1
is 'the time that work is slowed' "$(cell best_fit 6)" "$(told slowed_gpu_h 1 1000)" 1
is 'the median wait of small jobs' "$(cell best_fit 7)" "$(wait_of 1 4 50)" 2
is 'the p95 wait of small jobs' "$(cell best_fit 8)" "$(wait_of 1 4 95)" 2
is 'the median wait of gangs' "$(cell best_fit 9)" "$(wait_of 5 64 50)" 2
is 'the p95 wait of gangs' "$(cell best_fit 10)" "$(wait_of 5 64 95)" 2
is 'the median wait of large gangs' "$(cell best_fit 11)" "$(wait_of 65 4000 50)" 2
is 'the p95 wait of large gangs' "$(cell best_fit 12)" "$(wait_of 65 4000 95)" 2
is 'what is used' "$(cell best_fit 13)" "$(told allocation_ratio 1)" 3
is 'what is done' "$(cell best_fit 14)" "$(jobs '{ asked += value("gpus") * value("work_asked_s")
    done += value("gpus") * value("work_s") } END { printf "%.9f", done / asked }')" 3

# ---- Near is faster than far, which shows on the narrow fabric alone ----

is_less() { # what, less, more
    LC_ALL=C awk -v less="$2" -v more="$3" 'BEGIN { exit !(less != "" && more != "" && less + 0.01 < more + 0) }' ||
        fail "$1: $2 is not less than $3: $(cat said.out)"
}
is_less 'slowdown of gangs in one unit, and as asked' "$(cell required 1)" "$(cell best_fit 1)"
is_less 'slowdown as asked, and spread anywhere' "$(cell best_fit 1)" "$(cell 'loose+spread' 1)"
is_less 'GB/s anywhere and in one unit' "$(cell 'loose+spread' 3)" "$(cell required 3)"
is_less 'MFU anywhere and in one unit' "$(cell 'loose+spread' 4)" "$(cell required 4)"
is_less 'slowed in one unit and anywhere' "$(cell required 6)" "$(cell 'loose+spread' 6)"
narrow=$(cell 'loose+spread' 1)

# shellcheck disable=SC2086
table network --groups 1 --rows loose+spread --seeds 1,2 --markdown $short
is_less 'slowdown at 1:1 and at 8:1' "$(cell 'loose+spread' 1)" "$narrow"
is 'GB/s at 1:1' "$(cell 'loose+spread' 3)" 50 1
for seed in 1 2; do
    own_run $seed --set policy.topology.mode=loose --set policy.placement=spread
done
[ "$(told communication_slowdown_mean 1)" != "$(told communication_slowdown_mean 2)" ] || fail 'both seeds are one'
is 'the mean over seeds' "$(cell 'loose+spread' 6)" \
    "$({ told slowed_gpu_h 1 1000 && told slowed_gpu_h 2 1000; } | awk '{ sum += $1 } END { print sum / NR }')" 1

# ---- Topology: no group is split, and a row with another placement policy is that run's ----

two='--set workload.load_gpus=cluster --set workload.synth.duration=2d --set world.warmup=0 --set world.end=2d'
# shellcheck disable=SC2086
table topology --groups nvl72 --rows required,preferred,preferred+topology --markdown $two
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(grep -c '^| [a-z+]* | .* | 0 |$' said.out)" -eq 3 ] || fail "a group was split: $(cat said.out)"
grep -q '^| required | .* | 1.000 | 0 |$' said.out || fail "a gang is in two units: $(cat said.out)"
# shellcheck disable=SC2086
"$program" run "$repository/scenarios/gangs.json" --quiet --cluster "$repository/topologies/nvl72-8.json" \
    --set policy.topology.mode=preferred --set policy.placement=topology $two --out record1 >/dev/null ||
    fail 'the run with the placement policy failed'
is 'GB/s with the placement policy' "$(cell preferred+topology 8)" "$(told gang_link_gb_per_s_mean 1)" 1
[ "$(cell preferred 8)" != "$(cell preferred+topology 8)" ] ||
    fail "the placement policy changes nothing: $(cat said.out)"

# ---- Presets: rows that stand as columns ----

six='--set workload.synth.duration=6h --set world.warmup=0 --set world.end=6h'
# shellcheck disable=SC2086
table preset --rows fifo,windtunnel+kill $six
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(wc -l <said.out)" -eq 18 ] || fail "not 18 lines: $(cat said.out)"
# shellcheck disable=SC2086
"$program" run "$repository/scenarios/h100-500x8.json" --quiet --policy windtunnel \
    --set policy.preemption.policy=kill $six --out record1 >/dev/null || fail 'the run of its own failed'
for metric in allocation_ratio goodput_ratio; do
    is "$metric" "$(awk -v metric=$metric '$1 == metric { print $3 }' said.out)" "$(told $metric 1)" 3
done

# ---- The list; errors; a run that takes too long ----

table
[ "$status" -eq 0 ] && [ "$(wc -l <said.out)" -eq 17 ] || fail "the tables there are: $(cat said.out said.err)"
for name in cliff read; do
    table $name --help
    [ "$status" -eq 0 ] && grep -q -e '--markdown' said.out || fail "$name --help: status $status: $(cat said.err)"
done
table nope
[ "$status" -eq 2 ] || fail "unknown table: status $status"
table network --rows nope
[ "$status" -eq 2 ] && grep -q 'there is no nope' said.err || fail "unknown row: status $status"
table topology --groups moon
[ "$status" -eq 2 ] && grep -q 'there is no moon' said.err || fail "unknown group: status $status"
table preset --rows fifo+other
[ "$status" -eq 2 ] && grep -q "no variant 'other'" said.err || fail "unknown variant: status $status"
table network --rows best_fit --groups narrow
[ "$status" -eq 2 ] && grep -q 'leaf_oversubscription' said.err || fail "a bad fabric: status $status: $(cat said.err)"
table sharing --rows mps --set nowhere.json
[ "$status" -eq 2 ] && grep -q 'nowhere.json' said.err || fail "a bad setting: status $status"
table preset --rows fifo --timeout 0
[ "$status" -eq 1 ] && grep -q '^inference: admission p99, s  *-$' said.out ||
    fail "no time: status $status: $(cat said.out)"
finish
