/* windtunnel completion: print a script that completes commands in a shell. */
#include <string.h>

#include "tools/verbs.h"

int verb_completion(const struct args *args)
{
    const char *shell = args_operand(args, 0);
    struct buffer out = {0};
    for (const struct embedded_text *script = tool_completion_texts; script->name != NULL; script++)
        if (strcmp(script->name, shell) == 0) {
            buffer_bytes(&out, script->text, script->length);
            return tool_print(&out);
        }
    struct error error = error_new(ERROR_USAGE, "there are no completions for the shell '%s'", shell);
    error_set_hint(&error, "there are for bash, zsh and fish");
    return tool_fail(&error);
}
