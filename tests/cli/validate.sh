#!/bin/sh
# What validate says of a workload before it runs: jobs that never fit, by why, and GPUs that no job can use.  What
# never fits is what a run rejects.
set -u
. tests/support/cli.sh

cat >mixed.json <<'EOF'
{"name": "mixed", "pools": [
  {"name": "whole", "nodes": 4, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512, "labels": {"rack": "r1"}},
  {"name": "cut", "nodes": 2, "gpus_per_node": 4, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512, "node_name": "cut%u",
   "labels": {"rack": "r2"}, "gpus_layout": [["3g.40gb", "4g.40gb"], ["3g.40gb", "4g.40gb"], [], []]},
  {"name": "kept", "nodes": 1, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512, "node_name": "kept%u",
   "labels": {"rack": "r3"}, "taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]},
  {"name": "old", "nodes": 3, "gpus_per_node": 2, "gpu_model": "a100-80gb", "cpus": 64, "memory_gb": 512, "node_name": "old%u",
   "labels": {"rack": "r4"}}],
 "levels": ["rack"]}
EOF
cat >jobs.jsonl <<'EOF'
{"job_id": 1, "submit_s": 0, "duration_s": 60, "gpus": 8, "nodes": 1, "gpu_model": "h100-80gb"}
{"job_id": 2, "submit_s": 1, "duration_s": 60, "gpus": 1, "gpu_model": "h100-80gb"}
{"job_id": 3, "submit_s": 2, "duration_s": 60, "gpus": 16, "nodes": 1}
{"job_id": 4, "submit_s": 3, "duration_s": 60, "gpus": 1, "gpu_model": "b200"}
{"job_id": 5, "submit_s": 4, "duration_s": 60, "gpus": 1, "gpu_model": "b200"}
{"job_id": 6, "submit_s": 5, "duration_s": 60, "gpus": 1, "cpus": 100, "gpu_model": "h100-80gb"}
{"job_id": 7, "submit_s": 6, "duration_s": 60, "gpus": 64, "nodes": 8, "gpu_model": "h100-80gb"}
{"job_id": 8, "submit_s": 7, "duration_s": 60, "gpus": 1, "node_selector": {"rack": "r9"}}
{"job_id": 9, "submit_s": 8, "duration_s": 60, "gpus": 1, "mig_profile": "1g.10gb"}
{"job_id": 10, "submit_s": 9, "duration_s": 60, "gpus": 32, "nodes": 4, "topology": {"required": "rack"}}
{"job_id": 11, "submit_s": 10, "duration_s": 60, "gpus": 8, "nodes": 4, "topology": {"required": "rack"}, "gpu_model": "a100-80gb"}
EOF
cat >mixed-run.json <<'EOF'
{"cluster": "mixed.json", "workload": {"trace": "jobs.jsonl", "format": "jsonl"}, "policy": {"preset": "fifo"}}
EOF

windtunnel validate mixed-run.json
[ "$status" -eq 0 ] || fail "validate: $status, $(cat said.err)"
grep '^never fit\|^unusable' said.out | diff - /dev/fd/3 3<<'EOF' || fail 'another account'
never fit 8 of 11 jobs: 2 gpus_per_node, 2 gpu_model, 1 node_labels, 1 cpus_memory, 2 cluster_size
unusable  18 of 54 GPUs, by no job: 4 of pool cut (mig_layout), 8 of pool kept (node_labels), 6 of pool old (gpus_per_node)
EOF
windtunnel validate mixed-run.json --json
tr -d '\n' <said.out | grep -q '"never_fit": {"jobs": 8, "by": {"gpus_per_node": 2, "gpu_model": 2, '\
'"node_labels": 1, "cpus_memory": 1, "cluster_size": 2}}' ||
    fail "another account as JSON: $(cat said.out)"
grep -q '"unusable": {"gpus": 18, "by": \[{"pool": "cut", "why": "mig_layout", "gpus": 4}, ' said.out ||
    fail "$(cat said.out)"
python3 -c 'import json, sys; json.load(sys.stdin)' <said.out || fail 'what --json prints is no JSON'

# Jobs that declare what they exchange, themselves or by the table.
cat >>jobs.jsonl <<'EOF'
{"job_id": 12, "submit_s": 11, "duration_s": 60, "gpus": 2, "sensitivity": "skewed"}
EOF
rows='workload.communication=[{"gpus_min":8,"sensitivity":"none"},{"gpus_max":1,"sensitivity":"skewed"}]'
windtunnel validate mixed-run.json --set "$rows"
grep '^exchange' said.out | diff - /dev/fd/3 3<<'EOF' || fail "the account of communication: $(cat said.out said.err)"
exchange  11 jobs declare communication: 5 none, 6 skewed; 10 of them by a row of workload.communication
EOF
windtunnel validate mixed-run.json --set "$rows" --json
account='"communication": {"jobs": 11, "by_name": {"none": 5, "skewed": 6}, "by_job": 1, "by_row": \[5, 5\]}'
grep -q "$account" said.out ||
    fail "the same as JSON: $(cat said.out)"
windtunnel trace info jobs.jsonl --cluster mixed.json
grep -q '^exchange     skewed 1$' said.out || fail "trace info: $(cat said.out said.err)"
sed -i '$d' jobs.jsonl

# The run rejects as many.
windtunnel run mixed-run.json
grep -q '^warning: 8 jobs rejected (NeverFits)' said.err || fail "the run says another thing: $(cat said.err)"

# Wholly in one rack: 40 GPUs of 5 nodes are there, and no rack of five.
echo '{"job_id": 1, "submit_s": 0, "duration_s": 60, "gpus": 40, "nodes": 5,' \
    '"topology": {"required": "rack"}, "tolerations": ["team=a:NoSchedule"]}' >wide.jsonl
windtunnel validate mixed-run.json --set workload.trace=wide.jsonl
grep -q '^never fit 1 of 1 jobs: 1 topology$' said.out || fail "topology: $(cat said.out said.err)"
grep -q '^unusable  54 of 54 GPUs' said.out || fail "topology: $(cat said.out said.err)"

# Synthesized sizes alike, and nothing is said where all is well.
cat >synth.json <<'EOF'
{"cluster": "mixed.json", "workload": {"synth": {"jobs": 500, "load_whole_gpu": 0.1, "classes": [
  {"name": "t", "share": 1, "sizes": [{"weight": 4, "gpus": 1, "gpu_model": "h100-80gb"}, {"gpus": 16, "nodes": 1}],
   "run_time": {"distribution": "constant", "mean": "10m"}}]}}, "policy": {"preset": "fifo"}}
EOF
windtunnel validate synth.json
told=$(sed -n 's/^never fit \([0-9]*\) of 500 jobs: \1 gpus_per_node$/\1/p' said.out)
[ "${told:-0}" -gt 50 ] || fail "synthesized sizes: $(cat said.out said.err)"
grep -q '^unusable  18 of 54 GPUs, by no job: 4 of pool cut (mig_layout), '\
'8 of pool kept (node_labels), 6 of pool old (gpu_model)$' said.out ||
    fail "synthesized sizes: $(cat said.out)"
windtunnel run synth.json
grep -q "^warning: $told jobs rejected (NeverFits)" said.err || fail "validate tells $told: $(cat said.err)"
windtunnel validate small.json
grep -q '^never fit\|^unusable' said.out && fail "nothing is wrong with small.json: $(cat said.out)"
grep -q '^arrivals  a batch: 3 jobs come in 20 s and run 4m 00s on average; .* at least 10m 20s$' said.out ||
    fail "the batch is not told: $(cat said.out)"
windtunnel validate small.json --set workload.load=0.5 --set world.end=1d
grep -q '^arrivals  offered load 50.0 %: 5.5 GPU h asked in 20m 34s (gaps x 61.6875)$' said.out &&
    grep -q '^end       no job comes after 20m 34s, but GPU time is measured until world.end, 1d 00h$' said.out &&
    grep -q '^work      ' said.out || fail "the load is not told: $(cat said.out)"

# The piece that a sharing policy makes of what is asked: with MPS all that ask shares find room, cut GPUs do not.
windtunnel validate "$repository/scenarios/mig-inference.json" --policy kubernetes
grep -q '^unusable' said.out && fail "all instances of mig-inference.json are asked: $(cat said.out)"
finish
