"""Files with one edit each: what the program accepts, its schema accepts; an unknown key is refused by both.

    schema_edits.py SCHEMA COUNT FILE... -- COMMAND...      COMMAND reads the file edit.json, status 0: accepted

Prints how many edits were accepted and refused, and by whom.
"""
import json
import random
import subprocess
import sys

from jsonschema import Draft202012Validator

UNKNOWN = "unknown_key"


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, path + (key,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def edits(text):
    """(kind, edited value)"""
    for path in places(json.loads(text)):
        value = at(json.loads(text), path)
        if isinstance(value, dict):
            edited = json.loads(text)
            at(edited, path)[UNKNOWN] = 1
            yield "added", edited
        if not path:
            continue
        replacements = [None, "never", "x", {}, [], True]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            replacements += [0, -1, value + 1, value * 1000, 0.5, 1e12, str(value)]
        for other in replacements:
            edited = json.loads(text)
            at(edited, path[:-1])[path[-1]] = other
            yield "changed", edited
        edited = json.loads(text)
        del at(edited, path[:-1])[path[-1]]
        yield "dropped", edited


def main():
    cut = sys.argv.index("--")
    schema = json.load(open(sys.argv[1]))
    count, files, command = int(sys.argv[2]), sys.argv[3:cut], sys.argv[cut + 1:]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    failed = accepted = refused = refused_too = 0
    for name in files:
        text = open(name).read()
        for error in validator.iter_errors(json.loads(text)):
            print(f"{name}: refused as it is, at {list(error.path)}: {error.message[:200]}")
            failed += 1
        everything = list(edits(text))
        random.seed(1)
        for kind, edited in random.sample(everything, min(count, len(everything))):
            with open("edit.json", "w") as file:
                json.dump(edited, file)
            run = subprocess.run(command, capture_output=True, text=True, timeout=60)
            if run.returncode not in (0, 2, 3, 4):
                sys.exit(f"{name}: status {run.returncode}: {run.stderr}")
            error = next(iter(validator.iter_errors(edited)), None)
            accepted += run.returncode == 0
            refused += run.returncode != 0
            refused_too += run.returncode != 0 and error is not None
            if run.returncode == 0 and error is not None:
                failed += 1
                print(f"{name}, {kind}: accepted, but not by the schema: {list(error.path)}: {error.message[:200]}")
            if kind == "added" and error is None and f"unknown key '{UNKNOWN}'" in run.stderr \
                    and "--set" not in run.stderr:  # a key of policy.set is a path
                failed += 1
                print(f"{name}, {kind}: the schema accepts an unknown key: {run.stderr}")
    print(f"{accepted} edits accepted; of {refused} refused the schema refuses {refused_too}")
    if count > 0 and (accepted == 0 or refused_too * 10 < refused * 6):
        failed += 1
        print("too few")
    sys.exit(1 if failed else 0)


main()
