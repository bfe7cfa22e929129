/* policies/plugin.h -- a policy of your own, built outside this tree, as a shared object.
 *
 * The shared object exports one symbol, `windtunnel_plugin`.  It holds the name of the plug-in, its seam, and the
 * seam's const struct:
 *
 *   static const struct order_policy widest = {.name = "widest", .version = 1, .summary = "...", .rank = rank};
 *   const struct windtunnel_plugin windtunnel_plugin = {
 *       PLUGIN_FOR(ORDER), .name = "widest", .version = "1.0", .policy = &widest};
 *
 * A policy file then names the policy like any other: "order": ["widest"].  docs/examples/plugin is a complete one.
 *
 * Words.  A seam is a struct of hooks at which a policy is put in (policies/order/order.h is one).
 *
 * Parameters.  A plug-in declares what a policy file may set, under "params" and the name of its policy:
 *
 *   static const struct plugin_param params[] = {
 *       {.name = "weight", .kind = PARAM_INT, .low = 0, .high = 100, .otherwise = 8, .help = "GPUs that an hour
 *       counts"}};
 *   const struct windtunnel_plugin windtunnel_plugin = {..., .params = params, .param_count = 1};
 *
 *   "order": ["widest"], "params": {"widest": {"weight": 16}}
 *
 * They are checked like all other fields.  Hooks find them as integers, in this order, in `own` (policies/own.h).
 *
 * State.  If state_size is not 0, the scheduler keeps that number of bytes for the plug-in, zeroed at first, and saves
 * them with its own state.  on_job alone writes them; hooks read them through `own`.
 *
 * Laws
 *  - `abi` always stays the first field.  PLUGIN_ABI goes up whenever a struct that a hook sees or fills changes.  The
 *    exception is a seam's own struct that only grows at its end: its size identifies older plug-ins of that seam, and
 *    plug-ins of other seams need not be built again.  tests/unit/test_plugin.c holds the sizes, so that this is not
 *    forgotten.
 *  - The laws of the seam hold for its hooks here too: they are pure unless the seam says otherwise, use integers, and
 *    give total orders.  A plug-in has no state besides its own and what the seam keeps for a policy (quota: by queue,
 *    estimate: by user and request class); a static variable would outlive a run.
 *  - A plug-in may call the functions of policies/ that tools/plugin_symbols names, and the C library.
 *
 * It does not: load plug-ins.  The program that links the scheduler passes them (policy_config_read_with).  Windtunnel
 * loads them by sim/plugins/load.h; sim/plugins/guard.h checks every call.
 */
#ifndef POLICIES_PLUGIN_H
#define POLICIES_PLUGIN_H

#include "policies/backfill/backfill.h"
#include "policies/estimate/estimate.h"
#include "policies/gang/gangs.h"
#include "policies/jobs/request_class.h"
#include "policies/order/orders.h"
#include "policies/own.h"
#include "policies/placement/placements.h"
#include "policies/preemption/preemption.h"
#include "policies/queues/queues.h"
#include "policies/quota/amounts.h"
#include "policies/quota/quota.h"

#define PLUGIN_ABI    26
#define PLUGIN_SYMBOL "windtunnel_plugin"
enum { PLUGINS_MAX = OWNS_MAX, PLUGIN_STATE_BYTES_MAX = 65536 /* of state_size */ };

enum plugin_seam {
    PLUGIN_NONE,
    PLUGIN_ORDER,      /* struct order_policy; "order" */
    PLUGIN_QUOTA,      /* struct quota_policy; "quota" */
    PLUGIN_PLACEMENT,  /* struct placement_policy; "placement", "placement_firm" */
    PLUGIN_GANG,       /* struct gang_policy; "gang" */
    PLUGIN_ESTIMATE,   /* struct estimate_policy; "estimate" */
    PLUGIN_VICTIM,     /* struct victim_key; "preemption": {"victims"} */
    PLUGIN_PREEMPTION, /* struct preemption_policy; "preemption": {"policy"} */
    PLUGIN_BACKFILL,   /* struct backfill_policy; "backfill": {"policy"} */
    PLUGIN_SEAM_COUNT
};

/* The form of a parameter in a policy file, and the integer that hooks find. */
enum plugin_param_kind {
    PARAM_INT,      /* an integer */
    PARAM_MILLI,    /* a number, in thousandths */
    PARAM_BOOL,     /* true or false: 1 or 0 */
    PARAM_DURATION, /* seconds or a text such as "15m", in nanoseconds */
    PARAM_CHOICE,   /* one of `choices`: its index */
    PARAM_KIND_COUNT
};

struct plugin_param {
    const char *name;             /* 1 to 40 of a-z, 0-9 and '_'; no other parameter's name */
    uint32_t kind;                /* enum plugin_param_kind */
    int64_t low, high, otherwise; /* bounds, default, as hooks find them; BOOL and CHOICE ignore low and high */
    const char *const *choices;   /* of a CHOICE: 2 to OWN_CHOICES_MAX names, then NULL */
    const char *help;             /* a line for people */
};

