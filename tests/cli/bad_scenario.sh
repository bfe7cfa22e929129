#!/bin/sh
# Bad scenarios, clusters, policies and command lines end with status 2 (4 for files that cannot be read) and a message
# that says where and what to do; no record.
set -u
. tests/support/cli.sh
formats="'native', 'batsim', 'jsonl', 'philly', 'openb', 'swf', 'helios', 'kalos', 'seren', 'pai', 'spot'"
formats="$formats, 'muri', 'chronus', 'sacct', 'philly-log', 'azure-llm', 'burstgpt', 'mooncake'"
formats="$formats, 'gavel', 'pollux', 'borg', 'columns'"

# ---- Files ----

refused 4 run nowhere.json <<'END'
error: cannot open nowhere.json: No such file or directory
END
refused 4 run . <<'END'
error: cannot read .: Is a directory
END
refused 4 run small.json --cluster nowhere.json <<'END'
error: cannot open nowhere.json: No such file or directory
END
refused 4 run small.json --policy ./nowhere.json <<'END'
error: cannot open ./nowhere.json: No such file or directory
END

# ---- Texts ----

scenario() { # text
    printf '%s\n' "$1" >bad.json
}
# Everything a scenario needs, on one line, and one more member.
with() { # member
    scenario '{"cluster": "four.json", "workload": {"trace": "small.csv"},
 '"$1"'}'
}

: >bad.json
refused 2 run bad.json <<'END'
error: bad.json:1:1: there is no JSON here: the text is empty
 1 | 
   | ^
  at the root
END
scenario '[]'
refused 2 run bad.json <<'END'
error: bad.json:1:1: the document must be an object, got an array
 1 | []
   | ^~
  at the root
END
scenario '"four"'
refused 2 run bad.json <<'END'
error: bad.json:1:1: the document must be an object, got "four"
 1 | "four"
   | ^~~~~~
  at the root
END
scenario '{"cluster": "four.json",}'
refused 2 run bad.json <<'END'
error: bad.json:1:24: a comma before '}'
 1 | {"cluster": "four.json",}
   |                        ^
  at the root; remove the comma
END
with '"seed": 1, "seed": 2'
refused 2 run bad.json <<'END'
error: bad.json:2:13: the key "seed" stands twice in this object
 2 |  "seed": 1, "seed": 2}
   |             ^~~~~~
  at /seed; keep one of them
END
with '"polcy": {"preset": "fifo"}'
refused 2 run bad.json <<'END'
error: bad.json:2:2: unknown key 'polcy'
 2 |  "polcy": {"preset": "fifo"}}
   |  ^~~~~~~
  at /polcy; did you mean 'policy'?
END
with '"world": {"warmup": NaN}'
refused 2 run bad.json <<'END'
error: bad.json:2:22: 'NaN' is no number that JSON knows
 2 |  "world": {"warmup": NaN}}
   |                      ^~~
  at /world/warmup; leave the key out, or write null
END
with '"world": {"warmup": 1e400}'
refused 2 run bad.json <<'END'
error: bad.json:2:22: '1e400' is too large a number
 2 |  "world": {"warmup": 1e400}}
   |                      ^~~~~
  at /world/warmup
END
with '"world": {"end": -3}'
refused 2 run bad.json <<'END'
error: bad.json:2:19: 'end' must be a duration such as 90, "15m" or "14d", got -3
 2 |  "world": {"end": -3}}
   |                   ^~
  at /world/end
END
with '"world": {"warmup": "5d", "end": "1d"}'
refused 2 run bad.json <<'END'
error: bad.json:2:22: 'warmup' must end before 'end'
 2 |  "world": {"warmup": "5d", "end": "1d"}}
   |                      ^~~~
  at /world/warmup
END
printf '{"cluster": "four.json", "name": "\377"}' >bad.json
refused 2 run bad.json <<'END'
error: bad.json:1:35: byte 0xff is not UTF-8
 1 | {"cluster": "four.json", "name": "?"}
   |                                   ^
  at /name
END
scenario '{"cluster": {"name": "x", "pools": [{"name": "h100", "nodes": 1, "gpu_model": "h100-80gb",
  "gpus_per_node": "8"}]}, "workload": {"trace": "small.csv"}}'
refused 2 run bad.json <<'END'
error: bad.json:2:20: 'gpus_per_node' must be an integer from 0 to 16, got "8"
 2 |   "gpus_per_node": "8"}]}, "workload": {"trace": "small.csv"}}
   |                    ^~~
  at /cluster/pools/0/gpus_per_node; remove the quotes
END
scenario '{"cluster": "four.json"}'
refused 2 run bad.json <<'END'
error: bad.json:1:1: the scenario has no 'workload': name a trace with --trace or give the scenario a workload
 1 | {"cluster": "four.json"}
   | ^~~~~~~~~~~~~~~~~~~~~~~~
  at the root
END
for member in cluster workload; do
    refused 2 run small.json --set $member=3 <<END
error: --set $member: '$member' must be an object, got 3
  at /$member
END
done

# ---- Policies ----

with '"policy": {"preset": "fifu"}'
refused 2 run bad.json <<'END'
error: bad.json:2:23: there is no policy preset 'fifu'
 2 |  "policy": {"preset": "fifu"}}
   |                       ^~~~~~
  at /policy/preset; did you mean 'fifo'? `windtunnel policy list` lists them
END
with '"policy": {"preset": 3}'
refused 2 run bad.json <<'END'
error: bad.json:2:23: 'preset' must be a string, got 3
 2 |  "policy": {"preset": 3}}
   |                       ^
  at /policy/preset; put it in quotes
