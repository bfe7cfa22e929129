#!/bin/bash
# Count the instructions per job of each row of tests/bench/rows.txt and compare them with the figures there.
#
#   tests/bench/bench_instructions.sh             at 100,000 jobs; WINDTUNNEL_TEST_SIZE=small: at 10,000
#   tests/bench/bench_instructions.sh --update    count both sizes and rewrite the figures
#
# Exit status 1 if a row costs over 3 % more than its figure, or at 100,000 jobs more than its promise.  CPU times stand
# beside the counts and judge nothing.
# Rows of the group `reading` read a file of `tools/table read`, which needs python3, and their jobs are its rows.
# Takes $WINDTUNNEL, the program; $BENCH_ROWS, another file of rows; $BENCH_COUNT, another way to count: a command that
# is given the program with its arguments and prints one number.  The program finds no gnuplot, here or there: plots
# count nowhere.
set -euo pipefail

program=$(realpath "${WINDTUNNEL:-build/profiled/windtunnel}")
rows=${BENCH_ROWS:-tests/bench/rows.txt}
build=$(basename "$(dirname "$program")")
room_percent=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

callgrind() { # program, arguments
    local valgrind out=$work/out.$BASHPID log=$work/log.$BASHPID
    valgrind=$(command -v valgrind)
    env PATH=/nonexistent "$valgrind" --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log" "$@" \
        >"$out" 2>&1 || { cat "$out" >&2; return 1; }
    sed -n 's/.*Collected : //p' "$log"
}

# The column of the rows (the spaces around it cut), a line each.
column() { # number
    sed '/^#/d' "$rows" | awk -F '|' -v c="$1" '{ gsub(/^ +| +$/, "", $c); print $c }'
}

# The command of a row, in `command`.
command_of() { # index, jobs, folder of the record
    # shellcheck disable=SC2206 # a list of words
    local words=(${arguments[$1]})
    if [ "${groups[$1]}" = reading ]; then
        command=("$program" trace validate "$work/traces.$2/${words[0]}-sorted.txt")
        return
    fi
    command=("$program" run "${words[@]}" --set workload.synth.jobs="$2" --quiet)
    [ "${records[$1]}" = none ] || command+=(--out "$3")
}

# Write what the rows of the group `reading` read.
write_traces() { # jobs
    local index kinds=
    for index in "${!arguments[@]}"; do
        [ "${groups[$index]}" != reading ] || kinds=$kinds,${arguments[$index]}
    done
    [ -z "$kinds" ] || tools/table read --rows "$1" --only "${kinds#,}" --orders sorted --write "$work/traces.$1"
}

# Count one row: writes the number to $work/INDEX.JOBS.
count_row() { # index, jobs
    local index=$1 jobs=$2 command
    command_of "$index" "$jobs" "$work/record.$index.$jobs"
    ${BENCH_COUNT:-callgrind} "${command[@]}" >"$work/$index.$jobs" ||
        echo "row $index at $jobs jobs does not run" >&2
    rm -rf "$work/record.$index.$jobs"
}

