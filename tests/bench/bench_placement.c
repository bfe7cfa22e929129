/* What a decision about placement costs, in instructions, as the cluster grows: they are counted by valgrind's
 * callgrind, so that the figures are the same on every run of one binary and nothing else on the machine counts.
 *
 * A cluster of one pool of nodes of 8 GPUs is filled to nine tenths by members of random nodes and sizes; every 25th
 * node stays empty, so that gangs of whole nodes have a place.  Then random jobs are given back and others placed,
 * kinds of requests in turn; counted is the placing alone.  Each kind is placed some times before, so that what a
 * policy remembers of nodes is there.
 *
 *   bench_placement              runs itself under valgrind for each size and prints the table
 *   bench_placement count NODES  the part that is counted; a profile per decision, told apart by its trigger */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "policies/config/registry.h"
#include "policies/jobs/fragmentation.h"
#include "policies/placement/placements.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(name) ((void)(name))
#define HAS_NO_CALLGRIND
#endif

enum {
    SIZES = 3,
    KINDS = 5,
    BEFORE = 2,    /* decisions of each kind that are not counted */
    DECISIONS = 8, /* that are */
    GPUS = 8,
    CPUS = 128,
    MEMORY_GIB = 1024,
    EMPTY_EVERY = 25,
    FULL_PERCENT = 90,
    TRIES_PER_NODE = 100,
    NAME_LENGTH = 64
};

/* A member more of whole GPUs may cost this many times as much on a hundred times the nodes. */
static const double promise = 2.0;

struct kind {
    const char *name;
    struct job_group group;
    bool is_mixed;
};

#define HOST(cpus, gib) .cpu_milli = (cpus)*1000, .memory_mib = (gib)*1024

static const struct kind whole_kinds[KINDS] = {
    {"1 GPU", {.request = {.gpus = 1}, .count = 1}, false},
    {"2 GPUs", {.request = {.gpus = 2}, .count = 1}, false},
    {"4 GPUs", {.request = {.gpus = 4}, .count = 1}, false},
    {"8 GPUs", {.request = {.gpus = 8}, .count = 1}, false},
    {"4 x 8 GPUs", {.request = {.gpus = 8}, .count = 4}, false},
};

static const struct kind mixed_kinds[KINDS] = {
    {"mix 0.3", {.request = {.gpu_milli = 300, HOST(2, 16)}, .count = 1}, true},
    {"mix 0.5", {.request = {.gpu_milli = 500, HOST(4, 32)}, .count = 1}, true},
    {"mix 1", {.request = {.gpus = 1, HOST(12, 96)}, .count = 1}, true},
    {"mix 4", {.request = {.gpus = 4, HOST(48, 400)}, .count = 1}, true},
    {"mix 0", {.request = {HOST(4, 16)}, .count = 1}, true},
};

/* As many of each as there are kinds in the mix. */
static struct typical_job typical_list[] = {{{.gpu_milli = 300, HOST(2, 16)}, 0.2, 1, 0},
                                            {{.gpu_milli = 500, HOST(4, 32)}, 0.2, 1, 0},
                                            {{.gpus = 1, HOST(12, 96)}, 0.2, 1, 0},
                                            {{.gpus = 4, HOST(48, 400)}, 0.2, 1, 0},
                                            {{HOST(4, 16)}, 0.2, 1, 0}};
static const struct typical_jobs typical = {typical_list, KINDS, KINDS};

/* ---- what is counted ---- */

struct running {
    uint32_t kind;
    bool is_non_preemptible;
    uint32_t piece_count;
    struct piece pieces[4];
};

struct world {
    struct cluster *cluster;
    struct ledger *ledger;
    const struct kind *kinds;
    struct request_class request_classes[KINDS];
    uint8_t *room; /* by node: as struct ledger says; every fourth job is never evicted */
    struct running *jobs;
    size_t capacity;
    uint32_t count;
    struct piece_list pieces;
    struct random_stream stream;
};

static const uint16_t only_group[1] = {0};

