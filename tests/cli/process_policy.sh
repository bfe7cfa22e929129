#!/bin/sh
# A scheduler in a process: the example decides a run, and each way in which a program can go wrong is a clear error
# that leaves no files.
set -u
. tests/support/cli.sh

fifo="python3 $repository/docs/examples/process/fifo.py"
[ "$(wc -l <"$repository/docs/examples/process/fifo.py")" -le 195 ] || fail 'the example is longer than its README says'

fingerprint() { # record folder
    sed -n 's/^ *"fingerprint": "\([0-9a-f]*\)",$/\1/p' "$1/result.json"
}

# ---- The example ----

cat >whole.json <<'END'
{"cluster": {"pools": [{"nodes": 4, "gpus_per_node": 8, "cpus": 64}, {"name": "cpu", "nodes": 1, "gpus_per_node": 0}]},
 "workload": {"synth": {"jobs": 400, "load_whole_gpu": 1.1, "classes": [
   {"name": "t", "class": "training", "share": 1, "arrivals": {"process": "poisson"},
    "sizes": [{"weight": 3, "gpus": 1, "cpus": 7.5}, {"weight": 2, "gpus": 8, "nodes": 1}, {"weight": 1, "gpus": 16, "nodes": 2}],
    "run_time": {"distribution": "exponential", "mean": "1h"}}]}},
 "policy": {"preset": "fifo", "set": {"placement": "first_fit"}}}
END
"$program" run whole.json --out library --quiet >/dev/null || fail 'whole.json does not run'
windtunnel run whole.json --out process --events --check --scheduler "$fifo"
[ "$status" -eq 0 ] || fail "the example: status $status: $(cat said.err)"
# Strict FIFO and first fit, as the preset and its placement: whoever starts does so when and where he does there.
[ "$(fingerprint library)" = "$(fingerprint process)" ] || fail 'the example decides otherwise than the preset fifo'
[ "$(zstd -dc process/events.jsonl.zst | grep -c '^{"start"')" -eq 400 ] || fail 'the example did not start all jobs'
awk -v jobs=300 -f "$repository/tests/support/busy.awk" >busy.jsonl
sed 's/"topology":{[^}]*},//; s/,"topology":{[^}]*}//g' busy.jsonl >flat.jsonl
cat >busy.json <<'END'
{"cluster": {"pools": [{"nodes": 3, "gpus_per_node": 8, "cpus": 64, "memory_gb": 512},
   {"name": "cut", "nodes": 1, "gpus_per_node": 4, "gpu_model": "h100-80gb", "max_tasks": 2, "gpus_layout": [["3g.40gb"]]}]},
 "workload": {"trace": "flat.jsonl", "format": "jsonl"}}
END
windtunnel run busy.json --check --scheduler "$fifo" --out process --events
[ "$status" -eq 0 ] || fail "the example, dependencies and arrays: status $status: $(cat said.err)"
[ "$(zstd -dc process/events.jsonl.zst | grep -c '^{"start"')" -gt 150 ] || fail 'the example started hardly anything'
grep -q 'policy python3' said.out || fail 'the table does not say who decided'

# ---- Programs that go wrong ----

# A scheduler whose answer to the Nth cycle is what stands in the file answer.
cat >bad.sh <<'END'
read -r header
cycle=0
while read -r line; do
    case $line in
    *'"cycle"'*)
        cycle=$((cycle + 1))
        if [ "$cycle" -eq "${1:-1}" ]; then cat answer; else echo '{"done":0}'; fi
        ;;
    esac
done
END

wrong() { # the message is on stdin; arguments of bad.sh
    cat >reason
    refused 3 run small.json --scheduler "sh bad.sh${1:+ $1}" <reason
}

cat >answer <<'END'
{"start":1,"job":5,"pieces":[{"node":"n0","gpus":"0"}]}
{"done":1}
END
wrong <<'END'
error: sh bad.sh:1:1: there is no job 5
 1 | {"start":1,"job":5,"pieces":[{"node":"n0","gpus":"0"}]}
   | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
cat >answer <<'END'
{"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-7","members":8}]}
{"start":2,"job":0,"pieces":[{"node":"n1","gpus":"0-7","members":8}]}
{"done":2}
END
wrong <<'END'
error: sh bad.sh:2:1: job 0: it was started already, with all its members
 2 | {"start":2,"job":0,"pieces":[{"node":"n1","gpus":"0-7","members":8}]}
   | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
