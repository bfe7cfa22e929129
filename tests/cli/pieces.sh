#!/bin/sh
# What jobs do on pieces of GPUs, recomputed from records by a program of its own (tests/support/record_pieces.py).
set -u
. tests/support/cli.sh

worlds=100
[ "${WINDTUNNEL_TEST_SIZE:-small}" = small ] || worlds=400
python3 "$repository/tests/support/record_pieces.py" "$program" $worlds 1 || fail 'records do not add up'
finish
