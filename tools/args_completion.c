/* tools/args_completion.c -- scripts that complete a command line, made from the verbs' tables. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "tools/args.h"

const char *const args_shell_names[] = {"bash", "zsh", "fish", NULL};

static const struct args_option help_option = {.name = "help", .letter = 'h', .help = "Show this help."};

/* ---- What the tables say ---- */

/* What may stand for a metavar or an operand. */
struct offer {
    bool is_kind[ARGS_VALUE_NAME]; /* by enum args_value_kind: files, folders, commands */
    struct buffer names;           /* joined by blanks */
};

static void offer_word(const struct args_command *command, struct text word, struct offer *offer)
{
    for (const struct args_value *v = command->values; v != NULL && v->word != NULL; v++) {
        if (!text_is(word, v->word))
            continue;
        if (v->kind != ARGS_VALUE_NAME)
            offer->is_kind[v->kind] = true;
        for (size_t i = 0; v->kind == ARGS_VALUE_NAME && v->name(i) != NULL; i++)
            buffer_format(&offer->names, "%s%s", offer->names.length > 0 ? " " : "", v->name(i));
    }
}

/* What the words of a metavar or a synopsis stand for; NULL: nothing.  Release its names. */
static struct offer offer_of(const struct args_command *command, const char *words)
{
    struct offer offer = {0};
    for (const char *c = words != NULL ? words : ""; *c != '\0';) {
        size_t length = 0;
        while (isupper((unsigned char)c[length]) || c[length] == '_')
            length++;
        if (length > 0)
            offer_word(command, (struct text){c, length}, &offer);
        c += length > 0 ? length : 1;
    }
    return offer;
}

static bool offers_nothing(const struct offer *offer)
{
    return !offer->is_kind[ARGS_VALUE_FILE] && !offer->is_kind[ARGS_VALUE_FOLDER] &&
           !offer->is_kind[ARGS_VALUE_COMMAND] && offer->names.length == 0;
}

/* "files folders": words for the scripts, which the functions below understand. */
static void write_kinds(struct buffer *out, const struct offer *offer)
{
    static const char *const kinds[] = {"files", "folders", "commands"}; /* enum args_value_kind */
    bool is_first = true;
    for (size_t k = 0; k < ARGS_VALUE_NAME; k++) {
        if (!offer->is_kind[k])
            continue;
        buffer_format(out, "%s%s", is_first ? "" : " ", kinds[k]);
        is_first = false;
    }
}

static void write_names(struct buffer *out, const struct offer *offer)
{
    buffer_bytes(out, offer->names.bytes, offer->names.length);
}

/* The first word of a verb of two words; empty: it has one. */
static struct text family_of(const struct args_verb *verb)
{
    const char *blank = strchr(verb->name, ' ');
    return (struct text){verb->name, blank != NULL ? (size_t)(blank - verb->name) : 0};
}

static struct text first_word(const struct args_verb *verb)
{
    return (struct text){verb->name, strcspn(verb->name, " ")};
}

/* Is verb `index` the first whose name begins with its first word? */
static bool is_first_of_family(const struct args_command *command, size_t index)
{
    const struct text word = first_word(command->verbs[index]);
    for (size_t i = 0; i < index; i++) {
        const struct text other = first_word(command->verbs[i]);
        if (other.length == word.length && memcmp(other.at, word.at, word.length) == 0)
            return false;
    }
    return true;
}

static bool is_in_family(const struct args_verb *verb, struct text family)
{
    const struct text own = family_of(verb);
    return own.length == family.length && memcmp(own.at, family.at, family.length) == 0;
}

/* Call `write` for each option of the verb, --help included. */
typedef void write_option_fn(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                             const struct args_option *option);
static void each_option(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                        write_option_fn *write)
{
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++)
        write(out, command, verb, o);
    write(out, command, verb, &help_option);
}

/* The first sentence of a help text, without its full stop. */
static struct text first_sentence(const char *help)
{
    const char *end = strstr(help, ". ");
    size_t length = end != NULL ? (size_t)(end - help) : strlen(help);
    if (length > 0 && help[length - 1] == '.')
        length--;
    return (struct text){help, length};
}

