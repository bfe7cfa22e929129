#!/bin/sh
# The numbers that test_statistics_oracle.c compares with are still what SciPy computes.
set -u
python=
for candidate in python3 /usr/bin/python3; do
    if [ -z "$python" ] && "$candidate" -c 'import scipy' 2>/dev/null; then
        python=$candidate
    fi
done
if [ -z "$python" ]; then
    echo 'skipped: no python3 with SciPy (make deps installs it)'
    exit 77
fi
exec "$python" tests/analytic/statistics_oracle.py --check tests/analytic/statistics_oracle.txt
