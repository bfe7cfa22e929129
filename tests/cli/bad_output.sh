#!/bin/sh
# Where the output cannot go: full disks, folders that cannot be made, closed streams.  Status 4, a message that names
# the file, and no record rather than half of one; an earlier record stays as it was.
set -u
. tests/support/cli.sh

# ---- Folders ----

: >file
refused_plainly 4 run small.json --out file <<'END'
error: cannot create folder file: Not a directory
END
refused_plainly 4 run small.json --out file/folder <<'END'
error: cannot create folder file/folder: Not a directory
END
mkdir -p taken/report.html
refused_plainly 4 run small.json --out taken <<'END'
error: cannot write taken/report.html: Is a directory
END
[ "$(ls -A taken)" = report.html ] || fail "a folder in the place of report.html: left $(ls -A taken)"

# Permissions bind anybody but root, who becomes nobody.
as_other=''
if [ "$(id -u)" -eq 0 ]; then
    as_other='setpriv --reuid 65534 --regid 65534 --clear-groups'
fi
if [ -z "$as_other" ] || $as_other true 2>/dev/null; then
    cp "$program" theirs
    mkdir closed
    make_record old
    cksum old/* >record.sums
    chmod 555 closed old theirs
    program_before=$program
    program=$scratch/run_as_other
    printf '#!/bin/sh\nexec %s %s/theirs "$@"\n' "$as_other" "$scratch" >"$program"
    chmod 755 "$program"
    refused_plainly 4 run small.json --out closed/folder <<'END'
error: cannot create folder closed/folder: Permission denied
END
    refused_plainly 4 run small.json --out closed <<'END'
error: cannot create closed/jobs.csv.zst: Permission denied
END
    [ -z "$(ls -A closed)" ] || fail 'something was written into a closed folder'
    refused_plainly 4 run small.json --out old <<'END'
error: cannot create old/jobs.csv.zst: Permission denied
END
    record_is_untouched old 'run into a closed folder'
    cp small.csv secret.csv && chmod 000 secret.csv
    refused_plainly 4 run small.json --trace secret.csv <<'END'
error: cannot open secret.csv: Permission denied
END
    program=$program_before
    chmod 755 old
fi

# ---- Full disks ----

# An earlier record, with a limit on the size of files that the page breaks (units of 512 bytes).
make_record old
(
    ulimit -f 8
    timeout $seconds_max "$program" run small.json --out old 2>&1 >/dev/null
    echo "status $?"
) | cat >said.all
cat >expected.all <<'END'
error: cannot write old/report.html: File too large
status 4
END
diff -u expected.all said.all || fail 'a limit on the size of files: another message'
record_is_untouched old 'a limit on the size of files'

# A small disk of its own, where that is allowed; the record holds more than 40 kB.
if unshare -rm sh -c 'mkdir -p disk && mount -t tmpfs -o size=40k none disk' 2>/dev/null; then
    unshare -rm sh -c '
        mount -t tmpfs -o size=40k none disk
        "$1" run small.json --out disk/new >/dev/null 2>said.err
        echo "status $?"
        find disk -type f' sh "$program" >said.all
    echo 'status 4' | diff -u - said.all || fail 'a small disk: another status, or files left'
    grep -q '^error: cannot write disk/new/[a-z.]*: No space left on device$' said.err ||
        fail "a small disk: $(cat said.err)"
fi

# ---- Standard output and standard error ----

for arguments in 'run small.json --quiet' 'validate small.json' 'topology show four.json' 'topology mig h100' \
    'policy list' \
    'policy show fifo' 'trace info small.csv' 'report old' 'report old --json' \
    'export old --to batsim' 'export old --to openmetrics' 'export old --to perfetto' 'help' 'help run' 'run --help' \
    'help --man' '--version'; do
    # shellcheck disable=SC2086 # a list of words
    "$program" $arguments >/dev/full 2>said.err
    status=$?
    : >said.out
    said 4 "$arguments >/dev/full" <<'END'
error: cannot write standard output: No space left on device
END
    # shellcheck disable=SC2086
    "$program" $arguments >&- 2>said.err
    status=$?
    said 4 "$arguments >&-" <<'END'
error: cannot write standard output: Bad file descriptor
END
done

# No file of a record gets the number of a closed stream.
"$program" run small.json --out closed_streams <&- >&- 2>&-
[ $? -eq 4 ] || fail 'all streams closed: another status'
"$program" report closed_streams >said.out || fail 'all streams closed: the record is damaged'
"$program" run nowhere.json 2>/dev/full
[ $? -eq 4 ] || fail 'nowhere to say what is wrong: another status'
finish
