#!/bin/bash
# Jobs on a real Slurm of two nodes of eight GPUs, with slurmdbd and mariadb, all on this machine and this test's own:
# what `sacct` tells of them is read, and submissions, waits and run times are those that the job completion plug-in
# wrote, which uses no database.
set -u
slurm_tools='slurmdbd mariadbd mariadb-install-db sacct'
slurm_packages='slurmdbd mariadb-server'
. tests/support/cli.sh
. "$repository/tests/support/slurm.sh"

slurm_nodes='CPUs=8 RealMemory=1000 Gres=gpu:h100:8'
mkdir -p "$slurm/dev" "$slurm/db"
for i in 0 1 2 3 4 5 6 7; do mknod "$slurm/dev/nvidia$i" c 1 3; done
printf 'AutoDetect=off\nName=gpu Type=h100 File=%s/dev/nvidia[0-7]\n' "$slurm" >"$slurm/gres.conf"
mariadb-install-db --no-defaults --datadir="$slurm/db" --user=root --auth-root-authentication-method=normal \
    --skip-test-db >"$slurm/log/install.log" 2>&1 || fail "mariadb-install-db: $(tail -n 3 "$slurm/log/install.log")"
mariadbd --no-defaults --user=root --datadir="$slurm/db" --socket="$slurm/db/sock" --port=$((port + 10)) \
    --bind-address=127.0.0.1 --pid-file="$slurm/run/mariadbd.pid" >"$slurm/log/mariadbd.log" 2>&1 &
cat >"$slurm/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/sock
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 11))
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 10))
StorageUser=root
StorageLoc=slurm_acct
PidFile=$slurm/run/slurmdbd.pid
LogFile=$slurm/log/slurmdbd.log
END
chmod 600 "$slurm/slurmdbd.conf"
slurm_config GresTypes=gpu JobCompType=jobcomp/filetxt "JobCompLoc=$slurm/completed" \
    AccountingStorageType=accounting_storage/slurmdbd AccountingStorageHost=127.0.0.1 \
    "AccountingStoragePort=$((port + 11))" "AccountingStoragePass=$slurm/munge/sock" \
    AccountingStorageTRES=gres/gpu,gres/gpu:h100
for _ in $(seq 100); do
    mariadb-admin --no-defaults --socket="$slurm/db/sock" --user=root ping >/dev/null 2>&1 && break
    sleep 0.1
done
slurmdbd || fail "slurmdbd does not start"
for _ in $(seq 100); do
    sacctmgr -n show cluster >/dev/null 2>&1 && break
    sleep 0.1
done
start_daemons -c
wait_for_nodes

# ---- The jobs. ----

batch() { # options of sbatch..., seconds
    local seconds=${*: -1}
    sbatch --parsable --output=/dev/null "${@:1:$#-1}" --wrap "sleep $seconds"
}
first=$(batch --gres=gpu:8 -N2 -t 5 --requeue 12) # holds all, and is requeued
batch --gres=gpu:8 -t 10 4 >/dev/null
batch --gres=gpu:1 -t 1 3 >/dev/null
batch --gres=gpu:h100:2 -t 2 5 >/dev/null
batch --gres=gpu:4 -N2 -t 3 4 >/dev/null
array=$(batch --gres=gpu:2 -t 2 --array=0-5%2 3)
cancelled=$(batch --gres=gpu:1 -t 5 300)
never=$(batch --gres=gpu:8 -N2 -t 60 --hold 10)
batch -t 2 -n 2 2 >/dev/null # no GPU
batch --gres=gpu:2 -t 2 --dependency=afterany:"$first" 2 >/dev/null
batch --gres=gpu:2 -t 2 --begin=now+20 2 >/dev/null
sbatch --parsable --output=/dev/null --gres=gpu:1 -t 2 --wrap 'srun sleep 1; srun sleep 1; exit 3' >/dev/null
sbatch --parsable --output=/dev/null -t 2 --gres=gpu:1 : --gres=gpu:2 --wrap 'sleep 2' >/dev/null
limited=$(batch --gres=gpu:1 -t 1 300)
hets=$(sbatch --parsable --output=/dev/null -t 5 --requeue --gres=gpu:4 : -t 3 --gres=gpu:2 --wrap 'sleep 6')
parted=$(sbatch --parsable --output=/dev/null -t 4 --gres=gpu:1 : --gres=gpu:2 --wrap 'sleep 9')
sleep 5
scontrol requeue "$first"
for _ in $(seq 100); do
    [ "$(squeue -h -j "$cancelled" -o %T)" = RUNNING ] && break
    sleep 0.3
