#!/bin/sh
# Sweeps: a run is the run that `windtunnel run` makes; the merged results are the same bytes for any number of workers
# and shares; what fails is told and fails alone; what is wrong in a file is told with its place; shares and arrays.
set -u
. tests/support/cli.sh
. "$repository/tests/support/sweep.sh"
umask 022

make_serial
is_silent said.err 'merge'
sweep 0 status serial
says said.out '^32 runs of 16 combinations: 32 done$'

# ---- The plan: written once, the same again, another one refused. ----

sweep 0 plan sweep.json --out plan
says said.out '^16 combinations x 2 seeds = 32 runs$'
cksum plan/plan.json >plan.sum
sweep 2 plan sweep.json --out plan --set world.end=12h
says said.err 'plan holds another plan, which is not replaced$'
cksum plan/plan.json | cmp -s - plan.sum || fail 'a plan was replaced'

# ---- A run of the sweep is the run of its scenario. ----

python3 - >runs.txt <<'END' || fail 'serial.json'
import json
d = json.load(open('serial.json'))
for r in d['runs']:
    l = r['levels']
    nodes = {'ten': ['10'], 'twelve': ['12', '--set', 'cluster.pools.h100.cpus=256']}[l['nodes']]
    assert r['state'] == 'done' and len(r['metrics']) > 40 and 'training' in r['by']['class']
    if r['run'] % 5 == 1:
        print(r['fingerprint'], r['metrics']['queue_time_p95_s'], '--policy', l['policy'], '--seed', r['seed'], '--set',
              f"workload.synth.load_whole_gpu={l['load']}", '--set', 'cluster.pools.h100.nodes=' + nodes[0], *nodes[1:])
