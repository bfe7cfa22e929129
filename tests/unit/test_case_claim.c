/* Cases: what is refused of tasks that ask GPUs of a class, or by a claim. */
#include "tests/support/test.h"

#include "sim/cases/case.h"
#include "tests/support/case_error.h"
#include "tests/support/scratch.h"

#define TASK                                                                                                           \
    "{'name': 'c', 'nodes': [{'name': 'n0', 'gpus': 4, 'gpu_model': "                                                  \
    "'h100-80gb'}], 'gpu_classes': [{'name': 'full'}, {'name': 'half', "                                               \
    "'gpu_fraction': 0.5}],\n'jobs': [{'name': 'j', 'tasks': [{"
#define END "}]}], 'expect': {'j': {'running': 1}}}"

static const char *write_file(const char *text)
{
    return scratch_write_json("case.json", text);
}

/* The text without its mark '@' is refused at the place of the mark, with a message that holds `words`. */
static void refuse(const char *marked, const char *words)
{
    const char *mark = strchr(marked, '@');
    size_t line = 1, column = 1;
    assert_non_null(mark);
    for (const char *c = marked; c < mark; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    struct buffer text = {0}, expected = {0};
    buffer_bytes(&text, marked, (size_t)(mark - marked));
    buffer_string(&text, mark + 1);
    const char *path = write_file(buffer_c_string(&text));
    buffer_format(&expected, "%s:%zu:%zu:", path, line, column);
    struct error error = case_error_of(path);
    assert_true(error_is(error));
    assert_int_equal(error_exit_status(error.kind), 3);
    char *said = error_text_new(&error);
    if (strstr(said, buffer_c_string(&expected)) == NULL || strstr(said, words) == NULL)
        fail_msg("expected %s ... %s, got %s", buffer_c_string(&expected), words, said);
    free(said);
    buffer_release(&text);
    buffer_release(&expected);
    error_release(&error);
}

TEST(bad_classes)
{
    refuse(TASK "'gpu_class': @'haf'" END, "the case has no GPU class 'haf'");
    refuse(TASK "'gpu_class': @'haf'" END, "did you mean 'half'?");
    refuse(TASK "'gpus': @0, 'gpu_class': 'full'" END, "'gpus': it must be 1 or more of the 'gpu_class'");
    refuse(TASK "'gpus': @2, 'gpu_class': 'half'" END,
           "'gpus': a member holds one piece of a GPU: 'count' says how many members there are");
    refuse(TASK "'gpu_fraction': @0.25, 'gpu_class': 'half'" END,
           "'gpu_fraction': it contradicts the 'gpu_class' beside it");
}

TEST(bad_claims)
{
    refuse(TASK "'gpus': @1, 'claim': {}" END, "'gpus': it excludes 'claim', which says it");
    refuse(TASK "'claim': @{'count': 5}" END, "'claim': no node has enough such GPUs");
    refuse(TASK "'claim': @{'class': 'haf'}" END, "did you mean 'half'?");
    refuse(TASK "'claim': @{'class': 'half', 'match': 'node'}" END, "'match' is of whole GPUs");
    refuse(TASK "'claim': @{'min_memory_gb': 100}" END, "no GPU of this cluster is such as it asks");
}
