#include "base/json_file.h"

#include "base/input.h"
#include "base/mem.h"

struct error json_file_read(struct json_doc **doc, const char *path, uint64_t bytes_max, enum error_kind kind,
                            char digest[33])
{
    char *bytes;
    size_t length;
    *doc = NULL;
    TRY(digest != NULL ? input_read_all_digest(path, bytes_max, &bytes, &length, digest)
                       : input_read_all(path, bytes_max, &bytes, &length));
    struct error error = json_doc_parse(doc, path, (struct text){bytes, length}, kind);
    mem_free(bytes);
    return error;
}