/* What happened to a job. */
enum plugin_event {
    PLUGIN_JOB_SUBMITTED, /* it is not waiting yet */
    PLUGIN_JOB_STARTED,   /* a START took effect, also of growth; or it ran before the scheduler was made */
    PLUGIN_JOB_EVICTED,   /* some or all of it has left; the view is of what remains */
    PLUGIN_JOB_ENDED,     /* or failed; the view is of what it held last */
};

struct windtunnel_plugin {
    uint32_t abi;                      /* PLUGIN_ABI when this was compiled */
    uint32_t seam;                     /* enum plugin_seam */
    uint32_t policy_size;              /* of the seam's struct, when this was compiled */
    uint32_t view_size;                /* of all structs that its hooks read */
    const char *name;                  /* of the plug-in, for people */
    const char *version;               /* likewise: "1.0" */
    const void *policy;                /* the seam's struct */
    const struct plugin_param *params; /* NULL: it has none */
    uint32_t param_count;              /* at most OWN_PARAMS_MAX */
    uint32_t state_size;               /* bytes; zeroed at first, aligned as for any type; 0: it has none */
    /* Something happened to a job.  The only hook that may write the state; should be O(1).  Present exactly if
     * state_size is not 0. */
    void (*on_job)(void *state, const int64_t *params, enum plugin_event event, const struct order_view *view);
};

/* The sizes that show a change of a struct without a change of PLUGIN_ABI. */
#define PLUGIN_SIZES_ORDER    sizeof(struct order_policy), sizeof(struct order_view) + sizeof(struct order_config)
#define PLUGIN_SIZES_BACKFILL sizeof(struct backfill_policy), sizeof(struct order_view) + sizeof(struct backfill_config)
#define PLUGIN_SIZES_QUOTA                                                                                             \
    sizeof(struct quota_policy), sizeof(struct queue_tree) + sizeof(struct queue_state) + sizeof(struct queue_spec) +  \
                                     sizeof(struct quota_config) + sizeof(struct ledger) +                             \
                                     sizeof(struct request_class) + sizeof(struct taking) + sizeof(struct contender)
#define PLUGIN_SIZES_PLACEMENT                                                                                         \
    sizeof(struct placement_policy), sizeof(struct spot) + sizeof(struct request) + sizeof(struct ledger) +            \
                                         sizeof(struct node_cell) + sizeof(struct gpu_cell) +                          \
                                         sizeof(struct node_index) + sizeof(struct cluster) +                          \
                                         sizeof(struct node_type) + sizeof(struct place)
#define PLUGIN_SIZES_GANG                                                                                              \
    sizeof(struct gang_policy), sizeof(struct gang_view) + sizeof(struct job_group) + sizeof(struct job_set)
#define PLUGIN_SIZES_ESTIMATE   sizeof(struct estimate_policy), sizeof(time_ns)
#define PLUGIN_SIZES_VICTIM     sizeof(struct victim_key), sizeof(struct victim_view)
#define PLUGIN_SIZES_PREEMPTION sizeof(struct preemption_policy), sizeof(struct victim_view)

/* The first four fields of a plug-in for a seam: ORDER, QUOTA, PLACEMENT, GANG, ESTIMATE, VICTIM, PREEMPTION or
 * BACKFILL. */
#define PLUGIN_FOR(seam_) PLUGIN_ABI, PLUGIN_##seam_, PLUGIN_SIZES_##seam_

/* The symbol itself: visible even if the compiler hides symbols by default. */
extern const struct windtunnel_plugin windtunnel_plugin __attribute__((visibility("default")));

/* ---- For the program that loads plug-ins ---- */

struct plugin_set { /* borrowed */
    const struct windtunnel_plugin *plugins[PLUGINS_MAX];
    uint32_t count;
};

const char *plugin_seam_name(enum plugin_seam seam); /* "order", ..., as a policy file says it */
uint32_t plugin_policy_size(enum plugin_seam seam);  /* as compiled here */
uint32_t plugin_view_size(enum plugin_seam seam);

/* Fill config->plugins with the plug-ins of the policies chosen so far, and their parameters with "params" of the
 * policy file.  Fails through the sticky error. */
void plugin_params_read(struct policy_config *config, struct json_object *object, const struct plugin_set *plugins);

/* Append the kind and the bounds of a parameter for people: "an integer from 0 to 100". */
void plugin_param_describe(const struct plugin_param *param, struct buffer *out);
/* Append its value in the form of a policy file. */
void plugin_param_write(const struct plugin_param *param, int64_t value, struct buffer *out);

/* The summary of its policy. */
const char *plugin_summary(const struct windtunnel_plugin *plugin);

/* The name of its policy: the first field of every seam's struct. */
static inline const char *plugin_policy_name(const struct windtunnel_plugin *plugin)
{
    return *(const char *const *)plugin->policy;
}

/* Check that the plug-in can be used together with those of the set: ABI, sizes, seam, names, required hooks.
 * ERROR_CONFIG names `path` and, if it can be known, the policy.  Calls no hook. */
struct error plugin_check(const struct windtunnel_plugin *plugin, const char *path,
                          const struct plugin_set *beside) MUST_CHECK;

#endif
