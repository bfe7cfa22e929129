/* libFuzzer: bytes as a scenario, with its cluster, queues, policy, world and mix; a few jobs of it are drawn.  The
 * folder of the scenario is /proc/self/fd, so it names no file that is there.  `make fuzz` runs it. */
#include "tests/fuzz/fuzz_file.h"

#include "sim/scenario/scenario.h"

enum { JOBS_MAX = 200 };

static struct error draw(const struct scenario *scenario)
{
    struct job_source *source;
    struct job job;
    struct job_truth truth;
    bool has = true;
    TRY(scenario_open(scenario, &source));
    struct error error = ERROR_OK;
    for (int i = 0; has && i < JOBS_MAX && !error_is(error); i++) {
        error = job_source_next(source, &job, &truth, &has);
        if (!error_is(error) && has && job_complaint(&job) != NULL)
            abort();
    }
    job_source_close(source);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_file file = fuzz_file_new(bytes, size);
    const struct scenario_options options = {.path = file.path};
    struct scenario scenario;
    struct error error = scenario_load(&scenario, &options);
    if (!error_is(error)) {
        error = draw(&scenario);
        scenario_release(&scenario);
    }
    fuzz_answered(error);
    fuzz_file_free(&file);
    return 0;
}
