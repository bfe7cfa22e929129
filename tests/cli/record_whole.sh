#!/bin/sh
# A record is of one run: inputs are attested as they were read, files of two runs are noticed, a second writer is
# refused, links are not followed, what killed runs left is removed, and a signal ends a run at once.
set -u
. tests/support/cli.sh

digest() { # role: as result.json in `new` has it
    sed -n "s/.*\"role\": \"$1\", \"name\": \"[^\"]*\", \"digest\": \"\([0-9a-f]*\)\".*/\1/p" new/result.json
}

wait_for() { # a file that another process makes
    tries=0
    while [ ! -e "$1" ] && [ $tries -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    [ -e "$1" ] || fail "$1 does not come"
}

# The process ends by the signal, though what it does would take minutes.
ends_by() { # process, signal's number, what it does
    (sleep 30 && kill -9 "$1") 2>/dev/null &
    watchman=$!
    wait "$1"
    got=$?
    kill $watchman 2>/dev/null
    [ $got -eq $((128 + $2)) ] || fail "$3: status $got, not $((128 + $2))"
}

# ---- Files of two runs ----

make_record old
"$program" run small.json --set policy.placement=worst_fit --quiet --out other >/dev/null
"$program" run small.json --set world.sample_s=7 --quiet --out longer >/dev/null
for name in jobs.csv.zst attempts.csv.zst timeline.csv.zst; do
    rm -rf mixed && cp -r old mixed
    if [ $name = timeline.csv.zst ]; then
        cp longer/$name mixed/$name
    else
        printf x >>mixed/$name
    fi
    for verb in 'report mixed' 'report mixed --json' 'compare mixed old' 'explain mixed --all' \
        'export mixed --to batsim' 'export mixed --to csv --out tables' 'trace freeze mixed --out frozen.jsonl'; do
        # shellcheck disable=SC2086 # a list of words
        refused_plainly 3 $verb <<END
error: mixed is a broken record: $name is not the file that result.json names
  a run that replaced it was killed, or the file was changed; run the scenario again
END
    done
    [ -e frozen.jsonl ] && fail 'a broken record was frozen'
done
rm mixed/jobs.csv.zst
refused_plainly 3 report mixed <<'END'
error: mixed is a broken record: jobs.csv.zst is missing
  a run that replaced it was killed, or the file was changed; run the scenario again
END
rm mixed/result.json
refused_plainly 4 report mixed <<'END'
error: cannot open mixed/result.json: No such file or directory
  a run writes it last: it has not ended, or was killed before; run the scenario again
END

# ---- Inputs change while the run goes on ----

cp small.json before.json
before=$(sha256sum <small.json)
"$program" run small.json --quiet --out new >/dev/null || fail 'the small scenario does not run'
whole=$(digest scenario)
for change in 'rm small.json four.json small.csv' 'echo "{}" >small.json; echo "{}" >four.json; echo x >small.csv'; do
    mkdir -p kept && cp small.json four.json small.csv kept
    "$program" run small.json --quiet --out new \
        --scheduler "$change; exec '$program' decide --policy fifo" >/dev/null ||
        fail "$change: the run is lost"
    [ "$(digest scenario)" = "$whole" ] || fail "$change: the scenario is attested as $(digest scenario), not $whole"
    [ -n "$(digest cluster)" ] && [ -n "$(digest trace)" ] || fail "$change: inputs without digests"
    cp kept/* .
done
[ "$(sha256sum <small.json)" = "$before" ] || fail 'the test has changed its own scenario'

# ---- Pipes ----

for digests in "$(digest scenario) $(digest cluster) $(digest trace)"; do
    mkfifo scenario.fifo cluster.fifo trace.fifo
    cat small.json >scenario.fifo &
    cat four.json >cluster.fifo &
    cat small.csv >trace.fifo &
    timeout 60 "$program" run scenario.fifo --cluster cluster.fifo --trace trace.fifo --quiet --out new >/dev/null ||
        fail 'named pipes: the run fails'
    wait
    [ "$(digest scenario) $(digest cluster) $(digest trace)" = "$digests" ] || fail 'named pipes: other digests'
done
timeout 60 "$program" run small.json --trace - --quiet --out new <small.csv >/dev/null || fail 'standard input: fails'
[ "$(digest trace)" = "${digests##* }" ] || fail "standard input: the trace is attested as $(digest trace)"

# ---- A long trace is read twice: it must be the same ----

awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 270000; i++) print i "," i ",1,1" }' >long.csv
"$program" run small.json --trace long.csv --set world.end=30s --quiet --out new \
    --scheduler "sed -i 's/^269999.*/&0/' long.csv; cp long.csv copy.csv; cat copy.csv >long.csv;
        exec '$program' decide --policy fifo" >said.out 2>said.err
status=$?
: >said.out
if [ "$status" -eq 0 ]; then
    # sed made another file: the run went on with the one that it had opened
    [ -n "$(digest trace)" ] || fail 'a long trace: no digest'
fi
awk 'BEGIN { print "job_id,submit_s,duration_s,gpus"; for (i = 0; i < 270000; i++) print i "," i ",1,1" }' >long.csv
"$program" run small.json --trace long.csv --set world.end=30s --quiet --out new \
    --scheduler "echo 270000,270000,1,1 >>long.csv; exec '$program' decide --policy fifo" >said.out 2>said.err
status=$?
: >said.out
said 3 'a trace that grows' <<'END'
error: long.csv changed while it was read
  run again on a file that nobody writes to
END
rm long.csv copy.csv

# ---- A second writer ----

make_record old
rm -f started
"$program" run small.json --out old --quiet --scheduler 'touch started; exec sleep 600' \
    --scheduler-timeout 600 >/dev/null 2>&1 &
first=$!
wait_for started
refused_plainly 4 run small.json --out old <<'END'
error: cannot write old: another run is writing it
  wait until that has ended, or name another folder
END
record_is_untouched old 'a second writer'
kill -9 $first
wait $first 2>/dev/null
"$program" run small.json --out old --quiet >/dev/null 2>&1 || fail 'a killed run holds its folder'

# ---- A silent scheduler, SIGTERM and ^C ----

for signal in 15 2; do
    rm -rf started partial
    # a shell that is not interactive lets its jobs ignore ^C
    env --default-signal=INT "$program" run small.json --out partial --quiet \
        --scheduler 'touch started; exec sleep 600' --scheduler-timeout 600 >/dev/null 2>&1 &
    run=$!
    wait_for started
    kill -$signal $run
    ends_by $run $signal 'a silent scheduler'
    grep -q '"is_partial": true' partial/result.json || fail "signal $signal: no partial record"
    "$program" report partial >/dev/null || fail "signal $signal: the partial record cannot be read"
done

# ---- Other things that take long ----

stops() { # seconds before the signal, what it is, arguments of the program
    seconds=$1 what=$2
    shift 2
    rm -rf partial
    "$program" "$@" --quiet --out partial >/dev/null 2>&1 &
    run=$!
    sleep "$seconds"
    kill -15 $run
    ends_by $run 15 "$what"
}
mkfifo silent.fifo
stops 0.3 'a pipe that nobody writes to' run silent.fifo
[ -e partial/result.json ] && fail 'a record of a run that never began'
rm -rf partial
"$program" compare small.json silent.fifo --quiet --out partial >/dev/null 2>&1 &
run=$!
sleep 0.3
kill -15 $run
ends_by $run 15 'a pipe that nobody writes to, as a side of a comparison'
[ -e partial ] && fail 'a comparison that never began made a folder'
echo 'job_id,submit_s,duration_s,gpus
a,0,60,1000000' >grows.csv
stops 4 'a job that grows by a million members' run --trace grows.csv --policy kubernetes \
    --set 'cluster={"pools":[{"name":"p","nodes":125000,"gpus_per_node":8,"gpu_model":"h100-80gb"}]}' \
    --set workload.gpus_per_node=0
grep -q '"is_partial": true' partial/result.json || fail 'a job that grows: no partial record'
stops 4 'a job of a million members in one placement' run --trace grows.csv --policy hived \
    --set 'cluster={"pools":[{"name":"p","nodes":125000,"gpus_per_node":8,"gpu_model":"h100-80gb"}]}' \
    --set workload.gpus_per_node=0
grep -q '"is_partial": true' partial/result.json || fail 'a job in one placement: no partial record'
grep -q '"jobs_rejected": {"value": 0,' partial/result.json || fail 'a job in one placement: it is rejected'

# ---- Memory ----

rm -rf new && make_record old

refused 2 run small.json --set world.sample_s=1e-9 <<'END'
error: the timeline would have 20000000000 rows up to 20 s, one each 1e-09 s; at most 1048576 are kept
  set world.sample_s to 1.90734863e-05 or more; if the jobs come more slowly than intended, look at workload.load
END
refused 2 run small.json --set world.sample_s=1 --set world.end=100d <<'END'
error: the timeline would have 8640000 rows up to 8640000 s, one each 1 s; at most 1048576 are kept
  set world.sample_s to 8.23974609 or more; if the jobs come more slowly than intended, look at workload.load
END
windtunnel run small.json --set workload.load=1e-9 --out new_folder
[ $status -eq 2 ] || fail "a load of 1e-9: status $status"
grep -q '^error: the timeline would have [0-9]* rows up to ' said.err || fail "a load of 1e-9: $(cat said.err)"

# ---- Links ----

make_record old
echo mine >mine
for name in jobs.csv.zst attempts.csv.zst timeline.csv.zst events.jsonl.zst report.html result.json; do
    rm -f old/$name && ln -s ../mine old/$name
done
ln -s old link
"$program" run small.json --quiet --events --out link >/dev/null || fail 'a folder behind a link: the run fails'
[ "$(cat mine)" = mine ] || fail 'a link was followed out of the folder'
[ -z "$(find old -type l)" ] || fail 'a link is left in the record'
[ -L link ] || fail 'the link to the folder was replaced'
"$program" report old >/dev/null || fail 'a record over links cannot be read'
for name in report.html result.json; do
    rm -f old/$name && ln -s /dev/full old/$name
done
"$program" run small.json --quiet --out old >/dev/null || fail 'a link to a device in the folder: the run fails'
[ -f old/result.json ] && [ ! -L old/result.json ] || fail 'a link to a device is left'
rm old/report.html && ln -s ../mine old/report.html
"$program" report old --html >/dev/null || fail 'the page cannot be written again'
[ "$(cat mine)" = mine ] || fail 'the page followed a link'
mkdir -p tables && ln -s ../mine tables/jobs.csv
"$program" export old --to csv --out tables || fail 'tables over a link'
[ "$(cat mine)" = mine ] || fail 'a table followed a link'

# ---- Leftovers ----

sh -c 'echo $$' >dead
dead=$(cat dead)
echo x >"old/.windtunnel-$dead-0.tmp"
echo x >"old/.windtunnel-$$-0.tmp"
echo x >"old/.windtunnel-x-0.tmp"
mkdir "old/.windtunnel-$dead-1.tmp"
"$program" run small.json --quiet --out old >/dev/null
[ ! -e "old/.windtunnel-$dead-0.tmp" ] || fail 'what a killed run left is still there'
[ -e "old/.windtunnel-$$-0.tmp" ] || fail 'the file of a living process was removed'
[ -e old/.windtunnel-x-0.tmp ] && [ -d "old/.windtunnel-$dead-1.tmp" ] || fail 'what no run made was removed'
finish
