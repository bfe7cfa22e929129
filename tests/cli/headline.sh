#!/bin/sh
# The table of the headline: its loads are those of `windtunnel plan`, and what it keeps is used again.
set -u
. tests/support/cli.sh
for folder in scenarios topologies tools; do
    ln -s "$repository/$folder" $folder
done

short='--set world.end=12h --set world.warmup=1h --set workload.synth.duration=12h'
headline() { # arguments
    # shellcheck disable=SC2086
    WINDTUNNEL=$program tools/table headline --mixes main --seeds 1,2 --range 0.2..1.4/0.2 $short --jobs 2 "$@" \
        >said.out 2>said.err || fail "headline $*: $(cat said.err)"
}

headline --rows slurm,MPS --keep kept.json --markdown
[ "$(grep -c '^| ' said.out)" -eq 4 ] || fail "not 2 rows: $(cat said.out)"
[ "$(wc -l <said.err)" -eq 4 ] || fail "not 4 plans: $(cat said.err)"
told=$(sed -n 's/^main, windtunnel, MPS, space kept, seed 2: \([0-9.]*\) .*/\1/p' said.err)
# shellcheck disable=SC2086
"$program" plan scenarios/h100-500x8.json --policy windtunnel --set policy.sharing.policy=mps $short --quiet \
    --set policy.headroom.owners_ratio=0.064 --seeds 1 --seed 2 --set workload.synth.load_whole_gpu=0.8 \
    --largest workload.synth.load_whole_gpu=0.2..1.4/0.2 --json \
    --level 'admission_p99_s:class=inference<=2' --level 'queue_time_p95_s:workload_class=small training<=1h' >plan.json
answer=$(python3 -c 'import json; print(json.load(open("plan.json"))["cases"][0]["answer"])')
[ "$told" = "$answer" ] || fail "the table has $told, the plan $answer"

cp said.out first.out
headline --rows slurm,MPS --keep kept.json --markdown
cmp -s first.out said.out || fail 'what was kept gives another table'
is_silent said.err 'all is kept'
finish
