/* base/json_file.h -- a file that is a JSON document.
 *
 *   struct json_doc *doc;
 *   TRY(json_file_read(&doc, path, 1 << 20, ERROR_CONFIG, NULL));
 */
#ifndef BASE_JSON_FILE_H
#define BASE_JSON_FILE_H

#include "base/json.h"

/* On error *doc is NULL.  bytes_max: of the file.  kind: of errors in the text (json_doc_parse).  digest: of the file;
 * NULL: it is not asked. */
struct error json_file_read(struct json_doc **doc, const char *path, uint64_t bytes_max, enum error_kind kind,
                            char digest[33]) MUST_CHECK;

#endif
