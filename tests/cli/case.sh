#!/bin/sh
# Every case of the repository passes; wrong cases fail with the right words and status; bad files are refused with a place.
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
if [ "$status" -ne 10 ] || [ "$(cat said.out)" != 'not ok once: waits: status running, expected pending (in stable round 1)
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
write_case '"runs": {"status": "running"}' ', "roundz": 2'
refused_plainly 2 case one.json <<'END'
error: one.json:6:45: unknown key 'roundz'
 6 |  "expect": {"runs": {"status": "running"}}, "roundz": 2}
   |                                             ^~~~~~~~
  at /roundz; did you mean 'rounds'?
END
# A good file before a bad one: nothing runs.
refused_plainly 2 case stable.json one.json <<'END'
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
refused_plainly 2 case bad.json <<'END'
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
refused_plainly 2 case bad.json <<'END'
error: bad.json:1:79: there is no policy preset 'fifoo'
 1 | {"name": "one", "nodes": [{"name": "node0", "gpus": 1}], "policy": {"preset": "fifoo"},
   |                                                                               ^~~~~~~
  at /policy/preset; did you mean 'fifo'? `windtunnel policy list` lists them
END
sed 's/fifoo/fifo/' bad.json >worse.json
refused_plainly 2 case worse.json <<'END'
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
refused_plainly 2 case mig.json <<'END'
error: mig.json:2:34: 'node0' has no free MIG instance for this task
 2 | "jobs": [{"name": "a", "tasks": [{"mig": "1g.10gb", "state": "running", "node": "node0"}]}],
   |                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  at /jobs/0/tasks/0; 'gpus_layout' of the node says what there is
END

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