/* Append text inside single quotes; characters of `escaped` get a backslash.  quote: what ends a quote, writes one and
 * goes on. */
static void write_quoted(struct buffer *out, struct text text, const char *escaped, const char *quote)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] == '\'') {
            buffer_string(out, quote);
            continue;
        }
        if (strchr(escaped, text.at[i]) != NULL)
            buffer_char(out, '\\');
        buffer_char(out, text.at[i]);
    }
}

/* The first words of all verbs, each once. */
static void write_first_words(struct buffer *out, const struct args_command *command)
{
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        if (!is_first_of_family(command, i))
            continue;
        buffer_string(out, i > 0 ? " " : "");
        buffer_text(out, first_word(command->verbs[i]));
    }
}

/* The second words of a family. */
static void write_second_words(struct buffer *out, const struct args_command *command, struct text family)
{
    bool is_first = true;
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        if (!is_in_family(command->verbs[i], family))
            continue;
        buffer_format(out, "%s%s", is_first ? "" : " ", command->verbs[i]->name + family.length + 1);
        is_first = false;
    }
}

/* "policy | topology | trace": a pattern of all families; false: there is none. */
static bool write_families(struct buffer *out, const struct args_command *command, const char *between)
{
    bool is_written = false;
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct text family = family_of(command->verbs[i]);
        if (family.length == 0 || !is_first_of_family(command, i))
            continue;
        buffer_string(out, is_written ? between : "");
        buffer_text(out, family);
        is_written = true;
    }
    return is_written;
}

/* ---- bash ---- */

static void bash_option_words(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                              const struct args_option *option)
{
    (void)command;
    (void)verb;
    if (option->letter != '\0')
        buffer_format(out, "-%c ", option->letter);
    buffer_format(out, "--%s%s", option->name, option == &help_option ? "" : " ");
}

static void bash_offer(struct buffer *out, const struct offer *offer)
{
    buffer_string(out, "kinds='");
    write_kinds(out, offer);
    buffer_string(out, "' names='");
    write_names(out, offer);
    buffer_char(out, '\'');
}

/* The branch of an option that takes a value. */
static void bash_option_value(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                              const struct args_option *option)
{
    (void)verb;
    if (option->metavar == NULL)
        return;
    struct offer offer = offer_of(command, option->metavar);
    buffer_string(out, "        ");
    if (option->letter != '\0')
        buffer_format(out, "-%c | ", option->letter);
    buffer_format(out, "--%s) ", option->name);
    if (offers_nothing(&offer))
        buffer_string(out, ":");
    else
        bash_offer(out, &offer);
    buffer_string(out, " ;;\n");
    buffer_release(&offer.names);
}

static void bash_verb(struct buffer *out, const struct args_command *command, const struct args_verb *verb)
{
    struct offer offer = offer_of(command, verb->synopsis);
    buffer_format(out, "    '%s')\n        case $previous in\n", verb->name);
    each_option(out, command, verb, bash_option_value);
    buffer_string(out, "        *) options='");
    each_option(out, command, verb, bash_option_words);
    buffer_string(out, "' ");
    bash_offer(out, &offer);
    buffer_string(out, " ;;\n        esac\n        ;;\n");
    buffer_release(&offer.names);
}

static const char bash_begin[] = "{\n"
                                 "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                 "    local verb=${COMP_WORDS[1]} options='' kinds='' names=''\n"
                                 "    # bash makes a word of the '=' in --name=value.\n"
                                 "    if [[ $current == '=' ]]; then\n"
                                 "        current=''\n"
                                 "    elif [[ $previous == '=' ]]; then\n"
                                 "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                 "    fi\n"
                                 "    if ((COMP_CWORD == 1)); then\n"
                                 "        verb=''\n";