# Count all rows, as many at a time as there are cores; figures by index in the array `counted` (instructions per job).
count_all() { # jobs
    local jobs=$1 index
    write_traces "$jobs"
    for ((index = ${#arguments[@]} - 1; index >= 0; index--)); do # the last rows take longest
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        count_row "$index" "$jobs" &
    done
    wait
    counted=()
    for index in "${!arguments[@]}"; do
        if ! grep -qx '[0-9][0-9]*' "$work/$index.$jobs"; then
            echo "row $index at $jobs jobs: nothing was counted" >&2
            exit 1
        fi
        counted[index]=$((($(cat "$work/$index.$jobs") + jobs / 2) / jobs))
    done
}

# CPU seconds of one run, user and system.
seconds_of() { # index, jobs
    local command TIMEFORMAT='%U %S'
    command_of "$1" "$2" "$work/timed"
    { time env PATH=/nonexistent "${command[@]}" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
    rm -rf "$work/timed"
}

# The rows with this column (5 or 6) set to what was counted.
rewrite() { # column
    printf '%s\n' "${counted[@]}" >"$work/counted"
    awk -F '|' -v OFS='|' -v c="$1" -v counted="$work/counted" '
        /^#/ { print; next }
        { getline n <counted; $c = sprintf(" %s ", n); print }' "$rows" >"$work/rows"
    cat "$work/rows" >"$rows"
}

compare() { # jobs, column of the figures
    local jobs=$1 index figures promises names seconds note status=0 lower=0 broken=0
    mapfile -t figures < <(column "$2")
    mapfile -t promises < <(column 4)
    [ "$jobs" -eq 100000 ] || promises=("${promises[@]/*/-}") # a short run costs more per job: it starts, too
    mapfile -t names < <(column 2)
    printf '%-11s %-25s %-6s %12s %9s %8s %9s %9s\n' group "row, $jobs jobs" record 'instr. / job' figure change \
        promise 'k jobs/s'
    for index in "${!arguments[@]}"; do
        note=
        if [ "$build" = profiled ]; then
            if [ $((counted[index] * 100)) -gt $((figures[index] * (100 + room_percent))) ]; then
                note="  FAIL: over $room_percent % more"
                status=1
            elif [ $((counted[index] * 100)) -lt $((figures[index] * (100 - room_percent))) ]; then
                note='  less'
                lower=1
            fi
            if [ "${promises[$index]}" != - ] && [ "${counted[$index]}" -gt "${promises[$index]}" ]; then
                note="$note  FAIL: over its promise"
                broken=1
            fi
        fi
        seconds=$(seconds_of "$index" "$jobs")
        awk -v group="${groups[$index]}" -v name="${names[$index]}" -v record="${records[$index]}" \
            -v n="${counted[$index]}" -v figure="${figures[$index]}" -v promise="${promises[$index]}" \
            -v jobs="$jobs" -v s="$seconds" -v note="$note" '
            BEGIN {
                change = figure > 0 ? sprintf("%+.1f %%", (n / figure - 1) * 100) : "new"
                rate = s > 0 ? sprintf("%.0f", jobs / s / 1000) : "-"
                printf "%-11s %-25s %-6s %12d %9d %8s %9s %9s%s\n", group, name, record, n, figure, change,
                    promise, rate, note
            }'
    done
    if [ "$build" != profiled ]; then
        echo "the figures are of the build 'profiled', this is '$build': nothing is judged"
    elif [ $status -ne 0 ]; then
        echo "not kept: some rows cost over $room_percent % more than their figures in $rows"
        echo '  if that is what the change is worth, make bench-update writes the new ones; say why where it is' \
            'committed'
    elif [ $lower -ne 0 ]; then
        echo "kept; some rows cost over $room_percent % less: please run make bench-update and commit $rows"
    else
        echo "kept: no row costs over $room_percent % more than its figure in $rows"
    fi
    if [ $broken -ne 0 ]; then
        echo "promises are not kept: some rows cost more than $rows promises; no update makes that right"
    fi
    return $((status | broken))
}

if [ -z "${BENCH_COUNT-}" ] && ! command -v valgrind >/dev/null; then
    echo 'error: instructions are counted by valgrind, which is not here; make deps installs it' >&2
    exit 1
fi
mapfile -t groups < <(column 1)
mapfile -t records < <(column 3)
mapfile -t arguments < <(column 7)
if [ "${1-}" = --update ]; then
    if [ "$build" != profiled ]; then
        echo "error: the figures are of the build 'profiled', this is '$build'" >&2
        exit 1
    fi
    cp "$rows" "$work/before"
    count_all 10000
    rewrite 5
    count_all 100000
    rewrite 6
    diff "$work/before" "$rows" || true
    echo "$rows is made anew"
elif [ "${WINDTUNNEL_TEST_SIZE-}" = small ]; then
    count_all 10000
    compare 10000 5
else
    count_all 100000
    compare 100000 6
fi
