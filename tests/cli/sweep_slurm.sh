#!/bin/bash
# A sweep on a real Slurm of two nodes on this machine: the array runs, slurmctld and both slurmd are killed with
# SIGKILL midway and started again, a task is requeued, and the merged results are those of the serial run, byte for
# byte.  All daemons are this test's own: their files, keys and pid files lie in its folder.
set -u
. tests/support/cli.sh
seconds_max=1200 # serial runs of a build that is watched, on a machine that does other things too
. "$repository/tests/support/sweep.sh"
. "$repository/tests/support/slurm.sh"
runs=96
wait_s=900 # far more than the array takes, of a build that is watched too

recorded() {
    "$program" sweep merge array 2>/dev/null | awk -F, '$3 == "done"' | wc -l
}

# ---- The serial run. ----

cat >sweep.json <<'END'
{"scenario": "mix.json",
 "set": {"workload.synth.duration": "30d", "world.end": "30d"},
 "factors": [
   {"name": "policy", "path": "policy.preset", "values": ["fifo", "windtunnel", "kai"]},
   {"name": "load", "path": "workload.synth.load_whole_gpu", "values": [0.6, 0.7, 0.8, 0.9]}],
 "seeds": 8}
END
make_serial

# ---- The array. ----

slurm_config
start_daemons -c
wait_for_nodes
new_plan array
sweep 0 submit array --slurm --tasks 8
says said.out '^Submitted batch job [0-9]*$'
job=$(sed -n 's/^Submitted batch job //p' said.out)
wait_for_records() { # count
    for _ in $(seq 600); do
        [ "$(recorded)" -ge "$1" ] && return 0
        sleep 0.05
    done
}
wait_for_records 3
if scontrol requeue "${job}_1"; then # Slurm kills it, and starts it again later
    for _ in $(seq 100); do
        [ "$(squeue -h -j "${job}_1" -o %T)" = PENDING ] && break
        sleep 0.1
    done
    echo "note: task 1 was requeued"
else
    fail "task 1 was not there to be requeued: $(squeue)"
fi
wait_for_records 10
for daemon in slurmctld slurmd-n1 slurmd-n2; do signal_daemon KILL $daemon; done
midway=$(recorded)
if [ "$midway" -ge 10 ] && [ "$midway" -lt $runs ]; then
    echo "note: daemons killed after $midway of $runs runs"
else
    fail "the daemons were killed after $midway of $runs runs, not midway"
fi
sleep 1
start_daemons
wait_for_nodes
for _ in $(seq $wait_s); do
    [ -z "$(squeue -h)" ] && break
    sleep 1
done
[ -z "$(squeue -h)" ] || fail "the array does not end: $(squeue) $(tail -n 5 "$slurm"/log/*)"
sweep 0 status array
says said.out "^$runs runs of 12 combinations: $runs done$"
same_as_serial array 'the array of Slurm'

finish
