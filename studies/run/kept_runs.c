#include "studies/run/kept_runs.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/input.h"
#include "base/output.h"
#include "reports/result.h"

struct error kept_runs_open(const char *folder)
{
    struct buffer path = {0};
    buffer_format(&path, "%s/" KEPT_RUNS_FOLDER, folder);
    struct error error = output_make_folder(folder);
    if (!error_is(error))
        error = output_make_folder(buffer_c_string(&path));
    buffer_release(&path);
    return error;
}

/* ---- keys ---- */

static const char *digest_of(const struct run_digests *digests, const char *role, const char *path)
{
    const char *digest = path != NULL ? digests->of(digests->self, role, path) : NULL;
    return digest != NULL ? digest : "";
}

static void hash_tables(const struct workload_spec *workload, const struct run_digests *digests, struct buffer *text)
{
    for (uint32_t i = 0; i < workload->table_count; i++)
        buffer_format(text, "table %s\n", digest_of(digests, "table", workload->tables[i].path));
}

void run_configuration_hash(const char *version, const struct scenario *scenario, const struct run_digests *digests,
                            char hex[RUN_KEY_BYTES])
{
    struct buffer text = {0};
    const struct workload_spec *workload = &scenario->workload;
    buffer_format(&text, "windtunnel %s\n%s\n", version, scenario->resolved);
    const char *trace = digest_of(digests, "trace", workload->trace);
    if (trace[0] != '\0')
        buffer_format(&text, "trace %s\n", trace);
    hash_tables(workload, digests, &text);
    for (uint32_t p = 0; p < workload->part_count; p++) {
        buffer_format(&text, "part %s\n", digest_of(digests, "trace", workload->parts[p].spec.trace));
        hash_tables(&workload->parts[p].spec, digests, &text);
    }
    if (scenario->cluster_path[0] != '\0')
        buffer_format(&text, "cluster %s\n", scenario->cluster_digest);
    if (scenario->world.capacity.path != NULL)
        buffer_format(&text, "capacity %s\n", scenario->world.capacity.digest);
    for (uint32_t p = 0; p < scenario->plugins.set.count; p++)
        buffer_format(&text, "plugin %s\n", plugins_file(&scenario->plugins, p).digest);
    hash_hex(text.bytes, text.length, hex);
    buffer_release(&text);
}

void run_key(const char configuration[RUN_KEY_BYTES], uint64_t seed, char key[RUN_KEY_BYTES])
{
    struct buffer text = {0};
    buffer_format(&text, "%s %llu", configuration, (unsigned long long)seed);
    hash_hex(text.bytes, text.length, key);
    buffer_release(&text);
}

struct reading {
    char digest[33]; /* of the last file */
    struct error error;
};

static const char *read_digest(void *self, const char *role, const char *path)
{
    struct reading *reading = self;
    if (error_is(reading->error))
        return NULL;
    if (input_is_once(path)) {
        reading->error = error_new(ERROR_CONFIG,
                                   "the %s %s can be read once only, and runs that are kept read it often", role, path);
        error_set_hint(&reading->error, "write it to a file");
        return NULL;
    }
    reading->error = input_digest(path, reading->digest);
    return error_is(reading->error) ? NULL : reading->digest;
}

struct error run_key_of(const char *version, const struct scenario_options *options, uint64_t seed,
                        char key[RUN_KEY_BYTES])
{
    struct scenario scenario;
    struct scenario_options seedless = *options;
    struct reading reading = {.error = ERROR_OK};
    char configuration[RUN_KEY_BYTES];
    seedless.seed = RUN_KEY_SEED;
    struct error error = scenario_load(&scenario, &seedless);
    if (!error_is(error)) {
        run_configuration_hash(version, &scenario, &(struct run_digests){read_digest, &reading}, configuration);
        run_key(configuration, seed, key);
        error = reading.error;
    }
    scenario_release(&scenario);
    return error;
}

/* ---- results ---- */

const char *kept_runs_path(const char *folder, const char *key, struct buffer *path)
{
    path->length = 0;
    buffer_format(path, "%s/" KEPT_RUNS_FOLDER "/%s" KEPT_RUNS_SUFFIX, folder, key);
    return buffer_c_string(path);
}

/* A file of a folder that a stranger may have made. */
struct error kept_runs_read(const char *path, struct buffer *out, bool *is_kept)
{
    char *bytes;
    size_t length;
    *is_kept = access(path, F_OK) == 0;
    if (!*is_kept)
        return ERROR_OK;
    TRY(input_check_plain(path));
    TRY(input_read_all(path, RESULT_BYTES_MAX, &bytes, &length));
    out->length = 0;
    buffer_bytes(out, bytes, length);
    mem_free(bytes);
    return ERROR_OK;
}

/* Another process may have made the run too. */
struct error kept_runs_write(const char *path, struct text text)
{
    struct buffer there = {0};
    struct output *output;
    bool is_kept;
    struct error error = kept_runs_read(path, &there, &is_kept);
    if (!error_is(error) && is_kept &&
        (there.length != text.length || memcmp(there.bytes, text.at, text.length) != 0)) {
        error = error_new(ERROR_DATA, "a run was made twice with different results: %s holds another one", path);
        error_set_hint(&error, "a run is a function of its inputs: was another program or another machine used?");
    }
    buffer_release(&there);
    if (error_is(error) || is_kept)
        return error;
    TRY(output_open(&output, path, OUTPUT_ZSTD));
    buffer_text(output_buffer(output), text);
    return output_commit(&output);
}
