/* windtunnel metrics: what every metric is. */
#include "reports/metrics.h"
#include "tools/verbs.h"

int verb_metrics(const struct args *args)
{
    struct buffer out = {0};
    struct error error = metrics_explain(args_operand(args, 0), args_flag(args, "json"), &out);
    if (!error_is(error))
        return tool_print(&out);
    buffer_release(&out);
    return tool_fail(&error);
}