END
[ "$(wc -l <runs.txt)" -eq 7 ] || fail "not 7 runs: $(cat runs.txt)"
while read -r fingerprint p95 options; do
    # shellcheck disable=SC2086 # words
    "$program" run mix.json --quiet --out one $options </dev/null >/dev/null || fail "run $options"
    is=$(python3 -c "import json; d = json.load(open('one/result.json'))
print(d['manifest']['fingerprint'], d['metrics']['queue_time_p95_s']['value'])")
    [ "$is" = "$fingerprint $p95" ] || fail "run $options: $is, in the sweep $fingerprint $p95"
    rm -rf one
done <runs.txt

# ---- Any number of workers, in any order; results that another sweep made. ----

new_plan two
sweep 0 run two -j 2
same_as_serial two '2 workers'
new_plan shares
for share in 3 1 4 2; do
    sweep 0 work shares --shard $share/4 -j $((share % 2 + 1)) --quiet
    says said.out "^share $share of 4: 0 recorded before, 8 done, 0 failed, 0 not made$"
done
same_as_serial shares '4 shares'
new_plan copied
cp two/runs/* copied/runs/
touch -d '2001-01-01' copied/runs/*
(cd / && "$program" sweep run "$scratch/two" --quiet >/dev/null) || fail 'a sweep that is complete, from another folder'
"$program" sweep run copied --quiet >/dev/null || fail 'a sweep whose results were copied'
same_as_serial copied 'copied results'
[ -z "$(find copied/runs -type f -newermt '2002-01-01')" ] || fail 'a run that is done was made again'

# ---- The share from the environment of an array of jobs. ----

new_plan array
for task in 0 1 2; do
    export SLURM_ARRAY_TASK_ID=$((task + 5)) SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=5
    sweep 0 work array
    says said.out "^share $((task + 1)) of 3: 0 recorded before, 1[01] done, 0 failed, 0 not made$"
done
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN
same_as_serial array 'an array of Slurm'
new_plan indexed
for task in 1 0; do
    export JOB_COMPLETION_INDEX=$task
    sweep 0 work indexed --shards 2
done
same_as_serial indexed 'an indexed job'
sweep 2 work indexed
says said.err "the array has the task 0, and '--shards' says 0"
unset JOB_COMPLETION_INDEX
sweep 2 work indexed
says said.err 'which share of the runs'
sweep 2 work indexed --shard 3/2
says said.err "'--shard' must be I/N with I from 1 to N, got '3/2'"

# ---- A run that fails fails alone, is told, and is made again only if that is asked for. ----

cat >bad.json <<'END'
{"scenario": "mix.json",
 "factors": [
   {"name": "what", "levels": {"good": {},
                               "endless": {"workload.synth.duration": "5000d", "world.end": "5000d"},
                               "queue": {"queues": [{"name": "a", "parent": "b"}]}}}]}
END
sweep 11 run bad.json --out bad --timeout 3s
says said.out '^3 runs of 3 combinations: 1 done, 1 error, 1 timeout$'
says said.err '^error: timeout: run 1 (what=endless, seed 1): took longer than it may$'
says said.err '^error: error: run 2 (what=queue, seed 1): scenario:1:[0-9]*:'
sweep 11 merge bad
says said.out '^1,1,timeout,endless,,'
says said.err '^warning: 2 of 3 runs are not done'
touch -d '2001-01-01' bad/runs/*
sweep 11 resume bad
[ -z "$(find bad/runs -type f -newermt '2002-01-01')" ] || fail 'a run that failed was made again'
sweep 11 run bad --retry --timeout 0.2s
[ "$(find bad/runs -type f -newermt '2002-01-01' | wc -l)" -eq 2 ] || fail 'a run that failed was not made again'
case ${ASAN_OPTIONS-}${WINDTUNNEL_BUILD-} in
*sanitized*) echo 'note: no limit of memory under AddressSanitizer' ;;
*)
    cat >large.json <<'END'
{"scenario": "mix.json",
 "factors": [{"name": "duration", "path": "workload.synth.duration", "values": ["1d", "900d"]}],
 "set": {"world.end": "900d"}}
END
    sweep 0 plan large.json --out large
    sweep 11 run large --memory 40M -j 2
    says said.err 'memory: run [01] (duration=[0-9]*d, seed 1): ran out of memory$'
    ;;
esac

# ---- What is wrong is told with its place. ----

wrong() { # factors, message
    printf '{"scenario": "mix.json",\n "factors": [%s]}\n' "$1" >wrong.json
    sweep 2 plan wrong.json --out wrong
    says said.err "$2"
    [ ! -e wrong ] || fail 'a plan was left'
}
wrong '{"path": "policy.preset", "values": ["fifo", "fivo"]}' \
    "^error: wrong.json:2:59: the level 'fivo' of 'policy.preset' makes no scenario: .*no policy preset 'fivo'"
wrong '{"path": "world.end", "values": ["1d"]}, {"path": "world.ennd", "values": ["1d"]}' \
    "^error: wrong.json:2:89: the level '1d' of 'world.ennd' makes no scenario: .*unknown key 'ennd'"
wrong '{"path": "workload.load_gpus", "values": [null, 80]}, {"path": "cluster.pools.h100.nodes", "values": [0]}' \
    "^error: wrong.json:2:116: the level '0' of 'cluster.pools.h100.nodes' makes no scenario: "
printf '{"scenario": "none.json"}\n' >wrong.json
sweep 4 plan wrong.json --out wrong
says said.err 'none.json'
sweep 4 run nowhere
says said.err 'cannot open nowhere/plan.json'

# ---- What has changed is noticed. ----

cat >replay.json <<'END'
{"scenario": "small.json", "factors": [{"path": "policy.preset", "values": ["fifo", "kai"]}]}
END
sweep 0 plan replay.json --out replay
sweep 0 work replay --shard 1/2
cp small.csv kept.csv
echo '4,30,600,1,red,ann' >>small.csv
sweep 3 run replay
says said.err 'the trace .*/small.csv is not that of the plan: it has changed'
mkdir elsewhere
mv kept.csv elsewhere/small.csv
sweep 0 run replay --paths elsewhere
cp replay/plan.json kept.plan
sed 's/"seeds": \[1\]/"seeds": [2]/' kept.plan >replay/plan.json
sweep 3 status replay
says said.err 'replay/plan.json:[0-9]*:[0-9]*: runs are in the order of the seeds'
cp kept.plan replay/plan.json
cp kept.plan replay/plan.json
printf 'x' >>replay/configurations.jsonl.zst
sweep 3 status replay
says said.err 'configurations.jsonl.zst'

# ---- The examples: the sweep of the guide, the job of Kubernetes. ----

sweep 0 plan mig-share --out share # found as the scenarios are
says said.out '^20 combinations x 5 seeds = 100 runs$'
if python3 -c 'import yaml' 2>/dev/null; then
    python3 -c "import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))['spec']
args = job['template']['spec']['containers'][0]['args']
assert job['completionMode'] == 'Indexed' and args[args.index('--shards') + 1] == str(job['completions'])
print('\n'.join(args))" "$repository/docs/examples/sweep/kubernetes.yaml" >args || fail 'kubernetes.yaml'
    new_plan out
    sed -i "s|^/sweep|$scratch|" args
    for task in $(seq 0 7); do
        JOB_COMPLETION_INDEX=$task xargs "$program" <args >said.out 2>&1 ||
            fail "task $task of Kubernetes: $(cat said.out)"
    done
    same_as_serial out 'the job of Kubernetes'
fi

# ---- The report: its means are those of the merged values; the page is whole. ----

sweep 0 report serial --metric queue_time_p95_s:class=training --metric allocation_ratio
says said.out '^16 combinations x 2 seeds, 32 of 32 runs done$'
ratio=$(python3 -c "import json
runs = json.load(open('serial.json'))['runs']
values = [r['metrics']['allocation_ratio'] for r in runs if r['levels']['policy'] == 'kai']
print('%.1f' % (100 * sum(values) / len(values)))")
says said.out "^  policy kai  *$ratio % "
says said.out '^  Of the variance  *share  *df  *p$'
says said.out '^    policy x load  *[0-9.]* %  *[0-9]'
sweep 0 report serial --out report.html
is_silent said.out 'a report to a file'
[ "$(tail -n 1 report.html)" = '</html>' ] || fail 'the page is not whole'
for part in '<figure>' '<td style="background:#' 'queue_time_p95_s over load, by policy' \
    'No combination beats these'; do
    says report.html "$part"
done
sweep 11 report bad
says said.out ', 1 of 3 runs done$'
sweep 2 report serial --metric queue_time
says said.err "no run has the metric 'queue_time'"
sweep 2 report serial --over policy
says said.err "no factor 'policy' whose levels are several numbers"

# ---- The script for Slurm. ----

sweep 0 submit two --slurm --dry-run --tasks 5 --timeout 10m --sbatch=--partition=short
says said.out '^#SBATCH --array=0-4$'
says said.out '^#SBATCH --requeue$'
says said.out '^#SBATCH --partition=short$'
says said.out "^exec '.*windtunnel' sweep work '$scratch/two' --shards 5 --jobs 1 --quiet --timeout '10m'$"
sh -n said.out || fail 'the script is no shell script'
[ ! -e two/sweep.sbatch ] || fail '--dry-run wrote the script'
sweep 2 submit two
says said.err "'--slurm' is missing"

finish
