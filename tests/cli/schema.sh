#!/bin/sh
# The schemas of scenarios, clusters, policies, cases, models, maps and gates accept all that the program accepts, and
# refuse unknown keys, wrong types and numbers out of range as it does: ready files, and the same with one edit.
set -u
. tests/support/cli.sh

for kind in scenario cluster policy case workload-model columns gates; do
    "$program" schema $kind >$kind.schema || fail "schema $kind: status $?"
    "$program" schema $kind | cmp - $kind.schema || fail "schema $kind: another at the second time"
done
windtunnel schema job
said 2 'schema job' <<'END'
error: there is no schema of a 'job'
  there are of a scenario, a cluster, a policy, a case, a workload-model, columns and gates
END

python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && $candidate -c 'from jsonschema import Draft202012Validator' 2>/dev/null; then
        python=$candidate
    fi
done
if [ -z "$python" ]; then
    [ $failures -eq 0 ] || finish
    echo 'skipped: python3-jsonschema is not installed (make deps installs it)'
    exit 77
fi

edited() { # kind, edits of a file, files... -- command
    kind=$1
    shift
    if $python "$repository/tests/support/schema_edits.py" "$scratch/$kind.schema" "$@" >edits.log 2>&1; then
        [ "$1" -eq 0 ] || echo "note: $kind: $(tail -n 1 edits.log)"
    else
        fail "$kind: $(cat edits.log)"
    fi
}
cat >model.json <<'END'
{"workload_model": 1,
 "streams": [
   {"name": "a", "queue": "q", "class": "inference",
    "arrivals": {"jobs_per_day": 755, "gaps": {"distribution": "weibull", "shape": 0.5}, "gap_memory": {"strength": 0.2, "jobs": 10},
                 "cycle": {"period": "1d", "factors": [0.5, 1.5]}, "days": {"factors": [1, 2], "run": "7d"},
                 "clients": {"count": 2, "zipf_exponent": 1}},
    "memory": {"repeat": 0.3, "strength": 0.5, "jobs": 25}, "users": {"count": 10, "zipf_exponent": 1},
    "request": {"share": 0.9, "factor": {"distribution": "lognormal", "median": 3, "sigma": 1}, "values": ["1h", 90000]},
    "kinds": [{"weight": 60, "gpus": 1, "cpus": 2, "memory_gb": 4, "outcome": "completed",
               "run_time": {"distribution": "lognormal", "median": "10m", "sigma": 2, "max": "7d"}},
              {"weight": 5, "gpus": 16, "nodes": 2, "outcome": "failed", "run_time": {"distribution": "constant", "mean": "5m"}},
              {"gpu_fraction": 0.5, "run_time": {"distribution": "gamma", "shape": 2, "scale": 3, "max": 20}}]},
   {"name": "b", "arrivals": {"jobs_per_day": 9, "states": [{"factor": 1, "mean": "1h"}, {"factor": 2, "mean": 9, "weight": 2}]},
    "kinds": [{"gpus": 1, "run_time": {"distribution": "empirical", "points": [[0, 1], [1, 2]]}}]}]}
END
edited policy 25 "$repository"/policies/presets/*.json -- "$program" validate small.json --policy ./edit.json
edited cluster 60 "$repository"/topologies/*.json -- "$program" topology show ./edit.json
models=$repository/workloads/models
edited workload-model 40 "$models/lublin.json" "$models/pai.json" "$scratch/model.json" \
    -- "$program" trace synth ./edit.json --jobs 10

printf 'at,d,n,state\n1,2,3,x\n' >table.csv
cat >map.json <<'END'
{"summary": "s", "separator": ",", "quotes": true, "recognize": ["at"], "tz_offset": "8h", "missing": ["", "-"],
 "columns": ["at", "d", "n", "state"], "skip": [{"column": "state", "is": ["y"], "why": "z"}],
 "tables": {"t": {"summary": "s", "separator": "|", "quotes": false, "columns": ["k", "v"], "key": {"k": "state"}, "key_if_there": {"m": "n"},
                  "several": "last", "skip": [{"column": "v", "is": ["y"], "why": "z"}], "missing": "no",
                  "fields": {"user": "t.v", "wait_s": {"column": "d", "since": "at", "unit": "h", "negative": "unknown", "or": "n"}}},
            "u": {"key": {"k": "state"}, "least": "v"}},
 "fields": {"submit_s": "at", "duration_s": {"column": "d", "unit": "min", "missing": "they never ran"},
            "gpus": {"column": "n", "times": "n", "scale": 0.5, "value": "1", "words": {"a*": "2"}},
            "deadline_s": {"column": "d", "after": "at", "only": {"state": ["strict"]}}, "queue": {"value": "q"}}}
END
cat >accept_map.sh <<'END'
"$1" trace info table.csv --columns ./edit.json --max-bad 9
status=$?
[ $status -ne 3 ] || exit 0 # the map is good, and the table is another one
exit $status
END
edited columns 20 map.json "$repository"/workloads/maps/*.json -- sh ./accept_map.sh "$program"

# A case that differs from what it expects is accepted; one that cannot be run is not.
cat >accept_case.sh <<'END'
"$1" case ./edit.json 2>case.err
status=$?
cat case.err >&2
case $status in 10) if grep -q '^error' case.err; then exit 4; else exit 0; fi ;; *) exit $status ;; esac
END
edited case 2 "$repository"/tests/cases/*.json -- sh ./accept_case.sh "$program"

# Both forms of a file of gates; what they decide does not matter.
cat >object.json <<'END'
{"gates": [{"metric": "queue_time_p95_s", "class": "inference", "max": "1m", "side": "b"},
           {"metric": "queue_time_mean_s", "max_increase": "5%", "min": 0},
           {"metric": "allocation_ratio", "max_decrease": 0.01}]}
END
cat >list.json <<'END'
[{"metric": "queue_time_p95_s", "tenant": "q", "max_increase": "10m", "max_decrease": "1h"},
 {"metric": "allocation_ratio", "max": 1, "min": -1}]
END
cat >accept.sh <<'END'
"$1" compare a=a b=b --gates ./edit.json
status=$?
case $status in 10 | 11) exit 0 ;; *) exit $status ;; esac
END
for side in a b; do
    "$program" run small.json --policy fifo --quiet --out $side >/dev/null || fail "small.json does not run"
done
edited gates 60 "$scratch/object.json" "$scratch/list.json" -- sh ./accept.sh "$program"

# Scenarios stand where the files are that they name; with few jobs, each is checked in a moment.  The traces of
# openb.json are not here.
cp -R "$repository/scenarios" "$repository/topologies" .
cd scenarios || exit 1
sed -i 's/"jobs": [0-9][0-9]*/"jobs": 100/; s/"duration": "[0-9]*d"/"duration": "1h"/' ./*.json
edited scenario 0 ./*.json -- true
rm openb.json
edited scenario 40 ./*.json -- "$program" validate ./edit.json
finish
