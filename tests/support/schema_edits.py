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


def edits(value):
    """(kind, path, new value)"""
    for path in places(value):
        old = at(value, path)
        if isinstance(old, dict):
            yield "added", path + (UNKNOWN,), 1
        if not path:
            continue
        replacements = [None, "never", "x", {}, [], True]
        if isinstance(old, (int, float)) and not isinstance(old, bool):
            replacements += [0, -1, old + 1, old * 1000, 0.5, 1e12, str(old)]
        for other in replacements:
            yield "changed", path, other
        yield "dropped", path, None


def edited_value(text, kind, path, new):
    edited = json.loads(text)
    if kind == "dropped":
        del at(edited, path[:-1])[path[-1]]
    else:
        at(edited, path[:-1])[path[-1]] = new
    return edited


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
        everything = list(edits(json.loads(text)))
        random.seed(1)
        for kind, path, new in random.sample(everything, min(count, len(everything))):
            edited = edited_value(text, kind, path, new)
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
                    and "--set" not in run.stderr and "set" not in path[:-1]:  # keys of policy.set are paths
                failed += 1
                print(f"{name}, {kind}: the schema accepts an unknown key: {run.stderr}")
    print(f"{accepted} edits accepted; of {refused} refused the schema refuses {refused_too}")
    if count > 0 and (accepted == 0 or refused_too * 10 < refused * 6):
        failed += 1
        print("too few")
    sys.exit(1 if failed else 0)


main()
