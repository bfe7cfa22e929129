#!/bin/sh
# A record becomes one file with all that it was made from, which gives the same run again anywhere; what it does not
# hold must be named and be the same file; a bundle of a stranger reads nothing that its user did not name.
set -u
. tests/support/cli.sh

# What `reproduce` must say, with status 0 or 10.
reproduces() { # status, last line, arguments...
    wanted=$1 last=$2
    shift 2
    windtunnel reproduce "$@"
    [ "$status" -eq "$wanted" ] && [ "$(tail -n 1 said.out)" = "$last" ] ||
        fail "reproduce $*: status $status: $(cat said.out said.err)"
}

same="The run is the same."
other="The run is NOT the same."

# A trace with a map of its columns, in a folder of its own, compressed, and a seed of the command line.
mkdir -p study/data
sed 's/submit_s/begin/' small.csv | zstd -q -o study/data/jobs.csv.zst
echo '{"fields": {"job_id": "job_id", "submit_s": "begin", "duration_s": "duration_s", "gpus": "gpus",
                  "queue": {"column": "queue", "words": {"red": "crimson", "r*": "none", "*": "rest"}}}}' \
    >study/data/map.json
cp four.json study/
echo '{"cluster": "four.json", "policy": {"preset": "windtunnel"},
       "workload": {"trace": "data/jobs.csv.zst", "columns": "data/map.json",
                    "growth": {"queues": {"rest": 3, "crim*": 2, "c*": 0, "*": 0}}, "shake": {"arrivals_s": 5}}}' \
    >study/s.json
windtunnel run study/s.json --seed 7 --out rec
[ "$status" -eq 0 ] || fail "run: $(cat said.err)"
windtunnel bundle rec --trust rec
[ "$status" -eq 0 ] && grep -q '^inside: jobs.csv.zst (trace), ' said.err || fail "bundle: $(cat said.err)"
windtunnel bundle rec/ --trust rec --out plain.json
zstd -dqc rec.bundle.json.zst | cmp -s - plain.json || fail "compressed and plain bundles differ"
! grep -q "$scratch\|study\|data/" plain.json || fail "the bundle holds a path"
mkdir elsewhere
mv rec.bundle.json.zst elsewhere/
mv study moved
reproduces 0 "$same" elsewhere/rec.bundle.json.zst --out again
windtunnel report again
[ "$status" -eq 0 ] || fail "the record of a reproduced run: $(cat said.err)"

# The files that a bundle does not hold.
mv moved study
windtunnel bundle rec --input-mib 0 --out small.json.zst
grep -q '^not inside: jobs.csv.zst (trace): it is too long; ' said.err || fail "a long input: $(cat said.err)"
digest=$(sed -n 's/.*"trace", "name": "[^"]*", "digest": "\([0-9a-f]*\)".*/\1/p' rec/result.json)
windtunnel reproduce small.json.zst
[ "$status" -eq 2 ] || fail "an input that is not in the bundle: $status"
says said.err "^error: .*: the bundle does not hold its trace 'jobs.csv.zst' (digest $digest)$"
says said.err 'get that file, and name it: --input jobs.csv.zst=PATH$'
reproduces 0 "$same" small.json.zst --input jobs.csv.zst=study/data/jobs.csv.zst
refused_plainly 2 reproduce small.json.zst --input jobs.csv=study/data/jobs.csv.zst <<'END'
error: the bundle needs no input 'jobs.csv'
END
refused_plainly 2 reproduce small.json.zst --input jobs.csv.zst <<'END'
error: '--input' must be NAME=PATH, got 'jobs.csv.zst'
END
refused_plainly 4 reproduce small.json.zst --input jobs.csv.zst=none.csv <<'END'
error: cannot open none.csv: No such file or directory
END
cp study/data/jobs.csv.zst kept.csv.zst
sed 's/^3,20,/3,21,/' small.csv >changed.csv
windtunnel reproduce small.json.zst --input jobs.csv.zst=changed.csv
[ "$status" -eq 3 ] || fail "another file was taken: $status"
says said.err "^error: changed.csv is not the 'jobs.csv.zst' that the run read: its digest is "
zstd -qf changed.csv -o study/data/jobs.csv.zst
windtunnel bundle rec --trust rec --out changed.json
[ "$status" -eq 3 ] || fail "a changed input: $status"
says said.err "^error: no file with the digest of 'study/data/jobs.csv.zst' (trace: $digest) is in what is trusted$"
rm study/data/jobs.csv.zst
windtunnel bundle rec --trust rec --out gone.json
[ "$status" -eq 3 ] || fail "an input that is gone: $status"
says said.err "^error: no file with the digest of 'study/data/jobs.csv.zst' "
[ ! -e changed.json ] && [ ! -e gone.json ] || fail 'a bundle without its trace was written'

