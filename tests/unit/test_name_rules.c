/* Which of several patterns holds for a name, however they are ordered. */
#include "tests/support/test.h"
#include <string.h>

#include "workloads/readers/name_rules.h"

/* Read the rules from JSON with ' for ". */
static struct name_rules rules_of(const char *text, struct json_doc **doc, struct arena *arena)
{
    struct error sticky = ERROR_OK;
    struct name_rules rules;
    char json[256];
    strncpy(json, text, sizeof json - 1);
    json[sizeof json - 1] = '\0';
    for (char *quote = json; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    assert_false(error_is(json_doc_parse(doc, "rules", text_of(json), ERROR_CONFIG)));
    const struct json_value root = json_doc_root(*doc, &sticky);
    name_rules_read(&rules, &root, arena);
    assert_false(error_is(sticky));
    return rules;
}

TEST(the_order_of_rules_does_not_matter)
{
    static const char *const texts[] = {
        "{'*': 'rest', 'vc-*': 'research', 'vc-1*': 'one', 'vc-12': 'twelve', '?b-1*': 'two', '*-prod': 'prod'}",
        "{'*-prod': 'prod', '?b-1*': 'two', 'vc-12': 'twelve', 'vc-1*': 'one', 'vc-*': 'research', '*': 'rest'}"};
    static const char *const names[][2] = {{"vc-12", "twelve"},  {"vc-13", "one"}, {"vc-7", "research"},
                                           {"ab-17", "two"},     {"x", "rest"},    {"", "rest"},
                                           {"vc-1-prod", "prod"}};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct arena arena = {0};
        struct json_doc *doc;
        const struct name_rules rules = rules_of(texts[t], &doc, &arena);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            assert_string_equal(name_rules_find(&rules, names[n][0])->means, names[n][1]);
        json_doc_free(doc);
        arena_release(&arena);
    }
}

TEST(no_rule_no_meaning)
{
    struct arena arena = {0};
    struct json_doc *doc;
    const struct name_rules rules = rules_of("{'vc-*': 'research'}", &doc, &arena);
    assert_null(name_rules_find(&rules, "vc"));
    assert_null(name_rules_find(&(struct name_rules){0}, "vc"));
    json_doc_free(doc);
    arena_release(&arena);
}