done
scancel "$cancelled"
scancel "$never"
# The one is requeued as a whole, the other loses its second component, while they run.
for _ in $(seq 300); do
    [ -n "$hets" ] && [ "$(squeue -h -j "$hets" -o %T | sort -u)" = RUNNING ] && scontrol requeue "$hets" && hets=
    [ -n "$parted" ] && [ "$(squeue -h -j "$parted" -o %T | sort -u)" = RUNNING ] && sleep 2 &&
        scancel "$parted+1" && parted=
    [ -z "$hets$parted" ] && break
    sleep 0.3
done
[ -z "$hets$parted" ] || fail "heterogeneous jobs do not run: $(squeue)"
for _ in $(seq 300); do
    [ -z "$(squeue -h)" ] && break
    sleep 1
done
[ -z "$(squeue -h)" ] || fail "jobs do not end: $(squeue)"
sleep 2
echo "note: array $array, limited $limited"

# ---- What sacct tells. ----

columns=JobIDRaw,JobID,JobName,User,Account,Partition,QOS,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,State
columns=$columns,ExitCode,Reason,NNodes,NodeList,ReqTRES,AllocTRES,Priority,Flags
SLURM_TIME_FORMAT=%s sacct -P -a -D -S now-1hour --format=$columns >sacct.txt || fail 'sacct fails'
sacct -P -a -S now-1hour --format=$columns >sacct_last.txt || fail 'sacct fails'
if [ -n "${SACCT_KEEP:-}" ]; then cp sacct.txt sacct_last.txt "$slurm/completed" "$SACCT_KEEP"; fi

# ---- The same, from the job completion plug-in: a line per attempt that started. ----

python3 - "$slurm/completed" sacct.txt >truth.csv <<'END' || fail 'the log of completed jobs cannot be read'
import csv, sys
from datetime import datetime

def seconds(text):
    return int(datetime.strptime(text, '%Y-%m-%dT%H:%M:%S').timestamp())

jobs = {}
for line in open(sys.argv[1]):
    words = dict(word.split('=', 1) for word in line.split() if '=' in word)
    try:
        start, end, eligible = (seconds(words[key]) for key in ('StartTime', 'EndTime', 'EligibleTime'))
    except ValueError:
        continue # it never started
    tres = dict(item.split('=') for item in words['Tres'].split(','))
    job = jobs.setdefault(words['JobId'], dict(ready=max(eligible, seconds(words['SubmitTime'])), start=start,
                                               gpus=int(tres.get('gres/gpu', 0)), end=end, last=start))
    if start >= job['last']:
        job.update(end=end, last=start)
# The components of a heterogeneous job are one: they start together, and it runs as long as the longest.
for row in csv.DictReader(open(sys.argv[2]), delimiter='|'):
    whole, plus, offset = row['JobID'].partition('+')
    if plus and offset.isdigit() and offset != '0' and row['JobIDRaw'] in jobs:
        part = jobs.pop(row['JobIDRaw'])
        jobs[whole]['gpus'] += part['gpus']
        jobs[whole]['end'] = max(jobs[whole]['end'], part['end'])
first = min(job['ready'] for job in jobs.values())
rows = [(j['ready'] - first, j['start'] - j['ready'], j['end'] - j['last'], j['gpus']) for j in jobs.values()]
for job in sorted(rows):
    print(*job, sep=',')
END
windtunnel trace validate sacct.txt
[ $status -eq 0 ] || fail "sacct.txt is refused: $(cat said.out said.err)"
windtunnel trace convert sacct.txt --out jobs.jsonl
[ $status -eq 0 ] || fail "sacct.txt is not converted: $(cat said.err)"
python3 - jobs.jsonl >read.csv <<'END' || fail 'the converted jobs cannot be read'
import json, sys
rows = [tuple(int(job[key]) for key in ('submit_s', 'wait_s', 'duration_s')) +
        (sum(group['count'] * group.get('gpus', 0) for group in job['groups']),)
        for job in map(json.loads, open(sys.argv[1])) if 'submit_s' in job]
for row in sorted(rows):
    print(*row, sep=',')
END
diff truth.csv read.csv >difference ||
    fail "submission, wait, run time, GPUs: Slurm says <, read is >: $(cat difference)"
# ---- How near the preset slurm comes to these very starts. ----

cat >two.json <<'END'
{"pools": [{"name": "n", "nodes": 2, "gpus_per_node": 8, "gpu_model": "h100-80gb", "cpus": 8, "memory_gb": 1}]}
END
windtunnel run --trace sacct.txt --cluster two.json --policy slurm
[ $status -eq 0 ] || fail "the jobs of sacct.txt do not run: $(cat said.err)"
says said.out '^Recorded waits '
sed -n '/^Recorded waits/,/near:/ s/^/note: /p' said.out
echo "note: $(wc -l <truth.csv) jobs, $(grep -c . "$slurm/completed") attempts, as Slurm itself says"
finish
