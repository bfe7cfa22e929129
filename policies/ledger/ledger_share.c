/* Which members share a GPU or a node: kinds, domains and clients; see struct share_cell in policies/ledger/ledger.h.
 *
 * Law: all clients of a cell are of its kind and domain, unless it is mixed.  There are next clients only if all
 * clients are leaving; they become the clients when the last client has left.  Space with member_count 0 has no client.
 */
#include <assert.h>

#include "policies/ledger/ledger_inside.h"

enum { SHARE_CELL_WORDS = sizeof(struct share_cell) / sizeof(uint64_t) };
static_assert(sizeof(struct share_cell) % sizeof(uint64_t) == 0, "a cell is logged in words");

struct key {
    uint32_t domain;
    uint8_t kind;
};

static bool is_now(const struct share_cell *cell, struct key key)
{
    return cell->clients > 0 && cell->domain == key.domain && cell->kind == key.kind;
}

static bool is_next(const struct share_cell *cell, struct key key)
{
    return cell->next_clients > 0 && cell->next_domain == key.domain && cell->next_kind == key.kind;
}

static void put_cell(struct ledger *ledger, enum table table, uint32_t element, const struct share_cell *after)
{
    struct share_cell *cell = table == TABLE_SHARE ? &ledger->shares[element] : &ledger->node_shares[element];
    uint64_t words[SHARE_CELL_WORDS], new_words[SHARE_CELL_WORDS];
    memcpy(words, cell, sizeof words);
    memcpy(new_words, after, sizeof new_words);
    for (uint32_t w = 0; w < SHARE_CELL_WORDS; w++)
        if (words[w] != new_words[w])
            log_word(ledger, table, element, w, words[w]);
    *cell = *after;
}

void ledger_undo_share(struct ledger *ledger, const struct ledger_entry *entry)
{
    const uint32_t element = entry->table_index & ((1u << LEDGER_TABLE_SHIFT) - 1);
    struct share_cell *cell = entry->table_index >> LEDGER_TABLE_SHIFT == TABLE_SHARE ? &ledger->shares[element]
                                                                                      : &ledger->node_shares[element];
    memcpy((char *)cell + entry->word * sizeof entry->old, &entry->old, sizeof entry->old);
}

/* If no client is left, the next clients become the clients. */
static void settle(struct share_cell *cell)
{
    if (cell->clients > 0)
        return;
    assert(cell->leaving == 0);
    *cell = (struct share_cell){.domain = cell->next_domain, .clients = cell->next_clients, .kind = cell->next_kind};
}

/* In a trial, clients of a mixed cell may leave and come back.  Once all have left, was_mixed keeps that the cell was
 * mixed, since its clients no longer show it. */
static void settle_trial(const struct ledger *ledger, struct share_cell *cell)
{
    const bool was_mixed = cell->was_mixed || cell->kind == SHARE_MIXED;
    settle(cell);
    if (cell->clients == 0 && ledger->mark_depth > 0)
        cell->was_mixed = was_mixed;
}

static void join(struct share_cell *cell, struct key key, uint32_t members, bool is_claim)
{
    if (cell->clients == 0) {
        assert(cell->next_clients == 0);
        *cell = (struct share_cell){
            .domain = key.domain, .clients = members, .kind = key.kind, .was_mixed = cell->was_mixed};
    } else if (is_now(cell, key)) {
        cell->clients += members;
    } else if (!is_claim) {
        assert(cell->next_clients == 0);
        cell->clients += members;
        cell->kind = SHARE_MIXED;
        cell->domain = 0;
    } else {
        assert(cell->leaving == cell->clients);
        assert(cell->next_clients == 0 || is_next(cell, key));
        cell->next_domain = key.domain;
        cell->next_kind = key.kind;
        cell->next_clients += members;
    }
}

/* Is the member one of the clients, not of the next?  On a mixed cell only next clients give up a claim. */
static bool is_client(const struct share_cell *cell, struct key key, enum move move)
{
    return cell->kind == SHARE_MIXED ? move != MOVE_UNCLAIM : is_now(cell, key);
}

static void leave(const struct ledger *ledger, struct share_cell *cell, struct key key, uint32_t members,
                  enum move move)
{
    const bool is_leaver = move == MOVE_ARRIVE;
    if (is_client(cell, key, move)) {
        assert(cell->clients >= members && cell->leaving >= (is_leaver ? members : 0));
        cell->clients -= members;
        cell->leaving -= is_leaver ? members : 0;
    } else {
        assert(is_next(cell, key) && cell->next_clients >= members && !is_leaver);
        cell->next_clients -= members;
        if (cell->next_clients == 0) {
            cell->next_domain = 0;
            cell->next_kind = 0;
        }
    }
    settle_trial(ledger, cell);
}

