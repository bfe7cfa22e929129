#!/bin/sh
# Faults of jobs: every policy meets the same ones; what isolates takes no neighbour; the files of a record say as much
# as the run; a recorded run decides again, also as another program, whose referee allows what faults take.
set -u
. tests/support/cli.sh
command -v python3 >/dev/null || exit 77

cat >shares.json <<'END'
{"cluster": {"pools": [{"nodes": 2, "gpus_per_node": 4, "gpu_model": "h100-80gb"}]},
 "workload": {"synth": {"duration": "2d", "load_whole_gpu": 0.8, "classes": [
   {"name": "parts", "share": 0.6, "class": "training", "sizes": [{"weight": 1, "gpu_milli": 400}],
    "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 1}, "sm_active": [0.2, 0.8],
    "memory_bandwidth": [0.1, 0.9], "checkpoint": {"interval": "10m", "duration": "1m", "restart": "2m"}},
   {"name": "notebooks", "share": 0.4, "class": "interactive", "sizes": [{"weight": 1, "gpus": 1}],
    "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 1}, "sm_active": [0.2, 0.8]}]}},
 "policy": {"preset": "windtunnel"},
 "world": {"faults": {"out_of_memory_per_job_h": 0.1, "runaway_per_job_h": 0.1, "fatal_per_job_h": 0.1}}}
END

value() { # metric, record folder; in thousandths
    python3 -c 'import json, sys
print(round(1000 * json.load(open(sys.argv[2] + "/result.json"))["metrics"][sys.argv[1]]["value"]))' "$1" "$2"
}
fingerprint() { # record folder
    sed -n 's/^ *"fingerprint": "\([0-9a-f]*\)",$/\1/p' "$1/result.json"
}
is() { # what, is, should be
    [ "$2" = "$3" ] || fail "$1 is $2, not $3"
}

# ---- The same faults for every policy, and whom they take ----

for sharing in whole mps timeslice trust; do
    windtunnel run shares.json --check --quiet --events --set policy.sharing=$sharing --out $sharing
    [ "$status" -eq 0 ] || fail "$sharing: $(cat said.err)"
    is "faults under $sharing" "$(value faults $sharing)" "$(value faults whole)"
    python3 "$repository/tests/support/record_means.py" $sharing >means.txt || fail "$sharing: $(cat means.txt)"
done
[ "$(value faults whole)" -gt 50000 ] || fail 'hardly any fault'
for cause in out_of_memory runaway fatal; do
    is "$cause on whole GPUs" "$(value killed_by_neighbour_$cause whole)" 0
    [ "$(value killed_by_neighbour_$cause mps)" -gt 3000 ] || fail "$cause took hardly any client of MPS"
done
is 'the blast radius on whole GPUs' "$(value blast_radius_gpus_max whole)" 0
[ "$(value killed_by_neighbour_out_of_memory timeslice)" -gt 20000 ] || fail 'hardly any time-slice ran out of memory'
is 'fatal faults in turns' "$(value killed_by_neighbour_fatal timeslice)" 0
is 'runaway kernels in turns' "$(value killed_by_neighbour_runaway timeslice)" 0
[ "$(value lost_by_neighbour_gpu_h mps)" -gt 500 ] || fail 'MPS lost nothing by neighbours'

# ---- The scheduler hears of them ----

for sharing in mps trust; do
    zstd -dcq $sharing/events.jsonl.zst | grep -q job_leaving || fail 'no fact tells of a fault'
    windtunnel decide $sharing/events.jsonl.zst --check
    [ "$status" -eq 0 ] || fail "$sharing: what was recorded is decided otherwise: $(head -3 said.err)"
    windtunnel run shares.json --check --quiet --set policy.sharing=$sharing --out outside \
        --scheduler "'$program' decide"
    [ "$status" -eq 0 ] || fail "$sharing: as another program: $(cat said.err)"
    is "the run of another program, $sharing" "$(fingerprint outside)" "$(fingerprint $sharing)"
done

# ---- Without rates there is nothing ----

windtunnel run shares.json --quiet --set world.faults=null --out none
windtunnel run shares.json --quiet --set world.faults.out_of_memory_per_job_h=0 --set world.faults.runaway_per_job_h=0 \
    --set world.faults.fatal_per_job_h=0 --out zero
is 'the run with rates of 0' "$(fingerprint zero)" "$(fingerprint none)"
grep -q lost_by_neighbour none/result.json && fail 'a world without faults has their metrics'

# ---- Bad input ----

faulty() { # member of world
    printf '%s\n' '{"cluster": "four.json", "workload": {"trace": "small.csv"},' ' "world": '"$1"'}' >bad.json
}
faulty '{"faults": {"fatal_per_h": 1}}'
refused 2 run bad.json <<'END'
error: bad.json:2:23: unknown key 'fatal_per_h'
 2 |  "world": {"faults": {"fatal_per_h": 1}}}
   |                       ^~~~~~~~~~~~~
  at /world/faults/fatal_per_h; did you mean 'fatal_per_job_h'?
END
faulty '{"faults": {"fatal_per_job_h": -1}}'
refused 2 run bad.json <<'END'
error: bad.json:2:42: 'fatal_per_job_h' must be a number from 0 to 100, got -1
 2 |  "world": {"faults": {"fatal_per_job_h": -1}}}
   |                                          ^~
  at /world/faults/fatal_per_job_h
END
faulty '{"sharing": "fre"}'
refused 2 run bad.json <<'END'
error: bad.json:2:23: 'sharing' must be one of 'measured', 'free'; got "fre"
 2 |  "world": {"sharing": "fre"}}
   |                       ^~~~~
  at /world/sharing; did you mean 'free'?
END
printf 'job_id,submit_s,duration_s,gpus,memory_bandwidth\n1,0,10,1,1.5\n' >broad.csv
refused 3 run small.json --trace broad.csv <<'END'
error: broad.csv:2:10: 'memory_bandwidth' must be a number from 0 to 1, got "1.5"
 2 | 1,0,10,1,1.5
   |          ^~~
END
finish
