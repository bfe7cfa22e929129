#!/bin/sh
# The models of collectives, training and sharing beside measurements: every tested row holds, which the exit status
# says; answers for any input; what means nothing is refused.
set -u
. tests/support/cli.sh

# ---- the tables ----

windtunnel validate-model
[ "$status" -eq 0 ] || fail "a tested row does not hold: status $status: $(grep 'NOT OK' said.out)"
is_silent said.err validate-model
grep -q 'NOT OK' said.out && fail 'status 0, but a row does not hold'
tested=$(grep -c ' ok$' said.out)
[ "$tested" -eq 119 ] || fail "$tested rows and sums are tested, not 119"
untested=$(grep -c '% .* not tested$' said.out)
[ "$untested" -eq 21 ] || fail "$untested rows are not tested, not 21"
for title in '8 x H200, NVLS, by size' 'H200 by number of GPUs' '8 x H100' '8 nodes of 8 H100' 'GB200 NVL72, one rack' \
    'Errors of the tested rows' 'All-reduce beyond the rows' 'Two domains, InfiniBand' \
    '4 and 8 GPUs in each of three racks' \
    'Nodes of 8 H100, RoCE' 'Two nodes of 8 H100, GPUDirect-TCPXO' 'Nodes of 8 H100, AWS EFA' \
    'B200: one node' 'B200: 4 nodes' 'Training on H100' 'Llama 3 405B' \
    'Sharded parameters (FSDP), 128' 'Sharded parameters (FSDP), 8' 'NeMo, BF16' 'FP8: llm-foundry' \
    'Mixtures of experts' \
    'Strong scaling, 177B' 'What the network is worth, 70B' 'A V100 in each of 2 to 8 servers' \
    'Latency of YOLOS-small beside copies' 'What partitioning leaves' 'GROMACS on instances' \
    'Mean speed of two jobs' "SM activity of Acme's GPUs"; do
    grep -q "^$title" said.out || fail "no table '$title'"
done

# Every row of a collective or a training step says whether it is inside the range, and every tested one is.  The errors
# by kind of plan are those of the rows.
grep -q '^  GPT-OSS 120B .*  inside  not tested$' said.out || fail 'a row that is not tested says nothing of the range'
[ "$(grep -c '  inside' said.out)" -ge 180 ] || fail "$(grep -c '  inside' said.out) rows are inside"
grep -q '  outside *ok$\|  outside$' said.out && fail 'a tested row is outside'
grep -q '^  Kimi K2 .*  outside  not tested$' said.out || fail 'Kimi K2 is inside, though no tested mixture is as large'
awk '/^Mixtures of experts/ { is_on = 1 }
    /root mean square/ { is_on = 0 }
    is_on && / bf16 / && !/not tested/ {
        match($0, /[+-][0-9.]+ %/)
        error = substr($0, RSTART) + 0
        squares += error * error
        count++
        worst = error * error > worst * worst ? error : worst
    }
    /^  h100 *mixtures of experts in bf16/ { told = $7; told_rms = $8; told_worst = $10 }
    END {
        near = squares > 0 ? told_rms - sqrt(squares / count) : 1
        exit !(told == count && near * near < 0.01 && told_worst + 0 == worst)
    }' said.out || fail "the errors of mixtures are not those of their rows: $(grep 'h100  .*mixt' said.out)"

# ---- one collective ----

expect() { # the text on stdin is what was said; what ran
    cat >expected.out
    if [ "$status" -ne 0 ] || ! diff -u expected.out said.out; then
        fail "$1: status $status"
        cat said.err
    fi
}

windtunnel validate-model --allreduce 8 8 8G
expect 'an all-reduce of 64 GPUs' <<'END'
383.5 GB/s, 44.0948 ms, ring: 64 GPUs in 8 domains
END
windtunnel validate-model --collective all-reduce 8 8 8589934592
expect 'the same' <<'END'
383.5 GB/s, 44.0948 ms, ring: 64 GPUs in 8 domains
END
windtunnel validate-model --allreduce 8 8 8.589934592e9
expect 'the same, as a real number' <<'END'
383.5 GB/s, 44.0948 ms, ring: 64 GPUs in 8 domains
END
windtunnel validate-model --allreduce 1 1 1G
expect 'one GPU' <<'END'
0 GB/s, 0 ms, none: 1 GPU in 1 domain
END
windtunnel validate-model --allreduce 18 4 8G --system nvl72
cp said.out rack.out
windtunnel validate-model --allreduce 1 72 8G --system nvl72
cmp said.out rack.out || fail 'a rack is not 18 nodes of 4'
grep -q '72 GPUs in 1 domain$' said.out || fail 'a rack is not one domain'
windtunnel validate-model --allreduce 19 4 8G --system nvl72
grep -q '76 GPUs in 2 domains$' said.out || fail '19 nodes are not in two racks'
grep -q "^not validated here: bytes 2 times outside the measured rows; NCCL's own model: .* GB/s, NVLS tree, Simple$" \
    said.out || fail "half of the bytes that were measured: $(cat said.out)"
