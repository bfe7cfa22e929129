#!/bin/sh
# `windtunnel export`: twelve hours of the main scenario in every format, read by the programs that the formats are for,
# where they are installed; the recipes of docs/export.md as written; and refusals.
set -u
. tests/support/cli.sh

# A python3 with pandas may be another than the first one.
python3=python3
python_with_pandas=''
for candidate in python3 /usr/bin/python3; do
    if $candidate -c 'import pandas' 2>/dev/null; then
        python_with_pandas=$candidate
    fi
done

"$program" run "$repository/scenarios/h100-500x8.json" --set world.end=12h --set world.warmup=1h --quiet --out run \
    >/dev/null || fail 'the scenario does not run'

export_to() { # format, what goes to --out, further arguments
    format=$1 out=$2
    shift 2
    windtunnel export run --to "$format" --out "$out" "$@"
    [ $status -eq 0 ] || fail "export to $format: $(cat said.err)"
    is_silent said.out "export to $format"
    is_silent said.err "export to $format"
}

# ---- SQLite: sums from SQL are those of result.json ----

export_to sqlite run.db
[ "$(sqlite3 run.db 'PRAGMA integrity_check')" = ok ] || fail 'the database is damaged'
$python3 - <<'END' || fail 'SQL and result.json differ'
import json
import subprocess
import sys


def query(sql):
    return json.loads(subprocess.run(["sqlite3", "-json", "run.db", sql], check=True, capture_output=True).stdout)


result = json.load(open("run/result.json", encoding="utf-8"))
expected = {(name, "all", "all"): metric["value"] for name, metric in result["metrics"].items()}
for cut, groups in result["by"].items():
    for key, group in groups.items():
        expected.update({(name, cut, key): metric["value"] for name, metric in group.items()})
found = {(row["name"], row["cut"], row["key"]): row["value"] for row in query("SELECT * FROM metrics")}
wrong = [] if found == expected else ["the table metrics"]


def compare(what, value, wanted):
    if abs(value - wanted) > 1e-9 * abs(wanted):
        wrong.append(f"{what}: {value}, result.json has {wanted}")


metrics = {name: metric["value"] for name, metric in result["metrics"].items()}
span_s = result["facts"]["measured_until_s"] - result["facts"]["warmup_s"]
for name, sql in {
    "jobs_submitted": "SELECT count(*) AS v FROM jobs WHERE is_counted",
    "jobs_completed": "SELECT count(*) AS v FROM jobs WHERE is_counted AND state = 'completed'",
    "jobs_running": "SELECT count(*) AS v FROM jobs WHERE is_counted AND state = 'running'",
    "asked_gpu_h": "SELECT sum(gpus * work_asked_s) / 3600 AS v FROM jobs WHERE is_counted AND state <> 'rejected'",
    "allocated_gpu_h": "SELECT sum(gpu_h) AS v FROM top_queues",
    "queue_time_mean_s": "SELECT avg(wait_s) AS v FROM jobs WHERE is_counted",
    "queue_time_max_s": "SELECT max(wait_max_s) AS v FROM waits_by_class_and_size",
    "wait_scheduling_job_h": "SELECT sum(wait_job_h) AS v FROM waits_by_reason WHERE reason = 'WaitingForScheduling'",
    "gang_link_gb_per_s_mean": "SELECT sum(gpu_h * link_gb_per_s_mean) / sum(gpu_h) AS v FROM links_of_gangs",
    "allocation_ratio": f"SELECT sum(allocated_gpu_h) * 3600 / (4000 * {span_s}) AS v FROM utilization_by_hour"
                        " WHERE hour >= 1",
}.items():
    compare(name, query(sql)[0]["v"], metrics[name])
for row in query("SELECT workload_class || '/' || size AS key, * FROM waits_by_class_and_size"):
    for part in ("p50", "p95", "p99"):
        compare(row["key"], row[f"wait_{part}_s"], expected[f"queue_time_{part}_s", "class_size", row["key"]])
compare("placements", query("SELECT sum(gpu_h) AS v FROM jobs_per_node")[0]["v"],
        query("SELECT sum(gpus * (end_s - start_s)) / 3600 AS v FROM attempts")[0]["v"])
compare("waits by reason", query("SELECT sum(wait_s) AS v FROM wait_by_reason")[0]["v"],
        query("SELECT sum(wait_total_s) AS v FROM jobs")[0]["v"])
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
END

# ---- CSV: the record's files, uncompressed ----

export_to csv run-csv
for name in jobs attempts timeline; do
    zstd -dcq run/$name.csv.zst | cmp - run-csv/$name.csv || fail "$name.csv is not that of the record"
done

# ---- Perfetto: slices nest, counts and sums are those of the attempts ----

export_to perfetto trace.json
$python3 "$repository/tests/support/trace_nests.py" trace.json run-csv >counted ||
    fail "the trace: $(cat counted)"
export_to perfetto part.json --node n1 --from 6h --until 7h
$python3 - <<'END' || fail 'a part of the trace'
import json
import subprocess
import sys

