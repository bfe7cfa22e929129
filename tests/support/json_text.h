/* tests/support/json_text.h -- JSON inside a C test, with ' in place of ", which a C literal would need to escape.
 *
 *   char *text = json_text_new("{'order': ['fifo'], 'blocking': 'skip'}");
 *   ... json_doc_parse(&doc, "test", text_of(text), ERROR_CONFIG) ...
 *   free(text);
 *
 * Law: each ' becomes a " and nothing else changes, so lines and columns are those of the literal.  A text that holds
 * an apostrophe cannot be written so.
 *
 * What reads JSON for tests (sched_case.h, quota_case.h, ...) takes both, so a test seldom calls this.
 */
#ifndef TESTS_SUPPORT_JSON_TEXT_H
#define TESTS_SUPPORT_JSON_TEXT_H

#include "base/json.h"

/* The same with " for '; the caller's to free. */
char *json_text_new(const char *quoted);

/* In place. */
void json_text_requote(char *text);

/* Fails the test unless `is` is the text that `quoted` stands for. */
void assert_json_text_equal(const char *is, const char *quoted);

/* As json_doc_parse, of a configuration; it must parse. */
struct json_doc *json_text_parse(const char *name, const char *quoted);

#endif
