/* policies/backfill/easy.c against Batsim's EASY: 801 jobs on 32 machines start when they started there.
 *
 * There the reservation is on particular machines, the lowest first, walltimes plan and delays happen; the schedule is
 * one of the real traces (easy_out_jobs). */
#include "tests/support/test.h"

#include "base/input.h"
#include "policies/backfill/backfills.h"
#include "policies/placement/placements.h"
#include "tests/support/run.h"
#include "tests/support/trace_case.h"

enum { JOBS = 801, MACHINES = 32, LAST_ID = 424242 /* the others count from 0 */ };

/* Start times by the trace's ids, from columns job_id and starting_time. */
static void read_starts(const char *path, double start_s[JOBS])
{
    struct input *input;
    struct text line, field;
    bool has;
    assert_false(error_is(input_open(&input, path, NULL)));
    assert_false(error_is(input_line(input, &line, &has)));
    for (uint32_t rows = 0;; rows++) {
        assert_false(error_is(input_line(input, &line, &has)));
        if (!has) {
            assert_int_equal(rows, JOBS);
            break;
        }
        int64_t id = 0;
        for (int column = 0; text_cut(&line, ',', &field); column++) {
            if (column == 0)
                assert_true(text_to_int64(field, 0, 1000000, &id));
            if (column == 7)
                assert_true(text_to_double(field, &start_s[id == LAST_ID ? JOBS - 1 : id]));
        }
    }
    input_close(input);
}

struct schedule {
    double start_s[JOBS]; /* by id; the last one's is 424242 */
    double wait_s;
    uint32_t jobs;
};

static struct error compare_start(void *self, const struct job_row *row)
{
    struct schedule *schedule = self;
    int64_t id = row->name != NULL ? strtol(row->name, NULL, 10) : (int64_t)row->id;
    double there = schedule->start_s[id == LAST_ID ? JOBS - 1 : id];
    double here = time_to_seconds(row->start);
    if (here < there - 1e-3 || here > there + 1e-3)
        fail_msg("job %lld started at %.6f s, there at %.6f s", (long long)id, here, there);
    schedule->wait_s += time_to_seconds(row->wait);
    schedule->jobs++;
    return ERROR_OK;
}

TEST(every_job_starts_when_it_did_there)
{
    const char *path = trace_real("batsim/easy_out_jobs.csv.zst");
    struct schedule schedule = {.wait_s = 0};
    struct job_source *source;
    if (path == NULL)
        skip();
    read_starts(path, schedule.start_s);
    struct workload_spec spec = {.trace = trace_real("batsim/medium_late.json.zst")};
    assert_non_null(spec.trace);
    struct cluster *cluster = cluster_uniform_new(MACHINES, 1);
    struct run_setup setup = run_setup_default(cluster);
    setup.policy.placement = setup.policy.placement_firm = &placement_first_fit;
    setup.policy.backfill = &backfill_easy;
    setup.policy.backfill_config = backfill_easy.defaults;
    setup.policy.backfill_config.names_gpus = true;
    assert_false(error_is(job_source_open(&source, &spec, cluster, 1)));
    run_source(&setup, source, &(struct record_sink){.self = &schedule, .on_job = compare_start});
    assert_int_equal(schedule.jobs, JOBS);
    print_message("mean wait %.6f s; there 9.516326 s\n", schedule.wait_s / JOBS);
    assert_true(schedule.wait_s / JOBS > 9.5163 && schedule.wait_s / JOBS < 9.5164);
    cluster_free(cluster);
}
