#!/bin/sh
# What no job of a trace says is told by every verb that runs it, and the verdict that turns on it is found
# (studies/run/assumptions.h, studies/comparison/verdicts.h).
set -u
. tests/support/cli.sh

# Long jobs of a node that notebooks may evict; nobody writes checkpoints.
python3 - <<'END' >jobs.csv
import random
draw, at = random.Random(1), 0
print('job_id,submit_s,duration_s,gpus,nodes,class,workload_class,priority,limit_s')
for i in range(120):
    at += draw.expovariate(1 / 900)
    kind = draw.random()
    if kind < 0.08:
        job = draw.choice([4, 6, 8, 10]) * 3600, 8, 'training,large', 50
    elif kind < 0.55:
        job = draw.choice([5, 10, 20, 40]) * 60, 1, 'training,small', 50
    else:
        job = draw.choice([20, 40, 60]) * 60, draw.choice([2, 4]), 'interactive,notebook', 75
    print(f'{i},{int(at)},{job[0]},{job[1]},1,{job[2]},{job[3]},{2 * job[0]}')
END
cat >cluster.json <<'END'
{"pools": [{"name": "a", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
END
of='--trace jobs.csv --cluster cluster.json'
half_hour='workload.defaults=[{"set":{"checkpoint_interval_s":"30m"}}]'

# ---- it is told, in one place and in each medium ----

for verb in validate 'run -q' 'plan -q --level queue_time_p95_s<=1d'; do
    windtunnel $verb $of --policy kai
    grep -iq '^assumed, because no job says it.*' said.out && grep -q checkpoints said.out ||
        fail "$verb does not say what it assumes: $(cat said.out)"
    windtunnel $verb $of --policy kai --set "$half_hour"
    grep -iq '^assumed' said.out && fail "$verb assumes what a default says: $(cat said.out)"
    windtunnel $verb $of --policy easy
    grep -iq '^assumed' said.out && fail "$verb tells of checkpoints where nothing is evicted: $(cat said.out)"
done
windtunnel run $of --policy kai --out record -q
windtunnel report record
grep -q '^assumed, because no job says it: checkpoints' said.out || fail "report: $(cat said.out)"
grep -q 'What is assumed of the jobs' record/report.html || fail 'the page does not say what is assumed'
windtunnel validate $of --policy kai --json
cp said.out validate.json
windtunnel plan $of --policy kai --level 'queue_time_p95_s<=1d' --json -q
cp said.out plan.json

# ---- the verdict that depends on it ----

windtunnel compare $of --exact --policy slurm --policy kai --assumptions --no-why -q --out out --write json=both.json
grep -q '^The verdict depends on it: queue_time_p95_s of kai is worse as it is, better with a checkpoint every 30 min' \
    said.out || fail "the verdict turns, and it is not said: $(cat said.out)"
grep -q 'What the verdict depends on' out/report.html || fail 'the page does not say what the verdict depends on'
windtunnel compare $of --exact --policy slurm --policy kai --no-why -q --set "$half_hour" --write json=half.json
windtunnel compare $of --exact --policy slurm --policy kai --no-why -q --write json=plain.json
python3 - <<'END' || fail 'the numbers of the cases are not those of the comparisons'
import json
both, half, plain = (json.load(open(f'{name}.json')) for name in ('both', 'half', 'plain'))
def p95(comparison):
    return next([v[0] for v in m['values']] for m in comparison['metrics']
                if m['metric'] == 'queue_time_p95_s' and len(m) == 5)
cases = both['assumptions']['cases']
first = lambda case: [case['verdicts'][0]['base'], case['verdicts'][0]['candidate']]
assert first(cases[0]) == p95(plain) == p95(both), (first(cases[0]), p95(plain))
assert cases[1]['setting'] == 'workload.defaults=[{"set":{"checkpoint_interval_s":"30m"}}]', cases[1]
assert first(cases[1]) == p95(half), (first(cases[1]), p95(half))
assert cases[1]['verdicts'][0]['verdict'] == 'turns' and cases[0]['verdicts'][0]['verdict'] == 'holds'
told = [both['assumed'], json.load(open('validate.json'))['assumed'], json.load(open('plan.json'))['assumed'],
        json.load(open('record/result.json'))['manifest']['workload']['assumed']]
assert all(list_of == told[0] for list_of in told) and [a['what'] for a in told[0]] == ['checkpoints'], told
END

# A gate that passes with checkpoints and fails without.
echo '{"gates": [{"metric": "queue_time_p95_s", "max_increase": "5%"}]}' >gates.json
windtunnel compare $of --exact --policy slurm --policy kai --assumptions --no-why -q --gates gates.json
[ "$status" -eq 10 ] || fail "status $status: the gate fails as it is"
grep -q 'The verdict depends on it: the gates are failed as it is, passed with a checkpoint every 30 min' said.out ||
    fail "the gates turn, and it is not said: $(cat said.out)"

# ---- a plan ----

windtunnel plan $of --exact --policy kai --nodes a=1..8 --level 'queue_time_p95_s<=10h' --assumptions -q
grep -q '^The answer depends on it: 3 as it is, 2 with a checkpoint every 30 minutes' said.out ||
    fail "the answer moves, and it is not said: $(cat said.out)"

# ---- what cannot be asked ----

windtunnel compare record record2=record --assumptions
[ "$status" -eq 2 ] && grep -q 'name its scenario' said.err || fail "records: $status $(cat said.err)"
windtunnel plan $of --policy kai --level 'queue_time_p95_s<=1h' --assumptions --with policy.preset=kai
[ "$status" -eq 2 ] || fail "two kinds of cases: $status"

finish