static void world_open(struct world *w, uint32_t nodes, const struct kind *kinds)
{
    *w = (struct world){.kinds = kinds};
    w->cluster = cluster_uniform_new(nodes, GPUS);
    if (kinds[0].is_mixed) {
        w->cluster->types[0].cpu_milli = CPUS * 1000;
        w->cluster->types[0].memory_mib = MEMORY_GIB * 1024;
    }
    w->ledger = ledger_new(w->cluster);
    w->ledger->typical = &typical;
    w->room = mem_zalloc(nodes, 1);
    memset(w->room, GPUS, nodes);
    w->ledger->room = w->room;
    for (uint32_t k = 0; k < KINDS; k++)
        w->request_classes[k] = (struct request_class){
            .groups = &kinds[k].group, .order = only_group, .group_count = 1, .member_count = kinds[k].group.count};
    random_stream_init(&w->stream, 1, "bench placement", nodes);
}

static void world_close(struct world *w)
{
    piece_list_release(&w->pieces);
    mem_free(w->jobs);
    mem_free(w->room);
    ledger_free(w->ledger);
    cluster_free(w->cluster);
}

/* Shares make no GPU firm here. */
static void change_room(struct world *w, const struct running *job, int sign)
{
    for (uint32_t i = 0; job->is_non_preemptible && i < job->piece_count; i++) {
        const struct piece *piece = &job->pieces[i];
        if (piece->gpu_milli != GPU_MILLI)
            continue;
        w->room[piece->node] = (uint8_t)(w->room[piece->node] - sign * (int)bits_count16(piece->gpu_mask));
        ledger_note_change(w->ledger, piece->node);
    }
}

static void keep(struct world *w, uint32_t kind, const struct piece *pieces, uint32_t count)
{
    if (w->count == w->capacity)
        MEM_GROW(w->jobs, w->capacity, w->count + 1);
    struct running *job = &w->jobs[w->count++];
    *job = (struct running){.kind = kind, .is_non_preemptible = random_below(&w->stream, 4) == 0, .piece_count = count};
    memcpy(job->pieces, pieces, count * sizeof *pieces);
    change_room(w, job, 1);
}

/* The slot of the job that holds the piece tells nothing here but to whom whole GPUs belong. */
static struct space space_of(const struct world *w, uint32_t kind, const struct piece *piece)
{
    return request_class_space(&w->request_classes[kind], piece, 1);
}

/* One member of the kind on that node, on the first GPUs that will do.  False: no room. */
static bool put_on(struct world *w, uint32_t kind, node_id node)
{
    const struct request *request = &w->kinds[kind].group.request;
    const struct node_cell *cell = &w->ledger->nodes[node];
    const struct gpu_cell *gpus = &w->ledger->gpus[w->cluster->nodes[node].first_gpu];
    struct piece piece = {.node = node, .member_count = 1, .gpu_milli = GPU_MILLI};
    uint32_t left = request->gpu_milli != 0 ? 1 : request->gpus;
    if (request->gpu_milli != 0)
        piece.gpu_milli = request->gpu_milli;
    for (uint32_t g = 0; g < GPUS && left > 0; g++)
        if (gpus[g].free >= piece.gpu_milli) {
            piece.gpu_mask |= (uint16_t)(1u << g);
            left--;
        }
    if (left > 0 || cell->cpu_free < request->cpu_milli || cell->memory_free < request->memory_mib)
        return false;
    struct space space = space_of(w, kind, &piece);
    ledger_take(w->ledger, &space);
    keep(w, kind, &piece, 1);
    return true;
}

static int64_t most_milli(const struct world *w)
{
    return (int64_t)w->cluster->gpu_count * GPU_MILLI / 100 * FULL_PERCENT;
}

/* Where CPUs or memory run out first it ends when they have. */
static void fill(struct world *w)
{
    const uint32_t tries = w->cluster->node_count * TRIES_PER_NODE;
    for (uint32_t i = 0; i < tries && w->ledger->used_milli < most_milli(w); i++) {
        node_id node = random_below(&w->stream, w->cluster->node_count);
        if (node % EMPTY_EVERY != EMPTY_EVERY - 1)
            put_on(w, random_below(&w->stream, KINDS), node);
    }
}

