#include "workloads/readers/trace_ids.h"

#include <string.h>

void trace_ids_release(struct trace_ids *ids)
{
    names_free(ids->names);
    mem_free(ids->jobs);
    *ids = (struct trace_ids){0};
}

void trace_ids_add(struct trace_ids *ids, struct text id, time_ns submit, bool is_in_window)
{
    if (ids->names == NULL)
        ids->names = names_new();
    uint32_t name = names_add(ids->names, id);
    MEM_GROW(ids->jobs, ids->capacity, (size_t)name + 1);
    ids->jobs[name] = (struct trace_id){submit, is_in_window ? ids->job_count : JOB_NONE};
    ids->job_count += is_in_window;
}

uint32_t trace_ids_array(struct trace_ids *ids, struct text name)
{
    return names_add(ids->arrays, name) + 1;
}

/* Cut the kind off "ok:17"; without a kind any end counts. */
static uint8_t cut_kind(struct text *item)
{
    static const struct {
        const char *prefix;
        enum after_kind kind;
    } kinds[] = {{"any:", AFTER_ANY}, {"ok:", AFTER_OK}, {"not_ok:", AFTER_NOT_OK}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (item->length <= length || memcmp(item->at, kinds[i].prefix, length) != 0)
            continue;
        item->at += length;
        item->length -= length;
        return (uint8_t)kinds[i].kind;
    }
    return AFTER_ANY;
}

static struct error after_error(const struct line *line, const struct field *field, struct text item,
                                const char *complaint)
{
    return input_error(line->input, line->text, field->place, "'%s': %s \"%.*s\"", field->name, complaint,
                       (int)item.length, item.at);
}

static struct error find_after(const struct trace_ids *ids, const struct line *line, const struct field *field,
                               struct text item, const struct job *job, struct trace_id *found)
{
    uint32_t name = ids->names != NULL ? names_find(ids->names, item) : NAMES_NONE;
    if (name == NAMES_NONE)
        return after_error(line, field, item, "no job stands before this one with the id");
    *found = ids->jobs[name];
    if (found->submit > job->submit)
        return after_error(line, field, item, "submitted later than this one is the job");
    return ERROR_OK;
}

struct error trace_ids_after(const struct trace_ids *ids, const struct line *line, const struct field *field,
                             struct arena *arena, struct job *job)
{
    struct job_after after[JOB_AFTER_MAX];
    struct text rest = field->value, item;
    uint16_t count = 0;
    if (!field_is_set(field))
        return ERROR_OK;
    while (text_cut(&rest, ';', &item)) {
        struct trace_id found = {0, JOB_NONE};
        item = text_trim(item);
        uint8_t kind = cut_kind(&item);
        TRY(find_after(ids, line, field, item, job, &found));
        if (found.index == JOB_NONE)
            continue;
        if (count == JOB_AFTER_MAX)
            return input_error(line->input, line->text, field->place, "'%s': a job may depend on at most %d others",
                               field->name, JOB_AFTER_MAX);
        after[count++] = (struct job_after){found.index, kind};
    }
    if (count == 0)
        return ERROR_OK;
    struct job_after *own = arena_alloc_array(arena, count, struct job_after);
    memcpy(own, after, count * sizeof *own);
    job->after = own;
    job->after_count = count;
    return ERROR_OK;
}