events = json.load(open("part.json", encoding="utf-8"))["traceEvents"]
slices = [event for event in events if event["ph"] == "X"]
shown = sum(event["dur"] * event["args"].get("share", 1) for event in slices) / 1e6
held = float(subprocess.run(
    ["sqlite3", "run.db", "SELECT sum(p.gpus * (min(end_s, 25200) - max(start_s, 21600))) FROM placement p"
     " JOIN attempts USING (job_id, attempt) WHERE node = 'n1' AND start_s < 25200 AND end_s > 21600"],
    check=True, capture_output=True).stdout)
processes = [event["args"]["name"] for event in events if event["name"] == "process_name"]
sys.exit(not (abs(shown - held) < 1e-6 * held and processes == ["cluster", "n1"]))
END

# ---- OpenMetrics: what Prometheus takes ----

export_to openmetrics run.om --epoch 2026-01-01
[ "$(tail -n 1 run.om)" = '# EOF' ] || fail 'the OpenMetrics text has no end'
if command -v promtool >/dev/null; then
    promtool tsdb create-blocks-from openmetrics --max-block-duration=744h run.om blocks >promtool.out 2>&1 ||
        fail "promtool refuses the series: $(tail -n 3 promtool.out)"
    # MIN TIME is the epoch, in milliseconds; every sample is in the one block.
    awk -v samples="$(grep -vc '^#' run.om)" 'END { exit !($2 == 1767225600000 && $5 == samples) }' promtool.out ||
        fail "promtool took other samples: $(cat promtool.out)"
else
    echo 'note: no promtool, so nothing read the OpenMetrics export'
fi
# The dashboard asks for series that there are.
grep -o '"expr": .*' "$repository/docs/examples/grafana/windtunnel-run.json" | grep -o 'windtunnel_[a-z_]*' | sort -u |
    while read -r name; do
        grep -q "^$name{" run.om || echo "$name"
    done >missing
is_silent missing 'series of the dashboard that no export has'

# ---- Batsim: a row per attempt ----

export_to batsim batsim.csv
[ "$(wc -l <batsim.csv)" -eq "$(wc -l <run-csv/attempts.csv)" ] || fail 'batsim: another number of rows'
# Of whole GPUs, no resource is held twice at once; all are among 4,000.
$python3 - <<'END' || fail 'batsim: rows that cannot be'
import csv
import sys

held = {}
rows = list(csv.DictReader(open("batsim.csv", encoding="utf-8", newline="")))
shared = {row["job_id"] for row in csv.DictReader(open("run-csv/jobs.csv", encoding="utf-8", newline=""))
          if float(row["gpus"]) < 1}
for row in sorted(rows, key=lambda row: float(row["starting_time"])):
    resources = [gpu for part in row["allocated_resources"].split()
                 for gpu in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]
    right = len(resources) == int(row["requested_number_of_resources"]) and max(resources) < 4000
    for gpu in resources if row["job_id"].split("#")[0] not in shared else []:
        right = right and held.get(gpu, 0) <= float(row["starting_time"])
        held[gpu] = float(row["finish_time"])
    if not right:
        print(row)
        sys.exit(1)
END

# ---- Standard output has the same bytes, and equal runs give equal exports ----

for pair in perfetto=trace.json batsim=batsim.csv; do
    "$program" export run --to "${pair%%=*}" | cmp - "${pair#*=}" || fail "$pair: other bytes on standard output"
done
cp run.db before.db
export_to sqlite run.db
cmp run.db before.db || fail 'the same record gives another database'

# ---- The recipes of docs/export.md ----

recipes() { # language
    awk -v fence="\`\`\`$1" '$0 == "```" { inside = 0 } inside; $0 == fence { inside = 1 }' "$repository/docs/export.md"
}
# The line of the class "interactive" ends with the percentiles of result.json, to the digits that are printed.
percentiles_agree() { # what printed recipes.out
    $python3 - <<'END' || fail "$1 has other percentiles than result.json: $(cat recipes.out)"
import json
import sys

by = json.load(open("run/result.json", encoding="utf-8"))["by"]["workload_class"]["interactive"]
row = next(line.split() for line in open("recipes.out", encoding="utf-8") if "interactive " in line)
wanted = [by[f"queue_time_{part}_s"]["value"] for part in ("p50", "p95", "p99")]
sys.exit(any(abs(float(got) - value) > 1e-4 * value for got, value in zip(row[-3:], wanted)))
END
}

recipes sql >recipes.sql
[ "$(grep -c ';' recipes.sql)" -ge 11 ] || fail 'docs/export.md has fewer queries'
sqlite3 -bail -readonly run.db <recipes.sql >recipes.out 2>&1 || fail "SQL of docs/export.md: $(tail -n 3 recipes.out)"
if [ -n "$python_with_pandas" ]; then
    recipes python >recipes.py
    $python_with_pandas recipes.py >recipes.out 2>&1 || fail "pandas in docs/export.md: $(tail -n 3 recipes.out)"
    percentiles_agree pandas
else
    echo 'note: no python3 with pandas, so its recipe was not run'
