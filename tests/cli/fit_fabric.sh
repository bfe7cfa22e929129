#!/bin/sh
# validate-model --fit-fabric: text in the form of nccl-tests, made from the answers for a cluster, gives the fabric of
# that cluster back, as JSON that a cluster file takes; what cannot be fitted is refused with its place.
set -u
. tests/support/cli.sh

near() { # is, should, what
    awk -v is="$1" -v should="$2" 'BEGIN { exit !(is - should <= 0.01 * should && should - is <= 0.01 * should) }' ||
        fail "$3 is '$1', not '$2'"
}

# ---- a text with known parameters ----

truth='"rail_gbps": 200, "step_latency_us": 50, "rate_ratio": 0.7, "nvlink_ratio": 0.9'
pools='"pools": [{"name": "h100", "nodes": 8, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]'
printf '{%s, "fabric": {%s}}\n' "$pools" "$truth" >truth.json
ranks() { # hosts
    awk -v hosts="$1" 'BEGIN {
        print "# nThread 1 nGpus 1 minBytes 65536 maxBytes 4294967296\n# Using devices"
        for (r = 0; r < 8 * hosts; r++)
            printf "#  Rank %2d Group  0 Pid %d on node-%d device  %d [0x1b] NVIDIA H100\n", r, 99 + r, r / 8, r % 8
        print "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong"
    }'
}
for hosts in 1 2 4; do
    printf '$ mpirun ./build/all_reduce_perf -b 64K -e 4G -f 4 -g 1\n'
    ranks $hosts
    for size in 65536 262144 1048576 4194304 16777216 67108864 268435456 1073741824 4294967296; do
        windtunnel validate-model --allreduce $hosts 8 $size --cluster truth.json
        awk -v size=$size -v n=$((8 * hosts)) 'NR == 1 {
            us = $3 * 1000
            printf "%12.0f %12.0f float sum -1 %9.4g %.2f %.2f 0 ", size, size / 4, us, size / us / 1e3, $1
            printf "%9.4g %.2f %.2f 0\n", us * 2, size / us / 2e3, $1 / 2
        }' said.out
    done
done >made.txt

windtunnel validate-model --fit-fabric made.txt --nic-gb-per-s 25
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
is_silent said.err validate-model --fit-fabric
[ "$(grep -c 'all-reduce .* %$' said.out)" -eq 27 ] || fail "not a line for each row: $(cat said.out)"
grep -q '^27 of 27 rows used, from 64 KiB on: rms 0.[0-9] %' said.out || fail "the errors: $(cat said.out)"
tail -n 1 said.out >fabric.json
value() { sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" fabric.json; }
near "$(value step_latency_us)" 50 'the step'
near "$(value rate_ratio)" 0.7 'the part of the rate'
near "$(value nvlink_ratio)" 0.9 'the ratio of NVLink'
[ "$(value rail_gbps)" = 200 ] || fail "the NIC is not that of the option: $(cat fabric.json)"
grep -q '"source": "fit to made.txt, nccl-tests, 27 rows from 64 KiB' fabric.json || fail "source: $(cat fabric.json)"

# ---- the cluster file takes it ----

sed "s/^{/{$pools, /" fabric.json >fitted.json
windtunnel topology show fitted.json
grep -q '^  source: fit to made.txt' said.out || fail "the cluster does not say its source: $(cat said.out said.err)"
windtunnel validate-model --allreduce 4 8 8G --cluster truth.json
should=$(sed -n '1s/ GB.*//p' said.out)
windtunnel validate-model --allreduce 4 8 8G --cluster fitted.json
near "$(sed -n '1s/ GB.*//p' said.out)" "$should" 'an answer for the fitted cluster'
# A fit that begins with the cluster ends there, too.
windtunnel validate-model --fit-fabric made.txt --cluster fitted.json
tail -n 1 said.out >fabric.json
near "$(value nvlink_ratio)" 0.9 'the ratio of NVLink, from a cluster'
grep -q rail_gbps fabric.json && fail 'the NICs of a cluster are not for the fit to say'

# ---- refusals ----

sed 's/^ *65536 /65536 oops /' made.txt >bad.txt
refused_plainly 3 validate-model --fit-fabric bad.txt <<'END'
error: bad.txt:13: 14 columns where the line of columns has 13: leave this row out
 13 | 65536 oops        16384 float sum -1     37.31 1.76 3.07 0     74.63 0.88 1.54 0
END
grep -v ' Rank ' made.txt >bad.txt
windtunnel validate-model --fit-fabric bad.txt
[ "$status" -eq 3 ] && grep -q "bad.txt:5: the lines '#  Rank" said.err || fail "no ranks: $status $(cat said.err)"
sed -n 1,15p made.txt >bad.txt
refused_plainly 3 validate-model --fit-fabric bad.txt <<'END'
error: bad.txt has 3 rows, where a fit of 1 parameter needs 4: measure more sizes
END
refused_plainly 2 validate-model --fit-fabric made.txt 8 <<'END'
error: --fit-fabric has no use for '8'
END
refused_plainly 2 validate-model --fit-fabric made.txt --cluster truth.json --nic-gb-per-s 25 <<'END'
error: --fit-fabric takes the NICs of --cluster: leave --nic-gb-per-s out
END
refused_plainly 2 validate-model --fit-fabric made.txt --domains 2 <<'END'
error: --domains needs --allreduce or --collective; the file says which hosts there are
END
finish
