#include "workloads/readers/job_ids.h"

#include <string.h>

void job_id_put(const struct job *job, struct buffer *out)
{
    if (job->name != NULL)
        buffer_string(out, job->name);
    else
        buffer_int(out, job->trace_id);
}

struct text job_ids_add(struct job_ids *ids, const struct job *job)
{
    struct text id = text_of(job->name);
    if (ids->names == NULL)
        ids->names = names_new();
    ids->text.length = 0;
    if (job->name == NULL) {
        buffer_int(&ids->text, job->trace_id);
        id = (struct text){ids->text.bytes, ids->text.length};
    }
    const uint32_t text = names_add(ids->names, id);
    MEM_GROW(ids->text_of, ids->text_capacity, (size_t)job->id + 1);
    while (ids->job_count <= job->id)
        ids->text_of[ids->job_count++] = NAMES_NONE;
    MEM_GROW(ids->last_of, ids->last_capacity, (size_t)text + 1);
    ids->text_of[job->id] = text;
    ids->last_of[text] = job->id;
    return text_of(names_text(ids->names, text));
}

/* The text by which a list may name the job; at NULL: it may not. */
static struct text name_of(struct job_ids *ids, job_id job)
{
    const uint32_t text = job < ids->job_count ? ids->text_of[job] : NAMES_NONE;
    ids->unnamed = text != NAMES_NONE ? names_text(ids->names, text) : "";
    const struct text id = text_of(ids->unnamed);
    const bool is_good = text != NAMES_NONE && ids->last_of[text] == job && memchr(id.at, ';', id.length) == NULL &&
                         text_trim(id).length == id.length;
    return is_good ? id : (struct text){NULL, 0};
}

bool job_ids_after(struct job_ids *ids, const struct job *job, struct buffer *out)
{
    static const char *const kinds[] = {[AFTER_ANY] = "any:", [AFTER_OK] = "ok:", [AFTER_NOT_OK] = "not_ok:"};
    const size_t start = out->length;
    for (uint32_t a = 0; a < job->after_count; a++) {
        const struct text id = name_of(ids, job->after[a].job);
        if (id.at == NULL) {
            out->length = start;
            return false;
        }
        if (a > 0)
            buffer_char(out, ';');
        buffer_string(out, kinds[job->after[a].kind]);
        buffer_text(out, id);
    }
    return true;
}

void job_ids_release(struct job_ids *ids)
{
    names_free(ids->names);
    mem_free(ids->text_of);
    mem_free(ids->last_of);
    buffer_release(&ids->text);
    *ids = (struct job_ids){0};
}
