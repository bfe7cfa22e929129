#!/bin/sh
# What a run says and leaves: the record, the same bytes again, reports made anew, warnings told once, a partial report
# after a signal, silence where it is asked for.
set -u
. tests/support/cli.sh

# The same as $program, but it must succeed and say nothing but the summary on stderr, and $warning.
warning='none'
succeeds() {
    windtunnel "$@"
    if [ "$status" -ne 0 ] || grep -v -e '^[0-9]* jobs* in ' -e '^record in ' -e "^warning: $warning\$" said.err; then
        fail "$*: status $status"
        cat said.err
    fi
}

without_host() { # record folder
    sed '/^"host": {/,$d' "$1/result.json"
}

fingerprint() { # record folder
    sed -n 's/^ *"fingerprint": "\([0-9a-f]*\)",$/\1/p' "$1/result.json"
}

# ---- The record ----

trace=${WINDTUNNEL_TRACES:-$repository/../shared/traces}/philly/philly_jobs.csv.zst
jobs=82,247
if [ ! -e "$trace" ]; then
    echo "no real trace $trace (set WINDTUNNEL_TRACES): the sample takes its place"
    trace=$repository/workloads/samples/philly.csv
    jobs=$(($(wc -l <"$trace") - 1))
fi
succeeds run --trace "$trace" --format philly --cluster "$repository/topologies/dgx-h100-500.json" --policy fifo \
    --out record
grep -q " $jobs completed\$" said.out || fail "Philly: not all $jobs jobs completed"
(cd record && echo *) | diff - /dev/fd/3 3<<'END' || fail 'the record holds other files'
attempts.csv.zst jobs.csv.zst report.html result.json timeline.csv.zst
END
for file in jobs attempts timeline; do
    zstd -qt record/$file.csv.zst || fail "$file.csv.zst is damaged"
done

# ---- What free GPUs are good for ----

# Free GPUs are at least those that are of no use for somebody, and the causes add up to what result.json says; the
# sum over the samples of each cause is told too, so that none is always 0 unseen.
cat >mixed.json <<'END'
{"cluster": {"pools": [
   {"nodes": 6, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512, "labels": {"rack": "r1"}},
   {"name": "cut", "nodes": 2, "gpus_per_node": 2, "gpu_model": "h100-80gb", "cpus": 64, "memory_gb": 512,
    "labels": {"rack": "r2"}, "node_name": "cut%u", "gpus_layout": [["3g.40gb", "1g.10gb"], []]}], "levels": ["rack"]},
 "workload": {"trace": "mixed.jsonl", "format": "jsonl"}, "policy": {"preset": "fifo"}}
END
awk 'BEGIN {
    for (i = 0; i < 300; i++) {
        ask = i % 5 == 0 ? "\"gpus\":4,\"cpus\":4" : i % 5 == 1 ? "\"gpus\":1,\"gpu_fraction\":0.7,\"cpus\":30" : \
              i % 5 == 2 ? "\"gpus\":1,\"cpus\":2" : i % 5 == 3 ? "\"gpus\":0,\"cpus\":3" : \
              "\"gpus\":1,\"mig_profile\":\"1g.10gb\",\"cpus\":1"
        printf "{\"job_id\":%d,\"submit_s\":%d,\"duration_s\":%d,%s}\n", i, i * 97, 500 + i * 7919 % 3000, ask
    }
}' >mixed.jsonl
succeeds run mixed.json --out mixed
zstd -dcq mixed/timeline.csv.zst | awk -F, -v metrics="$(tr -d '\n' <mixed/result.json)" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { sum = 0
      for (i = column["fragmented_no_gpu_gpus"]; i <= column["fragmented_topology_gpus"]; i++) {
          sum += $i
          seen[i] += $i
      }
      if (sum > $column["idle_gpus"] + 1e-9 || $column["stranded_gpus"] > $column["idle_gpus"]) wrong = 1
      if ($column["idle_gpus"] + $column["allocated_gpus"] + $column["reserved_gpus"] > 52 + 1e-9) wrong = 1 }
    END { for (i = column["fragmented_no_gpu_gpus"]; i <= column["fragmented_geometry_gpus"]; i++)
              if (seen[i] == 0 && i != column["fragmented_type_gpus"]) wrong = 1
          exit wrong || NR < 20 }' || fail 'free GPUs do not add up'
