#!/bin/sh
# What is installed has the flags that end a program whose memory is overwritten: PIE, RELRO with all symbols bound at
# the start, stack protector, checked copies (docs/security.md).
set -u
. tests/support/cli.sh

case $WINDTUNNEL_BUILD in
build/release | build/profiled) ;;
*)
    echo "skipped: $WINDTUNNEL_BUILD is a build for tests"
    exit 77
    ;;
esac
command -v readelf >/dev/null || {
    echo 'skipped: readelf (package binutils) is not here'
    exit 77
}

library=$(ls "$repository/$WINDTUNNEL_BUILD"/libwindtunnel_sched.so.*.*.*)
for file in "$program" "$library"; do
    readelf -hlWd "$file" >elf
    grep -q 'Type: *DYN' elf || fail "$file does not run at any address (PIE)"
    grep -q 'GNU_RELRO' elf || fail "$file has no part that becomes read-only (RELRO)"
    grep -q 'BIND_NOW\|Flags: NOW' elf || fail "$file binds symbols late (-z now)"
    grep 'GNU_STACK' elf | grep -q 'RWE' && fail "$file has a stack that can be executed"
    readelf -sW "$file" | grep -q '__stack_chk_fail' || fail "$file has no stack protector"
done
readelf -sW "$program" | grep -q '__[a-z]*_chk@' || fail "$program checks no copies (_FORTIFY_SOURCE)"
finish
