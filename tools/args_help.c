/* tools/args_help.c -- the help texts and the manual page, made from the verbs' tables. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "tools/args.h"

enum {
    WIDTH_COLUMNS = 80,
    OPTION_COLUMN_MAX = 32, /* the column where the help of options starts at the latest */
};

static const struct args_option help_option = {.name = "help", .letter = 'h', .help = "Show this help."};

/* ---- Plain text ---- */

static void blanks(struct buffer *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_char(out, ' ');
}

/* The width of UTF-8 text: the number of bytes that begin a character. */
static size_t columns_of(struct text text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.length; i++)
        columns += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return columns;
}

/* Append `words` from the present column on, with indented lines of less than WIDTH_COLUMNS; ends the line. */
static void wrap(struct buffer *out, const char *words, size_t column, size_t indent)
{
    struct text rest = text_of(words), word;
    bool is_first = true;
    while (text_cut(&rest, ' ', &word)) {
        if (word.length == 0)
            continue;
        size_t width = columns_of(word);
        if (!is_first && column + 1 + width > WIDTH_COLUMNS) {
            buffer_char(out, '\n');
            blanks(out, indent);
            column = indent;
        } else if (!is_first) {
            buffer_char(out, ' ');
            column++;
        }
        buffer_text(out, word);
        column += width;
        is_first = false;
    }
    buffer_char(out, '\n');
}

static void paragraphs(struct buffer *out, const char *const *texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        buffer_char(out, '\n');
        wrap(out, texts[i], 0, 0);
    }
}

/* "-p, --policy NAME" */
static void option_words(struct buffer *out, const struct args_option *option)
{
    if (option->letter != '\0')
        buffer_format(out, "-%c, ", option->letter);
    else
        blanks(out, 4);
    buffer_format(out, "--%s", option->name);
    if (option->metavar != NULL)
        buffer_format(out, " %s", option->metavar);
}

static size_t option_width(const struct args_option *option)
{
    size_t width = 4 + 2 + strlen(option->name);
    return option->metavar != NULL ? width + 1 + strlen(option->metavar) : width;
}

/* The column where the help of a verb's options starts: after the widest option that leaves enough space. */
static size_t option_column(const struct args_verb *verb)
{
    size_t widest = option_width(&help_option);
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++) {
        size_t width = option_width(o);
        if (width > widest && 2 + width + 2 <= OPTION_COLUMN_MAX)
            widest = width;
    }
    return 2 + widest + 2;
}

static void option_help(struct buffer *out, const struct args_option *option, size_t column)
{
    size_t at = 2 + option_width(option);
    blanks(out, 2);
    option_words(out, option);
    if (at + 2 > column) {
        buffer_char(out, '\n');
        at = 0;
    }
    blanks(out, column - at);
    if (!option->is_repeatable) {
        wrap(out, option->help, column, column);
        return;
    }
    struct buffer help = {0};
    buffer_format(&help, "%s May be given more than once.", option->help);
    wrap(out, buffer_c_string(&help), column, column);
    buffer_release(&help);
}

static void usage(struct buffer *out, const struct args_command *command, const struct args_verb *verb)
{
    struct buffer line = {0};
    buffer_format(&line, "usage: %s %s", command->name, verb->name);
    if (verb->synopsis != NULL && verb->synopsis[0] != '\0')
        buffer_format(&line, " %s", verb->synopsis);
    wrap(out, buffer_c_string(&line), 0, strlen("usage: ") + strlen(command->name) + 1);
    buffer_release(&line);
}

/* Append a phrase as a sentence. */
static void sentence(struct buffer *out, const char *phrase)
{
    buffer_char(out, (char)toupper((unsigned char)phrase[0]));
    buffer_format(out, "%s.", phrase + 1);
}

void args_help_verb(const struct args_command *command, const struct args_verb *verb, struct buffer *out)
{
    usage(out, command, verb);
    struct buffer summary = {0};
    sentence(&summary, verb->summary);
    buffer_char(out, '\n');
    wrap(out, buffer_c_string(&summary), 0, 0);
    buffer_release(&summary);
    paragraphs(out, verb->description);

    buffer_string(out, "\noptions:\n");
    size_t column = option_column(verb);
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++)
        option_help(out, o, column);
    option_help(out, &help_option, column);

    if (verb->examples != NULL)
        buffer_string(out, "\nexamples:\n");
    for (const struct args_example *e = verb->examples; e != NULL && e->command != NULL; e++) {
        buffer_format(out, "  %s\n      ", e->command);
        wrap(out, e->meaning, 6, 6);
    }
}

/* Append "  name   summary" for the verbs of a family, or for all if `family` is NULL; returns how many. */
static size_t verb_lines(const struct args_command *command, const char *family, struct buffer *out)
{
    size_t widest = 0, family_length = family != NULL ? strlen(family) : 0, shown = 0;
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        size_t width = strlen(command->verbs[i]->name);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; command->verbs[i] != NULL; i++) {
        const struct args_verb *verb = command->verbs[i];
        if (family != NULL && (strncmp(verb->name, family, family_length) != 0 || verb->name[family_length] != ' '))
            continue;
        buffer_format(out, "  %-*s  ", (int)widest, verb->name);
        wrap(out, verb->summary, widest + 4, widest + 4);
        shown++;
    }
    return shown;
}

static void exit_status_lines(const struct args_command *command, struct buffer *out)
{
    size_t widest = 2; /* "10" */
    for (const struct args_example *e = command->exit_statuses; e != NULL && e->command != NULL; e++)
        widest = strlen(e->command) > widest ? strlen(e->command) : widest;
    for (const struct args_example *e = command->exit_statuses; e != NULL && e->command != NULL; e++) {
        buffer_format(out, "  %-*s  ", (int)widest, e->command);
        wrap(out, e->meaning, widest + 4, widest + 4);
    }
}

