/* What members usually ask; see sim/scenario/typical_kinds.h. */
#include "sim/scenario/typical_kinds.h"

#include "policies/jobs/member_kinds.h"
#include "policies/wire.h"

static struct error count_kinds(struct job_source *source, struct member_kinds *kinds)
{
    struct job job;
    struct job_truth truth;
    bool has = true;
    while (has) {
        TRY(job_source_next(source, &job, &truth, &has));
        for (uint32_t g = 0; has && g < job.group_count; g++) {
            const struct job_group *group = job_group(&job, g);
            member_kinds_add(kinds, member_kinds_find(kinds, &group->request, 0, 1), group->count);
        }
    }
    return ERROR_OK;
}

struct error typical_kinds_write(struct job_source *source, const struct cluster *cluster, struct buffer *out)
{
    struct member_kinds kinds = {0};
    struct typical_jobs typical = {0};
    struct error error = count_kinds(source, &kinds);
    if (!error_is(error)) {
        member_kinds_tell(&kinds, &typical);
        struct job_group *groups = mem_zalloc(typical.count + 1, sizeof *groups);
        for (uint32_t j = 0; j < typical.count; j++) {
            const struct member_kind *kind = &kinds.kinds[member_kinds_find(&kinds, &typical.jobs[j].request, 0, 1)];
            const uint32_t count = kind->members < UINT32_MAX ? (uint32_t)kind->members : UINT32_MAX;
            groups[j] = (struct job_group){.request = kind->request, .count = count, .min_count = count};
        }
        wire_write_kinds(out, cluster, groups, typical.count);
        buffer_char(out, '\n');
        mem_free(groups);
    }
    mem_free(typical.jobs);
    member_kinds_release(&kinds);
    return error;
}