static void give_back_one(struct world *w)
{
    struct running *job = &w->jobs[random_below(&w->stream, w->count)];
    for (uint32_t i = 0; i < job->piece_count; i++) {
        struct space space = space_of(w, job->kind, &job->pieces[i]);
        ledger_give(w->ledger, &space);
    }
    change_room(w, job, -1);
    *job = w->jobs[--w->count];
}

/* name: NULL: not counted. */
static void decide(struct world *w, const struct placement_policy *policy, uint32_t kind, const char *name)
{
    do
        give_back_one(w);
    while (w->ledger->used_milli > most_milli(w));
    if (name != NULL)
        CALLGRIND_TOGGLE_COLLECT;
    size_t mark = ledger_mark(w->ledger);
    bool is_placed = placement_place(
        w->ledger,
        &(struct placement_request){.policy = policy, .request_class = &w->request_classes[kind], .owner = 1},
        &w->pieces);
    if (is_placed)
        ledger_commit(w->ledger, mark);
    else
        ledger_rollback(w->ledger, mark);
    if (name != NULL) {
        CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(is_placed ? name : ""); /* what was refused is not told */
    }
    if (is_placed)
        keep(w, kind, w->pieces.pieces, w->pieces.count);
}

static void stream(struct world *w, const struct placement_policy *policy)
{
    char name[NAME_LENGTH];
    fill(w);
    for (uint32_t i = 0; i < BEFORE * KINDS; i++)
        decide(w, policy, i % KINDS, NULL);
    CALLGRIND_START_INSTRUMENTATION;
    for (uint32_t i = 0; i < DECISIONS * KINDS; i++) {
        const uint32_t kind = i % KINDS;
        snprintf(name, sizeof name, "%s/%s", policy->name, w->kinds[kind].name);
        decide(w, policy, kind, name);
    }
    CALLGRIND_STOP_INSTRUMENTATION;
}

static void count(uint32_t nodes)
{
    const struct kind *const worlds[] = {whole_kinds, mixed_kinds};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t p = 0; placement_policies[p] != NULL; p++) {
            struct world w;
            world_open(&w, nodes, worlds[i]);
            stream(&w, placement_policies[p]);
            world_close(&w);
        }
}

/* ---- the table ---- */

struct row {
    char name[NAME_LENGTH]; /* of policy/request */
    uint64_t instructions[SIZES][DECISIONS];
    uint32_t decisions[SIZES];
};

struct table {
    struct row *rows;
    size_t capacity;
    uint32_t count;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_placement: %s\n", what);
    exit(4);
}

static struct row *row_of(struct table *table, const char *name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    if (table->count == table->capacity)
        MEM_GROW(table->rows, table->capacity, table->count + 1);
    struct row *row = &table->rows[table->count++];
    *row = (struct row){.decisions = {0}};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

/* A profile: what it was made for, and its total. */
static void add_profile(struct table *table, uint32_t size, const char *path)
{
    static const char trigger[] = "desc: Trigger: Client Request: ", totals[] = "totals: ";
    char line[256], name[NAME_LENGTH] = "";
    unsigned long long total = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail("cannot read what callgrind wrote");
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, trigger, sizeof trigger - 1) == 0)
            snprintf(name, sizeof name, "%.*s", NAME_LENGTH - 1, line + sizeof trigger - 1);
        if (strncmp(line, totals, sizeof totals - 1) == 0)
            total = strtoull(line + sizeof totals - 1, NULL, 10);
    }
    fclose(file);
    if (name[0] == '\0')
        return; /* refused, or the last one, of the end of the program */
    struct row *row = row_of(table, name);
    if (row->decisions[size] < DECISIONS)
        row->instructions[size][row->decisions[size]++] = total;
}

