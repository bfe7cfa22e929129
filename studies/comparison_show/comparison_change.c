/* studies/comparison_show/comparison_change.c -- what a change changes, and the inputs of its sides. */
#include <string.h>

#include "studies/comparison/proposal.h"
#include "studies/comparison_show/comparison_view.h"

enum { LINES_MAX = 20, DIGEST_SHOWN = 16 };

void comparison_write_change(const struct comparison *comparison, const struct proposal_line *line, struct buffer *out)
{
    if (line->kind == PROPOSAL_OF_JOBS)
        buffer_string(out, "the jobs: ");
    proposal_write(line, out);
    if (line->kind == PROPOSAL_OF_JOBS)
        buffer_format(out, "; both sides run those of %s",
                      comparison->options->proposal->runs_base_jobs ? "the base" : "the change");
    else if (line->kind == PROPOSAL_OF_RULES && line->before == NULL && line->gate != NULL)
        buffer_string(out, "; the base has no such gate: it is shown, and judges nothing");
    else if (line->kind == PROPOSAL_OF_RULES)
        buffer_string(out, "; the rules of the base judge");
}

void comparison_add_changes(struct show *show, const struct comparison *comparison)
{
    const struct proposal *proposal = comparison->options->proposal;
    if (proposal == NULL)
        return;
    show_section(show,
                 proposal->line_count > 0 ? "What the change changes" : "The change changes nothing that is read");
    for (size_t i = 0; i < proposal->line_count && i < LINES_MAX; i++)
        comparison_write_change(comparison, &proposal->lines[i], show_line(show, SHOW_ITEM));
    if (proposal->line_count > LINES_MAX)
        buffer_format(show_line(show, SHOW_NOTE), "and %zu more, which --format json lists",
                      proposal->line_count - LINES_MAX);
}

void comparison_add_inputs(struct show *show, const struct comparison *comparison)
{
    const struct proposal *proposal = comparison->options->proposal;
    if (proposal == NULL)
        return;
    show_section(show, "Inputs, by the digests of the files");
    show_table(show, "file", "<is", "<base", "<change", NULL);
    for (size_t i = 0; i < proposal->input_count; i++) {
        const struct proposal_input *input = &proposal->inputs[i];
        const char *const *digests = input->digests;
        const bool is_same = digests[0] != NULL && digests[1] != NULL && strcmp(digests[0], digests[1]) == 0;
        show_row(show, input->path);
        buffer_string(show_cell(show), input->role);
        for (int side = 0; side < PROPOSAL_SIDES; side++)
            if (side == 1 && is_same)
                buffer_string(show_cell(show), "the same");
            else
                buffer_format(show_cell(show), "%.*s", DIGEST_SHOWN, digests[side] != NULL ? digests[side] : "none");
    }
}

void comparison_write_change_json(const struct comparison *comparison, struct buffer *out)
{
    static const char *const kinds[] = {"sides", "jobs", "rules", "form"};
    const struct proposal *proposal = comparison->options->proposal;
    if (proposal == NULL)
        return;
    buffer_members(out, "'change': {'jobs_of': %s, 'lines': [", proposal->runs_base_jobs ? "base" : "change");
    for (size_t i = 0; i < proposal->line_count; i++)
        buffer_members(out, ",\n  {'of': %s, 'path': %s, 'before': %s, 'after': %s}", kinds[proposal->lines[i].kind],
                       proposal->lines[i].path, proposal->lines[i].before, proposal->lines[i].after);
    buffer_string(out, "],\n \"inputs\": [");
    for (size_t i = 0; i < proposal->input_count; i++)
        buffer_members(out, ",\n  {'role': %s, 'path': %s, 'base': %s, 'change': %s}", proposal->inputs[i].role,
                       proposal->inputs[i].path, proposal->inputs[i].digests[0], proposal->inputs[i].digests[1]);
    buffer_string(out, "]},\n");
}