static const char bash_end[] = "    esac\n"
                               "    COMPREPLY=()\n"
                               "    if [[ $current == -* && -n $options ]]; then\n"
                               "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
                               "        return\n"
                               "    fi\n"
                               "    local action\n"
                               "    for action in $kinds; do\n"
                               "        case $action in\n"
                               "        files) action=-f && compopt -o filenames 2>/dev/null ;;\n"
                               "        folders) action=-d && compopt -o filenames 2>/dev/null ;;\n"
                               "        commands) action=-c ;;\n"
                               "        esac\n"
                               "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen $action -- \"$current\")\n"
                               "    done\n"
                               "    if [[ -n $names ]]; then\n"
                               "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
                               "<(compgen -W \"$names\" -- \"$current\")\n"
                               "    fi\n"
                               "}\n";

static void complete_bash(const struct args_command *command, struct buffer *out)
{
    struct buffer families = {0};
    buffer_format(out, "# bash completion for %s; made by '%s completion bash'.\n_%s()\n", command->name, command->name,
                  command->name);
    buffer_string(out, bash_begin);
    if (write_families(&families, command, " | "))
        buffer_format(out,
                      "    else\n        case $verb in\n        %s | help)\n"
                      "            if ((COMP_CWORD > 2)); then verb+=\" ${COMP_WORDS[2]}\"; fi\n"
                      "            ;;\n        esac\n",
                      buffer_c_string(&families));
    buffer_release(&families);
    buffer_string(out, "    fi\n    case $verb in\n    '') options='-h --help --version' names='");
    write_first_words(out, command);
    buffer_string(out, " help' ;;\n    help) options='--man' names='");
    write_first_words(out, command);
    buffer_string(out, "' ;;\n");
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct text family = family_of(command->verbs[i]);
        if (family.length == 0 || !is_first_of_family(command, i))
            continue;
        buffer_format(out, "    %.*s | 'help %.*s') options='-h --help' names='", (int)family.length, family.at,
                      (int)family.length, family.at);
        write_second_words(out, command, family);
        buffer_string(out, "' ;;\n");
    }
    for (size_t i = 0; command->verbs[i] != NULL; i++)
        bash_verb(out, command, command->verbs[i]);
    buffer_string(out, bash_end);
    buffer_format(out, "complete -F _%s %s\n", command->name, command->name);
}

/* ---- zsh ---- */

static void zsh_text(struct buffer *out, struct text text)
{
    write_quoted(out, text, "[]:\\", "'\\''");
}

/* ":message:action" of a value. */
static void zsh_offer(struct buffer *out, const struct args_command *command, const char *message,
                      const struct offer *offer)
{
    buffer_char(out, ':');
    zsh_text(out, text_of(message));
    buffer_char(out, ':');
    if (offers_nothing(offer)) {
        buffer_char(out, ' ');
        return;
    }
    struct buffer kinds = {0};
    write_kinds(&kinds, offer);
    buffer_format(out, " _%s_offer \"%s\" ", command->name, buffer_c_string(&kinds));
    write_names(out, offer);
    buffer_release(&kinds);
}

static void zsh_option(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                       const struct args_option *option)
{
    (void)verb;
    const bool has_value = option->metavar != NULL;
    buffer_string(out, " \\\n            ");
    if (option == &help_option)
        buffer_string(out, "'(- *)'");
    else if (option->is_repeatable)
        buffer_string(out, "'*'");
    else if (option->letter != '\0')
        buffer_format(out, "'(-%c --%s)'", option->letter, option->name);
    if (option->letter != '\0')
        buffer_format(out, "{-%c%s,--%s%s}'", option->letter, has_value ? "+" : "", option->name, has_value ? "=" : "");
    else
        buffer_format(out, "'--%s%s", option->name, has_value ? "=" : "");
    buffer_char(out, '[');
    zsh_text(out, first_sentence(option->help));
    buffer_char(out, ']');
    if (has_value) {
        struct offer offer = offer_of(command, option->metavar);
        zsh_offer(out, command, option->metavar, &offer);
        buffer_release(&offer.names);
    }
    buffer_char(out, '\'');
}

