/* tests/support/json_text.h -- JSON inside a C test, with ' in place of ", which a C literal would need to escape.
 *
 *   struct error error = json_text_read(&doc, "policy", "{'order': ['fifo'], 'blocking': 'skip'}");
 *
 * Law: each ' becomes a " and nothing else changes, so lines and columns are those of the literal.  Inside a string \'
 * becomes \", and a string in " keeps its apostrophes; so a text that is JSON already stays as it is.
 *
 * What reads JSON for tests (sched_case.h, random_run.h, ...) takes both kinds, so a test seldom calls this.
 */
#ifndef TESTS_SUPPORT_JSON_TEXT_H
#define TESTS_SUPPORT_JSON_TEXT_H

#include "base/json.h"

/* A copy with " for '; the caller frees it. */
char *json_text_new(const char *quoted);

/* In place. */
void json_text_requote(char *text);

/* Is `is` equal to the text that `quoted` denotes? */
bool json_text_is(const char *is, const char *quoted);

/* Fails the test unless `is` is the text that `quoted` denotes. */
void assert_json_text_equal(const char *is, const char *quoted);

/* As json_doc_parse, with ERROR_CONFIG. */
struct error json_text_read(struct json_doc **out, const char *name, const char *quoted) MUST_CHECK;

/* As above, but a text that does not parse fails the test. */
struct json_doc *json_text_parse(const char *name, const char *quoted);

#endif