grep -q '"fgd_fragmentation_ratio": {"value": 0\.' mixed/result.json || fail 'no fragmentation in result.json'

# ---- Typical jobs are told ----

shapes() {
    "$program" trace info "$repository/workloads/samples/openb_pods.csv" --shapes
}
shapes >shapes.json || fail 'trace info --shapes fails'
grep -q '"gpu_fraction":0.46,' shapes.json || fail 'trace info --shapes says nothing'
filled="run --cluster $repository/topologies/philly-352.json --trace $repository/workloads/samples/openb_pods.csv \
    --set workload.fill.load=0.1 --set world.queue_limit=0 --policy fgd"
windtunnel $filled --events --set policy.typical=shapes.json --out told
[ "$status" -eq 0 ] || fail "policy.typical: $(cat said.err)"
zstd -dcq told/events.jsonl.zst | grep -c '^{"typical_told":0,"members":\[{"gpus":1,' | grep -qx 1 ||
    fail 'the scheduler was not told what is typical'
windtunnel decide told/events.jsonl.zst --check
[ "$status" -eq 0 ] || fail "what was told is not decided again: $(cat said.err)"
windtunnel $filled --set policy.typical=shapes.json --set policy.placement=best_fit
[ "$status" -eq 2 ] || fail 'typical jobs are told to a policy that does not ask'
grep -q "does not ask which jobs are typical" said.err || fail "$(cat said.err)"
echo '[{"gpus": 1}, {"gpus": 2, "gpu_fraction": 0.5}]' >wrong.json
windtunnel $filled --set policy.typical=wrong.json
[ "$status" -eq 2 ] && grep -q 'wrong.json:1:15: no member can ask this' said.err || fail "$(cat said.err)"

# ---- The same again ----

again() { # arguments without --out
    rm -rf record first
    succeeds run "$@" --out record
    mv said.out first.table
    cp -r record first
    succeeds run "$@" --out record # replaces the files
    cmp said.out first.table || fail "$*: another table the second time"
    for file in jobs.csv.zst attempts.csv.zst timeline.csv.zst report.html; do
        cmp first/$file record/$file || fail "$*: another $file the second time"
    done
    without_host first >first.json
    without_host record | cmp first.json - || fail "$*: another result.json the second time"
    [ -s first.json ] && [ -n "$(fingerprint record)" ] || fail "$*: nothing was compared"

    # Everything comes out again from the files.
    "$program" report record >again.table || fail "$*: the record cannot be read"
    cmp first.table again.table || fail "$*: report prints another table than run"
    "$program" report record --json >again.json || fail "$*: report --json fails"
    sed -n '/^"metrics": {/,/^"host": {/p' record/result.json | sed '$d' | sed '1s/^/{/; $s/,$/}/' >metrics.json
    cmp metrics.json again.json || fail "$*: report --json and result.json differ"
    [ "$(wc -l <metrics.json)" -gt 20 ] || fail "$*: no metrics were compared"
    rm record/report.html
    "$program" report record --html >again.table || fail "$*: report --html fails"
    cmp first/report.html record/report.html || fail "$*: report --html makes another page than run"
}
again "$repository/scenarios/h100-500x8.json" --set workload.synth.duration=1d --set world.end=1d \
    --set world.warmup=1h
warning='87.5 % of the training jobs were rejected (7 of 8): queue times are of the others'
again small.json --set 'workload.fill={"load": 4}' --set world.queue_limit=0
grep -q '"arrived_pct": {' metrics.json || fail "a cluster that is filled: no arrived_pct"
filled=$(fingerprint record)
warning='none'
again small.json
grep -q '"arrived_pct"' metrics.json && fail "a cluster that is not filled: arrived_pct"

# ---- The same, elsewhere ----

# result.json says nothing of where it was written but in "host", which holds the arguments.
for out in record elsewhere/else; do
    mkdir -p elsewhere
    succeeds run small.json --out $out
done
without_host elsewhere/else >first.json
without_host record | cmp first.json - || fail 'another folder, another result.json'
sed -n '/^"host": {/,$p' elsewhere/else/result.json |
    grep -q '"arguments": \["run", "small.json", "--out", "elsewhere/else"\]' ||
    fail 'the arguments do not stand in host'
"$program" report elsewhere/else --html >/dev/null && grep -q 'elsewhere/else' elsewhere/else/report.html ||
    fail 'the page does not tell the arguments'

# ---- Other ways to say the same ----