windtunnel validate-model --collective all-to-all 4 8 256M
grep -q '^not validated here: no row of all-to-all was measured$' said.out || fail 'an all-to-all was measured'

windtunnel validate-model --allreduce 6 4 16G --system nvl72 --domains 3 --no-nvls
expect 'an all-reduce over three racks' <<'END'
453.7 GB/s, 72.5837 ms, tree: 24 GPUs in 3 domains
END

speed() { # arguments; prints the GB/s
    windtunnel validate-model "$@"
    [ "$status" -eq 0 ] || fail "$*: status $status"
    sed 's/ .*//; q' said.out
}
faster() { # GB/s, GB/s, what is said: the first is more
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }' || fail "$3: $1 is not more than $2"
}
all=$(speed --allreduce 8 8 1G)
faster "$all" "$(speed --allreduce 8 8 1G --tier spine --leaf-oversubscription 4)" 'oversubscribed leaves cost nothing'
faster "$(speed --allreduce 8 8 1G --tier spine --leaf-oversubscription 4)" \
    "$(speed --allreduce 8 8 1G --tier core --leaf-oversubscription 4 --spine-oversubscription 2)" \
    'a core costs nothing'
[ "$all" = "$(speed --allreduce 8 8 1G --leaf-oversubscription 4)" ] || fail 'under one leaf its uplinks matter'
faster "$all" "$(speed --allreduce 8 8 1G --nic-gb-per-s 25)" 'half a NIC costs nothing'
faster "$(speed --allreduce 1 8 1G)" "$(speed --allreduce 1 8 1G --no-nvls)" 'NVLS is worth nothing'
faster "$(speed --allreduce 1 8 1G)" "$(speed --allreduce 1 8 1G --system h100-pcie)" 'NVLink is worth nothing'
for kind in all-gather reduce-scatter all-to-all; do
    for places in '1 1 0' '1 3 7' '2 1 1K' '3 5 100M' '100000 8 1T'; do
        # shellcheck disable=SC2086 # three operands
        case $(speed --collective $kind $places) in
        *[!0-9.e+-]*) fail "$kind $places: $(cat said.out)" ;;
        esac
    done
done

# ---- a plan ----

cat >plan.json <<'END'
{
  "tp": 8, "pp": 2, "dp": 48, "gpus": 768,
  "layers": 84, "hidden": 8192, "sequence": 4096, "vocabulary": 131072,
  "batch": 384
}
END
windtunnel validate-model --training plan.json
expect 'a plan' <<'END'
421.4 TFLOP/s per GPU, 42.59 % MFU
768 GPUs: tp 8, pp 2, cp 1, dp 48, ep 1; 69.79 billion parameters; 8 microbatches
  compute         1.799 s   83.0 %
  tp              0.239 s   11.0 %
  cp              0.000 s    0.0 %
  ep              0.000 s    0.0 %
  pp              0.064 s    3.0 %
  bubble          0.013 s    0.6 %
  dp              0.053 s    2.4 %
  step            2.168 s  100.0 %
23 rows of dense plans in bf16, where the model is off by -10 to +5 %
END
cp said.out plan.out
list='tp=8, pp=2, gpus=768, layers=84, hidden=8192, sequence=4096, vocabulary=131072, batch=384'
windtunnel validate-model --training "$list, gated=false, precision=bf16"
cmp said.out plan.out || fail 'a list is another plan than the file'
faster "$(speed --training plan.json)" "$(speed --training plan.json --tp-domains 8)" 'a spilled TP group costs nothing'
faster "$(speed --training plan.json)" "$(speed --training plan.json --tier spine --leaf-oversubscription 8)" \
    'an oversubscribed network costs nothing'
faster "$(speed --training plan.json --system b200)" "$(speed --training plan.json)" 'a B200 is not faster'
windtunnel validate-model --training "$list, zero=3, precision=fp8"
grep -q '^8 rows of plans with zero 2 or 3 in fp8, where' said.out || fail 'there are not 8 rows of FSDP in FP8'
grep -q '^not validated here: GPUs 96 times outside the measured rows$' said.out ||
    fail "a plan beyond all rows is called validated: $(tail -n 1 said.out)"
