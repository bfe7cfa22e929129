#!/bin/bash
# A sweep on a real Slurm of two nodes on this machine: the array runs, slurmctld and both slurmd are killed with
# SIGKILL midway and started again, a task is requeued, and the merged results are those of the serial run, byte for
# byte.  All daemons are this test's own: their files, keys and pid files lie in its folder.
set -u
for tool in munged slurmctld slurmd sbatch squeue scontrol sinfo scancel; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (apt-get install slurmctld slurmd slurm-client munge)"
        exit 77
    fi
done
if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: the daemons of Slurm and munge need root here'
    exit 77
fi
. tests/support/cli.sh
seconds_max=1200 # serial runs of a build that is watched, on a machine that does other things too
. "$repository/tests/support/sweep.sh"
runs=96
wait_s=900 # far more than the array takes, of a build that is watched too

slurm=$scratch/slurm
port=$((20000 + $$ % 20000))
host=$(hostname -s)
mkdir -p "$slurm"/{munge,run,state,spool/n1,spool/n2,log}
chmod 755 "$slurm"

# Only what a pid file of ours names, if it is that program still.
signal_daemon() { # signal, name
    local pid
    pid=$(cat "$slurm/run/$2.pid" 2>/dev/null) || return 0
    case $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") in
    *"$slurm"*) kill -s "$1" "$pid" ;;
    esac
}

stop_slurm() {
    scancel --quiet --user=root 2>/dev/null
    for _ in $(seq 100); do
        [ -z "$(squeue -h 2>/dev/null)" ] && break
        sleep 0.1
    done
    for daemon in slurmd-n1 slurmd-n2 slurmctld munged; do signal_daemon TERM $daemon; done
    sleep 1
    for daemon in slurmd-n1 slurmd-n2 slurmctld munged; do signal_daemon KILL $daemon; done
}
trap 'status=$?; stop_slurm; leave $status' EXIT

dd if=/dev/urandom of="$slurm/munge/key" bs=1024 count=1 status=none
chmod 600 "$slurm/munge/key"
# cred_expire: a requeued job waits for that time.
cat >"$slurm/slurm.conf" <<END
ClusterName=sweep
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/sock,cred_expire=10
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/run/slurmctld.pid
SlurmdPidFile=$slurm/run/slurmd-%n.pid
SlurmctldLogFile=$slurm/log/slurmctld.log
SlurmdLogFile=$slurm/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=5
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=3 RealMemory=1000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$slurm/slurm.conf

start_daemons() { # options of slurmctld
    slurmctld "$@" -f "$SLURM_CONF"
    for node in n1 n2; do slurmd -N $node -f "$SLURM_CONF"; done
}
wait_for_nodes() {
    for _ in $(seq 300); do
        sinfo -h -N -o %T 2>/dev/null | grep -qvE 'idle|mixed|allocated' || [ -z "$(sinfo -h -N -o %T 2>/dev/null)" ] ||
            return 0
        sleep 0.1
    done
    fail "Slurm does not start: $(sinfo -N 2>&1) $(tail -n 5 "$slurm"/log/*)"
    finish
}
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

munged --key-file="$slurm/munge/key" --socket="$slurm/munge/sock" --pid-file="$slurm/run/munged.pid" \
    --log-file="$slurm/log/munged.log" --seed-file="$slurm/munge/seed" || fail 'munged does not start'
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
echo "note: $(find array/shards -type f | wc -l) shards, $(grep -ac '^run done' array/shards/* | awk -F: '{ n += $NF }
    END { print n }') records"
same_as_serial array 'the array of Slurm'

finish
