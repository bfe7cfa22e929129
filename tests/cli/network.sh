#!/bin/sh
# What jobs exchange, from a trace to the record: world.network decides what it costs; a record is decided again; a plan
# that does not hold together is refused where it stands.
set -u
. tests/support/cli.sh

# Two units of three nodes, and gangs of one to three nodes, of which some stand in both units.
cat >fabric.json <<'END'
{
  "pools": [{"name": "h100", "nodes": 6, "gpus_per_node": 8, "gpu_model": "h100-80gb"}],
  "fabric": {"nodes_per_unit": 3, "rails": 8, "leaf_oversubscription": 8}
}
END
awk 'BEGIN {
    for (i = 0; i < 24; i++)
        printf "{\"job_id\": %d, \"submit_s\": %d, \"duration_s\": %d, \"nodes\": %d, \"gpus\": %d, " \
            "\"sensitivity\": \"%s\"}\n", i, 30 * i, 400 + 60 * (i % 7), 1 + i % 3, 8 * (1 + i % 3),
            i % 2 ? "skewed" : "bandwidth_bound" }' >talks.jsonl
sed 's/, "sensitivity": "[a-z_]*"//' talks.jsonl >silent.jsonl
cat >scenario.json <<'END'
{
  "cluster": "fabric.json",
  "workload": {"trace": "talks.jsonl", "format": "jsonl"},
  "policy": {"preset": "fifo", "set": {"placement": "first_fit"}}
}
END

run() { # the record's folder, arguments; prints the fingerprint
    folder=$1
    shift
    windtunnel run scenario.json --quiet --check --out "$folder" "$@"
    [ "$status" -eq 0 ] || echo "$folder: status $status: $(cat said.err)"
    sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' "$folder/result.json"
}
shared=$(run shared --events)
alone=$(run alone --set world.network=alone)
free=$(run free --set world.network=free)
silent=$(run silent --trace silent.jsonl)
[ -n "$free" ] && [ "$free" = "$silent" ] || fail "free: fingerprint '$free', without declarations '$silent'"
for rows in jobs attempts timeline; do
    cmp free/$rows.csv.zst silent/$rows.csv.zst || fail "free: other rows in $rows than without declarations"
done
[ "$shared" != "$alone" ] && [ "$alone" != "$free" ] || fail "shared $shared, alone $alone, free $free"

slowed() { # of a record
    sed -n 's/^ *"slowed_gpu_h": {"value": \([0-9.e-]*\),.*/\1/p' "$1/result.json" | head -n 1
}
awk -v shared="$(slowed shared)" -v alone="$(slowed alone)" 'BEGIN { exit !(shared > alone && alone > 0) }' ||
    fail "slowed: shared $(slowed shared), alone $(slowed alone) GPU h"
[ -z "$(slowed free)" ] || fail 'free: the record tells what communication costs'

# The network of the cluster counts: the default by its name changes nothing, a step of 5 ms does.
named=$(run named --set cluster.fabric.transport=infiniband-ndr)
[ "$named" = "$shared" ] || fail "infiniband-ndr is not the default: fingerprint '$named', not '$shared'"
[ "$(run slow --set cluster.fabric.step_latency_us=5000)" != "$shared" ] || fail 'a step of 5 ms changes no run'

# What was decided is decided again, and another program decides the same.
windtunnel decide shared/events.jsonl.zst --check
[ "$status" -eq 0 ] || fail "decide --check: $(cat said.out said.err)"
[ "$(run outside --scheduler "'$program' decide")" = "$shared" ] || fail 'another program decides otherwise'

refused_plainly 2 run scenario.json --set world.network=none <<'END'
error: --set world.network: 'network' must be one of 'shared', 'alone', 'free'; got "none"
  at /world/network
END

# ---- a plan that does not hold together ----

model='"layers": 32, "hidden": 4096, "sequence": 4096, "vocabulary": 128256, "batch": 64'
job='{"job_id": 1, "submit_s": 0, "duration_s": 60, "gpus": 8'
refuses() { # line:column and message; the trace is bad.jsonl
    for verb in validate 'run --quiet --out bad'; do
        # shellcheck disable=SC2086 # several words
        windtunnel $verb scenario.json --trace bad.jsonl
        [ "$status" -eq 3 ] && grep -qF "error: bad.jsonl:$1" said.err || fail "$verb: not '$1' but: $(cat said.err)"
    done
}
printf '%s}\n%s, "plan": {"tp": 6, %s}}\n' "$job" "$job" "$model" >bad.jsonl
refuses '2:74: tp = 6 does not divide hidden = 4096'
printf '%s, "plan": {"tp": 8, "dp": 2, %s}}\n' "$job" "$model" >bad.jsonl
refuses '1:83: tp x pp x dp = 8 x 1 x 2 = 16 GPUs, not 8'
finish