static void move_cell(struct ledger *ledger, enum table table, uint32_t element, struct key key, uint32_t members,
                      enum move move)
{
    struct share_cell cell = table == TABLE_SHARE ? ledger->shares[element] : ledger->node_shares[element];
    switch (move) {
    case MOVE_TAKE:
    case MOVE_CLAIM:
        join(&cell, key, members, move == MOVE_CLAIM);
        break;
    case MOVE_GIVE:
    case MOVE_ARRIVE:
    case MOVE_UNCLAIM:
        leave(ledger, &cell, key, members, move);
        break;
    case MOVE_VACATE:
        cell.leaving += members;
        break;
    case MOVE_RESTORE:
        cell.leaving -= members;
        break;
    }
    assert(cell.leaving <= cell.clients);
    put_cell(ledger, table, element, &cell);
}

void ledger_move_share(struct ledger *ledger, const struct space *space, enum move move)
{
    if (space->member_count == 0)
        return;
    if (ledger_is_share(space))
        move_cell(ledger, TABLE_SHARE,
                  ledger->cluster->nodes[space->node].first_gpu + (uint32_t)__builtin_ctz(space->gpu_mask),
                  (struct key){space->domain, space->share}, space->member_count, move);
    if (ledger->node_shares != NULL)
        move_cell(ledger, TABLE_NODE_SHARE, space->node, (struct key){space->domain, SHARE_PLAIN}, space->member_count,
                  move);
}

static void foresee(struct ledger *ledger, enum table table, uint32_t element)
{
    struct share_cell cell = table == TABLE_SHARE ? ledger->shares[element] : ledger->node_shares[element];
    cell.clients -= cell.leaving;
    cell.leaving = 0;
    settle(&cell);
    put_cell(ledger, table, element, &cell);
}

void ledger_foresee_shares(struct ledger *ledger, node_id node)
{
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (uint32_t i = 0; i < cluster_node_gpus(ledger->cluster, node); i++)
        foresee(ledger, TABLE_SHARE, first + i);
    if (ledger->node_shares != NULL)
        foresee(ledger, TABLE_NODE_SHARE, node);
}

bool ledger_is_alone(const struct ledger *ledger, const struct space *space)
{
    if (ledger_is_share(space)) {
        const gpu_id gpu = ledger->cluster->nodes[space->node].first_gpu + (uint32_t)__builtin_ctz(space->gpu_mask);
        const uint32_t most = ledger->clients_max[space->share];
        if (!is_now(&ledger->shares[gpu], (struct key){space->domain, space->share}) ||
            (most != 0 && ledger->shares[gpu].clients > most))
            return false;
    }
    return ledger->node_shares == NULL ||
           is_now(&ledger->node_shares[space->node], (struct key){space->domain, SHARE_PLAIN});
}

static bool is_company(const struct share_cell *cell, uint8_t kind, uint32_t domain)
{
    return cell->clients == 0 ||
           (cell->kind == kind && !cell->was_mixed && (cell->domain == domain || domain == REQUEST_ANYBODYS));
}

bool ledger_share_is_now(const struct share_cell *cell, const struct space *space, bool by_node)
{
    const struct key key = {space->domain, by_node ? SHARE_PLAIN : space->share};
    return is_now(cell, key) || (cell->kind == SHARE_MIXED && !is_next(cell, key));
}

struct share_cell ledger_share_without(const struct share_cell *cell, uint32_t gone, uint32_t next_gone)
{
    struct share_cell left = *cell;
    assert(left.clients >= gone && left.next_clients >= next_gone);
    left.clients -= gone;
    left.next_clients -= next_gone;
    settle(&left);
    return left;
}

uint32_t ledger_clients_left(const struct share_cell *cell, uint32_t most, uint8_t kind, uint32_t domain)
{
    if (!is_company(cell, kind, domain) || cell->next_clients > 0)
        return 0;
    return most == 0 ? UINT32_MAX : most > cell->clients ? most - cell->clients : 0;
}

/* In thousandths of a MiB. */
static int64_t memory_asked(const struct gpu_model *model, const struct request *request)
{
    return request->gpu_memory_mib != 0 ? (int64_t)request->gpu_memory_mib * GPU_MILLI
                                        : (int64_t)request->gpu_milli * model->memory_mib;
}

uint32_t ledger_shares_in(const struct gpu_model *model, const struct request *request, uint32_t free_milli,
                          int64_t excess)
{
    const uint32_t by_milli = free_milli / (uint32_t)request_gpu_milli(request, model);
    const int64_t left = (int64_t)free_milli * model->memory_mib - excess;
    if (model->memory_mib == 0)
        return by_milli;
    const int64_t by_memory = left < 0 ? 0 : left / memory_asked(model, request);
    return by_memory < by_milli ? (uint32_t)by_memory : by_milli;
}

