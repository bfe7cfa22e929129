/* May another seed give another result?  A part of a scenario that draws and is not known here would make one run count
 * as exact. */
#include "tests/support/test.h"

#include "studies/run/chance.h"

TEST(test_what_draws)
{
    static const struct {
        const char *scenario;
        bool has_chance;
    } cases[] = {
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {}}", false},
        {"{\"workload\": {\"trace\": \"a.csv\", \"load\": 0.9}, \"world\": {\"estimates\": {\"kind\": \"perfect\"}}}",
         false},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"monitor\": {\"interval_s\": 60, \"noise\": 0}}}", false},
        {"{\"workload\": {\"synth\": {}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\", \"fill\": {\"load\": 1.3}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\", \"blocks\": \"users\"}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\", \"shake\": {\"arrivals_s\": 300}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\", \"activity\": []}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"faults\": {\"fatal_per_job_h\": 0.1}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"cold_starts\": {}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"monitor\": {\"noise\": 0.1}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"monitor\": {\"missing\": 0.1}}}", true},
        {"{\"workload\": {\"trace\": \"a.csv\"}, \"world\": {\"estimates\": {\"kind\": \"noisy\"}}}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (chance_of_scenario(cases[i].scenario) != cases[i].has_chance)
            fail_msg("%s: %s", cases[i].scenario, cases[i].has_chance ? "has chance" : "has none");
}
