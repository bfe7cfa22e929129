#include "policies/jobs/request_archive.h"

#include <string.h>

void request_archive(struct archive *archive, struct request *request)
{
    ARCHIVE_KNOWS(struct request, 40);
    ARCHIVE(archive, request->gpus);
    ARCHIVE(archive, request->gpu_milli);
    ARCHIVE(archive, request->gpu_memory_mib);
    ARCHIVE(archive, request->mig);
    ARCHIVE(archive, request->one_island);
    ARCHIVE(archive, request->share);
    ARCHIVE(archive, request->domain);
    ARCHIVE(archive, request->cpu_milli);
    ARCHIVE(archive, request->memory_mib);
    ARCHIVE(archive, request->gpu_models);
    uint32_t ask = request->nodes == NULL ? 0 : 1 + node_asks_number(archive->asks, request->nodes);
    ARCHIVE(archive, ask);
    if (!archive_is_reading(archive))
        return;
    archive_expect(archive, ask == 0 || (archive->asks != NULL && ask <= archive->asks->count));
    request->nodes = ask == 0 || archive->is_broken ? NULL : archive->asks->asks[ask - 1];
}

/* Load one node ask from its text and its types. */
static void read_ask(struct archive *archive, struct node_asks *asks, char *text, uint32_t type_count)
{
    const uint32_t words = (type_count + 63) / 64;
    struct arena scratch = {0};
    struct node_ask ask = {.term_count = 0};
    archive_expect(archive, words <= archive_left(archive) / sizeof(uint64_t));
    archive_expect(archive, !archive->is_broken && node_ask_of_text(text, &scratch, &ask));
    if (!archive->is_broken) {
        uint64_t *types = arena_alloc_array(&scratch, words, uint64_t);
        archive_bytes(archive, types, words * sizeof *types);
        ask.types = types;
        ask.type_count = type_count;
        node_asks_own(asks, &ask);
    }
    arena_release(&scratch);
}

/* Save or load all node asks; this comes before the first request. */
void request_archive_asks(struct archive *archive, struct node_asks *asks)
{
    ARCHIVE_KNOWS(struct node_asks, 48);
    ARCHIVE_KNOWS(struct node_ask, 72);
    uint32_t count = asks->count;
    archive->asks = asks;
    ARCHIVE(archive, count);
    for (uint32_t i = 0; i < count && !archive->is_broken; i++) {
        const struct node_ask *ask = archive_is_reading(archive) ? NULL : asks->asks[i];
        uint32_t length = ask != NULL ? (uint32_t)strlen(ask->text) : 0;
        uint32_t type_count = ask != NULL ? ask->type_count : 0;
        ARCHIVE(archive, length);
        ARCHIVE(archive, type_count);
        if (ask != NULL) {
            archive_bytes(archive, (char *)(uintptr_t)ask->text, length);
            archive_bytes(archive, (uint64_t *)(uintptr_t)ask->types, (type_count + 63) / 64 * sizeof *ask->types);
            continue;
        }
        archive_expect(archive, length <= archive_left(archive));
        char *text = mem_zalloc(archive->is_broken ? 1 : length + 1, 1);
        archive_bytes(archive, text, archive->is_broken ? 0 : length);
        read_ask(archive, asks, text, type_count);
        mem_free(text);
        archive_expect(archive, asks->count == i + 1);
    }
}

void request_archive_group(struct archive *archive, struct job_group *group)
{
    ARCHIVE_KNOWS(struct job_group, 56);
    request_archive(archive, &group->request);
    ARCHIVE(archive, group->count);
    ARCHIVE(archive, group->min_count);
    ARCHIVE(archive, group->set);
    ARCHIVE(archive, group->slice_level);
    ARCHIVE(archive, group->slice_members);
}

void request_archive_set(struct archive *archive, struct job_set *set)
{
    ARCHIVE_KNOWS(struct job_set, 24);
    ARCHIVE(archive, set->parent);
    ARCHIVE(archive, set->min_sets);
    ARCHIVE(archive, set->min_members);
    ARCHIVE(archive, set->topology);
    set->name = "";
}

/* Field by field, because a rule holds flags. */
void request_archive_tags(struct archive *archive, struct job_tags *tags)
{
    ARCHIVE_KNOWS(struct job_tags, 84);
    ARCHIVE_KNOWS(struct tag_rule, 8);
    ARCHIVE(archive, tags->tags);
    for (size_t r = 0; r < JOB_TAG_RULES_MAX; r++) {
        struct tag_rule *rule = &tags->rules[r];
        ARCHIVE(archive, rule->tag);
        ARCHIVE(archive, rule->level);
        ARCHIVE(archive, rule->is_apart);
        ARCHIVE(archive, rule->is_preferred);
        ARCHIVE(archive, rule->unused);
    }
    ARCHIVE(archive, tags->tag_count);
    ARCHIVE(archive, tags->rule_count);
}