# Where the inputs are now: a file that is given, a folder of data, and the folder in which the run was started.
mkdir mine
cp kept.csv.zst mine/jobs.csv.zst
windtunnel bundle rec --input jobs.csv.zst=mine/jobs.csv.zst --input-mib 0 --out given.json
[ "$status" -eq 0 ] || fail "a given input: $(cat said.err)"
windtunnel bundle rec --trust mine --trust rec --out given.json
[ "$status" -eq 0 ] && cmp -s given.json plain.json || fail "a folder of data: $(cat said.err)"
windtunnel bundle rec --input jobs.csv.zst=small.csv --out given.json
[ "$status" -eq 3 ] || fail "another file was given: $status"
refused_plainly 2 bundle rec --input none=small.csv --input-mib 0 <<'END'
error: the record has no input 'none'
END
cp kept.csv.zst study/data/jobs.csv.zst
mkdir far
(cd far && "$program" bundle ../rec --trust ../rec --out far.json 2>said.err) && cmp -s far/far.json plain.json ||
    fail "a bundle made in another folder: $(cat far/said.err)"
(cd far && "$program" trace freeze ../rec --trust ../rec --out frozen.jsonl 2>said.err) ||
    fail "relative paths of a record: $(cat far/said.err)"

# A node list is a cluster that does not stand in the scenario; two inputs have the same name.
mkdir one
printf 'sn,cpu_milli,memory_mib,gpu,model\nn1,96000,400000,8,h100-80gb\nn2,96000,400000,8,h100-80gb\n' >one/small.csv
windtunnel run --trace small.csv --cluster one/small.csv --policy fifo --out nodes
windtunnel bundle nodes --trust nodes --out nodes.json
grep -q '"cluster":"small.csv"' nodes.json && grep -q '"trace":"2-small.csv"' nodes.json ||
    fail "inputs of the same name: $(cat said.err nodes.json)"
mv one two
reproduces 0 "$same" nodes.json

# Another run: the fingerprint, the metrics that differ, and the arrivals.
sed 's/"fingerprint": "./"fingerprint": "x/' plain.json >tampered.json
reproduces 10 "$other" tampered.json
sed 's/"trace":"jobs.csv.zst"/"duration_scale":2,&/' plain.json >longer.json
reproduces 10 "$other" longer.json
grep -q '^metric .* in the bundle .* here$' said.out && grep -q '^queue_time_mean_s  *[0-9]' said.out ||
    fail "the metrics that differ: $(cat said.out)"
grep -q '^arrivals .*; in the bundle ' said.out || fail "the arrivals that differ: $(cat said.out)"

# A stranger's bundle.
sed 's/"trace":"jobs.csv.zst"/"trace":"four.json"/' plain.json >hostile.json
windtunnel reproduce hostile.json
[ "$status" -eq 3 ] || fail "a bundle opened a file: $status"
says said.err "^error: .*: the scenario of the bundle names 'four.json' (trace), which is none of its inputs$"
sed 's/"seed":7/"plugins":["mine.so"],"seed":7/' plain.json >hostile.json
windtunnel reproduce hostile.json
[ "$status" -eq 3 ] || fail "a bundle loaded a plug-in: $status"
says said.err "^error: .*: the scenario of the bundle names 'mine.so' (plugin), which is none of its inputs$"
sed 's/"role": "scenario", "name": "s.json"/"role": "plugin", "name": "mine.so", "text": "x"/' hostile.json \
    >program.json
windtunnel reproduce program.json
[ "$status" -eq 2 ] && grep -q "^error: .*: the bundle does not hold its plugin 'mine.so'" said.err ||
    fail "a program of a bundle: $status $(cat said.err)"
windtunnel reproduce rec/result.json
[ "$status" -eq 3 ] && grep -q '^error: rec/result.json:1:' said.err || fail "no bundle: $status $(cat said.err)"

