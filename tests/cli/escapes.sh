#!/bin/sh
# Names from traces, scenarios, clusters and policies reach no terminal with characters that control it.
set -u
. tests/support/cli.sh

escape=$(printf '\033')
c1=$(printf '\302\233')

cat >evil.json <<'END'
{
  "title": "title\u001b[2J\u009b31m",
  "cluster": "evil-cluster.json",
  "queues": [{"name": "q\u001b[5m", "quota_gpus": 1}],
  "workload": {"trace": "evil.jsonl"},
  "policy": {"preset": "kai"}
}
END
cat >evil-cluster.json <<'END'
{"name": "c\u001b[0;pwned\u0007", "levels": ["rack", "node"],
 "pools": [{"name": "p\u001b[1m", "node_name": "n\u001b[31m%u", "nodes": 2, "gpus_per_node": 4, "gpu_model": "h100-80gb",
   "labels": {"rack": "r\u001b[7m"}}]}
END
cat >evil.jsonl <<'END'
{"job_id": "a\u001b[31m", "submit_s": 0, "duration_s": 600, "gpus": 8, "queue": "q\u001b[5m", "user": "u\u009b1m"}
{"job_id": "b\u001b[31m", "submit_s": 1, "duration_s": 60, "gpus": 8, "queue": "q\u001b[5m", "user": "v\u007f\rw"}
{"job_id": "c\u001b[31m", "submit_s": 1, "duration_s": 60, "gpus": 64, "queue": "q\u001b[5m", "user": "v\u007f\rw"}
END

clean() { # arguments of the command
    "$program" "$@" >out 2>err
    status=$?
    for stream in out err; do
        if grep -q "$escape\|$c1" "$stream" || tr -d '\n\t -\176\200-\377' <"$stream" | grep -q .; then
            fail "$*: a control character in std$stream (status $status)"
            cat -v "$stream" | head -5
        fi
    done
}
# Without names in it the check above would be idle.
named() { # arguments of the command
    clean "$@"
    grep -q -e '?\[' -e '␛\[' out err || {
        fail "$*: its names are not shown (status $status)"
        head -5 err
    }
}

named validate evil.json
clean run evil.json
named run evil.json --out record
named run evil.json --check
clean report record
clean explain evil.json --at 100s
named explain evil.json "$(printf 'b\033[31m')" --at 100s

named topology show evil-cluster.json
clean trace info evil.jsonl
clean compare evil.json --side kubernetes=policy=kubernetes
clean run "$(printf 'no\033[31mwhere.json')"
clean "$(printf 'no\033[31mverb')"
clean run evil.json --set "$(printf 'po\033[31mlicy=1')"
finish
