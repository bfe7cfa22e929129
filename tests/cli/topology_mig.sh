#!/bin/sh
# MIG of a GPU model: its profiles; names that mean nothing are refused.
set -u
. tests/support/cli.sh

windtunnel topology mig 'NVIDIA H100 80GB HBM3'
cat >expected.out <<'END'
profile      compute  memory      GiB      SMs  most  starts
1g.10gb            1       1     9.75       16     7  0-6
1g.10gb+me         1       1     9.75       16     1  0-6
1g.20gb            1       2    19.62       26     4  0,2,4,6
2g.20gb            2       2    19.62       32     3  0,2,4
3g.40gb            3       4    39.50       60     2  0,4
4g.40gb            4       4    39.50       64     1  0
7g.80gb            7       8    79.25      132     1  0
END
if [ "$status" -ne 0 ] || ! diff -u expected.out said.out; then
    fail "topology mig: status $status"
fi

# What is not known is not 0.
windtunnel topology mig b200-180gb
grep -q '^1g.23gb  *1  *1  *22.50  *unknown  *7  0-6$' said.out || fail "b200: $(sed -n 2p said.out)"

refused_plainly 2 topology mig t4 <<'END'
error: GPU model 't4-16gb' has no MIG
  these have MIG: h100-80gb, h200-141gb, a100-40gb, a100-80gb, b200-180gb
END
refused_plainly 2 topology mig frobnicator <<'END'
error: there is no GPU model 'frobnicator'
  these have MIG: h100-80gb, h200-141gb, a100-40gb, a100-80gb, b200-180gb
END
refused_plainly 2 topology mig h100-80bg <<'END'
error: there is no GPU model 'h100-80bg'
  did you mean 'h100-80gb'?
END
finish