# Records that cannot be run again from what they say.
windtunnel run small.json --out saved
windtunnel run saved --trust saved --fork-at 15 --out fork
refused_plainly 3 bundle fork <<'END'
error: the record fork cannot be bundled: it is a fork, which begins in another record
END
windtunnel run small.json --scheduler "$program decide --cluster four.json --policy fifo" --out outside
[ "$status" -eq 0 ] || fail "another program: $(cat said.err)"
refused_plainly 3 bundle outside --trust . <<'END'
error: the record outside cannot be bundled: another program decided in it, and its decisions are not recorded
  run it again with --events
END
sed 's/"is_partial": false/"is_partial": true/' saved/result.json >partial.json
mv partial.json saved/result.json
refused_plainly 3 bundle saved <<'END'
error: the record saved cannot be bundled: it is partial
END
# Decisions of another program that were recorded are made again, and tested as the program's were.
windtunnel run small.json --scheduler "$program decide --cluster four.json --policy easy" --events --out outside
windtunnel bundle outside --trust . --out outside.json
[ "$status" -eq 0 ] && grep -q '^inside: events.jsonl.zst (decisions), ' said.err || fail "decisions: $(cat said.err)"
mv small.csv away.csv
reproduces 0 "$same" outside.json
sed 's/\(\\"start\\":[0-9]*,\\"job\\":\)0/\17/' outside.json >hostile.json
cmp -s outside.json hostile.json && fail 'no decision was changed'
windtunnel reproduce hostile.json
[ "$status" -eq 3 ] || fail "a decision that cannot be: status $status: $(cat said.err said.out)"
sed 's/{\\"done\\":0}\\n"/"/' outside.json >short.json
cmp -s outside.json short.json && fail 'no answer was left out'
windtunnel reproduce short.json
[ "$status" -eq 3 ] && grep -q '^error: the recorded decisions end before the run does$' said.err ||
    fail "answers that are missing: status $status: $(cat said.err)"
mv away.csv small.csv

# All runs of a comparison and of a sweep, with what they read once.
reproduces_all() { # bundle, runs
    windtunnel reproduce "$1" --quiet
    [ "$status" -eq 0 ] && [ "$(tail -n 1 said.out)" = "$2 of $2 runs are the same." ] ||
        fail "$1: status $status: $(cat said.out said.err)"
}
echo '{"cluster": "four.json", "workload": {"trace": "small.csv", "shake": {"arrivals_s": 5}}}' >shaken.json
windtunnel compare --scenario shaken.json --policy fifo --policy easy --seeds 3 --quiet --out sides
[ "$status" -eq 0 ] || fail "compare: $(cat said.err)"
windtunnel bundle sides --trust sides --out two.json
[ "$status" -eq 0 ] && grep -q '^two.json: 6 runs, ' said.err || fail "a comparison: $(cat said.err)"
[ "$(grep -c '"name": "small.csv"' two.json)" -eq 1 ] || fail 'the trace does not stand in the bundle once'
! grep -q "$scratch" two.json || fail 'the bundle of a comparison holds a path'
[ "$(grep -c '"name":"easy"' two.json)" -eq 3 ] || fail 'a side has not its policy'
echo '{"scenario": "shaken.json", "seeds": 2,
       "factors": [{"name": "policy", "path": "policy.preset", "values": ["fifo", "easy"]}]}' >sweep.json
windtunnel sweep run sweep.json --out swept --quiet --no-bind
[ "$status" -eq 0 ] || fail "sweep: $(cat said.err)"
windtunnel bundle swept --out swept.json
[ "$status" -eq 2 ] && grep -q 'a record opens no file$' said.err || fail "a sweep without trust: $(cat said.err)"
windtunnel bundle swept --trust . --out swept.json
[ "$status" -eq 0 ] && grep -q '^swept.json: 4 runs, ' said.err || fail "a sweep: $(cat said.err)"
mv small.csv away.csv
reproduces_all two.json 6
reproduces_all swept.json 4
sed '0,/"fingerprint": "./s//"fingerprint": "x/' swept.json >tampered.json
reproduces 10 '3 of 4 runs are the same.' tampered.json
refused_plainly 2 reproduce swept.json --out again <<'END'
error: the bundle holds 4 runs, and '--out' takes the record of one
END
mv away.csv small.csv
rm -r sides/easy
windtunnel bundle sides --trust . --out two.json
[ "$status" -eq 4 ] || fail "a side without a record: status $status: $(cat said.err)"

refused_plainly 4 bundle none <<'END'
error: cannot open none/result.json: No such file or directory
END
finish