END
with '"policy": {"preset": "fifo", "set": 3}'
refused 2 run bad.json <<'END'
error: bad.json:2:38: 'set' must be an object, got 3
 2 |  "policy": {"preset": "fifo", "set": 3}}
   |                                      ^
  at /policy/set
END
with '"policy": {"preset": "fifo", "file": "x.json"}'
refused 2 run bad.json <<'END'
error: bad.json:2:12: 'policy' names both a preset and a file
 2 |  "policy": {"preset": "fifo", "file": "x.json"}}
   |            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  at /policy
END
printf '{"name": "mine", "blocking": "perhaps"}' >mine.json
refused 2 run small.json --policy ./mine.json <<'END'
error: ./mine.json:1:30: 'blocking' must be one of 'skip', 'strict'; got "perhaps"
 1 | {"name": "mine", "blocking": "perhaps"}
   |                              ^~~~~~~~~
  at /policy/blocking
END

# ---- --set ----

refused 2 run small.json --set seed <<'END'
error: --set seed: the value is missing
  write PATH=VALUE
END
refused 2 run small.json --set =3 <<'END'
error: --set : the path has an empty step
END
refused 2 run small.json --set cluster..nodes=3 <<'END'
error: --set cluster..nodes: the path has an empty step
END
refused 2 run small.json --set cluster.pools.h200.nodes=3 <<'END'
error: --set cluster.pools.h200.nodes: the array has no element 'h200'
  did you mean 'h100'?
END
refused 2 run small.json --set 'cluster.pools.h100.nodes="3"' <<'END'
error: --set cluster.pools.h100.nodes: 'nodes' must be an integer from 0 to 1000000, got "3"
  at /cluster/pools/0/nodes; remove the quotes
END
refused 2 run small.json --set seed.high=3 --set seed=1 --set seed.low=4 <<'END'
error: --set seed.low: 'low' would stand inside 1, which is no object or array
END
refused 2 run small.json --set wrld.end=3 <<'END'
error: --set wrld.end: unknown key 'wrld'
  at /wrld; did you mean 'world'?
END
refused 2 run small.json --set policy.set.order=3 <<'END'
error: --set policy.set.order: unknown key 'set'
  at /policy/set; known here: 'name', 'summary', 'order', 'order_config', 'blocking', 'inference_first', 'quota', 'estimate', 'backfill', 'gang', 'placement', 'placement_firm', 'gpu_choice', 'warm_weight', 'topology', 'placement_weights', ...
END
refused 2 run small.json --set workload.load=NaN <<'END'
error: --set workload.load: 'load' must be a number from 0 to 1000, got "NaN"
  at /workload/load
END
refused 2 run small.json --format csv <<END
error: --set workload.format: 'format' must be one of $formats; got "csv"
  at /workload/format
END

# ---- The command line ----

refused 2 run small.json --sett seed=1 <<'END'
error: unknown option '--sett'
  did you mean '--set'?
END
refused 2 run <<'END'
error: there is nothing to run: name a scenario, or a trace with --trace
END
refused_plainly 2 run small.json --out '' <<'END'
error: '--out' must name a folder, got an empty name
END
refused_plainly 2 ru small.json <<'END'
error: there is no command 'ru'
  did you mean 'run'?
END
refused_plainly 2 report <<'END'
error: 'report' needs an operand
  usage: report DIR [OPTION]...
END
refused_plainly 2 policy show fifu <<'END'
error: there is no policy preset 'fifu'
  `windtunnel policy list` lists them
END
windtunnel
is_silent said.out 'no command'
if [ "$status" -ne 2 ] || ! grep -q '^usage: ' said.err; then
    fail "no command: status $status, or no usage"
fi

# ---- What jobs exchange ----

scenario '{"cluster": "four.json", "workload": {"trace": "small.csv", "format": "native", "communication": [
 {"plan": {"tp": 3, "layers": 2, "hidden": 768, "heads": 6, "sequence": 8, "vocabulary": 9, "batch": 6}}]}}'
refused 2 run bad.json <<'END'
error: bad.json:2:11: the plan does not fit the job 1: 8 GPUs are not a multiple of tp x pp = 3 x 1
  limit row 0 of 'communication' by 'gpus_min', 'gpus_max', 'class', 'workload_class' or 'user', or put a row for such jobs before it
END

# ---- A check of what the policy cannot keep ----

refused 2 run small.json --check --set policy.gang.policy=hoard <<'END'
error: policy 'fifo' guarantees "gang", but its gang policy 'hoard' starts jobs below their minimum
  leave "gang" out of policy.guarantees, or set policy.gang.policy to 'all_or_nothing'
END
windtunnel run small.json --check --set policy.gang.policy=hoard --set 'policy.guarantees=[]'
[ "$status" -eq 0 ] || fail "--check of a policy that guarantees nothing: status $status"
windtunnel run small.json --set policy.gang.policy=hoard
[ "$status" -eq 0 ] || fail "without --check the same policy runs: status $status"

# ---- validate says the same as run ----

for scenario in '{"cluster": "four.json"}' '[' '{"cluster": "four.json", "workload": {"trace": "nowhere.csv"}}'; do
    printf '%s\n' "$scenario" >bad.json
    windtunnel run bad.json
    of_run=$status
    mv said.err said.run
    windtunnel validate bad.json
    if [ "$status" -ne "$of_run" ] || ! diff said.run said.err; then
        fail "validate says another thing of $scenario than run"
    fi
done
finish
