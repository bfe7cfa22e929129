# shellcheck shell=sh
# tests/support/sweep.sh -- sourced after cli.sh by the tests of sweeps: mix.json is a scenario of some milliseconds,
# and sweep.json 32 runs of it under 16 combinations.

cat >ten.json <<'END'
{"name": "ten", "pools": [{"name": "h100", "nodes": 10, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]}
END
cat >mix.json <<'END'
{"cluster": "ten.json",
 "workload": {"synth": {"duration": "1d", "load_whole_gpu": 0.8, "classes": [
   {"name": "jobs", "class": "training", "share": 0.7, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 5, "gpus": 1, "nodes": 1}, {"weight": 2, "gpus": 8, "nodes": 1}, {"weight": 1, "gpus": 16}],
    "run_time": {"distribution": "lognormal", "median": "30m", "sigma": 1}},
   {"name": "chat", "class": "inference", "share": 0.3, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 1, "gpus": 1, "nodes": 1}],
    "run_time": {"distribution": "lognormal", "median": "1h", "sigma": 0.5}}]}},
 "policy": {"preset": "fifo"},
 "world": {"end": "1d", "warmup": "6h"}}
END
cat >sweep.json <<'END'
{"scenario": "mix.json",
 "factors": [
   {"name": "policy", "path": "policy.preset", "values": ["fifo", "windtunnel", "kai", "easy"]},
   {"name": "load", "path": "workload.synth.load_whole_gpu", "values": [0.8, 1.2]},
   {"name": "nodes", "levels": {"ten": {"cluster.pools.h100.nodes": 10},
                                "twelve": {"cluster.pools.h100.nodes": 12, "cluster.pools.h100.cpus": 256}}}],
 "seeds": 2}
END

sweep() { # expected status, arguments
    expected=$1
    shift
    windtunnel sweep "$@"
    [ "$status" -eq "$expected" ] || fail "sweep $*: status $status, not $expected: $(cat said.err said.out)"
}

# The merged results of the folder are those in serial.csv, serial.json and serial.db, byte for byte.
same_as_serial() { # folder, what it is
    for format in csv json sqlite; do
        sweep 0 merge "$1" --to $format --all --out merged
        cmp -s merged serial.$format || fail "$2: the merged $format differs from that of the serial run"
    done
}

# A plan in the folder of that name.
new_plan() { # folder
    rm -rf "$1"
    cp -r plan "$1"
}

make_serial() {
    sweep 0 plan sweep.json --out plan
    new_plan serial
    sweep 0 run serial -j 1 --no-bind
    for format in csv json sqlite; do
        sweep 0 merge serial --to $format --all --out serial.$format
    done
}