windtunnel validate-model --training plan.json --system b200
grep -q '^not validated here: no row of b200 was measured$' said.out || fail 'a B200 is validated by rows of H100'
faster "$(speed --training plan.json)" "$(speed --training "$list, recompute=full")" 'recomputation costs nothing'
faster "$(speed --training "$list, precision=fp8")" "$(speed --training plan.json)" 'FP8 is not faster'

# ---- refusals ----

sed 's/"tp": 8/"tp": 6/; s/, "gpus": 768//' plan.json >bad.json
refused_plainly 2 validate-model --training bad.json <<'END'
error: bad.json:2:9: tp = 6 does not divide hidden = 8192
 2 |   "tp": 6, "pp": 2, "dp": 48,
   |         ^
  at /tp
END
sed 's/"gpus": 768/"gpus": 700/' plan.json >bad.json
refused_plainly 2 validate-model --training bad.json <<'END'
error: bad.json:2:39: tp x pp x dp = 8 x 2 x 48 = 768 GPUs, not 700
 2 |   "tp": 8, "pp": 2, "dp": 48, "gpus": 700,
   |                                       ^~~
  at /gpus
END
refused_plainly 2 validate-model --training tp=8,pp <<'END'
error: 'pp' in the plan has no '='
END
refused_plainly 4 validate-model --training none.json <<'END'
error: cannot open none.json: No such file or directory
END
refused_plainly 2 validate-model --training plan.json --system a100 --tp-domains 9 <<'END'
error: option '--tp-domains' must be an integer from 1 to 8, got '9'
END
refused_plainly 2 validate-model --training "$(tr -d '\n {}"' <plan.json | tr : =),precision=fp8" --system a100 <<'END'
error: a GPU of a100 has no rate of fp8
END
refused_plainly 2 validate-model --allreduce 8 8 <<'END'
error: a collective needs NODES GPUS_PER_NODE BYTES
END
refused_plainly 2 validate-model --allreduce 8 9 1G <<'END'
error: GPUS_PER_NODE must be a whole number from 1 to 8, not '9'
END
refused_plainly 2 validate-model --allreduce 0 8 1G <<'END'
error: NODES must be a whole number from 1 to 1000000, not '0'
END
refused_plainly 2 validate-model --allreduce 8 8 1.5G <<'END'
error: BYTES must be a whole number from 0 to 2^60, perhaps with K, M, G or T, not '1.5G'
END
for bytes in 1.5 1e19 2e3K nan inf 0x10; do
    windtunnel validate-model --allreduce 8 8 "$bytes"
    grep -q '^error: BYTES must be a whole number' said.err || fail "$bytes bytes are accepted"
done
refused_plainly 2 validate-model --allreduce 8 8 1G --system h10 <<'END'
error: there is no system 'h10'
  did you mean 'h100'?
END
refused_plainly 2 validate-model --collective all-redcue 8 8 1G <<'END'
error: there is no collective 'all-redcue'
  did you mean 'all-reduce'?
END
refused_plainly 2 validate-model --collective point-to-point 3 1 1G <<'END'
error: point-to-point is between 2 GPUs, not 3
END
refused_plainly 2 validate-model --allreduce 6 4 1G --system nvl72 --domains 5 <<'END'
error: 24 GPUs do not spread evenly over --domains 5
END
refused_plainly 2 validate-model --allreduce 36 4 1G --system nvl72 --domains 1 <<'END'
error: option '--domains' must be an integer from 2 to 144, got '1'
END
refused_plainly 2 validate-model --training plan.json --domains 2 <<'END'
error: --domains needs --allreduce or --collective; a plan has --tp-domains
END
refused_plainly 2 validate-model --allreduce 8 8 1G --leaf-oversubscription 0.5 <<'END'
error: --leaf-oversubscription must be a number from 1 to 1000, not '0.5'
END
refused_plainly 2 validate-model --allreduce 8 8 1G --training plan.json <<'END'
error: --allreduce, --collective, --training and --fit-fabric exclude each other
END
refused_plainly 2 validate-model --training plan.json --no-nvls <<'END'
error: --no-nvls needs --allreduce or --collective; no part of a training step uses NVLS
END
refused_plainly 2 validate-model --system b200 <<'END'
error: --system needs --allreduce, --collective, --training or --fit-fabric
END
refused_plainly 2 validate-model 8 <<'END'
error: without --allreduce or --collective there is no use for '8'
END
windtunnel validate-model --help
grep -q -- '--allreduce NODES GPUS_PER_NODE BYTES' said.out || fail 'the help does not name the operands'
finish