static void zsh_verb(struct buffer *out, const struct args_command *command, const struct args_verb *verb)
{
    struct offer offer = offer_of(command, verb->synopsis);
    buffer_format(out, "    ('%s')\n        _arguments -s -S :", verb->name);
    each_option(out, command, verb, zsh_option);
    if (verb->operands_max > 0) {
        buffer_string(out, " \\\n            '*");
        zsh_offer(out, command, "operand", &offer);
        buffer_char(out, '\'');
    }
    buffer_string(out, "\n        ;;\n");
    buffer_release(&offer.names);
}

/* Lines 'name:summary' of the verbs of a family, or of the first words (family empty). */
static void zsh_verbs(struct buffer *out, const struct args_command *command, struct text family)
{
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct args_verb *verb = command->verbs[i];
        const bool is_of_family = family.length > 0 && is_in_family(verb, family);
        if (!is_of_family && (family.length > 0 || !is_first_of_family(command, i)))
            continue;
        buffer_string(out, "            '");
        if (family.length > 0) {
            buffer_format(out, "%s:", verb->name + family.length + 1);
        } else {
            buffer_text(out, first_word(verb));
            buffer_char(out, ':');
        }
        if (is_of_family || family_of(verb).length == 0)
            zsh_text(out, text_of(verb->summary));
        else
            write_second_words(out, command, first_word(verb));
        buffer_string(out, "'\n");
    }
}

static const char zsh_offer_function[] = "{\n"
                                         "    local kind kinds=$1\n"
                                         "    shift\n"
                                         "    if (( $# )); then compadd -- \"$@\"; fi\n"
                                         "    for kind in ${=kinds}; do\n"
                                         "        case $kind in\n"
                                         "        (files) _files ;;\n"
                                         "        (folders) _files -/ ;;\n"
                                         "        (commands) _command_names -e ;;\n"
                                         "        esac\n"
                                         "    done\n"
                                         "}\n\n";

static void complete_zsh(const struct args_command *command, struct buffer *out)
{
    const char *name = command->name;
    buffer_format(out, "#compdef %s\n# zsh completion for %s; made by '%s completion zsh'.\n\n", name, name, name);
    buffer_format(out, "_%s_offer()\n%s_%s()\n{\n    local verb\n    local -a verbs\n", name, zsh_offer_function, name);
    buffer_string(out, "    if (( CURRENT == 2 )); then\n        verbs=(\n");
    zsh_verbs(out, command, (struct text){"", 0});
    buffer_string(out, "            'help:the help of a command'\n        )\n"
                       "        _describe command verbs\n        _arguments '--help' '--version'\n        return\n"
                       "    fi\n    verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n");
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct text family = family_of(command->verbs[i]);
        if (family.length == 0 || !is_first_of_family(command, i))
            continue;
        buffer_format(out, "    (%.*s)\n        verbs=(\n", (int)family.length, family.at);
        zsh_verbs(out, command, family);
        buffer_string(out,
                      "        )\n        if (( CURRENT == 2 )); then\n            _describe command verbs\n"
                      "            return\n        fi\n"
                      "        verb=\"$verb $words[2]\"\n        shift words\n        (( CURRENT-- ))\n        ;;\n");
    }
    buffer_string(out, "    (help)\n        compadd -- ");
    write_first_words(out, command);
    buffer_string(out, "\n        return\n        ;;\n    esac\n    case $verb in\n");
    for (size_t i = 0; command->verbs[i] != NULL; i++)
        zsh_verb(out, command, command->verbs[i]);
    buffer_format(out,
                  "    esac\n}\n\n# As a file of $fpath it runs at the first completion; `source` registers it.\n"
                  "if [[ ${funcstack[1]-} == _%s ]]; then\n    _%s \"$@\"\nelse\n    compdef _%s %s\nfi\n",
                  name, name, name, name);
}

/* ---- fish ---- */

static void fish_text(struct buffer *out, struct text text)
{
    buffer_string(out, " -d '");
    write_quoted(out, text, "\\", "\\'");
    buffer_char(out, '\'');
}

