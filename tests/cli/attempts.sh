#!/bin/sh
# Recorded attempts, replayed: their rows, forks between them, a frozen trace, and a world with checkpoints.
set -u
. tests/support/cli.sh

fingerprint() { # of said.err
    sed -n 's/.*fingerprint \([0-9a-f]*\).*/\1/p' said.err
}

cat >tries.csv <<'END'
job_id,submit_s,duration_s,gpus,failed_attempts_s
1,0,100,32,60;30.5
2,10,50,32,
END
windtunnel run --trace tries.csv --cluster four.json --policy fifo --check --out whole
[ "$status" -eq 0 ] || fail "a run with attempts: $(cat said.err)"
whole=$(fingerprint)
zstd -dqc whole/attempts.csv.zst | cut -d, -f1,2,6,7,9,13 >rows
diff -u - rows <<'END' || fail 'other attempts'
job_id,start_s,why,reason,lost_s,end_s
0,0,evicted,Fault,60,60
0,60,evicted,Fault,30.5,90.5
0,90.5,ended,,0,190.5
1,190.5,ended,,0,240.5
END
for at in 30 75; do
    windtunnel run whole --trust whole --fork-at ${at}s --check --out fork
    [ "$status" -eq 0 ] && [ "$(fingerprint)" = "$whole" ] || fail "a fork at $at s: $(cat said.err)"
done
windtunnel run whole --trust whole --fork-at 75s --policy easy --check
[ "$status" -eq 0 ] || fail "a fork with another policy: $(cat said.err)"

windtunnel trace freeze whole --trust whole --out frozen.jsonl
windtunnel run --trace frozen.jsonl --cluster four.json --policy fifo
[ "$(fingerprint)" = "$whole" ] || fail "the frozen trace is another workload: $(cat said.err), not $whole"
windtunnel trace convert tries.csv --out back.csv
windtunnel run --trace back.csv --cluster four.json --policy fifo
[ "$(fingerprint)" = "$whole" ] || fail "the converted trace is another workload: $(cat said.err)"
windtunnel trace convert tries.csv --out lost.swf
says said.out 'jobs lose their attempts that failed$'

# A world in which jobs write checkpoints: those with recorded attempts write none.
windtunnel run --trace tries.csv --cluster four.json --policy fifo --check --out saved \
    --set 'world.checkpoints={"plans": [{"interval": "5s", "write_s": 1}]}'
[ "$status" -eq 0 ] || fail "a world with checkpoints: $(cat said.err)"
zstd -dqc saved/attempts.csv.zst | cut -d, -f1,2,6,7,9,13 | sed -n 2,4p >rows
diff -u - rows <<'END' || fail 'other attempts where others write checkpoints'
0,0,evicted,Fault,60,60
0,60,evicted,Fault,30.5,90.5
0,90.5,ended,,0,190.5
END

windtunnel run --trace tries.csv --cluster four.json --policy fifo --set workload.attempts=last --out last
[ "$(zstd -dqc last/attempts.csv.zst | wc -l)" -eq 3 ] || fail 'the last attempt alone has several rows'
refused_plainly 2 run --trace tries.csv --cluster four.json --policy fifo --set workload.attempts=first --quiet <<'END'
error: --set workload.attempts: 'attempts' must be one of 'merged', 'last', 'replayed'; got "first"
  at /workload/attempts
END

finish
