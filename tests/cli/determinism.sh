#!/bin/sh
# The same seed gives the same record, byte for byte, whatever compiled the program, at which level and at which
# addresses it runs; another seed gives another.  Builds what the other tests do not (gcc at -O0, clang, what is installed).
set -u

variants=gcc-O0
if "${CC:-cc}" --version | grep -q 'Free Software Foundation'; then
    variants="$variants profiled"
fi
skipped=0
if command -v clang >/dev/null; then
    variants="$variants clang"
else
    echo 'no clang: not compared'
    skipped=77
fi
for variant in $variants; do
    make --no-print-directory VARIANT=$variant build/$variant/windtunnel || exit 1
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
        run_in other "setarch -R $program" "$@"
        same other 'without address randomisation'
        run_in other "setarch -R $repository/build/gcc-O0/windtunnel" "$@"
        same other 'gcc-O0 without address randomisation'
    fi
    run_in other "$program" "$@" --seed 7
    [ "$(fingerprint first)" != "$(fingerprint other)" ] || fail "$*: another seed, the same fingerprint"
}

compare "$repository/scenarios/h100-500x8.json" --set workload.synth.duration=2d --set world.end=2d \
    --set world.warmup=6h
compare --trace "$repository/workloads/samples/native.csv" --cluster "$repository/topologies/dgx-h100-500.json" \
    --policy fifo
if [ $failures -eq 0 ] && [ $skipped -ne 0 ]; then
    exit $skipped
fi
finish
