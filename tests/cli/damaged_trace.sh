#!/bin/sh
# A line of a trace of each format whose digits became letters is an error with its line and column, or, with --max-bad,
# one unreadable line: the others are read.  So is it with the real traces, where they are.
set -u
. tests/support/cli.sh

traces=${WINDTUNNEL_TRACES:-$repository/../shared/traces}

# "8 1": jobs (requests, of a trace of requests), and unreadable lines.
counts() { # FILE [OPTION]...
    windtunnel trace info "$@" --json
    [ "$status" -eq 0 ] || fail "$*: status $status: $(cat said.err)"
    python3 -c 'import json, sys
info = json.load(sys.stdin)
print(info.get("requests", {}).get("count", info["jobs"]), info["unreadable_lines"])' <said.out
}

damages() { # FILE, line, or line=that of the error, [OPTION]...
    file=$1 line=${2%=*} told=${2#*=}
    shift 2
    case $file in
    *.zst) zstd -dqc "$file" >good ;;
    *) cp "$file" good ;;
    esac
    sed "${line}s/[0-9]/x/g" good >bad
    ! cmp -s good bad || fail "$file: line $line holds no digits"
    windtunnel trace info bad "$@"
    [ "$status" -eq 3 ] && grep -q "^error: bad:$told:[0-9]*: " said.err ||
        fail "$file: damaged line $line: status $status: $(cat said.err)"
    [ "$*" != --shapes ] || return # it prints no counts
    before=$(counts good "$@")
    after=$(counts bad --max-bad 1 "$@")
    [ "$before" = "$((${after% *} + 1)) 0" ] && [ "${after#* }" = 1 ] ||
        fail "$file: '$before' became '$after' when line $line was damaged"
}

samples=$repository/workloads/samples
for sample in "$samples"/*; do
    case $sample in
    */*_throughputs.json | */*_run_times.csv | */borg_instance_* | */pai_job_* | */pai_instance_* | */pai_group_*)
        ;; # tables, which stand beside a trace
    */gavel.trace) damages "$sample" 2 --table "throughputs=$samples/gavel_throughputs.json" ;;
    */pollux.csv) damages "$sample" 3 --table "run_times=$samples/pollux_run_times.csv" ;;
    */borg_*) damages "$sample" 2 --table "instance=$samples/borg_instance_events.jsonl" ;; # of a job that ran
    */burstgpt.csv) damages "$sample" 2 ;;         # the third line is a request that failed
    */philly_log.json) damages "$sample" 20=19 ;; # an error is told at the beginning of its job
    */sacct.txt) damages "$sample" "$(grep -n -m 1 '^15|' "$sample" | cut -d: -f1)" ;;
    */workflow*) damages "$sample" "$(wc -l <"$sample")" ;;
    */pai_task_table.csv) damages "$sample" 3 --format pai ;;
    *) damages "$sample" "$(($(wc -l <"$sample") * 2 / 3))" ;;
    esac
done

if [ ! -d "$traces" ]; then
    echo "skipped: no real traces in $traces"
    finish
fi
for trace in "$traces"/openb/openb_pod_list_*.zst; do
    case $trace in
    *multigpu*) damages "$trace" 4000 --shapes ;; # lists without times
    *) damages "$trace" 4000 ;;
    esac
done
damages "$traces/philly/philly_jobs.csv.zst" 80000
damages "$traces/swf/LCG-2005.swf.zst" 100000
damages "$traces/swf/NASA-iPSC-1993-3.1-cln.swf.zst" 10000
damages "$traces/swf/lublin_256.swf.zst" 9000
damages "$traces/chronus/trace_job_Philly_MIX1.csv.zst" 30000
damages "$traces/azure-llm/AzureLLMInferenceTrace_code.csv.zst" 8000
damages "$traces/azure-llm/AzureLLMInferenceTrace_conv.csv.zst" 18000
for number in 1 2 3 4; do
    damages "$traces/muri/trace$number.csv.zst" 100
done

# A document of JSON as a whole: its error has the line, and nothing of it is read.
zstd -dqc "$traces/batsim/medium_late.json.zst" | sed '3000s/[0-9]/x/g' >bad
windtunnel trace info bad --format batsim --max-bad 1
[ "$status" -eq 3 ] && grep -q '^error: bad:3000:' said.err || fail "batsim: status $status: $(cat said.err)"
finish
