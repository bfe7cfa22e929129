#!/bin/sh
# Several workloads in one stream: traces, models and mixes, with offsets and prefixes; what is frozen of them is the
# same run; the record names the traces; what is refused.
set -u
. tests/support/cli.sh
seconds_max=120

told() { # key, record folder
    sed -n 's/^ *"'"$1"'": "\([0-9a-f]*\)",$/\1/p' "$2/result.json"
}

mkdir parts
cat >parts/a.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user,after
1,100,60,8,red,ann,
2,110,60,1,blue,bob,1
3,160,60,1,red,ann,ok:2
END
cat >parts/b.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
1,7,30,2,red,ann
2,17,30,4,green,cid
END
cat >merge.json <<'END'
{"cluster": "four.json", "policy": {"preset": "easy"}, "seed": 2,
 "workload": {"merge": [{"trace": "parts/a.csv"}, {"trace": "parts/b.csv", "offset": "10s", "prefix": "b/"}]}}
END

# a at 0, 10, 60 s; b at 0 + 10, 10 + 10 s.
windtunnel run merge.json --out first
[ "$status" -eq 0 ] || fail "run: $(cat said.err)"
zstd -dcq first/jobs.csv.zst >jobs.csv
python3 - <<'END' || fail "the jobs: $(cat jobs.csv)"
import csv, json
jobs = sorted(csv.DictReader(open('jobs.csv')), key=lambda row: int(row['job_id']))
rows = [(r['submit_s'], r['name'], r['queue'], r['user'], r['gpus']) for r in jobs]
assert rows == [('0', '1', 'red', 'ann', '8'), ('10', '2', 'blue', 'bob', '1'), ('10', 'b/1', 'b/red', 'b/ann', '2'),
                ('20', 'b/2', 'b/green', 'b/cid', '4'), ('60', '3', 'red', 'ann', '1')], rows
inputs = json.load(open('first/result.json'))['manifest']['inputs']
assert [i['name'] for i in inputs if i['role'] == 'trace'] == ['parts/a.csv', 'parts/b.csv'], inputs
END
windtunnel trace freeze merge.json --out frozen.jsonl
windtunnel run merge.json --set 'workload={"trace": "frozen.jsonl"}' --out second
[ "$status" -eq 0 ] || fail "frozen: $(cat said.err)"
for key in arrivals fingerprint; do
    [ -n "$(told $key first)" ] && [ "$(told $key first)" = "$(told $key second)" ] || fail "frozen: another $key"
done

# A bundle holds both traces.
windtunnel bundle first --trust first -o first.bundle
[ "$status" -eq 0 ] || fail "bundle: $(cat said.err)"
mkdir away
(cd away && "$program" reproduce ../first.bundle >said.out 2>said.err) || fail "reproduce: $(cat away/said.err)"

# ---- All kinds of workloads; a part has the jobs that it has alone ----

cat >mixed.json <<'END'
{"cluster": "four.json", "policy": {"preset": "windtunnel"}, "seed": 4,
 "queues": [{"name": "red", "parent": null, "quota_gpus": 3}],
 "workload": {"communication": [{"user": "b/ann", "sensitivity": "all_reduce_bound"}],
   "merge": [{"synth": {"duration": "1d", "load_whole_gpu": 0.3, "tenants": {"organisations": 1, "teams": 2, "projects": 4},
      "classes": [{"name": "one", "share": 1, "arrivals": {}, "sizes": [{"gpus": 1}],
                   "run_time": {"distribution": "exponential", "mean": "1h"}}]}},
    {"model": "philly", "duration": "1d", "load": 0.2, "offset": "2h", "prefix": "p/"},
    {"model": "philly", "duration": "1d", "load": 0.2, "prefix": "q/"},
    {"trace": "parts/b.csv", "prefix": "b/"}]}}
