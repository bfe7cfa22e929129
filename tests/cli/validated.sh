#!/bin/sh
# Which communication nobody measured is told by `validate` and `run`, in the record and on its page: a job inside, jobs
# outside by one axis each, and by how much (topologies/validation.h, studies/run/unmeasured.h).
set -u
. tests/support/cli.sh

cat >cluster.json <<'END'
{"pools": [{"name": "h100", "nodes": 32, "gpus_per_node": 8, "gpu_model": "h100-80gb"}],
 "fabric": {"nodes_per_unit": 32, "rails": 8}}
END
reduce='"sensitivity": {"collective": "all-reduce", "exposed_ratio": 0.1, "hidden_ratio": 0, "bytes": 8589934592}'
mixture='"ffn": 14336, "gated": true, "experts": 8, "experts_per_token": 2, "ep": 8, "zero": 3'
model='"layers": 32, "hidden": 4096, "sequence": 4096, "vocabulary": 32000, "batch": 64'
inside="{\"job_id\": \"in\", \"submit_s\": 0, \"duration_s\": 3600, \"nodes\": 2, \"gpus\": 16, $reduce}"
cat >inside.jsonl <<END
$inside
END
cat >jobs.jsonl <<END
$inside
{"job_id": "wide", "submit_s": 0, "duration_s": 7200, "nodes": 16, "gpus": 128, $reduce}
{"job_id": "alone", "submit_s": 0, "duration_s": 3600, "nodes": 1, "gpus": 1, $reduce}
{"job_id": "experts", "submit_s": 0, "duration_s": 3600, "nodes": 2, "gpus": 16, "plan": {"tp": 8, $model, $mixture}}
END
of='--cluster cluster.json --policy fifo'

# ---- inside: a value in the record, and no word ----

windtunnel validate --trace inside.jsonl $of
grep -q '^outside' said.out && fail "validate: what was measured is called outside: $(cat said.out)"
windtunnel run --trace inside.jsonl $of --out in -q
grep -q 'outside of what was measured' said.out in/report.html && fail 'run: what was measured is called outside'
grep -q '"validation": {"jobs": 1, "gpu_h": 16, "outside_jobs": 0, "outside_gpu_h": 0}' in/result.json ||
    fail "the record does not say that all is inside: $(grep validation in/result.json)"

# ---- outside ----

windtunnel validate --trace jobs.jsonl $of
sed -n '/^outside/,/^ .*experts$/p' said.out >told
cat >expected <<'END'
outside   of what was measured: 2 of 3 jobs that communicate, 94.4 % of their GPU hours
          domains: 1 job, up to 16 domains, 8 measured, job wide
          kind of plan: 1 job, no row of mixtures of experts with zero 2 or 3, job experts
END
cmp -s told expected || fail "validate: $(cat told)"
windtunnel validate --trace jobs.jsonl $of --json
grep -q '"validation": {"jobs": 3, "gpu_h": 288, "outside_jobs": 2, "outside_gpu_h": 272, "reasons": ' said.out ||
    fail "validate --json: $(cat said.out)"

windtunnel run --trace jobs.jsonl $of --out record
words='^communication outside of what was measured: 2 of 3 jobs that communicate, 94.4 % of their GPU hours$'
grep -q "$words" said.out || fail "run: $(cat said.out)"
grep -q '^  domains  *1  *256  *88.9 %  *up to 16 domains, 8 measured  *wide$' said.out || fail "run: $(cat said.out)"
grep -q '^  kind of plan  *1  *16  *5.6 %  *no row of mixtures of experts with zero 2 or 3  *experts$' said.out ||
    fail "run: $(cat said.out)"
warning='^warning: jobs.jsonl:4:[0-9]*: .plan.: no measured row encloses this mixture of experts; 0 rows of mixtures '
grep -q "$warning.*the nearest row: Qwen3 30B on 8 GPUs in bf16, where the model is off by -1 %$" said.err ||
    fail "a mixture that nobody measured is not warned of: $(cat said.err)"
grep -q '"outside_jobs": 2, "outside_gpu_h": 272' record/result.json || fail "$(grep validation record/result.json)"

# The page and the text come from the files alone too.
cp record/report.html page.html
rm record/report.html
windtunnel report record --html
grep -q "$words" said.out || fail "report: $(cat said.out)"
cmp -s page.html record/report.html || fail 'report makes another page'
grep -q 'Communication outside of what was measured' page.html || fail 'the page does not tell'

# ---- where the jobs stand counts ----

# Members of one GPU on two nodes, and on 16, where so few GPUs in several domains were not measured.
cat >single.jsonl <<END
{"job_id": "thin", "submit_s": 0, "duration_s": 3600, "nodes": 16, "gpus": 16, $reduce}
END
windtunnel run --trace single.jsonl $of --set policy.placement=pack --out packed -q
grep -q '"outside_jobs": 0' packed/result.json || fail "packed: $(grep validation packed/result.json)"
windtunnel run --trace single.jsonl $of --set policy.placement=spread --out spread -q
grep -q '"axis": "GPUs", "asked": 16, "measured": 64, "job": "thin"' spread/result.json ||
    fail "spread: $(grep validation spread/result.json)"

# ---- a row of the scenario, by its place in the file ----

cat >scenario.json <<END
{
  "cluster": "cluster.json",
  "workload": {
    "trace": "plain.csv",
    "communication": [
      {"gpus_min": 8, "plan": {$model, "ffn": 14336, "experts": 8, "experts_per_token": 2, "ep": 8, "zero": 3}}
    ]
  },
  "policy": {"preset": "fifo"}
}
END
printf 'job_id,submit_s,duration_s,nodes,gpus\na,0,60,1,8\nb,0,60,2,16\n' >plain.csv
for verb in validate run; do
    windtunnel $verb scenario.json
    grep -q '^warning: scenario.json:6:[0-9]*: .*mixture of experts, nor 1 nearer ones .* there, of other GPUs; ' \
        said.err || fail "$verb: $(cat said.err)"
    [ "$(grep -c 'mixture of experts' said.err)" -eq 1 ] || fail "$verb: one row is told more than once"
    windtunnel $verb scenario.json --set world.network=free
    grep -q 'mixture of experts\|outside *of what was measured' said.err said.out &&
        fail "$verb: a network that costs nothing is judged"
done
finish
