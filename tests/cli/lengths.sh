#!/bin/sh
# A policy that plans starts with lengths that it does not have, or does not read, says so (studies/run/lengths.h).
set -u
. tests/support/cli.sh

cat >cluster.json <<'END'
{"pools": [{"nodes": 10, "gpus_per_node": 1}]}
END
cat >none.csv <<'END'
job_id,submit_s,duration_s,gpus
A,0,100,6
B,2,100,6
C,3,50,4
END
cat >limits.csv <<'END'
job_id,submit_s,duration_s,gpus,limit_s
A,0,100,6,1000
B,2,100,6,1000
C,3,50,4,1000
END

# The warnings of `run` and `validate` with these arguments.
warnings() {
    for verb in run validate; do
        "$program" $verb --cluster cluster.json "$@" 2>&1 | sed -n 's/^warning: //p'
    done
}

# Both say a line that begins so; or nothing.
expect() {
    said=$1
    shift
    warnings "$@" >got
    if [ "$said" = nothing ]; then
        [ ! -s got ] || fail "$*: $(cat got)"
    else
        [ "$(grep -c "^$said" got)" -eq 2 ] || fail "$*: $(cat got)"
    fi
}

for policy in easy conservative; do
    expect "no job has a limit or an estimate, so under backfill '$policy'" --trace none.csv --policy $policy
    expect nothing --trace none.csv --policy $policy --set world.estimates.kind=perfect
    expect nothing --trace none.csv --policy $policy --set policy.estimate=history
    expect nothing --trace limits.csv --policy $policy
    expect "world.estimates has no effect on 3 of 3 jobs: policy.estimate 'limit'" --trace limits.csv --policy $policy \
        --set world.estimates.kind=perfect
    expect nothing --trace limits.csv --policy $policy --set world.estimates.kind=perfect \
        --set policy.estimate=declared
done
expect nothing --trace none.csv --policy slurm # what does not end holds up nobody but the first
expect nothing --trace none.csv --policy fifo --set world.estimates.kind=perfect
finish