cat >answer <<'END'
{"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-7","members":8}]}
{"start":2,"job":1,"pieces":[{"node":"n0","gpus":"7"}]}
{"done":2}
END
wrong 2 <<'END'
error: sh bad.sh 2:3:1: job 1: GPU 7 of node n0 is not free
 3 | {"start":2,"job":1,"pieces":[{"node":"n0","gpus":"7"}]}
   | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
cat >answer <<'END'
{"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-3"}]}
{"done":1}
END
wrong <<'END'
error: sh bad.sh:1:1: job 0: 1 member of group 0 on node n0 needs 1 GPUs, the piece names 4
 1 | {"start":1,"job":0,"pieces":[{"node":"n0","gpus":"0-3"}]}
   | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
END
echo '{"evict":1,"job":0}' >answer
wrong <<'END'
error: sh bad.sh:1:1: job 0: it does not run
 1 | {"evict":1,"job":0}
   | ^~~~~~~~~~~~~~~~~~~
END
echo 'start job 0 on n0' >answer
windtunnel run small.json --scheduler 'sh bad.sh' --out new
[ "$status" -eq 3 ] && grep -q '^error: sh bad.sh:1:1: ' said.err || fail "no JSON: status $status: $(cat said.err)"
[ -z "$(find new -type f)" ] || fail 'no JSON: files were left'
echo '{"cycle":1}' >answer
windtunnel run small.json --scheduler 'sh bad.sh'
[ "$status" -eq 3 ] && grep -q 'such a line has no place here' said.err || fail "a fact as an answer: $(cat said.err)"
echo '{"done":1}' >answer
wrong <<'END'
error: sh bad.sh:1:1: 'done' must count the decisions before it
 1 | {"done":1}
   | ^~~~~~~~~~
END
echo '{"done":0,"wake_at":0}' >answer
wrong <<'END'
error: sh bad.sh:1:1: 'wake_at' must be later than the cycle
 1 | {"done":0,"wake_at":0}
   | ^~~~~~~~~~~~~~~~~~~~~~
END
refused 3 run small.json --scheduler 'read -r header; exit 7' <<'END'
error: the scheduler 'read -r header; exit 7' ended with status 7 before it had answered
  docs/decide.md says how a program decides
END
refused 3 run small.json --scheduler 'kill -9 $$' <<'END'
error: the scheduler 'kill -9 $$' was ended by signal 9 (Killed) before it had answered
  docs/decide.md says how a program decides
END
refused 3 run small.json --scheduler-timeout 1 --scheduler 'sleep 1000 & sleep 1000' <<'END'
error: the scheduler 'sleep 1000 & sleep 1000' gave no answer to a cycle within 1 s of real time
  docs/decide.md says how a program decides
END
windtunnel run small.json --scheduler './no-such-program' --out new
[ "$status" -eq 3 ] && grep -q "no-such-program' ended with status 127" said.err || fail "no program: $(cat said.err)"
refused 2 run small.json --scheduler cat --scheduler-timeout 0 <<'END'
error: option '--scheduler-timeout' must be an integer from 1 to 1000000, got '0'
END

# Nothing of it lives on: the whole process group is killed.
echo 987654.25 >marker
is_over() { # a killed process takes a moment to go
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        lives_on || return 0
        sleep 1
    done
    return 1
}
lives_on() { # is there a process with the marker among its arguments?
    grep -lFf marker /proc/[0-9]*/cmdline 2>/dev/null | grep -q .
}
sleep "$(cat marker)" &
for _ in 1 2 3 4 5; do
    lives_on && break
    sleep 1
done
lives_on || fail 'a program that lives is not seen'
kill $!
wait $! 2>/dev/null
"$program" run small.json --scheduler-timeout 1 --scheduler 'sleep $(cat marker) & sleep $(cat marker)' >/dev/null 2>&1
is_over || fail 'a program lives on after the run'
# One that does not end when its input does, does not hold up the run for long either.
"$program" run small.json --scheduler "$fifo; sleep \$(cat marker)" >/dev/null 2>said.err ||
    fail "a slow end: $(cat said.err)"
is_over || fail 'a program lives on after a good run'
finish