END
windtunnel run mixed.json --out first
[ "$status" -eq 0 ] || fail "mixed: $(cat said.err)"
windtunnel trace freeze mixed.json --out frozen.jsonl
windtunnel run mixed.json --set 'workload={"trace": "frozen.jsonl"}' --out second
for key in arrivals fingerprint; do
    [ -n "$(told $key first)" ] && [ "$(told $key first)" = "$(told $key second)" ] ||
        fail "mixed, frozen: another $key"
done
PROGRAM=$program python3 - <<'END' || fail 'the parts of the merge'
import json, subprocess, os
def freeze(workload):
    scenario = json.load(open('mixed.json'))
    scenario['workload'] = workload
    del scenario['queues']
    json.dump(scenario, open('one.json', 'w'))
    subprocess.run([os.environ["PROGRAM"], 'trace', 'freeze', 'one.json', '--out', 'one.jsonl'], check=True,
                   stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in open('one.jsonl')]
scenario = json.load(open('mixed.json'))
merge = scenario['workload']['merge']
whole = [json.loads(line) for line in open('frozen.jsonl')]
key = lambda job: (job['submit_s'], job['duration_s'], job['queue'], job.get('user'))
for part in (0, 3):
    spec = dict(merge[part])
    prefix = spec.pop('prefix', '')
    alone = freeze(spec)[1:]
    expected = sorted((j['submit_s'], j['duration_s'], prefix + j['queue'], prefix + j['user'] if 'user' in j else None) for j in alone)
    names = {e[2] for e in expected}
    found = sorted(key(j) for j in whole[1:] if j['queue'] in names)
    assert expected == found, (part, expected[:3], found[:3])
p = [j for j in whole[1:] if j['queue'].startswith('p/')]
q = [j for j in whole[1:] if j['queue'].startswith('q/')]
assert p and q and min(j['submit_s'] for j in p) >= 7200
assert [j['duration_s'] for j in p][:9] != [j['duration_s'] for j in q][:9]  # draws of their own
queues = {queue['name']: queue for queue in whole[0]['queues']}
assert queues['team000']['parent'] == 'organisation000' and queues['red']['quota_gpus'] == 3, queues
assert sum('sensitivity' in j for j in whole[1:]) == 1  # b/ann has one job
END

# ---- What is refused ----

refuse() { # place, says; the value of merge on standard input
    { printf '{"cluster": "four.json",\n "workload": {"merge": \n'; cat; echo '}}'; } >bad.json
    windtunnel run bad.json
    [ "$status" -eq 2 ] || fail "$2: status $status"
    grep -q "^error: bad.json:$1: .*$2" said.err || fail "$2: $(cat said.err)"
}
echo '[]' | refuse 3:1 "'merge' must be an array of 1 to 16 workloads"
echo '[{"trace": "a.csv"}, {"offset": 3}]' | refuse 3:22 "a workload must have either 'trace'"
echo '[{"trace": "a.csv", "prefx": "a"}]' | refuse 3:21 "prefx"
echo '[{"merge": [{"trace": "a.csv"}]}]' | refuse 3:12 "'merge' cannot stand in a part of a merge"
echo '[{"trace": "a.csv", "fill": {"load": 1}}]' | refuse 3:29 "'fill' cannot stand in a part of a merge"
echo '[{"trace": "a.csv"}], "load": 0.9' | refuse 3:31 "'load' belongs to a trace; a merge has it in its parts"
echo '[{"trace": "a.csv"}], "trace": "b.csv"' | refuse 2:14 "a workload must have either 'trace'"
echo '[{"model": "phily", "jobs": 3}]' | refuse 3:12 "there is no ready model 'phily'"
printf 'job_id,submit_s,duration_s,gpus\n1,0,x,1\n' >parts/b.csv
windtunnel run merge.json
[ "$status" -eq 3 ] || fail "a bad part: status $status"
grep -q '^error: parts/b.csv:2:5' said.err || fail "a bad part: $(cat said.err)"
finish
