/* The referee's books of the jobs that share a GPU or a node, under a sharing policy; see
 * sim/referee/referee_books.h. */
#include "sim/referee/referee_books.h"

void referee_share(struct referee *referee, const struct policy_config *policy, const struct queue_table *queues)
{
    if (sharing_is_used(policy->sharing, &policy->sharing_config))
        referee->sharing = (struct sharing){.policy = policy->sharing,
                                            .config = &policy->sharing_config,
                                            .cluster = referee->cluster,
                                            .queues = queues,
                                            .recuts = policy->geometry->score != NULL};
}

static void move_share(struct referee_share *share, uint8_t kind, uint32_t domain, int64_t members)
{
    if (share->clients == 0)
        *share = (struct referee_share){.domain = domain, .kind = kind};
    else if (members > 0 && (share->kind != kind || share->domain != domain))
        share->kind = SHARE_MIXED; /* or was mixed already */
    share->clients += (uint32_t)members;
}

void referee_move_share(struct referee *referee, const struct request *request, const struct piece *piece,
                        int64_t members)
{
    struct referee_gpu *first = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu];
    move_share(&referee->nodes[piece->node].share, 0, request->domain, members);
    if (piece->gpu_mask != 0 && piece->gpu_milli < GPU_MILLI && request->mig == 0)
        move_share(&first[__builtin_ctz(piece->gpu_mask)].share, request->share, request->domain, members);
}

/* Under a sharing policy: may such a member join the clients that are there?  most 0: any number. */
static bool is_company(const struct referee_share *share, uint8_t kind, uint32_t domain, uint32_t most)
{
    return share->clients == 0 ||
           (share->kind == kind && share->domain == domain && (most == 0 || share->clients < most));
}

bool referee_has_company(struct referee *referee, const struct request *request, const struct piece *piece)
{
    const struct sharing *sharing = &referee->sharing;
    const struct referee_node *node = &referee->nodes[piece->node];
    if (sharing->policy == NULL || piece->gpu_mask == 0)
        return true;
    const uint32_t index = (uint32_t)__builtin_ctz(piece->gpu_mask);
    const struct referee_gpu *gpu = &referee->gpus[referee->cluster->nodes[piece->node].first_gpu + index];
    if (request->mig == 0 && piece->gpu_milli < GPU_MILLI &&
        !is_company(&gpu->share, request->share, request->domain, sharing->config->clients_max[request->share]))
        return referee_says(referee, "GPU %u of node %s is not shared with such a member", index,
                            referee->cluster->nodes[piece->node].name);
    if (sharing->config->isolation == ISOLATION_NODE && !is_company(&node->share, 0, request->domain, 0))
        return referee_says(referee, "node %s is of another trust domain", referee->cluster->nodes[piece->node].name);
    return true;
}
