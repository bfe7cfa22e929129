#!/bin/sh
# Every case of the repository passes; wrong cases fail with the right words and status; bad files are refused with a
# place.
set -u
. tests/support/cli.sh

# ---- All cases ----

for file in "$repository"/tests/cases/*.json; do
    windtunnel case "$file"
    if [ "$status" -ne 0 ] || ! tail -n 1 said.out | grep -qx '[1-9][0-9]* passed, 0 failed'; then
        fail "$(basename "$file"): status $status"
        grep -v '^ok ' said.out
        cat said.err
    fi
    is_silent said.err "case $(basename "$file")"
done

# The cases of the manual are cases too.
awk '/^```json/ { n++; name = "manual" n ".json"; next } /^```/ { name = "" } name != "" { print > name }' \
    "$repository/docs/cases.md"
windtunnel case manual1.json manual2.json
if [ "$status" -ne 0 ] || [ "$(tail -n 1 said.out)" != '2 passed, 0 failed' ]; then
    fail "the examples of docs/cases.md: status $status"
    cat said.out said.err
fi

# ---- Wrong expectations ----

# One GPU, a job that runs on it and one that waits; $1 is what is expected, $2 more members of the case.
write_case() {
    cat >one.json <<END
{"name": "one", "policy": {"preset": "fifo"},
 "nodes": [{"name": "node0", "gpus": 2}, {"name": "node1", "gpus": 1}],
 "jobs": [{"name": "runs", "tasks": [{"gpus": 1, "state": "running", "node": "node0", "count": 2}]},
          {"name": "starts", "tasks": [{"gpus": 1}]},
          {"name": "waits", "tasks": [{"gpus": 1}]}],
 "expect": {$1}${2:-}}
END
}

passes() { # expectation, more
    write_case "$@"
    windtunnel case one.json
    if [ "$status" -ne 0 ] || [ "$(cat said.out)" != 'ok one
1 passed, 0 failed' ]; then
        fail "$1: status $status"
        cat said.out said.err
    fi
}

differs() { # what differs, expectation, more
    words=$1
    shift
    write_case "$@"
    windtunnel case one.json
    if [ "$status" -ne 10 ] || [ "$(cat said.out)" != "not ok one: $words
0 passed, 1 failed" ]; then
        fail "$1: status $status, expected $words"
        cat said.out said.err
    fi
    is_silent said.err "$1"
}

passes '"runs": {"status": "running", "running": 2, "gpus": 2, "node": "node0", "gpu_index": [0, 1], "evicted": false,
                 "reserved": 0, "reason": "None"},
        "starts": {"status": "running", "node": ["node1"], "gpu_index": [[0]]},
        "waits": {"status": "pending", "reason": "Resources", "node": [], "gpu_index": []}'
differs 'runs: status running, expected pending' '"runs": {"status": "pending"}'
differs 'runs: running 2, expected 1' '"runs": {"running": 1}'
differs 'runs: gpus 2, expected 1.5' '"runs": {"gpus": 1.5}'
differs 'runs: node node0, expected node1' '"runs": {"node": "node1"}'
differs 'runs: node node0, expected node0 node1' '"runs": {"node": ["node0", "node1"]}'
differs 'waits: node none, expected node1' '"waits": {"node": "node1"}'
differs 'runs: gpu_index 0-1, expected 1' '"runs": {"gpu_index": 1}'
differs 'runs: evicted 0, expected 1' '"runs": {"evicted": 1}'
differs 'runs: evicted false, expected true' '"runs": {"evicted": true}'
differs 'waits: reserved false, expected true' '"waits": {"reserved": true}'
differs 'waits: reason Resources, expected QuotaLimit' '"waits": {"reason": "QuotaLimit"}'
differs 'runs: running 2, expected 0; starts: status running, expected pending, gpus 1, expected 0' \
    '"starts": {"status": "pending", "gpus": 0}, "runs": {"running": 0}'
passes '"waits": {"status": "pending"}' ', "rounds": 3, "stable_rounds": 3'

# True after the first round and not in those that follow: what leaves makes room.
cat >stable.json <<'END'
[{"name": "once", "nodes": [{"name": "node0", "gpus": 1}], "stable_rounds": 4,
  "jobs": [{"name": "leaves", "tasks": [{"gpus": 1, "state": "releasing", "node": "node0"}]},
           {"name": "waits", "tasks": [{"gpus": 1}]}],
  "expect": {"waits": {"status": "pending"}}},
 {"name": "fine", "nodes": [{"name": "node0", "gpus": 1}], "rounds": 2, "stable_rounds": 4,
  "jobs": [{"name": "leaves", "tasks": [{"gpus": 1, "state": "releasing", "node": "node0"}]},
           {"name": "waits", "tasks": [{"gpus": 1}]}],
  "expect": {"waits": {"status": "running"}}}]
END
windtunnel case stable.json
if [ "$status" -ne 10 ] ||
    [ "$(cat said.out)" != 'not ok once: waits: status running, expected pending (in stable round 1)
ok fine
1 passed, 1 failed' ]; then
    fail "stable rounds: status $status"
    cat said.out said.err
fi

# What happened is told on standard error, round by round; standard output stays as it is.
windtunnel case --verbose one.json
grep -q '^  round 1$' said.err || fail '--verbose tells no rounds'
grep -q '^    start    starts: 1 on node1 0$' said.err || fail '--verbose tells no decisions'
[ "$(cat said.out)" = 'ok one
1 passed, 0 failed' ] || fail '--verbose changes standard output'

# ---- Bad files ----

refused_plainly 4 case nowhere.json <<'END'
error: cannot open nowhere.json: No such file or directory
END
# The first case of the file $1 cannot be run: the line says it, standard error shows it; $2 is the line, stdin the
# report.
is_bad() {
    cat >expected.err
    windtunnel case "$1"
    if [ "$status" -ne 10 ] || [ "$(cat said.out)" != "not ok $2
0 passed, 1 failed" ]; then
        fail "a bad case in $1: status $status"
        cat said.out
    fi
    diff -u expected.err said.err || fail "a bad case in $1: another report"
}
write_case '"runs": {"status": "running"}' ', "roundz": 2'
is_bad one.json "one: one.json:6:45: unknown key 'roundz'; did you mean 'rounds'?" <<'END'
error: one.json:6:45: unknown key 'roundz'
 6 |  "expect": {"runs": {"status": "running"}}, "roundz": 2}
   |                                             ^~~~~~~~
  at /roundz; did you mean 'rounds'?
END
cat >bad.json <<'END'
[{"name": "one", "nodes": [{"name": "node0", "gpus": 1}], "jobs": [
{"name": "a", "tasks": [{"gpus": 1, "state": "running", "node": "node0", "gpu_index": 0}]},
{"name": "b", "tasks": [{"gpus": 1, "state": "running", "node": "node0", "gpu_index": 0}]}],
"expect": {"a": {"status": "running"}}}]
END
is_bad bad.json "one: bad.json:3:25: GPU 0 of 'node0' is taken by 'a' already" <<'END'
error: bad.json:3:25: GPU 0 of 'node0' is taken by 'a' already
 3 | {"name": "b", "tasks": [{"gpus": 1, "state": "running", "node": "node0", "gpu_index": 0}]}],
   |                         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  at /0/jobs/1/tasks/0
END
cat >bad.json <<'END'
{"name": "one", "nodes": [{"name": "node0", "gpus": 1}], "policy": {"preset": "fifoo"},
"jobs": [{"name": "a", "tasks": [{"gpus": 1, "state": "running", "node": "nod0"}]}],
"expect": {"a": {"status": "running"}}}
END
is_bad bad.json "one: bad.json:1:79: there is no policy preset 'fifoo'; did you mean 'fifo'? \
\`windtunnel policy list\` lists them" <<'END'
error: bad.json:1:79: there is no policy preset 'fifoo'
 1 | {"name": "one", "nodes": [{"name": "node0", "gpus": 1}], "policy": {"preset": "fifoo"},
   |                                                                               ^~~~~~~
  at /policy/preset; did you mean 'fifo'? `windtunnel policy list` lists them
END
sed 's/fifoo/fifo/' bad.json >worse.json
is_bad worse.json "one: worse.json:2:74: there is no node 'nod0'; did you mean 'node0'?" <<'END'
error: worse.json:2:74: there is no node 'nod0'
 2 | "jobs": [{"name": "a", "tasks": [{"gpus": 1, "state": "running", "node": "nod0"}]}],
   |                                                                          ^~~~~~
  at /jobs/0/tasks/0/node; did you mean 'node0'?
END
cat >mig.json <<'END'
{"name": "one", "nodes": [{"name": "node0", "gpus": 1, "gpu_model": "h100-80gb"}],
"jobs": [{"name": "a", "tasks": [{"mig": "1g.10gb", "state": "running", "node": "node0"}]}],
"expect": {"a": {"status": "running"}}}
END
is_bad mig.json "one: mig.json:2:34: 'node0' has no free MIG instance for this task; \
'gpus_layout' of the node says what there is" <<'END'
error: mig.json:2:34: 'node0' has no free MIG instance for this task
 2 | "jobs": [{"name": "a", "tasks": [{"mig": "1g.10gb", "state": "running", "node": "node0"}]}],
   |                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  at /jobs/0/tasks/0; 'gpus_layout' of the node says what there is
END

# A bad case fails alone, those before and after it are run; one without a name has its number.
cat >mixed.json <<'END'
[{"name": "good", "nodes": [{"name": "n", "gpus": 1}], "jobs": [{"name": "a", "tasks": [{"gpus": 1}]}],
  "expect": {"a": {"status": "running"}}},
 {"name": "bad", "nodes": [{"name": "n", "gpus": 17}], "jobs": [{"name": "a", "tasks": [{"gpus": 1}]}],
  "expect": {"a": {"status": "running"}}},
 {"nodes": []},
 7,
 {"name": "good too", "nodes": [{"name": "n", "gpus": 1}], "jobs": [{"name": "a", "tasks": [{"gpus": 2}]}],
  "expect": {"a": {"status": "pending"}}}]
END
windtunnel case mixed.json stable.json
if [ "$status" -ne 10 ] || [ "$(sed 's/: mixed.json:\([0-9]*:[0-9]*\): .*/ \1/' said.out)" != 'ok good
not ok bad 3:50
not ok case 3 5:2
not ok case 4 6:2
ok good too
not ok once: waits: status running, expected pending (in stable round 1)
ok fine
3 passed, 4 failed' ]; then
    fail "bad cases among good ones: status $status"
    cat said.out said.err