/* Profiles bear ascending numbers: rows come in the order of counting. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
    const char *one = strrchr((*a)->d_name, '.'), *other = strrchr((*b)->d_name, '.');
    const unsigned long first = strtoul(one + 1, NULL, 10), second = strtoul(other + 1, NULL, 10);
    return (first > second) - (first < second);
}

static int is_profile(const struct dirent *entry)
{
    return strncmp(entry->d_name, "profile", 7) == 0;
}

/* Read, and remove, all profiles. */
static void add_profiles(struct table *table, uint32_t size, const char *folder)
{
    struct dirent **entries;
    char path[512];
    int found = scandir(folder, &entries, is_profile, by_number);
    if (found <= 0)
        fail("callgrind wrote nothing");
    for (int i = 0; i < found; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        add_profile(table, size, path);
        unlink(path);
        free(entries[i]);
    }
    free(entries);
}

static void run_counted(const char *self, uint32_t nodes, const char *folder)
{
    char out[512], text[16];
    int status;
    snprintf(out, sizeof out, "--callgrind-out-file=%s/profile.%%p", folder);
    snprintf(text, sizeof text, "%u", nodes);
    pid_t child = fork();
    if (child == 0) {
        execlp("valgrind", "valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no", out,
               self, "count", text, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("counting failed");
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* 0: all were refused. */
static uint64_t median(const struct row *row, uint32_t size)
{
    return row->instructions[size][row->decisions[size] / 2];
}

static uint64_t most(const struct row *row, uint32_t size)
{
    return row->decisions[size] == 0 ? 0 : row->instructions[size][row->decisions[size] - 1];
}

static bool is_promised(const struct row *row)
{
    return strstr(row->name, "/mix") == NULL;
}

static double growth(const struct row *row)
{
    return median(row, 0) == 0 ? 0 : (double)median(row, SIZES - 1) / (double)median(row, 0);
}

static void show(const struct table *table, const uint32_t nodes[SIZES])
{
    printf("Instructions a decision: the median of %d, and the most of those on %u nodes\n\n", DECISIONS,
           nodes[SIZES - 1]);
    printf("%-22s %-10s %10u %10u %10u %10s %7s %7s\n", "policy", "request", nodes[0], nodes[1], nodes[2], "most",
           "ratio", "promise");
    for (uint32_t i = 0; i < table->count; i++) {
        struct row *row = &table->rows[i];
        const int policy = (int)strcspn(row->name, "/");
        for (uint32_t size = 0; size < SIZES; size++)
            qsort(row->instructions[size], row->decisions[size], sizeof(uint64_t), by_size);
        printf("%-22.*s %-10s", policy, row->name, row->name + policy + 1);
        for (uint32_t size = 0; size < SIZES; size++)
            printf(" %10llu", (unsigned long long)median(row, size));
        printf(" %10llu %7.2f %7s\n", (unsigned long long)most(row, SIZES - 1), growth(row),
               is_promised(row) ? "2.00" : "-");
    }
    uint32_t broken = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (is_promised(&table->rows[i]) && growth(&table->rows[i]) > promise)
            printf("%s %s", broken++ == 0 ? "\nnot kept:" : ",", table->rows[i].name);
    printf(broken == 0 ? "\nkept by all\n" : "\n");
}

static bool can_count(void)
{
#ifdef HAS_NO_CALLGRIND
    return false;
#else
    return system("command -v valgrind >/dev/null 2>&1") == 0;
#endif
}

int main(int argc, char **argv)
{
    const char *size = getenv("WINDTUNNEL_TEST_SIZE");
    const bool is_small = size != NULL && strcmp(size, "small") == 0;
    const uint32_t nodes[SIZES] = {is_small ? 150 : 500, is_small ? 300 : 5000, is_small ? 600 : 50000};
    char folder[] = "/tmp/windtunnel-bench-XXXXXX";
    struct table table = {0};
    if (argc == 3 && strcmp(argv[1], "count") == 0) {
        count((uint32_t)strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (!can_count()) {
        printf("not counted: that takes valgrind and its headers; `make deps` installs them\n");
        return 0;
    }
    if (mkdtemp(folder) == NULL)
        fail("no temporary folder");
    for (uint32_t i = 0; i < SIZES; i++) {
        run_counted(argv[0], nodes[i], folder);
        add_profiles(&table, i, folder);
    }
    rmdir(folder);
    show(&table, nodes);
    mem_free(table.rows);
    return 0;
}