fi
if command -v Rscript >/dev/null; then
    recipes r >recipes.R
    Rscript recipes.R >recipes.out 2>&1 || fail "R in docs/export.md: $(tail -n 3 recipes.out)"
    percentiles_agree R
else
    echo 'note: no Rscript, so the recipe for R was not run'
fi
if command -v duckdb >/dev/null; then
    recipes duckdb >recipes.duckdb
    duckdb -bail <recipes.duckdb >recipes.out 2>&1 || fail "DuckDB in docs/export.md: $(tail -n 3 recipes.out)"
else
    echo 'note: no duckdb, so its recipe was not run'
fi

# ---- Texts that spreadsheets take for formulas ----

cat >formulas.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
=1+1,0,60,1,@SUM(A1),-2
plain,10,60,1,"+a,""b""",a=b
END
"$program" run small.json --trace formulas.csv --quiet --out formulas >/dev/null || fail 'formulas.csv does not run'
windtunnel export formulas --to csv --out formulas-quoted --quote-formulas
windtunnel export formulas --to csv --out formulas-plain
$python3 - <<'END' || fail "formulas: $(head -3 formulas-quoted/jobs.csv)"
import csv

quoted, plain = [list(csv.reader(open(f"formulas-{kind}/jobs.csv", newline=""))) for kind in ("quoted", "plain")]
cells = [cell for row in quoted[1:] for cell in row]
assert "'=1+1" in cells and "'@SUM(A1)" in cells and "'+a,\"b\"" in cells, cells
for row, other in zip(quoted[1:], plain[1:]):
    for name, cell, was in zip(quoted[0], row, other):
        is_text = name in ("job_id", "queue", "user", "class", "name")
        assert cell == ("'" + was if was[:1] in tuple("=+-@") and is_text else was), (name, cell, was)
END
refused_plainly 2 export run --to sqlite --out new.db --quote-formulas <<'END'
error: sqlite is not for spreadsheets, so it takes no --quote-formulas
END

# ---- Refusals ----

refused_plainly 2 export run <<'END'
error: say with --to what to export to: see 'windtunnel export --help'
END
refused_plainly 2 export run --to perfeto --out new <<'END'
error: there is no format 'perfeto' to export to
  did you mean 'perfetto'?
END
refused_plainly 2 export run --to csv <<'END'
error: csv needs --out DIR
END
refused_plainly 2 export run --to perfetto --from noon <<'END'
error: --from must be a simulated time such as 36h or 5400, not 'noon'
END
refused_plainly 2 export run --to openmetrics --epoch yesterday <<'END'
error: --epoch must be a date in UTC such as 2026-01-31 or 2026-01-31T08:00:00, not 'yesterday'
END
refused_plainly 4 export nowhere --to sqlite --out new <<'END'
error: nowhere is no record: it is not a folder
  'windtunnel run SCENARIO --out DIR' writes a record into DIR
END
mkdir empty
refused_plainly 4 export empty --to csv --out new <<'END'
error: empty is no record: it has no result.json
  'windtunnel run SCENARIO --out DIR' writes a record into DIR
END
: >file
refused_plainly 4 export run --to csv --out file <<'END'
error: cannot create folder file: Not a directory
END
for format in sqlite perfetto; do
    refused_plainly 4 export run --to $format --out empty <<'END'
error: cannot write empty: Is a directory
END
    refused_plainly 4 export run --to $format --out file/below <<'END'
error: cannot create file/below: Not a directory
END
done
[ ! -e new ] && [ -z "$(ls -A empty)" ] || fail 'a refused export left something'

# A damaged record: nothing appears, and what was there stays.
cp -r run damaged
zstd -dcq run/jobs.csv.zst | sed '700s/,/,x/' | zstd -q -f -o damaged/jobs.csv.zst
# Its digest is not known, as in old records; tests/cli/record_whole.sh has the others.
sed '/^  "files": /d' run/result.json >damaged/result.json
echo old >kept
for format in sqlite openmetrics batsim perfetto; do
    windtunnel export damaged --to $format --out kept
    [ $status -eq 3 ] || fail "a damaged record to $format: status $status"
    grep -q '^error: damaged/jobs.csv.zst:700:' said.err || fail "a damaged record to $format: $(cat said.err)"
    [ "$(cat kept)" = old ] || fail "a damaged record to $format: the old file went"
done
[ -z "$(find . -name '.windtunnel-*')" ] || fail "left: $(find . -name '.windtunnel-*')"

# A small disk of its own, where that is allowed.
if unshare -rm sh -c 'mkdir -p disk && mount -t tmpfs -o size=400k none disk' 2>/dev/null; then
    for format in sqlite perfetto csv; do
        unshare -rm sh -c '
            mount -t tmpfs -o size=400k none disk
            "$1" export run --to "$2" --out disk/out >/dev/null 2>said.err
            echo "status $?"
            find disk -type f' sh "$program" $format >said.all
        echo 'status 4' | diff -u - said.all || fail "a small disk, $format: another status, or files left"
        grep -q '^error: cannot write disk/out.*: No space left on device$' said.err ||
            fail "a small disk, $format: $(cat said.err)"
    done
fi
finish
