/* sim/referee/referee_tags.c -- rules of tags, checked against the holdings of all jobs. */
#include "sim/referee/referee_books.h"

struct presence {
    int64_t stay, present; /* members */
};

static bool is_in_place(const struct referee *referee, uint8_t level, node_id where, node_id node)
{
    if (level == 0)
        return where == node;
    const uint32_t *domain = referee->cluster->levels[level - 1].domain;
    return domain[where] != DOMAIN_NONE && domain[where] == domain[node];
}

/* Add the members on pieces in the domain of `where`; NODE_NONE: on all pieces. */
static void count_pieces(const struct referee *referee, uint8_t level, node_id where, const struct piece *pieces,
                         uint32_t count, int64_t *members)
{
    for (uint32_t i = 0; i < count; i++)
        if (where == NODE_NONE || is_in_place(referee, level, where, pieces[i].node))
            *members += pieces[i].member_count;
}

static struct presence presence_of(const struct referee *referee, const struct referee_job *job, uint8_t level,
                                   node_id where)
{
    struct presence out = {0, 0};
    int64_t leaving = 0;
    count_pieces(referee, level, where, job_pieces_all(&job->running), job->running.piece_count, &out.present);
    if (job->is_leaving)
        leaving = out.present;
    for (uint32_t p = 0; p < job->part_count; p++)
        count_pieces(referee, level, where, job->parts[p].pieces, job->parts[p].piece_count,
                     job->parts[p].is_join ? &out.present : &leaving);
    out.stay = out.present > leaving ? out.present - leaving : 0;
    return out;
}

static bool has_tag(const struct referee_job *job, uint32_t tag)
{
    const struct job_tags *tags = job->job.tags;
    for (uint32_t t = 0; tags != NULL && t < tags->tag_count; t++)
        if (tags->tags[t] == tag)
            return true;
    return false;
}

/* Members of other jobs that have the tag. */
static struct presence others_with(const struct referee *referee, const struct referee_job *own, uint32_t tag,
                                   uint8_t level, node_id where)
{
    struct presence sum = {0, 0};
    for (uint32_t id = 0; id < referee->id_count; id++) {
        const struct referee_job *job = referee_job(referee, id);
        if (job == NULL || job == own || !has_tag(job, tag))
            continue;
        const struct presence here = presence_of(referee, job, level, where);
        sum.stay += here.stay;
        sum.present += here.present;
    }
    return sum;
}

static const char *level_name(const struct referee *referee, uint8_t level)
{
    return level == 0 ? "node" : referee->cluster->levels[level - 1].name;
}

static bool own_rules_hold(struct referee *referee, const struct referee_job *own, node_id node)
{
    const struct job_tags *tags = own->job.tags;
    for (uint32_t r = 0; r < tags->rule_count; r++) {
        const struct tag_rule *rule = &tags->rules[r];
        const struct presence here = others_with(referee, own, rule->tag, rule->level, node);
        if (rule->is_preferred)
            continue;
        if (rule->is_apart && here.present > 0)
            return referee_says(referee, "its rule %u must keep it from the %s of node '%s'", r,
                                level_name(referee, rule->level), referee->cluster->nodes[node].name);
        if (!rule->is_apart && here.stay == 0 &&
            (!has_tag(own, rule->tag) || others_with(referee, own, rule->tag, 0, NODE_NONE).stay > 0))
            return referee_says(referee, "its rule %u is not met in the %s of node '%s'", r,
                                level_name(referee, rule->level), referee->cluster->nodes[node].name);
    }
    return true;
}

/* Does no rule of another job keep it away from there? */
static bool is_welcome(struct referee *referee, const struct referee_job *own, node_id node)
{
    for (uint32_t id = 0; id < referee->id_count; id++) {
        const struct referee_job *job = referee_job(referee, id);
        if (job == NULL || job == own || job->job.tags == NULL)
            continue;
        for (uint32_t r = 0; r < job->job.tags->rule_count; r++) {
            const struct tag_rule *rule = &job->job.tags->rules[r];
            if (rule->is_apart && !rule->is_preferred && has_tag(own, rule->tag) &&
                presence_of(referee, job, rule->level, node).present > 0)
                return referee_says(referee, "job %u keeps it from the %s of node '%s'", id,
                                    level_name(referee, rule->level), referee->cluster->nodes[node].name);
        }
    }
    return true;
}

bool referee_tags_hold(struct referee *referee, const struct referee_job *job, const struct piece *pieces,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count && job->job.tags != NULL; i++)
        if (!own_rules_hold(referee, job, pieces[i].node) || !is_welcome(referee, job, pieces[i].node))
            return false;
    return true;
}
