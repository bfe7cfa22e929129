#include "workloads/readers/declared.h"

#include "base/buffer.h"

void declared_init(struct declared *declared, const struct communication_table *table, const struct names *users,
                   const struct names *classes)
{
    declared->users = users;
    declared->classes = classes;
    if (table->count == 0)
        return;
    declared->table = table;
    declared->by_row = mem_zalloc(table->count, sizeof *declared->by_row);
}

void declared_set_copies(struct declared *declared, const struct blocks_users *copies)
{
    declared->copies = copies;
}

struct job_names declared_names(const struct declared *declared, const struct job *job, const struct job_truth *truth)
{
    const struct blocks_users *copies = declared->copies;
    const uint32_t user = copies != NULL && job->user < copies->count ? copies->original[job->user] : job->user;
    return (struct job_names){
        .user = user != NAMES_NONE ? names_text(declared->users, user) : "",
        .workload_class = truth->workload_class != 0 ? names_text(declared->classes, truth->workload_class - 1u) : "",
    };
}

static int row_of(const struct declared *declared, const struct job *job, const struct job_truth *truth)
{
    return communication_table_row(declared->table, job, declared_names(declared, job, truth));
}

struct error declared_check(struct declared *declared, const struct job *job, const struct job_truth *truth,
                            const char *what)
{
    if (declared->table == NULL)
        return ERROR_OK;
    const int row = row_of(declared, job, truth);
    if (row == COMMUNICATION_ROW_NONE)
        return ERROR_OK;
    struct job unused = *job;
    return communication_table_apply(declared->table, (uint32_t)row, &unused, what, &declared->set);
}

struct error declared_add(struct declared *declared, struct job *job, const struct job_truth *truth,
                          struct workload_facts *facts)
{
    facts->declared_count += job->communication != NULL;
    if (declared->table == NULL)
        return ERROR_OK;
    const int row = row_of(declared, job, truth);
    if (row == COMMUNICATION_ROW_NONE)
        return ERROR_OK;
    declared->by_row[row]++;
    return communication_table_apply(declared->table, (uint32_t)row, job, NULL, &declared->set);
}

struct synth_check {
    struct declared *declared;
    struct error error;
};

static bool check_size(void *self, const struct job *job, uint32_t class_index, uint32_t size_index)
{
    struct synth_check *check = self;
    const struct job_truth truth = {.workload_class = (uint8_t)(class_index + 1)};
    struct buffer what = {0};
    buffer_format(&what, "size %u of the class '%s'", size_index + 1,
                  names_text(check->declared->classes, class_index));
    check->error = declared_check(check->declared, job, &truth, buffer_c_string(&what));
    buffer_release(&what);
    return !error_is(check->error);
}

struct error declared_check_synth(struct declared *declared, const struct synth *synth)
{
    struct synth_check check = {declared, ERROR_OK};
    if (declared->table != NULL)
        synth_sizes(synth, check_size, &check);
    return check.error;
}

void declared_release(struct declared *declared)
{
    communication_set_release(&declared->set);
    mem_free(declared->by_row);
    *declared = (struct declared){0};
}