static const struct gpu_model *model_of(const struct ledger *ledger, node_id node)
{
    return &ledger->cluster->models[cluster_node_type(ledger->cluster, node)->model];
}

uint32_t ledger_gpu_shares_left(const struct ledger *ledger, gpu_id gpu, const struct request *request)
{
    const uint32_t clients = ledger->shares == NULL
                                 ? UINT32_MAX
                                 : ledger_clients_left(&ledger->shares[gpu], ledger->clients_max[request->share],
                                                       request->share, request->domain);
    const int64_t excess = ledger_gpu_excess(ledger, gpu);
    if (clients == 0 || (excess == 0 && request->gpu_memory_mib == 0))
        return clients;
    const uint32_t fitting =
        ledger_shares_in(model_of(ledger, ledger->index->gpu_node[gpu]), request, ledger->gpus[gpu].free, excess);
    return fitting < clients ? fitting : clients;
}

int64_t ledger_excess_of(const struct ledger *ledger, const struct space *space)
{
    if (space->gpu_memory_mib == 0 || !ledger_is_share(space))
        return 0;
    const int64_t excess = (int64_t)space->gpu_memory_mib * GPU_MILLI -
                           (int64_t)space->gpu_milli * model_of(ledger, space->node)->memory_mib;
    return excess > 0 ? excess : 0; /* of a share below a thousandth there is none */
}

static void set_excess(struct ledger *ledger, gpu_id gpu, struct gpu_excess after)
{
    uint64_t word;
    memcpy(&word, &ledger->excess[gpu], sizeof word);
    log_word(ledger, TABLE_EXCESS, gpu, 0, word);
    ledger->excess[gpu] = after;
}

void ledger_undo_excess(struct ledger *ledger, gpu_id gpu, uint64_t old)
{
    memcpy(&ledger->excess[gpu], &old, sizeof old);
}

void ledger_move_excess(struct ledger *ledger, const struct space *space, enum move move)
{
    const uint32_t own = (uint32_t)ledger_excess_of(ledger, space);
    const gpu_id gpu = ledger->cluster->nodes[space->node].first_gpu + (uint32_t)__builtin_ctz(space->gpu_mask);
    if (own == 0)
        return;
    if (ledger->excess == NULL)
        ledger->excess = arena_alloc_array(&ledger->arena, ledger->cluster->gpu_count + 1, struct gpu_excess);
    struct gpu_excess after = ledger->excess[gpu];
    switch (move) {
    case MOVE_TAKE:
    case MOVE_CLAIM:
        after.held += own;
        break;
    case MOVE_GIVE:
    case MOVE_UNCLAIM:
        after.held -= own;
        break;
    case MOVE_VACATE:
        after.held -= own;
        after.coming += own;
        break;
    case MOVE_RESTORE:
        after.held += own;
        after.coming -= own;
        break;
    case MOVE_ARRIVE:
        after.coming -= own;
        break;
    }
    set_excess(ledger, gpu, after);
}

void ledger_foresee_excess(struct ledger *ledger, node_id node)
{
    const gpu_id first = ledger->cluster->nodes[node].first_gpu;
    for (gpu_id gpu = first; gpu < first + cluster_node_gpus(ledger->cluster, node); gpu++)
        if (ledger->excess[gpu].coming != 0)
            set_excess(ledger, gpu, (struct gpu_excess){.held = ledger->excess[gpu].held});
}

bool ledger_node_keeps_out(const struct ledger *ledger, node_id node, uint32_t domain)
{
    return ledger_clients_left(&ledger->node_shares[node], 0, SHARE_PLAIN, domain) == 0;
}

bool ledger_admits(const struct ledger *ledger, const struct space *space)
{
    const struct request request = {.gpu_milli = space->gpu_memory_mib == 0 ? space->gpu_milli : 0,
                                    .gpu_memory_mib = space->gpu_memory_mib,
                                    .share = space->share,
                                    .domain = space->domain};
    if (space->member_count == 0)
        return true;
    return (!ledger_is_share(space) ||
            ledger_gpu_admits(ledger,
                              ledger->cluster->nodes[space->node].first_gpu + (uint32_t)__builtin_ctz(space->gpu_mask),
                              &request)) &&
           ledger_node_admits(ledger, space->node, &request, NULL);
}

void ledger_share(struct ledger *ledger, const uint16_t clients_max[SHARE_KIND_COUNT], bool by_node)
{
    assert(ledger->used_milli == 0 && ledger->shares == NULL);
    ledger->shares = arena_alloc_array(&ledger->arena, ledger->cluster->gpu_count + 1, struct share_cell);
    if (by_node)
        ledger->node_shares = arena_alloc_array(&ledger->arena, ledger->cluster->node_count, struct share_cell);
    for (uint32_t k = 0; k < SHARE_KIND_COUNT; k++)
        ledger->clients_max[k] = clients_max[k];
}
