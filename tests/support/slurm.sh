# shellcheck shell=bash
# tests/support/slurm.sh -- sourced by the tests on a real Slurm: its daemons, on this machine, two nodes, all of the
# test's own: their files, keys and pid files lie in $scratch.
#
#   . tests/support/slurm.sh            (after cli.sh)
#   slurm_config 'GresTypes=gpu' ...    slurm.conf, with more lines; nodes: $slurm_nodes
#   slurm_start                         until the nodes are idle
#
# They are stopped when the script leaves.

for tool in munged slurmctld slurmd sbatch squeue scontrol sinfo scancel ${slurm_tools:-}; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (apt-get install slurmctld slurmd slurm-client munge ${slurm_packages:-})"
        is_finished=1
        exit 77
    fi
done
if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: the daemons of Slurm and munge need root here'
    is_finished=1
    exit 77
fi

slurm=$scratch/slurm
slurm_nodes='CPUs=3 RealMemory=1000'
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
    for daemon in slurmd-n1 slurmd-n2 slurmctld slurmdbd mariadbd munged; do signal_daemon TERM $daemon; done
    sleep 2
    for daemon in slurmd-n1 slurmd-n2 slurmctld slurmdbd mariadbd munged; do signal_daemon KILL $daemon; done
}
trap 'status=$?; stop_slurm; leave $status' EXIT

# Each argument is a line of slurm.conf more.  cred_expire: a requeued job waits for that time.
slurm_config() {
    dd if=/dev/urandom of="$slurm/munge/key" bs=1024 count=1 status=none
    chmod 600 "$slurm/munge/key"
    {
        cat <<END
ClusterName=test
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
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] $slurm_nodes
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
        [ $# -eq 0 ] || printf '%s\n' "$@"
    } >"$slurm/slurm.conf"
    export SLURM_CONF=$slurm/slurm.conf
    munged --key-file="$slurm/munge/key" --socket="$slurm/munge/sock" --pid-file="$slurm/run/munged.pid" \
        --log-file="$slurm/log/munged.log" --seed-file="$slurm/munge/seed" || fail 'munged does not start'
}

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
