#!/bin/sh
# A model is fitted to a trace, drawn from, and what is drawn is compared with the trace: sample, drawn traces, and
# Philly's trace where it is.
set -u
. tests/support/cli.sh
seconds_max=300

# ---- Drawing ----

windtunnel trace synth lublin --jobs 3000 --seed 4 -o a.csv
[ "$status" -eq 0 ] || fail "synth: $(cat said.err)"
[ "$(wc -l <a.csv)" -eq 3001 ] || fail "synth: $(wc -l <a.csv) lines"
windtunnel trace synth "$repository/workloads/models/lublin.json" --jobs 3000 --seed 4 --out b.jsonl.zst
windtunnel trace synth lublin --jobs 3000 --seed 4 --out c.csv.zst
zstd -dcq c.csv.zst | cmp - a.csv || fail 'synth: the same model and seed give other jobs'
windtunnel trace synth lublin --jobs 3000 --seed 5
cmp said.out a.csv >/dev/null && fail 'synth: another seed gives the same jobs'
windtunnel trace compare a.csv b.jsonl.zst --within 0 --json
[ "$status" -eq 0 ] || fail "the forms hold other jobs: $(cat said.err)"
windtunnel trace synth helios --days 0.5 -o d.csv
[ "$status" -eq 0 ] || fail "synth --days: $(cat said.err)"
tail -n 1 d.csv | awk -F, '{ exit !($2 < 43200 && $2 > 20000) }' || fail "synth --days: $(tail -n 1 d.csv)"

windtunnel trace synth lublin
said 2 'neither jobs nor days' <<'END'
error: give either --jobs or --days: a model goes on for ever
END
cat >bad.json <<'END'
{"workload_model": 1,
 "streams": [{"name": "a", "arrivals": {"jobs_per_day": 5, "cycel": 3},
              "kinds": [{"gpus": 1, "run_time": {"distribution": "exponential", "mean": "1h"}}]}]}
END
windtunnel trace synth bad.json --jobs 1
[ "$status" -eq 2 ] || fail "a bad model: status $status"
grep -q '^error: bad.json:2:' said.err || fail "a bad model: $(cat said.err)"
grep -q "mean .*cycle" said.err || fail "a bad model, no hint: $(cat said.err)"

# ---- Fit, draw, compare ----

windtunnel trace fit a.csv --no-days -o lublin.json
[ "$status" -eq 0 ] || fail "fit: $(cat said.err)"
windtunnel trace synth lublin.json --jobs 3000 -o e.csv
windtunnel trace compare a.csv e.csv --within 40
[ "$status" -eq 0 ] || fail "what is drawn differs: $(cat said.err said.out)"
windtunnel trace compare a.csv d.csv --within 5 --html page.html
[ "$status" -eq 10 ] || fail "unlike traces: status $status"
grep -q '^not within 5 %: run_time_s mean$' said.err || fail "unlike traces: $(cat said.err)"
grep -q '<h2>Run time</h2>' page.html || fail 'the page has no plot of run times'

windtunnel trace fit "$repository/workloads/samples/philly.csv" --by queue
[ "$status" -eq 0 ] || fail "fit --by queue: $(cat said.err)"
windtunnel trace fit philly --by user
said 2 'fit by user' <<'END'
error: --by must be queue or nothing, got 'user'
END
head -n 2 a.csv >one.csv
windtunnel trace fit one.csv
[ "$status" -eq 3 ] || fail "one job: status $status"
windtunnel trace compare one.csv a.csv
[ "$status" -eq 3 ] || fail "one job compared: status $status"

# Two queues, fitted apart: each keeps its size.
awk -F, 'BEGIN { print "job_id,submit_s,duration_s,gpus,queue"
    for (i = 0; i < 2000; i++)
        printf "%d,%d,%d,%d,%s\n", i, i * 60, 100 + i % 7, i % 2 ? 8 : 1, i % 2 ? "red" : "blue" }' >two.csv
windtunnel trace fit two.csv --by queue -o two.json
windtunnel trace synth two.json --jobs 2000 -o again.csv
awk -F, 'NR > 1 { if (($9 == "red") != ($4 == 8)) exit 1; reds += $9 == "red" }
    END { exit !(reds > 900 && reds < 1100) }' again.csv ||
    fail "fit --by queue: queues and sizes are mixed: $(head -n 3 again.csv)"

# ---- Philly ----

trace=${WINDTUNNEL_TRACES:-$repository/../shared/traces}/philly/philly_jobs.csv.zst
if [ ! -e "$trace" ]; then
    echo "note: no real trace $trace (set WINDTUNNEL_TRACES): its model is not compared with it"
    finish
fi
windtunnel trace fit "$trace" -o philly.json
[ "$status" -eq 0 ] || fail "fit of Philly: $(cat said.err)"
windtunnel trace synth philly.json --jobs 82247 --seed 1 -o philly.csv.zst
windtunnel trace compare "$trace" philly.csv.zst --within 5
[ "$status" -eq 0 ] || fail "Philly's model is not like it: $(cat said.err)"
finish