void args_help_command(const struct args_command *command, struct buffer *out)
{
    buffer_format(out, "usage: %s COMMAND [OPTION]...\n\n", command->name);
    struct buffer line = {0};
    buffer_format(&line, "%s %s: %s.", command->name, command->version, command->summary);
    wrap(out, buffer_c_string(&line), 0, 0);
    buffer_release(&line);
    paragraphs(out, command->description);
    buffer_string(out, "\ncommands:\n");
    verb_lines(command, NULL, out);
    if (command->exit_statuses != NULL)
        buffer_string(out, "\nexit status:\n");
    exit_status_lines(command, out);
    if (command->files != NULL)
        buffer_string(out, "\nfiles:\n");
    for (const struct args_example *e = command->files; e != NULL && e->command != NULL; e++) {
        buffer_format(out, "  %s\n      ", e->command);
        wrap(out, e->meaning, 6, 6);
    }
    buffer_format(out, "\n'%s COMMAND --help' tells more about one.\n", command->name);
}

bool args_help_family(const struct args_command *command, const char *word, struct buffer *out)
{
    struct buffer lines = {0};
    bool is_family = verb_lines(command, word, &lines) > 0;
    if (is_family) {
        buffer_format(out, "usage: %s %s COMMAND [OPTION]...\n\ncommands:\n", command->name, word);
        buffer_bytes(out, lines.bytes, lines.length);
    }
    buffer_release(&lines);
    return is_family;
}

/* ---- The manual page ---- */

/* Append text for roff, with no character read as a command. */
static void roff(struct buffer *out, const char *text)
{
    bool is_line_start = out->length == 0 || out->bytes[out->length - 1] == '\n';
    for (const char *c = text; *c != '\0'; c++) {
        if (is_line_start && (*c == '.' || *c == '\''))
            buffer_string(out, "\\&");
        is_line_start = *c == '\n';
        if (*c == '\\')
            buffer_string(out, "\\e");
        else if (*c == '-')
            buffer_string(out, "\\-");
        else if (*c == '\'')
            buffer_string(out, "\\(aq");
        else if (*c == '"')
            buffer_string(out, "\\(dq");
        else
            buffer_char(out, *c);
    }
}

static void roff_paragraphs(struct buffer *out, const char *const *texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        buffer_string(out, ".PP\n");
        roff(out, texts[i]);
        buffer_char(out, '\n');
    }
}

static void roff_tagged(struct buffer *out, const char *tag, const char *text)
{
    buffer_string(out, ".TP\n\\fB");
    roff(out, tag);
    buffer_string(out, "\\fR\n");
    roff(out, text);
    buffer_char(out, '\n');
}

static void roff_option(struct buffer *out, const struct args_option *option)
{
    buffer_string(out, ".TP\n");
    if (option->letter != '\0')
        buffer_format(out, "\\fB\\-%c\\fR, ", option->letter);
    buffer_string(out, "\\fB\\-\\-");
    roff(out, option->name);
    buffer_string(out, "\\fR");
    if (option->metavar != NULL) {
        buffer_string(out, " \\fI");
        roff(out, option->metavar);
        buffer_string(out, "\\fR");
    }
    buffer_char(out, '\n');
    roff(out, option->help);
    buffer_string(out, option->is_repeatable ? " May be given more than once.\n" : "\n");
}

static void roff_verb(struct buffer *out, const struct args_command *command, const struct args_verb *verb)
{
    buffer_string(out, ".SS \"");
    buffer_format(out, "%s ", command->name);
    roff(out, verb->name);
    if (verb->synopsis != NULL && verb->synopsis[0] != '\0') {
        buffer_char(out, ' ');
        roff(out, verb->synopsis);
    }
    buffer_string(out, "\"\n");
    struct buffer summary = {0};
    sentence(&summary, verb->summary);
    roff(out, buffer_c_string(&summary));
    buffer_char(out, '\n');
    buffer_release(&summary);
    roff_paragraphs(out, verb->description);
    for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++)
        roff_option(out, o);
    for (const struct args_example *e = verb->examples; e != NULL && e->command != NULL; e++)
        roff_tagged(out, e->command, e->meaning);
}

void args_manual(const struct args_command *command, struct buffer *out)
{
    buffer_string(out, ".TH ");
    for (const char *c = command->name; *c != '\0'; c++)
        buffer_char(out, (char)toupper((unsigned char)*c));
    buffer_format(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n%s \\- ", command->name, command->version,
                  command->name);
    roff(out, command->summary);
    buffer_format(out, "\n.SH SYNOPSIS\n\\fB%s\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n", command->name);
    buffer_string(out, ".nh\n.ad l\n"); /* commands are copied by readers: no hyphenation, no added blanks */
    buffer_string(out, ".SH DESCRIPTION\n");
    roff_paragraphs(out, command->description);
    buffer_string(out, ".SH COMMANDS\nEvery command also takes \\fB\\-h\\fR, \\fB\\-\\-help\\fR.\n");
    for (size_t i = 0; command->verbs[i] != NULL; i++)
        roff_verb(out, command, command->verbs[i]);
    if (command->exit_statuses != NULL)
        buffer_string(out, ".SH EXIT STATUS\n");
    for (const struct args_example *e = command->exit_statuses; e != NULL && e->command != NULL; e++)
        roff_tagged(out, e->command, e->meaning);
    if (command->files != NULL)
        buffer_string(out, ".SH FILES\n");
    for (const struct args_example *e = command->files; e != NULL && e->command != NULL; e++)
        roff_tagged(out, e->command, e->meaning);
}