fi

# What is no file of cases fails as a whole; a good file before it: nothing runs.
echo '[{"name": "one"' >broken.json
refused_plainly 3 case stable.json broken.json <<'END'
error: broken.json:1:16: the text ends before the '}' that closes the '{' of line 1
 1 | [{"name": "one"
   |                ^
  at /0
END
echo '[]' >broken.json
refused_plainly 3 case broken.json <<'END'
error: broken.json:1:1: there is no case in this file
 1 | []
   | ^~
  at the root
END

# ---- A policy that can never start a job ----

cat >never.json <<'END'
{ "name": "actions: without allocate nothing starts by itself",
  "policy": {"order": ["priority", "fifo"], "blocking": "skip", "preemption": {"policy": "kill", "min_runtime_s": 0}, "actions": ["preempt"]},
  "nodes":  [{"name": "node0", "gpus": 1}],
  "jobs":   [{"name": "a", "tasks": [{"gpus": 1}]}],
  "rounds": 3,
  "expect": {"a": {"status": "pending"}} }
END
windtunnel case never.json
[ "$status" -eq 0 ] || fail "without allocate: status $status"
cat >expected.err <<'END'
warning: never.json:2:130: 'actions' lacks 'allocate': no job could ever start
END
head -n 1 said.err | diff -u expected.err - || fail 'without allocate: another warning'
sed -e 's/"order".*"actions"/"preset": "kai", "set": {"actions"/' -e 's/"preempt"\]/&}/' never.json >set.json
windtunnel case set.json
[ "$status" -eq 0 ] || fail "without allocate in a set: status $status: $(cat said.out)"
grep -q "^warning: set.json:2:.*'actions' lacks 'allocate'" said.err ||
    fail "a preset without allocate: $(cat said.err)"
sed 's/"policy": {"preset": "fifo"}/"policy": {"order": ["fifo"],\n   "actions": []}/' small.json >idle.json
refused 2 run idle.json <<'END'
error: idle.json:5:15: 'actions' lacks 'allocate': no job could ever start
 5 |    "actions": []}
   |               ^~
  at /policy/actions; put "allocate" before the other actions
END
windtunnel validate small.json --set 'policy.actions=["preempt"]'
if [ "$status" -ne 2 ] || ! grep -q "^error: .*'actions' lacks 'allocate'" said.err; then
    fail "validate without allocate: status $status: $(cat said.err)"
fi

# ---- What is reserved ----

# Two nodes are being freed for a gang: both are told.
cat >reserved.json <<'END'
{ "name": "a reservation names all its nodes", "policy": {"preset": "priority", "set": {"preemption": {"policy": "kill", "min_runtime_s": 0}}},
  "nodes":  [{"name": "n0", "gpus": 1}, {"name": "n1", "gpus": 1}],
  "jobs":   [{"name": "low0", "priority": 10, "tasks": [{"gpus": 1, "state": "running", "node": "n0"}]},
             {"name": "low1", "priority": 10, "tasks": [{"gpus": 1, "state": "running", "node": "n1"}]},
             {"name": "gang", "priority": 90, "tasks": [{"gpus": 1, "count": 2}]}],
  "expect": {"gang": {"status": "pending", "reserved": 2, "node": ["n0", "n1"], "gpu_index": [[0], [0]]}} }
END
windtunnel case -v reserved.json
[ "$status" -eq 0 ] || fail "a reservation on two nodes: $(cat said.out)"
grep -q '^    gang  *pending .*to start on n0:0 n1:0, 2 reserved' said.err || fail "what is reserved: $(cat said.err)"

# Policies from a file count from the folder of the case.
mkdir -p deep/down
cat >deep/down/mine.json <<'END'
{"name": "mine", "order": ["priority"], "blocking": "skip"}
END
cat >deep/case.json <<'END'
{"name": "by file", "policy": {"file": "down/mine.json", "set": {"placement": "first_fit"}},
 "nodes": [{"name": "node0", "gpus": 1}],
 "jobs": [{"name": "low", "tasks": [{"gpus": 1}]}, {"name": "high", "priority": 60, "tasks": [{"gpus": 1}]}],
 "expect": {"high": {"status": "running"}, "low": {"status": "pending"}}}
END
windtunnel case deep/case.json
[ "$status" -eq 0 ] || fail "a policy from a file: $(cat said.out said.err)"

windtunnel case
[ "$status" -eq 2 ] || fail 'case without a file is refused'
windtunnel case --help
[ "$status" -eq 0 ] && grep -q 'FILE\.\.\.' said.out || fail 'case --help'

finish
