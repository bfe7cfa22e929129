/* What a check found, for people and for programs. */
#include "studies/check/policy_check.h"

/* The command that runs the scenario of a finding again. */
static void write_command(const struct policy_check *check, const struct check_finding *finding, struct buffer *out)
{
    buffer_format(out, "windtunnel run %s/scenario.json --check", finding->folder);
    if (check->subject.command != NULL)
        buffer_format(out, " --scheduler '%s'", check->subject.command);
}

static bool is_told(const struct policy_check *check, int law)
{
    return check->subject.laws >> law & 1;
}

static void write_broken(const struct policy_check *check, const struct check_finding *finding, struct buffer *out)
{
    buffer_format(out, "          %s\n", finding->what);
    buffer_format(out, "          first in the %s; %zu of %zu worlds\n", finding->world, finding->broken_count,
                  check->played_count);
    if (finding->folder == NULL)
        return;
    buffer_format(out, "          with %u job%s: ", finding->jobs, finding->jobs == 1 ? "" : "s");
    write_command(check, finding, out);
    buffer_char(out, '\n');
}

static void write_law(const struct policy_check *check, int law, struct buffer *out)
{
    const struct check_law_facts *facts = &check_laws[law];
    const struct check_finding *finding = &check->findings[law];
    const char *state = finding->broken_count > 0 ? "BROKEN"
                        : !is_told(check, law)    ? "-"
                        : check->seen[law] == 0   ? "?"
                                                  : "holds";
    buffer_format(out, "  %-7s %-11s %s\n", state, facts->name, facts->meaning);
    if (finding->broken_count > 0)
        write_broken(check, finding, out);
    else if (!is_told(check, law))
        buffer_string(out, "          not claimed\n");
    else
        buffer_format(out, "          %llu %s\n", (unsigned long long)check->seen[law], facts->seen);
}

void policy_check_text(const struct policy_check *check, struct buffer *out)
{
    buffer_format(out, "%s in %zu worlds, seed %llu\n", check->subject.name, check->played_count,
                  (unsigned long long)check->options->seed);
    for (int law = 0; law < CHECK_LAW_COUNT; law++)
        write_law(check, law, out);
    if (check->unsuited_count > 0)
        buffer_format(out, "%zu worlds do not suit the policy and were left out\n", check->unsuited_count);
    if (check->is_given_up)
        buffer_format(out, "%zu worlds were not played, because cycles were not answered\n",
                      check->total_count - check->played_count - check->unsuited_count);
}

static void write_law_json(const struct policy_check *check, int law, struct buffer *out)
{
    const struct check_finding *finding = &check->findings[law];
    const bool holds = finding->broken_count == 0;
    buffer_members(out, ",\n  {'law': %s, 'claimed': %hhd, 'holds': %hhd, 'seen': %llu, 'broken_worlds': %zu",
                   check_laws[law].name, is_told(check, law), holds, (unsigned long long)check->seen[law],
                   finding->broken_count);
    if (finding->broken_count > 0)
        buffer_members(out, ",\n   'what': %s, 'world': %s", finding->what, finding->world);
    if (finding->broken_count > 0 && finding->folder != NULL) {
        struct buffer command = {0};
        write_command(check, finding, &command);
        buffer_members(out, ",\n   'scenario': %s, 'jobs': %u, 'command': %s", finding->folder, finding->jobs,
                       buffer_c_string(&command));
        buffer_release(&command);
    }
    buffer_char(out, '}');
}

void policy_check_json(const struct policy_check *check, struct buffer *out)
{
    buffer_members(out,
                   "{'policy': %s, 'seed': %llu, 'worlds': %zu, 'unsuited_worlds': %zu, 'gave_up': %hhd, 'holds': "
                   "%hhd,\n 'laws': [",
                   check->subject.name, (unsigned long long)check->options->seed, check->played_count,
                   check->unsuited_count, check->is_given_up, policy_check_holds(check));
    for (int law = 0; law < CHECK_LAW_COUNT; law++)
        write_law_json(check, law, out);
    buffer_string(out, "]}\n");
}
