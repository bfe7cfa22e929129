#!/bin/sh
# What tests/run tells at its end: what tests compared and left out, why they skipped, how long all took, and last the
# sums; and which commands a test finds.
set -u
. tests/support/cli.sh

printf 'echo "skipped: no moon tonight"\nexit 77\n' >dark.sh
printf 'exit 77\n' >silent.sh
printf 'echo "note: compared x with y"\necho "not a note: z"\n' >good.sh
mkdir -p build/any/tests/unit
cat >build/any/tests/unit/test_two <<'END'
#!/bin/sh
echo '[==========] Running 2 test(s).'
echo '[ RUN      ] a_good_one'
echo '[       OK ] a_good_one'
echo '[ RUN      ] a_skipped_one'
echo 'skipped: the sun shines'
echo '[  SKIPPED ] a_skipped_one'
echo '[==========] 2 test(s) run.'
END
chmod +x build/any/tests/unit/test_two
"$repository/tests/run" --jobs 1 --logs logs --note 'left out: one' ./dark.sh ./silent.sh ./good.sh \
    build/any/tests/unit/test_two >said.out 2>&1 ||
    fail "status $?"
grep -v '^ok ' said.out | sed 's/^took [0-9].* s of CPU time, /took so long, /' >listing
diff -u - listing <<'END' || fail 'another listing'
notes:
  left out: one
  ./good.sh: compared x with y
skipped:
  ./dark.sh: no moon tonight
  ./silent.sh: it does not say why
  tests/unit/test_two, a_skipped_one: the sun shines
took so long, 1 at a time
2 passed, 0 failed, 3 skipped
END

# ---- A command that no package of the groups has is not found, wherever else it is. ----

if command -v dpkg-query >/dev/null; then
    mkdir elsewhere
    printf '#!/bin/sh\n' >elsewhere/windtunnel-moonlight
    chmod +x elsewhere/windtunnel-moonlight
    printf 'windtunnel-moonlight\n' >moon.sh
    printf 'sed --version | grep -q GNU && git --version && python3 --version\n' >named.sh
    for tool in tests tools; do ln -s "$repository/$tool" $tool; done
    PATH=$PWD/elsewhere:$PATH
    tests/run --jobs 1 --logs there/logs ./moon.sh >said.out 2>&1 || fail "a command of the PATH: $(cat said.out)"
    tests/run --jobs 1 --logs there/logs --packages 'start test' ./moon.sh ./named.sh >said.out 2>&1 &&
        fail 'a command that nothing installs is found'
    says said.out '^FAIL .* \./moon\.sh, exit status 127$'
    says said.out '^ok .* \./named\.sh$'
fi
finish
