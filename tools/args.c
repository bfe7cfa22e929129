/* tools/args.c -- reading a command line by a verb's table. */
#include "tools/args.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The values given for one option of the table. */
struct option_values {
    const char **values; /* owned array of borrowed texts; for a flag NULL */
    size_t capacity;
    size_t count; /* number of times it was given */
};

struct args {
    const struct args_verb *verb;
    struct option_values *given; /* parallel to verb->options */
    const char **operands;       /* owned array of borrowed texts */
    size_t operands_capacity;
    size_t operand_count;
    bool wants_help;
};

static size_t option_count(const struct args_verb *verb)
{
    size_t count = 0;
    while (verb->options != NULL && verb->options[count].name != NULL)
        count++;
    return count;
}

/* ---- Which verb ---- */

/* The number of words of `name` ("trace info") with which `arguments` begin; 0: they do not begin with all of them. */
static int words_matched(const char *name, int count, char *const *arguments)
{
    const char *blank = strchr(name, ' ');
    if (blank == NULL)
        return strcmp(name, arguments[0]) == 0 ? 1 : 0;
    size_t first_length = (size_t)(blank - name);
    bool is_first = strlen(arguments[0]) == first_length && memcmp(name, arguments[0], first_length) == 0;
    return is_first && count >= 2 && strcmp(blank + 1, arguments[1]) == 0 ? 2 : 0;
}

/* The first words of all verbs, or the second words of verbs that begin with `family`.  The caller frees the array with
 * mem_free; the words are copied into `arena`. */
static const char **verb_words(const struct args_command *command, const char *family, struct arena *arena)
{
    const char **words = NULL;
    size_t capacity = 0, count = 0;
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        struct text rest = text_of(command->verbs[i]->name), first;
        text_cut(&rest, ' ', &first);
        if (family != NULL && (!text_is(first, family) || rest.at == NULL))
            continue;
        MEM_GROW(words, capacity, count + 1);
        words[count++] = arena_copy(arena, family != NULL ? rest : first);
    }
    MEM_GROW(words, capacity, count + 1);
    words[count] = NULL;
    return words;
}

static struct error no_such_verb(const struct args_command *command, int count, char *const *arguments)
{
    struct arena arena = {0};
    const char **parts = verb_words(command, arguments[0], &arena);
    const char **verbs = verb_words(command, NULL, &arena);
    struct error error;
    const char *near = NULL;
    if (parts[0] == NULL) {
        error = error_new(ERROR_USAGE, "there is no command '%s'", arguments[0]);
        near = text_nearest(text_of(arguments[0]), verbs);
        if (near != NULL)
            error_set_hint(&error, "did you mean '%s'?", near);
    } else if (count < 2) {
        error =
            error_new(ERROR_USAGE, "'%s' needs a second word, such as '%s %s'", arguments[0], arguments[0], parts[0]);
    } else {
        error = error_new(ERROR_USAGE, "there is no command '%s %s'", arguments[0], arguments[1]);
        near = text_nearest(text_of(arguments[1]), parts);
        if (near != NULL)
            error_set_hint(&error, "did you mean '%s %s'?", arguments[0], near);
    }
    if (near == NULL)
        error_set_hint(&error, "'%s help' lists the commands", command->name);
    mem_free(parts);
    mem_free(verbs);
    arena_release(&arena);
    return error;
}

struct error args_find_verb(const struct args_command *command, int count, char *const *arguments,
                            const struct args_verb **verb, int *used)
{
    *verb = NULL;
    *used = 0;
    if (count < 1) {
        struct error error = error_new(ERROR_USAGE, "no command given");
        error_set_hint(&error, "'%s help' lists the commands", command->name);
        return error;
    }
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        int words = words_matched(command->verbs[i]->name, count, arguments);
        if (words > *used) {
            *verb = command->verbs[i];
            *used = words;
        }
    }
    if (*verb == NULL)
        return no_such_verb(command, count, arguments);
    return ERROR_OK;
}

/* ---- Options ---- */

