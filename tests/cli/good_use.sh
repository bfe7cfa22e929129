#!/bin/sh
# Work that is done twice counts as allocated each time and as useful once, wherever it is said how well the cluster is
# used; and what the jobs of each queue cost follows from the attempts and the prices of the pools.
set -u
. tests/support/cli.sh

# ---- Closed form: job 1 works 1,000 s on all GPUs, loses 500 s of it to job 2, which works 100 s ----

cat >twice.csv <<'END'
job_id,submit_s,duration_s,gpus,nodes,priority
1,0,1000,8,1,10
2,500,100,8,1,90
END
cat >twice.json <<'END'
{"cluster": {"pools": [{"name": "a", "nodes": 1, "gpus_per_node": 8, "gpu_model": "h100-80gb", "price_usd_per_gpu_h": 2}]},
 "workload": {"trace": "twice.csv"},
 "policy": {"preset": "kai", "set": {"preemption.grace_s": 0}},
 "world": {"end": 1600}}
END
windtunnel run twice.json --out twice -q
[ "$status" -eq 0 ] || fail "it does not run: $(cat said.err)"
cp said.out twice.text
python3 - <<'END' || fail 'work done twice counts as useful'
import json
metrics = {name: metric['value'] for name, metric in json.load(open('twice/result.json'))['metrics'].items()}
page, text = open('twice/report.html').read(), open('twice.text').read()
assert abs(metrics['allocation_ratio'] - 1) < 1e-9, metrics['allocation_ratio']
assert abs(metrics['useful_ratio'] - 1100 / 1600) < 1e-9, metrics['useful_ratio']
assert abs(metrics['goodput_ratio'] - 1100 / 1600) < 1e-9, metrics['goodput_ratio']
assert 'useful' in text.split('GPU hours by cause')[0] and '68.8 %' in text, text
assert 'of all GPU time was work that is kept' in page and 'work that was lost included' in page
END
windtunnel compare --scenario twice.json --policy fifo --policy kai --no-why -q --out both
grep -q 'Useful work that is kept' both/report.html || fail 'the page of a comparison has no useful work'
windtunnel plan twice.json --level 'jobs_rejected<=0' --nodes a=1..2 -q
grep -q 'useful' said.out || fail "a plan has no useful work: $(cat said.out)"

# ---- What the jobs of a queue cost, from the attempts ----

cat >two.json <<'END'
{"cluster": {"pools": [
   {"name": "a", "nodes": 2, "gpus_per_node": 8, "gpu_model": "a100-80gb", "price_usd_per_gpu_h": 1.5},
   {"name": "h", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb", "price_usd_per_gpu_h": 4}]},
 "workload": {"trace": "two.csv"},
 "policy": {"preset": "fifo"}}
END
python3 - <<'END' >two.csv
import random
draw = random.Random(7)
print('job_id,submit_s,duration_s,gpus,nodes,queue,gpu_model')
for i in range(80):
    model = draw.choice(['a100-80gb', 'h100-80gb', ''])
    print(f"{i},{60 * i},{draw.randint(60, 9000)},{draw.choice([1, 2, 4, 8])},1,{draw.choice(['red', 'blue'])},{model}")
END
windtunnel run two.json --out two -q
[ "$status" -eq 0 ] || fail "it does not run: $(cat said.err)"
grep -q 'cost, USD' said.out || fail "the queues have no cost: $(cat said.out)"
windtunnel report two --json
cp said.out report.json
windtunnel export two --to csv --out two-csv
python3 - <<'END' || fail 'the cost of the queues is not that of their attempts'
import collections, csv, json
result, again = json.load(open('two/result.json')), json.load(open('report.json'))
pools = result['facts']['pools']
queue_of = {row['job_id']: row['queue'] for row in csv.DictReader(open('two-csv/jobs.csv'))}
ends = {(row['job_id'], row['attempt']): row for row in csv.DictReader(open('two-csv/attempts.csv'))}
node_count = 0
price_of = {}
for pool in pools:
    for node in range(node_count, node_count + pool['nodes']):
        price_of[f'n{node}'] = pool['price_usd_per_gpu_h']
    node_count += pool['nodes']
cost = collections.Counter()
for row in csv.DictReader(open('two-csv/placement.csv')):
    at = ends[row['job_id'], row['attempt']]
    hours = (float(at['end_s']) - float(at['start_s'])) / 3600
    cost[queue_of[row['job_id']]] += float(row['gpus']) * hours * price_of[row['node']]
assert len(cost) == 2 and cost['red'] > 0, cost
for queue, usd in cost.items():
    told = result['by']['queue'][queue]['held_cost_usd']['value']
    assert abs(told - usd) < 1e-6 * usd, (queue, told, usd)
whole = result['metrics']['held_cost_usd']['value']
assert abs(whole - sum(cost.values())) < 1e-6 * whole, (whole, cost)
assert again['metrics']['held_cost_usd'] == result['metrics']['held_cost_usd'], 'report tells another cost'
assert again['by']['queue'] == result['by']['queue'], 'report tells other costs of queues'
END
# Without a price there is no cost.
windtunnel run two.json --set cluster.pools.a.price_usd_per_gpu_h=0 --out none -q
grep -q held_cost_usd none/result.json && fail 'a cluster of which a pool has no price tells costs'

finish
