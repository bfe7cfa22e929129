/* tools/compare_sides.h -- the sides of `windtunnel compare`, from its operands and options.
 *
 *   windtunnel compare old.json new=out/new --side old:seed=7
 *   windtunnel compare --trace T --cluster C --policy fifo --policy kai
 *   windtunnel compare --scenario S --policy fifo --policy mine=./mine.json --baseline base.json
 *
 *   windtunnel compare --base-dir base --scenario scenario.json --gates gates.json
 *
 * A side has the name before '=', else that of its file, its folder or its policy; a number behind it makes it
 * distinct.
 * The baseline comes first, then the operands, the policies, and the new names of --side.  With --base-dir there are
 * two: what studies/comparison/proposal.h makes of the folder.
 *
 *   struct compare_sides sides;
 *   struct error error = compare_sides_read(&sides, args);
 *   ... sides.list[0 .. sides.count) ...
 *   compare_sides_release(&sides);                              (on error too)
 *
 * It does not: open a scenario or a record.
 */
#ifndef TOOLS_COMPARE_SIDES_H
#define TOOLS_COMPARE_SIDES_H

#include "studies/comparison/baseline.h"
#include "studies/comparison/comparison.h"
#include "studies/comparison/proposal.h"
#include "tools/args.h"

struct compare_sides {
    struct comparison_side_options list[COMPARISON_SIDES_MAX];
    size_t count;
    const struct args *args;
    struct baseline baseline; /* of --baseline */
    struct proposal proposal; /* of --base-dir */
    bool is_change;
    const char **sets; /* of all sides: --blocks, --shake, then --set */
    size_t set_count;
    struct arena arena;
};

/* ERROR_USAGE if there are less than two sides (one with --save-baseline), or if an option does not fit them. */
struct error compare_sides_read(struct compare_sides *sides, const struct args *args) MUST_CHECK;
void compare_sides_release(struct compare_sides *sides);

#endif