seed_1=$(fingerprint record)
same() { # what, arguments
    what=$1
    shift
    rm -rf other
    succeeds run "$@" --out other
    [ "$(fingerprint other)" = "$seed_1" ] || fail "$what: another fingerprint"
}
same 'check' small.json --check
same 'no scenario' --trace small.csv --cluster four.json --policy fifo
same 'compressed' small.json --trace - <<END
$(cat small.csv)
END
warning='87.5 % of the training jobs were rejected (7 of 8): queue times are of the others'
succeeds run small.json --set workload.trace=- --set 'workload.fill={"load": 4}' --set world.queue_limit=0 \
    --out other <small.csv
warning='none'
[ "$(fingerprint other)" = "$filled" ] || fail 'filled from standard input: another fingerprint'
zstd -q small.csv
same 'compressed' small.json --trace small.csv.zst
"$program" policy show fifo >mine.json
same 'the preset as a file' small.json --policy ./mine.json
"$program" validate small.json --resolved >whole.json
same 'the resolved scenario' whole.json
same 'from another folder' "$PWD/small.json"
succeeds run small.json --seed 2 --out other
[ "$(fingerprint other)" != "$seed_1" ] || fail 'another seed, the same fingerprint'

# ---- What can never fit ----

cat >large.csv <<'END'
job_id,submit_s,duration_s,gpus
1,0,60,8
2,10,60,33
3,20,60,8
4,30,60,1000
END
windtunnel run small.json --trace large.csv --out other
[ "$status" -eq 0 ] || fail "NeverFits: status $status"
[ "$(grep -c NeverFits said.err)" -eq 1 ] && grep -q '^warning: 2 jobs rejected (NeverFits)' said.err ||
    fail "NeverFits is not told once: $(cat said.err)"
grep -q '^Rejected  *2 NeverFits$' said.out || fail 'NeverFits is not counted in the table'
grep -q '"jobs_rejected": {"value": 2,' other/result.json || fail 'NeverFits is not in result.json'
rm -rf other
windtunnel run small.json --trace large.csv --strict --out other
[ "$status" -eq 3 ] || fail "NeverFits with --strict: status $status"
[ -e other/result.json ] || fail 'NeverFits with --strict: no record'

# ---- Talk ----

windtunnel run small.json --quiet
[ "$status" -eq 0 ] || fail "--quiet: status $status"
is_silent said.err '--quiet'
long="$repository/scenarios/h100-500x8.json --set workload.synth.duration=900d --set world.end=900d"
if script -qec true /dev/null >/dev/null 2>&1; then
    # The first line comes after 65,536 events, which take the longer the more the machine has to do.
    for stop_s in 2 10 60; do
        script -qec "timeout -s INT $stop_s $program run $long" /dev/null >terminal.out </dev/null
        grep -q 'days simulated' terminal.out && break
    done
    grep -q 'days simulated' terminal.out || fail 'no progress on a terminal'
    script -qec "timeout -s INT $stop_s $program run $long --quiet" /dev/null >terminal.out </dev/null
    grep -q 'days simulated' terminal.out && fail 'progress in spite of --quiet'
fi

# ---- Signals ----

# Ends by the signal itself, which perl tells from an exit status; a shell does not.
interrupted() { # name, number
    rm -rf stopped
    # shellcheck disable=SC2086 # a list of words
    perl -e '
        my ($signal, @command) = @ARGV;
        my $child = fork;
        exec @command if $child == 0;
        # The folder is there when the handlers are.
        for (1 .. 600) { last if -d "stopped"; select undef, undef, undef, 0.1 }
        sleep 1;
        kill $signal, $child;
        waitpid $child, 0;
        print $? & 127, "\n"' "$1" "$program" run $long --out stopped >said.out 2>said.err
    [ "$(tail -n 1 said.out)" = "$2" ] || fail "SIG$1: not ended by it"
    grep -q '^Partial' said.out || fail "SIG$1: the table does not say that it is partial"
    grep -q '"is_partial": true' stopped/result.json || fail "SIG$1: the record does not say that it is partial"
    grep -q 'record in stopped' said.err || fail "SIG$1: no word about the record"
    "$program" report stopped | grep -q '^Partial' || fail "SIG$1: the report does not say that it is partial"
    grep -qi 'partial' stopped/report.html || fail "SIG$1: the page does not say that it is partial"
}
interrupted INT 2
interrupted TERM 15
finish
