#!/bin/sh
# The same seed gives the same record, byte for byte, whatever compiled the program, at which level and at which
# addresses it runs; another seed gives another.  Compares the builds that are there and not older than the sources:
# `make test-slow` and `make test-all` make all of wanted first, and in CI the builds of the phases before are there.
set -u

wanted='gcc-O0 clang profiled'
own=${WINDTUNNEL_BUILD-build/release}
own=${own##*/}
variants=
left_out=

is_current() { # variant
    [ -x "build/$1/windtunnel" ] &&
        [ -z "$(find base topologies workloads policies sim reports studies tools \
            \( -name '*.[ch]' -o -name '*.json' \) -newer "build/$1/windtunnel" | head -1)" ]
}

for variant in $wanted release gcc clang-O0 clang-O2 gcc-O1 debug sanitized; do
    [ "$variant" != "$own" ] || continue
    if is_current "$variant"; then
        variants="$variants $variant"
    elif [ -x "build/$variant/windtunnel" ]; then
        left_out="$left_out, $variant (older than the sources)"
    elif echo " $wanted " | grep -q " $variant "; then
        left_out="$left_out, $variant (not built)"
    fi
done
. tests/support/cli.sh

# Run in a folder of its own, so that even the arguments are the same.
run_in() { # folder, command, arguments
    folder=$1 command=$2
    shift 2
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # a list of words
    (cd "$folder" && $command run "$@" --out record >table 2>said.err) ||
        fail "$folder: $(cat "$folder/said.err")"
}

fingerprint() { # folder
    sed -n 's/^ *"fingerprint": "\([0-9a-f]*\)",$/\1/p' "$1/record/result.json"
}

# All files but for the host's lines are those of the first run.
same() { # folder, what is different about it
    [ "$(fingerprint first)" = "$(fingerprint "$1")" ] || fail "$2: another fingerprint"
    for file in jobs.csv.zst attempts.csv.zst timeline.csv.zst report.html; do
        cmp "first/record/$file" "$1/record/$file" || fail "$2: another $file"
    done
    for folder in first "$1"; do
        sed '/^"host": {/,$d' "$folder/record/result.json" >"$folder/result"
    done
    cmp first/result "$1/result" || fail "$2: another result.json"
}

compare() { # arguments of run
    run_in first "$program" "$@"
    [ -n "$(fingerprint first)" ] || fail "$*: no fingerprint"
    run_in other "$program" "$@"
    same other 'a second run'
    for variant in $variants; do
        run_in other "$repository/build/$variant/windtunnel" "$@"
        same other "$variant"
    done
    if setarch -R true 2>/dev/null; then
        for command in "$program" ${variants:+"$repository/build/${variants##* }/windtunnel"}; do
            run_in other "setarch -R $command" "$@"
            same other "$command without address randomisation"
        done
    fi
    run_in other "$program" "$@" --seed 7
    [ "$(fingerprint first)" != "$(fingerprint other)" ] || fail "$*: another seed, the same fingerprint"
}

compare "$repository/scenarios/h100-500x8.json" --set workload.synth.duration=2d --set world.end=2d \
    --set world.warmup=6h
compare --trace "$repository/workloads/samples/native.csv" --cluster "$repository/topologies/dgx-h100-500.json" \
    --policy fifo
# Speeds by place and by what jobs leave each other of an oversubscribed fabric.
compare "$repository/scenarios/h100-500x8.json" --set workload.synth.duration=1d --set world.end=1d \
    --set world.warmup=6h --set policy.placement=best_fit --set cluster.fabric.leaf_oversubscription=8 \
    --set 'workload.communication=[
    {"class": "training", "gpus_min": 16, "gpus_max": 64, "sensitivity": "bandwidth_bound"},
    {"class": "training", "gpus_min": 128, "gpus_max": 128, "plan": {"tp": 8, "pp": 2, "layers": 32, "hidden": 4096,
    "sequence": 4096, "vocabulary": 128256, "batch": 64}}, {"class": "training", "sensitivity": "skewed"}]'
grep -q '"slowed_gpu_h": {"value": [1-9]' first/record/result.json || fail 'no job was slowed by its place'
echo "note: compared $own with itself, and with:${variants:- no other build}"
setarch -R true 2>/dev/null || left_out="$left_out, runs without address randomisation (setarch -R may not)"
if [ -n "$left_out" ]; then
    echo "note: left out: ${left_out#, }; make test-slow ONLY=determinism builds and compares all"
fi
finish
