# shellcheck shell=sh
# tests/support/cli.sh -- sourced by the end-to-end tests: a folder of their own, and what a refusal must look like.
#
#   . tests/support/cli.sh
#   refused 3 run s.json --trace bad.csv <<'END'
#   error: bad.csv:2:5: ...
#   END
#   finish
#
# The test then stands in the new folder, which goes with it; small.json is a scenario there that runs in a moment.
# A script that ends with status 0 without `finish` fails: its failures were not looked at.  Needs $WINDTUNNEL, the
# program.

repository=$PWD
program=$(readlink -f "${WINDTUNNEL:-build/release/windtunnel}")
scratch=$(mktemp -d)
is_finished=0
trap 'leave $?' EXIT
chmod 755 "$scratch"
cd "$scratch" || exit 1
failures=0
seconds_max=60 # far more than any refusal takes, sanitizers included

cat >small.json <<'END'
{
  "cluster": "four.json",
  "workload": {"trace": "small.csv"},
  "policy": {"preset": "fifo"}
}
END
cat >four.json <<'END'
{
  "name": "four",
  "pools": [{"name": "h100", "nodes": 4, "gpus_per_node": 8, "gpu_model": "h100-80gb"}]
}
END
cat >small.csv <<'END'
job_id,submit_s,duration_s,gpus,queue,user
1,0,60,8,red,ann
2,10,60,1,blue,bob
3,20,600,32,red,ann
END

leave() { # exit status of the script
    chmod -R u+rwx "$scratch"
    rm -rf "$scratch"
    if [ "$1" -eq 0 ] && [ $is_finished -eq 0 ]; then
        echo "FAIL: $0 does not end with 'finish', so no failure in it counts"
        exit 1
    fi
    exit "$1"
}

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

finish() {
    is_finished=1
    if [ $failures -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    exit 0
}

# Run the program with stdout and stderr kept in files; the exit status is in $status.
windtunnel() {
    timeout $seconds_max "$program" "$@" >said.out 2>said.err
    status=$?
}

# The file is empty, or the case fails and shows it.
is_silent() { # file, what ran
    if [ -s "$1" ]; then
        fail "$2: unexpected output:"
        cat "$1"
    fi
}

# A line of the file matches, or the case fails and shows it.
says() { # file, pattern
    grep -q -e "$2" "$1" || fail "no '$2' in: $(cat "$1")"
}

# The last run ended with this status and said what stands on our standard input, on stderr, and nothing on stdout.
said() { # status, what ran
    cat >expected.err
    if [ "$status" -ne "$1" ]; then
        fail "$2: exit status $status, not $1"
    fi
    if ! diff -u expected.err said.err; then
        fail "$2: another message"
    fi
    is_silent said.out "$2"
}

# A record of an earlier run; its files' sums are in record.sums.
make_record() { # folder
    "$program" run small.json --quiet --out "$1" >/dev/null || fail 'the small scenario does not run'
    cksum "$1"/* >record.sums
}

record_is_untouched() { # folder, what ran
    if ! cksum "$1"/* | cmp -s - record.sums || [ "$(find "$1" -type f | wc -l)" -ne 5 ]; then
        fail "$2: the earlier record was touched"
        make_record "$1"
    fi
}

# The command is refused with this status and the message on stdin.  Twice, with --out: a new folder gets no file, an
# old record stays as it is.
refused() { # status, arguments of the program
    expected=$1
    shift
    cat >message
    windtunnel "$@" --out new
    said "$expected" "$* --out new" <message
    if [ -n "$(find new -type f 2>/dev/null)" ]; then
        fail "$*: left files: $(ls -A new)"
    fi
    rm -rf new
    [ -d old ] || make_record old
    windtunnel "$@" --out old
    said "$expected" "$* --out old" <message
    record_is_untouched old "$*"
}

# The command, which takes no --out, is refused with this status and the message on stdin.
refused_plainly() { # status, arguments of the program
    expected=$1
    shift
    windtunnel "$@"
    said "$expected" "$*"
}
