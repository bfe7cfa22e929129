/* windtunnel completion: the command line's tables as a script for a shell. */
#include "tools/verbs.h"

#include <string.h>

static int completion(const struct args *args)
{
    const char *shell = args_operand(args, 0);
    struct buffer out = {0};
    for (int i = 0; args_shell_names[i] != NULL; i++)
        if (strcmp(args_shell_names[i], shell) == 0) {
            args_completion(&tool_command, (enum args_shell)i, &out);
            return tool_print(&out);
        }
    struct error error = error_new(ERROR_USAGE, "there are no completions for the shell '%s'", shell);
    error_set_hint(&error, "there are for bash, zsh and fish");
    return tool_fail(&error);
}

static const struct args_example examples[] = {
    {"eval \"$(windtunnel completion bash)\"", "In ~/.bashrc: completes in every new shell."},
    {"eval \"$(windtunnel completion zsh)\"", "In ~/.zshrc, after compinit."},
    {"windtunnel completion fish > ~/.config/fish/completions/windtunnel.fish", "For fish."},
    {0},
};

const struct args_verb verb_completion = {
    .name = "completion",
    .summary = "print a script that completes commands in bash, zsh or fish",
    .synopsis = "SHELL",
    .description = (const char *const[]){"The script completes commands, options, and values where they are known: "
                                         "presets, formats, metrics, files. An installed program has it in place "
                                         "already; SHELL is bash, zsh or fish.",
                                         NULL},
    .examples = examples,
    .operands_min = 1,
    .operands_max = 1,
    .run = completion,
};