static struct error unknown_option(const struct args_verb *verb, struct text name)
{
    size_t count = option_count(verb);
    const char **names = mem_zalloc(count + 2, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = verb->options[i].name;
    names[count] = "help";
    struct error error = error_new(ERROR_USAGE, "unknown option '--%.*s'", (int)name.length, name.at);
    const char *near = text_nearest(name, names);
    if (near != NULL)
        error_set_hint(&error, "did you mean '--%s'?", near);
    else
        error_set_hint(&error, "'%s --help' lists the options", verb->name);
    mem_free(names);
    return error;
}

/* Note an option that was given; value NULL for a flag. */
static struct error take(struct args *args, size_t index, const char *value)
{
    const struct args_option *option = &args->verb->options[index];
    struct option_values *given = &args->given[index];
    if (given->count > 0 && !option->is_repeatable)
        return error_new(ERROR_USAGE, "option '--%s' is given twice", option->name);
    if (value != NULL) {
        MEM_GROW(given->values, given->capacity, given->count + 1);
        given->values[given->count] = value;
    }
    given->count++;
    return ERROR_OK;
}

/* Take option `index`, which is arguments[*at]; attached: its value in the same word (NULL: none). */
static struct error take_with_value(struct args *args, size_t index, const char *attached, int count,
                                    char *const *arguments, int *at)
{
    const struct args_option *option = &args->verb->options[index];
    if (option->metavar == NULL) {
        if (attached != NULL)
            return error_new(ERROR_USAGE, "option '--%s' takes no value, got '%s'", option->name, attached);
        return take(args, index, NULL);
    }
    if (attached != NULL)
        return take(args, index, attached);
    if (*at + 1 >= count)
        return error_new(ERROR_USAGE, "option '--%s' needs a value: %s", option->name, option->metavar);
    const char *next = arguments[*at + 1];
    if (strncmp(next, "--", 2) == 0) {
        struct error error =
            error_new(ERROR_USAGE, "option '--%s' needs a value: %s, got '%s'", option->name, option->metavar, next);
        error_set_hint(&error, "if that is the value, write '--%s=%s'", option->name, next);
        return error;
    }
    (*at)++;
    return take(args, index, next);
}

static struct error parse_long(struct args *args, int count, char *const *arguments, int *at)
{
    struct text rest = text_of(arguments[*at] + 2), name;
    text_cut(&rest, '=', &name);
    for (size_t i = 0; i < option_count(args->verb); i++) {
        if (text_is(name, args->verb->options[i].name))
            return take_with_value(args, i, rest.at, count, arguments, at);
    }
    return unknown_option(args->verb, name);
}

static struct error parse_letter(struct args *args, int count, char *const *arguments, int *at)
{
    const char *word = arguments[*at];
    for (size_t i = 0; i < option_count(args->verb); i++) {
        if (args->verb->options[i].letter == word[1])
            return take_with_value(args, i, word[2] != '\0' ? word + 2 : NULL, count, arguments, at);
    }
    struct error error = error_new(ERROR_USAGE, "unknown option '%s'", word);
    error_set_hint(&error, "an operand that begins with '-' goes behind '--'");
    return error;
}

static void take_operand(struct args *args, const char *operand)
{
    MEM_GROW(args->operands, args->operands_capacity, args->operand_count + 1);
    args->operands[args->operand_count++] = operand;
}

static struct error check_operands(const struct args *args)
{
    const struct args_verb *verb = args->verb;
    struct error error = ERROR_OK;
    if (args->operand_count < verb->operands_min)
        error =
            error_new(ERROR_USAGE, "'%s' needs %s operand", verb->name, args->operand_count == 0 ? "an" : "another");
    else if (args->operand_count > verb->operands_max)
        error = error_new(ERROR_USAGE, "'%s' has no use for '%s'", verb->name, args->operands[verb->operands_max]);
    if (error_is(error))
        error_set_hint(&error, "usage: %s %s", verb->name, verb->synopsis != NULL ? verb->synopsis : "");
    return error;
}

/* Is help requested among the options?  If so, nothing else is checked. */
static bool asks_help(int count, char *const *arguments)
{
    for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i++) {
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0)
            return true;
    }
    return false;
}

static struct error parse(struct args *args, int count, char *const *arguments)
{
    int at = 0;
    for (; at < count && strcmp(arguments[at], "--") != 0; at++) {
        const char *word = arguments[at];
        if (strncmp(word, "--", 2) == 0)
            TRY(parse_long(args, count, arguments, &at));
        else if (word[0] == '-' && word[1] != '\0')
            TRY(parse_letter(args, count, arguments, &at));
        else
            take_operand(args, word);
    }
    for (at++; at < count; at++)
        take_operand(args, arguments[at]);
    return check_operands(args);
}

struct error args_parse(struct args **out, const struct args_verb *verb, int count, char *const *arguments)
{
    struct args *args = mem_zalloc(1, sizeof *args);
    args->verb = verb;
    args->given = mem_zalloc(option_count(verb) + 1, sizeof *args->given);
    args->wants_help = asks_help(count, arguments);
    *out = args;
    if (args->wants_help)
        return ERROR_OK;
    struct error error = parse(args, count, arguments);
    if (error_is(error)) {
        args_free(args);
        *out = NULL;
    }
    return error;
}

void args_free(struct args *args)
{
    if (args == NULL)
        return;
    for (size_t i = 0; i < option_count(args->verb); i++)
        mem_free(args->given[i].values);
    mem_free(args->given);
    mem_free(args->operands);
    mem_free(args);
}

/* ---- What was given ---- */

const struct args_verb *args_verb(const struct args *args)
{
    return args->verb;
}

bool args_wants_help(const struct args *args)
{
    return args->wants_help;
}

static const struct option_values *values_of(const struct args *args, const char *name)
{
    size_t count = option_count(args->verb), i = 0;
    while (i < count && strcmp(args->verb->options[i].name, name) != 0)
        i++;
    assert(i < count && "a verb asks for an option that its table lacks");
    return &args->given[i];
}

bool args_flag(const struct args *args, const char *name)
{
    return values_of(args, name)->count > 0;
}

const char *args_string(const struct args *args, const char *name)
{
    const struct option_values *given = values_of(args, name);
    return given->values != NULL ? given->values[given->count - 1] : NULL;
}

const char *const *args_list(const struct args *args, const char *name, size_t *count)
{
    const struct option_values *given = values_of(args, name);
    *count = given->values != NULL ? given->count : 0;
    return given->values;
}

struct error args_int64(const struct args *args, const char *name, int64_t low, int64_t high, int64_t otherwise,
                        int64_t *out)
{
    const char *value = args_string(args, name);
    *out = otherwise;
    if (value == NULL || text_to_int64(text_of(value), low, high, out))
        return ERROR_OK;
    return error_new(ERROR_USAGE, "option '--%s' must be an integer from %lld to %lld, got '%s'", name, (long long)low,
                     (long long)high, value);
}

size_t args_operand_count(const struct args *args)
{
    return args->operand_count;
}

const char *args_operand(const struct args *args, size_t index)
{
    return index < args->operand_count ? args->operands[index] : NULL;
}
