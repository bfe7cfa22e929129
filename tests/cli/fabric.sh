#!/bin/sh
# A network of one's own: a cluster file names it, and validate-model answers for the cluster's wires.
set -u
. tests/support/cli.sh

expect() { # the text on stdin is what was said; what ran
    cat >expected.out
    if [ "$status" -ne 0 ] || ! diff -u expected.out said.out; then
        fail "$1: status $status"
        cat said.err
    fi
}

# ---- transports by name ----

windtunnel validate-model --allreduce 8 8 8G --transport infiniband-ndr
expect 'the default by its name' <<'END'
383.5 GB/s, 44.0948 ms, ring: 64 GPUs in 8 domains
transport: infiniband-ndr, 4 us a step, 0.966 of the NICs' rate
  source: NVIDIA/nccl src/graph/tuning.cc; coreweave/nccl-tests, 64 x H100
END
windtunnel validate-model --allreduce 4 8 8G --transport roce-400g
expect 'RoCE' <<'END'
319.1 GB/s, 52.1538 ms, ring: 32 GPUs in 4 domains
transport: roce-400g, 4 us a step, 0.8 of the NICs' rate
  source: rate: NVIDIA/nccl#1221, 4 nodes of 8 H100; step: assumed, as InfiniBand
END
windtunnel validate-model --allreduce 4 8 8G --transport gcp-tcpxo
grep -q '^not validated here: no row of all-reduce was measured' said.out || fail "four nodes of TCPXO: $(cat said.out)"
windtunnel validate-model --allreduce 2 8 8G --transport gcp-tcpxo
grep -q 'not validated' said.out && fail "two nodes of TCPXO were measured: $(cat said.out)"

# ---- the wires of a cluster ----

cat >cluster.json <<'END'
{"pools": [{"name": "cpu", "nodes": 1, "gpus_per_node": 0},
           {"name": "h100", "nodes": 32, "gpus_per_node": 8, "gpu_model": "h100-80gb", "nics": 4},
           {"name": "b200", "nodes": 4, "gpus_per_node": 8, "gpu_model": "b200-180gb"}],
 "fabric": {"rails": 4, "transport": "aws-efa", "step_latency_us": 50, "leaf_oversubscription": 2}}
END
windtunnel topology show cluster.json
grep -q "^transport: aws-efa, 50 us a step, 0.873 of the NICs' rate$" said.out || fail "no transport: $(cat said.out)"
grep -q '^  source: the cluster file$' said.out || fail 'a number of its own has the source of the table'
# Two GPUs share a NIC: 8 x 25 GB/s x 0.873 for a node.
windtunnel validate-model --allreduce 8 8 8G --cluster cluster.json
expect "the cluster's first pool with GPUs" <<'END'
172.9 GB/s, 97.785 ms, ring: 64 GPUs in 8 domains
not validated here: no row of this network was measured; NCCL's own model: 191.7 GB/s, NVLS tree, Simple
transport: aws-efa, 50 us a step, 0.873 of the NICs' rate
  source: the cluster file
END
windtunnel validate-model --allreduce 8 8 8G --cluster cluster.json --tier spine
grep -q '^86.88 GB/s' said.out || fail "the cluster's leaves are not oversubscribed: $(cat said.out)"
windtunnel validate-model --allreduce 2 8 8G --cluster cluster.json --pool b200
grep -q '16 GPUs in 2 domains' said.out || fail "another pool: $(cat said.out)"
windtunnel validate-model --cluster cluster.json --training \
    tp=8,pp=2,dp=48,layers=84,hidden=8192,sequence=4096,vocabulary=131072,batch=384
grep -q '^not validated here: no row of this network was measured$' said.out || fail "a plan: $(cat said.out)"

# ---- refusals ----

refused_plainly 2 validate-model --allreduce 8 8 1G --cluster cluster.json --system h100 <<'END'
error: --cluster and --system exclude each other
END
refused_plainly 2 validate-model --allreduce 8 8 1G --cluster cluster.json --pool a100 <<'END'
error: the cluster has no pool 'a100'
END
refused_plainly 2 validate-model --allreduce 8 8 1G --cluster cluster.json --pool cpu <<'END'
error: the nodes of pool 'cpu' have no GPUs
END
refused_plainly 2 validate-model --allreduce 8 8 1G --pool h100 <<'END'
error: --pool needs --cluster
END
refused_plainly 2 validate-model --allreduce 8 8 1G --transport roce <<'END'
error: there is no transport 'roce'
  one of: infiniband-ndr, roce-400g, gcp-tcpxo, aws-efa
END
refused_plainly 2 validate-model --cluster cluster.json <<'END'
error: --cluster needs --allreduce, --collective, --training or --fit-fabric
END

finish
