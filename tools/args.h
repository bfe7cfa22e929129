/* tools/args.h -- the command line: tables in, checked options and help texts out.
 *
 * A verb is one const table: its words, its texts, its options and the function that
 * runs it; tools/embed_commands makes those of the program from tools/commands.txt.
 * The same tables make `windtunnel VERB --help`, the manual page and the completions
 * of shells, so these cannot disagree with what is accepted.
 *
 * Words: an option has a long name (--trace) and perhaps a letter (-t); with a metavar
 * it takes a value, without one it is a flag; all other arguments are operands.
 *
 * Law: nothing is guessed.  Names are never abbreviated; an unknown option, a missing or
 * an unwanted value, a second value for an option that takes one, too few or too many
 * operands are ERROR_USAGE.  `--name=value` and `--name value` are the same, as are
 * `-n value` and `-nvalue`; a value that begins with `--` needs the first form; `--` ends
 * the options; `-` is an operand.  -h and --help exist everywhere.
 *
 *   static const struct args_option options[] = {
 *       {.name = "policy", .letter = 'p', .metavar = "PRESET|FILE", .help = "The policy to use."},
 *       {.name = "set", .metavar = "PATH=VALUE", .help = "Override a field.", .is_repeatable = true},
 *       {0},
 *   };
 *   const struct args_verb verb_run = {
 *       .name = "run",
 *       .summary = "simulate a scenario",
 *       .synopsis = "[SCENARIO] [OPTION]...",
 *       .description = (const char *const[]){"A paragraph.", "Another.", NULL},
 *       .options = options,
 *       .operands_max = 1,
 *       .run = run,
 *   };
 *
 *   static int run(const struct args *args)
 *   {
 *       const char *policy = args_string(args, "policy");     (NULL: not given)
 *
 * It does not: read the environment, print, or know what a value means beyond integers.
 */
#ifndef TOOLS_ARGS_H
#define TOOLS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct args;
typedef int args_run_fn(const struct args *args); /* run a verb: its exit status */

struct args_option {
    const char *name;    /* without dashes */
    char letter;         /* 0: none; 'h' is used for help */
    const char *metavar; /* name of the value in help texts; NULL: a flag */
    const char *help;    /* sentences, without line breaks */
    bool is_repeatable;  /* may be given more than once; a flag is then true as well */
};

struct args_example {
    const char *command; /* as typed, without a prompt */
    const char *meaning; /* one sentence */
};

struct args_verb {
    const char *name;                    /* one word, or two for a verb with parts: "trace info" */
    const char *summary;                 /* a phrase of a few words, without a full stop */
    const char *synopsis;                /* the rest of the line; "" or NULL: nothing */
    const char *const *description;      /* paragraphs, NULL-terminated; NULL: none */
    const struct args_option *options;   /* ends with a NULL name; NULL: none */
    const struct args_example *examples; /* ends with a NULL command; NULL: none */
    size_t operands_min;
    size_t operands_max; /* SIZE_MAX: any number */
    args_run_fn *run;
};

/* What a word in capitals stands for, in metavars and in synopses; completions offer it.  A word without an entry is a
 * text of any kind. */
enum args_value_kind { ARGS_VALUE_FILE, ARGS_VALUE_FOLDER, ARGS_VALUE_COMMAND, ARGS_VALUE_NAME };

struct args_value {
    const char *word; /* "PRESET", of "PRESET|FILE" */
    enum args_value_kind kind;
    const char *(*name)(size_t index); /* for ARGS_VALUE_NAME: words of letters, digits, '-', '_' and '.'; NULL past
                                          the end */
};

/* The whole command, for its help, manual page and completions. */
struct args_command {
    const char *name;    /* "windtunnel" */
    const char *version; /* "0.1.0" */
    const char *summary;
    const char *const *description;           /* paragraphs, NULL-terminated */
    const struct args_verb *const *verbs;     /* in the order of the help; NULL-terminated */
    const struct args_example *exit_statuses; /* {"0", "Success."}, ...; ends with a NULL command */
    const struct args_example *files;         /* {folder, its content}, ...; ends with a NULL command; NULL: none */
    const struct args_value *values;          /* ends with a NULL word; NULL: none */
};

/* ---- Which verb ----
 * arguments: what follows the program's name.  On success *verb is set and *used (1 or 2) counts its words.
 * A first argument that is no verb is ERROR_USAGE, with a hint if one is near. */
struct error args_find_verb(const struct args_command *command, int count, char *const *arguments,
                            const struct args_verb **verb, int *used) MUST_CHECK;

/* ---- What it was given ---- */

/* Parse the words after the verb.  Texts are borrowed from `arguments`, which must outlive *out.  With --help nothing
 * else is checked: see args_wants_help.  On error *out is NULL.  The caller frees it with args_free. */
struct error args_parse(struct args **out, const struct args_verb *verb, int count, char *const *arguments) MUST_CHECK;
void args_free(struct args *args); /* NULL is allowed */

const struct args_verb *args_verb(const struct args *args);
bool args_wants_help(const struct args *args);

/* The values of an option by its long name, which must be in the verb's table (asserted). */
bool args_flag(const struct args *args, const char *name);          /* was it given? */
const char *args_string(const struct args *args, const char *name); /* the (last) value; NULL: not given */

/* All values in the order given; *count 0: none.  Borrowed. */
const char *const *args_list(const struct args *args, const char *name, size_t *count);

/* *out: the value as a decimal integer in [low, high], or `otherwise` if it was not given.  ERROR_USAGE if it is no
 * such integer. */
struct error args_int64(const struct args *args, const char *name, int64_t low, int64_t high, int64_t otherwise,
                        int64_t *out) MUST_CHECK;

size_t args_operand_count(const struct args *args);
const char *args_operand(const struct args *args, size_t index); /* NULL past the end */

/* ---- Texts, at most 80 columns wide ---- */
void args_help_command(const struct args_command *command, struct buffer *out); /* all verbs */

/* Write the verbs whose names start with this word ("trace").  False, and nothing is written, if no verb of two words
 * does. */
bool args_help_family(const struct args_command *command, const char *word, struct buffer *out);
void args_help_verb(const struct args_command *command, const struct args_verb *verb, struct buffer *out);
void args_manual(const struct args_command *command, struct buffer *out); /* man(7) source */

/* What may stand at the cursor of a command line, as far as it is typed: for the scripts of tools/completions.
 * words: what follows the program's name, up to the word at the cursor, which may be empty.  A line for each word that
 * fits: the word, and perhaps a tab and what it means; ":files", ":folders" or ":commands" where names of those fit. */
void args_complete(const struct args_command *command, int count, char *const *words, struct buffer *out);

#endif
