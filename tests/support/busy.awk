# tests/support/busy.awk -- a busy trace for a small cluster, as JSON lines: gangs with minima, sets, arrays,
# dependencies, shares, instances, estimates, priorities.  awk -v jobs=N -f tests/support/busy.awk
function draw(n) {
    seed = (seed * 16807) % 2147483647
    return seed % n
}
function field(name, value) {
    line = line ",\"" name "\":" value
}
function text(name, value) {
    field(name, "\"" value "\"")
}
function what_it_asks(kind) {
    if (kind < 3) {
        field("gpus", 1 + draw(4))
        field("nodes", 1)
    } else if (kind < 5) {
        nodes = 1 + draw(3)
        field("gpus", 8 * nodes)
        field("nodes", nodes)
    } else if (kind == 5) {
        field("gpus", 8)
        field("min_members", 2 + draw(3))
    } else if (kind == 6) {
        field("gpus", 0)
        field("gpu_fraction", "0." (1 + draw(8)))
    } else if (kind == 7) {
        field("gpus", 0)
        field("gpu_memory_gb", 8 + 4 * draw(12))
    } else if (kind == 8) {
        field("gpus", 0)
        text("mig_profile", draw(2) ? "1g.10gb" : "3g.40gb")
    } else if (kind == 9) {
        field("gpus", 0)
        field("cpus", 4 + draw(30))
        field("memory_gb", 16.5 * (1 + draw(4)))
    } else if (kind == 10) {
        field("groups", "[{\"count\":" (2 + draw(4)) ",\"min_members\":1,\"gpus\":2,\"cpus\":1.5},{\"cpus\":2}]")
    } else {
        field("topology", "{\"required\":\"rack\",\"preferred\":\"node\"}")
        field("sets", "[{\"name\":\"l\",\"min_members\":1}," \
                      "{\"name\":\"w\",\"min_members\":2,\"topology\":{\"required\":\"rack\"}}]")
        field("groups", "[{\"set\":\"l\",\"gpus\":1},{\"set\":\"w\",\"count\":" (2 + draw(2)) ",\"gpus\":2}]")
    }
}
BEGIN {
    seed = 20260101
    for (i = 1; i <= jobs; i++) {
        at += draw(40)
        line = "{\"job_id\":" i
        field("submit_s", at)
        field("duration_s", 30 + draw(600) + draw(8) / 8)
        text("queue", substr("abc", 1 + draw(3), 1))
        text("user", "u" draw(4))
        field("priority", 10 * draw(12))
        text("class", draw(5) == 0 ? "inference" : draw(3) == 0 ? "interactive" : "training")
        if (draw(2)) {
            field("checkpoint_interval_s", 60)
            field("checkpoint_duration_s", draw(40))
            field("restart_s", 5)
        }
        if (draw(2)) {
            field("limit_s", 300 + draw(600))
            field("estimate_s", 30 + draw(600))
        }
        if (i > 20 && draw(8) == 0)
            text("after", (draw(3) == 0 ? "not_ok:" : "") (i - 1 - draw(15)))
        if (draw(8) == 0) {
            text("array", "x" int(i / 40))
            field("array_max", 2)
        }
        if (draw(9) == 0)
            text("outcome", "failed")
        what_it_asks(draw(12))
        print line "}"
    }
}