/* The options of `complete` that offer these values.  Files are off for the command, so -F turns them on. */
static void fish_offer(struct buffer *out, const struct offer *offer)
{
    if (offer->is_kind[ARGS_VALUE_FILE])
        buffer_string(out, " -F");
    if (offer->is_kind[ARGS_VALUE_FOLDER] && !offer->is_kind[ARGS_VALUE_FILE])
        buffer_string(out, " -a '(__fish_complete_directories)'");
    if (offer->is_kind[ARGS_VALUE_COMMAND])
        buffer_string(out, " -a '(__fish_complete_command)'");
    if (offer->names.length == 0)
        return;
    buffer_string(out, " -a '");
    write_names(out, offer);
    buffer_char(out, '\'');
}

static void fish_option(struct buffer *out, const struct args_command *command, const struct args_verb *verb,
                        const struct args_option *option)
{
    buffer_format(out, "complete -c %s -n '__%s_is %s'", command->name, command->name, verb->name);
    if (option->letter != '\0')
        buffer_format(out, " -s %c", option->letter);
    buffer_format(out, " -l %s", option->name);
    if (option->metavar != NULL) {
        struct offer offer = offer_of(command, option->metavar);
        buffer_string(out, offer.is_kind[ARGS_VALUE_FILE] ? " -r" : " -x");
        fish_offer(out, &offer);
        buffer_release(&offer.names);
    }
    fish_text(out, first_sentence(option->help));
    buffer_char(out, '\n');
}

static void fish_verb(struct buffer *out, const struct args_command *command, const struct args_verb *verb)
{
    const struct text family = family_of(verb);
    struct offer offer = offer_of(command, verb->synopsis);
    if (family.length > 0)
        buffer_format(out, "complete -c %s -n '__%s_at %.*s' -a %s", command->name, command->name, (int)family.length,
                      family.at, verb->name + family.length + 1);
    else
        buffer_format(out, "complete -c %s -n __%s_at -a %s", command->name, command->name, verb->name);
    fish_text(out, text_of(verb->summary));
    buffer_char(out, '\n');
    if (!offers_nothing(&offer)) {
        buffer_format(out, "complete -c %s -n '__%s_is %s'", command->name, command->name, verb->name);
        fish_offer(out, &offer);
        buffer_char(out, '\n');
    }
    buffer_release(&offer.names);
    each_option(out, command, verb, fish_option);
}

static void complete_fish(const struct args_command *command, struct buffer *out)
{
    const char *name = command->name;
    buffer_format(out, "# fish completion for %s; made by '%s completion fish'.\n", name, name);
    buffer_format(out,
                  "function __%s_is\n    set -l words (commandline -opc)\n"
                  "    set -l count (math (count $argv) + 1)\n"
                  "    test (count $words) -ge $count; and test \"$words[2..$count]\" = \"$argv\"\nend\n",
                  name);
    buffer_format(out,
                  "function __%s_at\n    set -l words (commandline -opc)\n    test \"$words[2..]\" = \"$argv\"\nend\n\n"
                  "complete -c %s -f\ncomplete -c %s -n __%s_at -l version\n"
                  "complete -c %s -n __%s_at -l help -s h\n"
                  "complete -c %s -n __%s_at -a help -d 'the help of a command'\n"
                  "complete -c %s -n '__%s_at help' -a '",
                  name, name, name, name, name, name, name, name, name, name);
    write_first_words(out, command);
    buffer_string(out, "'\n");
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct text family = family_of(command->verbs[i]);
        if (family.length > 0 && is_first_of_family(command, i)) {
            buffer_format(out, "complete -c %s -n __%s_at -a %.*s -d '", name, name, (int)family.length, family.at);
            write_second_words(out, command, family);
            buffer_string(out, "'\n");
        }
        fish_verb(out, command, command->verbs[i]);
    }
}

void args_completion(const struct args_command *command, enum args_shell shell, struct buffer *out)
{
    static void (*const write[])(const struct args_command *, struct buffer *) = {complete_bash, complete_zsh,
                                                                                  complete_fish};
    write[shell](command, out);
}
