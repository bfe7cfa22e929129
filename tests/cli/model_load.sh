#!/bin/sh
# The load of a workload is one number, in all and by GPU model, wherever it is told: trace info, validate, run, its
# page and a report made later; and a report names what the run named.
set -u
. tests/support/cli.sh
command -v python3 >/dev/null || exit 77

succeeds() { # arguments of the program
    windtunnel "$@"
    [ "$status" -eq 0 ] || fail "$*: exit status $status: $(cat said.err)"
}

# 20 A10 asked at 108 %, 64 H100 at 31 %, some jobs that run on either, and one that never fits.
awk 'BEGIN {
    print "job_id,submit_s,duration_s,gpus,gpu_model"
    for (i = 0; i < 2000; i++)
        printf "%d,%d,%d,%d,%s\n", i, i * 40, i % 10 == 0 ? 8000 : 1080, 1,
            i % 10 == 0 ? "h100" : i % 10 == 1 ? "" : "a10"
    print "2000,80000,1000,64,a10"
}' >trace.csv
cat >s.json <<'END'
{"cluster": {"pools": [
   {"name": "small", "nodes": 20, "gpus_per_node": 1, "gpu_model": "a10", "price_usd_per_gpu_h": 0.75},
   {"name": "large", "nodes": 8, "gpus_per_node": 8, "gpu_model": "h100-80gb", "price_usd_per_gpu_h": 2.5}]},
 "workload": {"trace": "trace.csv"}, "policy": {"order": ["fifo"], "blocking": "skip"}}
END

python3 -c 'import json; print(json.dumps(json.load(open("s.json"))["cluster"]))' >c.json
succeeds run s.json --quiet --out out
cp said.out ran.out
says ran.out '^of it [0-9.]* % of the 20 GPUs a10-24gb, [0-9.]* % of the 64 GPUs h100-80gb, [0-9.]* % of all 84 GPUs by'
says ran.out '^cluster: 28 nodes, 84 GPUs · policy custom'
succeeds report out
cmp -s said.out ran.out || fail "the report differs: $(diff said.out ran.out)"
grep -q 'of the 20 GPUs a10-24gb' out/report.html || fail 'the page does not tell the load by model'
succeeds validate s.json --json
cp said.out plan.json
succeeds validate s.json
says said.out '^by model  [0-9.]* % of the 20 GPUs a10-24gb'
succeeds trace info trace.csv --json --cluster c.json
cp said.out info.json

cat >check.py <<'END'
import csv, io, json, math, re, subprocess
result, plan, info = (json.load(open(name)) for name in ("out/result.json", "plan.json", "info.json"))
def rows(name):
    text = subprocess.run(["zstd", "-dcq", f"out/{name}.csv.zst"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))
jobs, attempts = rows("jobs"), rows("attempts")
span_s = max(float(job["submit_s"]) for job in jobs)
assert span_s == 80000
asked, gpus = {"a10-24gb": 0, "h100-80gb": 0, "any": 0}, {"a10-24gb": 20, "h100-80gb": 64, "any": 84}
models = {row["job_id"]: row["gpu_model"] for row in csv.DictReader(open("trace.csv"))}
long = {"a10": "a10-24gb", "h100": "h100-80gb", "": "any"}
for job in jobs:
    asked[long[models[job["job_id"]]]] += float(job["gpus"]) * float(job["work_asked_s"])
by = result["by"]["gpu_model_asked"]
for model in asked:
    load = asked[model] / (gpus[model] * span_s)
    assert math.isclose(by[model]["offered_load_ratio"]["value"], load), (model, by[model], load)
    assert math.isclose(plan["workload"]["offered_load"]["by_model"][model]["ratio"], load), (model, plan, load)
    assert math.isclose(by[model]["asked_gpu_h"]["value"], asked[model] / 3600)
    assert math.isclose(info["offered_load"]["by_model"][model]["ratio"], load)
load = sum(asked.values()) / (84 * span_s)
assert math.isclose(result["metrics"]["offered_load_ratio"]["value"], load)
assert math.isclose(plan["workload"]["offered_load"]["ratio"], load) and math.isclose(info["offered_load"]["ratio"], load)
assert result["facts"]["offered_load"] == plan["workload"]["offered_load"] and by["a10-24gb"]["offered_load_ratio"]["value"] > 1.1

# A bill: what each pool's GPUs were held for, at its price.
pools = result["facts"]["pools"]
assert [pool["price_usd_per_gpu_h"] for pool in pools] == [0.75, 2.5]
nodes = [(int(pool["first_node"][1:]), pool) for pool in pools]
held = 0
bill = {pool["name"]: 0 for pool in pools}
for attempt in attempts:
    number = int(re.match(r"n\[?([0-9]+)", attempt["placement"]).group(1))
    pool = [pool for first, pool in nodes if first <= number][-1]
    gpu_s = float(attempt["gpus"]) * (float(attempt["end_s"]) - float(attempt["start_s"]))
    bill[pool["name"]] += gpu_s / 3600 * pool["price_usd_per_gpu_h"]
    held += gpu_s
assert math.isclose(held, sum(float(job["held_gpu_s"]) for job in jobs))
assert bill["small"] > 0 and bill["large"] > 0
print("the bill:", bill)
END
python3 check.py || fail 'the numbers differ'
finish
