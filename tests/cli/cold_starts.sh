#!/bin/sh
# Cold starts from a scenario to the record: they cost time or not; a record is decided again, with a warm_weight too;
# tables that do not hold together are refused where they stand.
set -u
. tests/support/cli.sh

# Services of four users, more than the four nodes hold at once.
awk 'BEGIN {
    print "job_id,submit_s,duration_s,gpus,nodes,queue,user,class"
    for (i = 0; i < 80; i++)
        printf "%d,%d,%d,%d,1,q%d,u%d,%s\n", i, 50 * i, 300 + 100 * (i % 7), 1 + i % 4, i % 2, i % 4,
            i % 3 ? "inference" : "training" }' >jobs.csv
cat >cold.json <<'END'
{"cluster": "four.json", "workload": {"trace": "jobs.csv"}, "policy": {"preset": "windtunnel"},
 "world": {"cold_starts": {"registry_gb_per_s": 3, "node_gb_per_s": 2, "rack_gb_per_s": 4,
   "node_cache_gib": 60, "rack_cache_gib": 200, "jobs": [
   {"class": "inference", "image": {"size_gib": 8}, "weights": {"size_gib": 13, "distinct": 5, "zipf": 1}},
   {"image": {"size_gib": 20, "scope": "user"}, "data": {"size_gib": 5, "scope": "job"}}]}}}
END

run() { # the record's folder, arguments; prints the fingerprint
    folder=$1
    shift
    windtunnel run cold.json --quiet --check --out "$folder" "$@"
    [ "$status" -eq 0 ] || echo "$folder: status $status: $(cat said.err)"
    sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' "$folder/result.json"
}
metric() { # record, name
    sed -n "s/^ *\"$2\": {\"value\": \([0-9.e-]*\),.*/\1/p" "$1/result.json" | head -n 1
}
charged=$(run charged --events)
free=$(run free --set world.cold_starts.cost=free)
without=$(run without --set world.cold_starts=null)
warm=$(run warm --set policy.warm_weight=1000 --events)
[ -n "$free" ] && [ "$free" = "$without" ] || fail "free: fingerprint '$free', without cold starts '$without'"
[ "$charged" != "$free" ] || fail 'charged runs as free does'
[ "$charged" != "$warm" ] || fail 'a warm_weight changes nothing'
[ -z "$(metric free ready_p99_s)" ] || fail 'free: result.json has metrics of cold starts'
"$program" metrics >metrics.txt || fail "metrics"
for name in ready_p50_s ready_p99_s cold_start_p99_s cold_start_mean_s pulled_registry_tb pulled_rack_tb \
    node_cache_hit_ratio rack_cache_hit_ratio lost_to_pull_gpu_h; do
    awk -v value="$(metric charged $name)" 'BEGIN { exit !(value > 0) }' ||
        fail "$name is '$(metric charged $name)', but should be above 0"
    grep -q "$name" metrics.txt || fail "metrics does not define $name"
done
awk -v cold="$(metric charged lost_to_pull_gpu_h)" -v warm="$(metric warm lost_to_pull_gpu_h)" \
    'BEGIN { exit !(warm <= cold) }' || fail 'with a warm_weight more GPU time is lost to pulls'

# The files say what result.json says, and what was decided is decided again.
if command -v python3 >/dev/null; then
    for record in charged warm; do
        python3 "$repository/tests/support/record_means.py" $record >means.txt || fail "$record: $(cat means.txt)"
    done
fi
for record in charged warm; do
    windtunnel decide $record/events.jsonl.zst --check
    [ "$status" -eq 0 ] || fail "decide --check of $record: $(cat said.out said.err)"
done

cat >wrong.json <<'END'
{"cluster": "four.json", "workload": {"trace": "jobs.csv"}, "policy": {"preset": "windtunnel"},
 "world": {"cold_starts": {"jobs": [
   {"class": "inference", "image": {"size_gib": 8}}]}}}
END
refused 2 run wrong.json <<'END'
error: wrong.json:2:36: pulls need a bandwidth: give 'registry_gb_per_s' or 'node_gb_per_s' beside 'jobs'
 2 |  "world": {"cold_starts": {"jobs": [
   |                                    ^
  at /world/cold_starts/jobs
END
refused_plainly 2 run small.json --set world.cold_starts.cost=cheap <<'END'
error: --set world.cold_starts.cost: 'cost' must be one of 'free', 'charged'; got "cheap"
  at /world/cold_starts/cost
END
finish
