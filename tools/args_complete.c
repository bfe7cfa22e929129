/* What may stand at the cursor of a command line, from the verbs' tables. */
#include <string.h>

#include "base/text.h"
#include "tools/args.h"

struct completion {
    const struct args_command *command;
    const char *current; /* the word at the cursor, as far as it is typed */
    struct buffer *out;
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static struct text first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    return (struct text){text, end != NULL ? (size_t)(end - text) : strlen(text)};
}

/* Offer `before` and `word` as one word if the current one begins it, with the first sentence of what it means (NULL:
 * nothing is said). */
static void offer(const struct completion *completion, const char *before, struct text word, const char *meaning)
{
    struct buffer line = {0};
    buffer_format(&line, "%s%.*s", before, (int)word.length, word.at);
    if (begins(buffer_c_string(&line), completion->current) && meaning != NULL)
        buffer_format(completion->out, "%s\t%.*s\n", buffer_c_string(&line), (int)first_sentence(meaning).length,
                      meaning);
    else if (begins(buffer_c_string(&line), completion->current))
        buffer_format(completion->out, "%s\n", buffer_c_string(&line));
    buffer_release(&line);
}

/* Offer what the words in capitals stand for, of a metavar or a synopsis.  before: "--policy=". */
static void offer_values(const struct completion *completion, const char *before, const char *words)
{
    static const char *const kinds[] = {":files", ":folders", ":commands"}; /* enum args_value_kind */
    bool is_offered[ARGS_VALUE_NAME] = {false};
    for (const char *c = words != NULL ? words : ""; *c != '\0';) {
        const size_t length = strspn(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        const struct args_value *v = completion->command->values;
        for (; length > 0 && v != NULL && v->word != NULL; v++) {
            if (!text_is((struct text){c, length}, v->word))
                continue;
            if (v->kind != ARGS_VALUE_NAME)
                is_offered[v->kind] = true;
            for (size_t i = 0; v->kind == ARGS_VALUE_NAME && v->name(i) != NULL; i++)
                offer(completion, before, text_of(v->name(i)), NULL);
        }
        c += length > 0 ? length : 1;
    }
    for (size_t k = 0; k < ARGS_VALUE_NAME; k++)
        if (is_offered[k])
            buffer_format(completion->out, "%s\n", kinds[k]);
}

/* Offer the first words of all verbs, or the second words of a family: where one stands alone, with what it does. */
static void offer_verbs(const struct completion *completion, const char *family)
{
    struct text last = TEXT("");
    for (const struct args_verb *const *v = completion->command->verbs; *v != NULL; v++) {
        struct text rest = text_of((*v)->name), word;
        text_cut(&rest, ' ', &word);
        const bool is_alone = rest.at == NULL;
        if (family != NULL && (is_alone || !text_is(word, family)))
            continue;
        if (family != NULL)
            word = rest;
        else if (text_equal(word, last))
            continue;
        offer(completion, "", word, family != NULL || is_alone ? (*v)->summary : NULL);
        last = word;
    }
}

/* The option that this word names, and takes a value; NULL: there is none.  *value: what follows its '=', or NULL. */
static const struct args_option *valued(const struct args_verb *verb, const char *word, const char **value)
{
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++) {
        const size_t length = strlen(o->name);
        const bool is_long = begins(word, "--") && begins(word + 2, o->name) && strchr("=", word[2 + length]) != NULL;
        if (o->metavar == NULL || (!is_long && (word[0] != '-' || word[1] != o->letter || word[2] != '\0')))
            continue;
        *value = is_long && word[2 + length] == '=' ? word + 2 + length + 1 : NULL;
        return o;
    }
    return NULL;
}

static void offer_words(const struct completion *completion, const struct args_verb *verb, const char *previous)
{
    const char *current = completion->current, *value;
    const struct args_option *option = valued(verb, previous, &value);
    if (option != NULL && value == NULL) {
        offer_values(completion, "", option->metavar);
        return;
    }
    if (current[0] != '-') {
        offer_values(completion, "", verb->synopsis);
        return;
    }
    option = valued(verb, current, &value);
    if (option != NULL && value != NULL) {
        struct buffer before = {0};
        buffer_format(&before, "--%s=", option->name);
        offer_values(completion, buffer_c_string(&before), option->metavar);
        buffer_release(&before);
        return;
    }
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++)
        offer(completion, "--", text_of(o->name), o->help);
    offer(completion, "", TEXT("--help"), NULL);
}

void args_complete(const struct args_command *command, int count, char *const *words, struct buffer *out)
{
    struct completion completion = {command, count > 0 ? words[count - 1] : "", out};
    const bool is_help = count > 1 && strcmp(words[0], "help") == 0;
    const struct args_verb *verb;
    int used;
    if (count - is_help <= 1) {
        offer_verbs(&completion, NULL);
        static const char *const others[] = {"help", "--help", "--version", NULL}, *const of_help[] = {"--man", NULL};
        for (const char *const *word = is_help ? of_help : others; *word != NULL; word++)
            offer(&completion, "", text_of(*word), NULL);
        return;
    }
    struct error error = args_find_verb(command, count - 1, words, &verb, &used);
    if (error_is(error)) {
        error_release(&error);
        if (count - is_help == 2)
            offer_verbs(&completion, words[is_help]);
        return;
    }
    /* bash makes a word of the '=' in --name=value. */
    if (strcmp(words[count - 1], "=") == 0)
        completion.current = "";
    else if (count > 2 && strcmp(words[count - 2], "=") == 0)
        count--;
    offer_words(&completion, verb, words[count - 2]);
}
