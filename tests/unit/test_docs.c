/* The documents name no command that does not exist: each `windtunnel ...` and `make ...` in them is parsed by the
 * tables that make the help texts, and by the targets and variables of the Makefile.  Nothing is run.
 * ARCHITECTURE.md names no file, folder or function that does not exist. */
#include <ctype.h>
#include <glob.h>
#include <stdio.h>

#include "tests/support/test.h"

#include "base/input.h"
#include "base/mem.h"
#include "tools/verbs.h"

enum { WORDS_MAX = 256, FILE_BYTES_MAX = 1 << 20 };

/* What was found in one document. */
struct check {
    const char *path;
    const char *text;
    size_t commands, complaints; /* commands: or names */
    struct buffer said;          /* the complaints */
};

static void complain(struct check *check, const char *at, const char *command, const char *why)
{
    size_t line = 1;
    for (const char *c = check->text; c < at; c++)
        line += *c == '\n';
    buffer_format(&check->said, "%s:%zu: `%s`: %s\n", check->path, line, command, why);
    check->complaints++;
}

/* ---- a simple command of a shell, as words ---- */

struct words {
    char *of[WORDS_MAX + 1]; /* NULL-terminated */
    int count;
    struct arena arena;
};

static void add_word(struct words *words, struct buffer *word)
{
    assert_true(words->count < WORDS_MAX);
    buffer_c_string(word);
    words->of[words->count++] = (char *)arena_copy(&words->arena, (struct text){word->bytes, word->length});
    word->length = 0;
}

/* Up to the end of the command: |, ;, &, <, >, a comment or the end of the text.  Returns where it stopped. */
static const char *split(const char *c, struct words *words)
{
    struct buffer word = {0};
    char quote = '\0';
    bool is_word = false;
    for (; *c != '\0' && (quote != '\0' || strchr("|;&<>", *c) == NULL); c++) {
        if (quote != '\0' && *c == quote) {
            quote = '\0';
        } else if (quote != '\0') {
            buffer_char(&word, *c);
        } else if (*c == '\'' || *c == '"') {
            quote = *c;
            is_word = true;
        } else if (*c == '\\' && c[1] == '\n') {
            c++;
        } else if (*c == '#' && !is_word) {
            break;
        } else if (isspace((unsigned char)*c)) {
            if (is_word)
                add_word(words, &word);
            is_word = false;
        } else {
            buffer_char(&word, *c);
            is_word = true;
        }
    }
    if (is_word)
        add_word(words, &word);
    words->of[words->count] = NULL;
    buffer_release(&word);
    return c;
}

/* "[OPTION]..." is OPTION, "..." is nothing: as in a synopsis. */
static void strip_synopsis(struct words *words)
{
    int kept = 0;
    for (int i = 0; i < words->count; i++) {
        char *word = words->of[i];
        while (*word == '[')
            word++;
        size_t length = strlen(word);
        while (length > 0 && (word[length - 1] == ']' || word[length - 1] == '.'))
            word[--length] = '\0';
        if (length > 0)
            words->of[kept++] = word;
    }
    words->of[kept] = NULL;
    words->count = kept;
}

static bool is_placeholder(const char *word)
{
    for (const char *c = word; *c != '\0'; c++)
        if (!isupper((unsigned char)*c))
            return false;
    return true;
}

/* ---- windtunnel ---- */

/* Parsed, given what lacks if the text names the command without its operands or an option without its value.
 * NULL: good. */
static const char *options_complaint(const struct args_verb *verb, struct words *words, int used)
{
    static char text[256];
    struct error error = ERROR_OK;
    for (int more = 0; more <= (int)verb->operands_min + 1; more++) {
        struct args *args;
        error_release(&error);
        error = args_parse(&args, verb, words->count - used, words->of + used);
        if (!error_is(error)) {
            args_free(args);
            return NULL;
        }
        if ((strstr(error_message(&error), "operand") == NULL &&
             strstr(error_message(&error), "needs a value") == NULL) ||
            words->count == WORDS_MAX)
            break;
        words->of[words->count++] = (char *)"OPERAND";
        words->of[words->count] = NULL;
    }
    snprintf(text, sizeof text, "%s", error_message(&error));
    error_release(&error);
    return text;
}

static const char *windtunnel_complaint(struct words *words)
{
    static char text[256];
    const struct args_verb *verb;
    struct buffer help = {0};
    int used;
    if (words->count == 1 || is_placeholder(words->of[1]) || strcmp(words->of[1], "--version") == 0 ||
        strcmp(words->of[1], "--help") == 0)
        return NULL;
    int from = strcmp(words->of[1], "help") == 0 ? 2 : 1;
    if (from == words->count || (from == 2 && strcmp(words->of[2], "--man") == 0))
        return NULL;
    bool is_family = words->count == from + 1 && args_help_family(&tool_command, words->of[from], &help);
    buffer_release(&help);
    if (is_family)
        return NULL;
    struct error error = args_find_verb(&tool_command, words->count - from, words->of + from, &verb, &used);
    if (!error_is(error))
        return from == 2 ? NULL : options_complaint(verb, words, from + used);
    snprintf(text, sizeof text, "%s", error_message(&error));
    error_release(&error);
    return text;
}

/* ---- make ---- */

static char *read_file(const char *path)
{
    char *bytes;
    size_t length;
    struct error error = input_read_all(path, FILE_BYTES_MAX, &bytes, &length);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    char *text = mem_zalloc(length + 1, 1);
    memcpy(text, bytes, length);
    mem_free(bytes);
    return text;
}

/* Does some rule of the Makefile make this target?  "all link: other" makes all and link. */
static bool has_target(const char *makefile, const char *target)
{
    size_t length = strlen(target);
    for (const char *line = makefile; line != NULL && *line != '\0'; line = strchr(line, '\n'), line += line != NULL) {
        const char *end = line + strcspn(line, ":=\n");
        if (*end != ':' || end[1] == '=' || strchr("\t.#", *line) != NULL)
            continue;
        for (const char *at = line; at + length <= end; at += strcspn(at, " :"), at += *at == ' ')
            if (strncmp(at, target, length) == 0 && strchr(" :", at[length]) != NULL)
                return true;
    }
    return false;
}

static const char *make_complaint(const struct words *words)
{
    static char text[256];
    char path[256] = "Makefile", variable[64];
    for (int i = 1; i + 1 < words->count; i++)
        if (strcmp(words->of[i], "-C") == 0)
            snprintf(path, sizeof path, "%s/Makefile", words->of[i + 1]);
    char *makefile = read_file(path);
    text[0] = '\0';
    for (int i = 1; i < words->count && text[0] == '\0'; i++) {
        const char *word = words->of[i], *sign = strchr(word, '=');
        if (word[0] == '-') {
            i += strcmp(word, "-C") == 0;
        } else if (sign != NULL) {
            snprintf(variable, sizeof variable, "%.*s)", (int)(sign - word), word);
            if (strstr(makefile, variable) == NULL)
                snprintf(text, sizeof text, "%.99s uses no variable '%.*s'", path, (int)(sign - word) % 99, word);
        } else if (!is_placeholder(word) && !has_target(makefile, word)) {
            snprintf(text, sizeof text, "%.99s has no target '%.99s'", path, word);
        }
    }
    mem_free(makefile);
    return text[0] != '\0' ? text : NULL;
}

/* ---- documents ---- */

static bool is_program(const char *word)
{
    const char *slash = strrchr(word, '/');
    return strcmp(slash != NULL ? slash + 1 : word, "windtunnel") == 0;
}

/* Check the commands of a text, which stands at `at` of the document. */
static void check_commands(struct check *check, const char *at, const char *line)
{
    while (*line != '\0' && *line != '#') {
        struct words words = {0};
        const char *end = split(line, &words);
        int from = 0; /* behind VARIABLE=value */
        while (from < words.count && strchr(words.of[from], '=') != NULL)
            from++;
        memmove(words.of, words.of + from, sizeof *words.of * (size_t)(words.count - from + 1));
        words.count -= from;
        const char *why = NULL;
        if (words.count > 0 && is_program(words.of[0])) {
            strip_synopsis(&words);
            why = windtunnel_complaint(&words);
            check->commands++;
        } else if (words.count > 0 && strcmp(words.of[0], "make") == 0) {
            strip_synopsis(&words);
            why = make_complaint(&words);
            check->commands++;
        }
        if (why != NULL)
            complain(check, at, line, why);
        arena_release(&words.arena);
        line = *end == '#' ? end : end + strspn(end, "|;&<>");
    }
}

static void check_piece(struct check *check, const char *from, const char *to)
{
    char *piece = strndup(from, (size_t)(to - from));
    if (strstr(piece, "windtunnel") != NULL || strstr(piece, "make") != NULL)
        check_commands(check, from, piece);
    free(piece);
}

/* The end of a line of code: one that ends in '\' goes on. */
static const char *code_end(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    while (*end == '\n' && end > line && end[-1] == '\\')
        end += 1 + strcspn(end + 1, "\n");
    return end;
}

/* Code is what stands between fences, what is indented by four behind an empty line, what stands in `...`, and the
 * command of a mark of tools/docs_check. */
static void check_markdown(struct check *check)
{
    bool is_fenced = false, is_code = false, was_empty = true;
    for (const char *line = check->text; *line != '\0';) {
        const char *end = line + strcspn(line, "\n");
        bool is_empty = line + strspn(line, " ") == end;
        is_code = !is_empty && strncmp(line, "    ", 4) == 0 && (was_empty || is_code);
        was_empty = is_empty;
        bool is_fence = strncmp(line + strspn(line, " "), "```", 3) == 0;
        const char *mark = strncmp(line, "<!-- ", 5) == 0 ? strstr(line, " by: ") : NULL;
        if (!is_fenced && mark != NULL && mark < end) {
            const char *terms = memrchr(line, '(', (size_t)(end - line));
            check_piece(check, mark + strlen(" by: "), terms != NULL ? terms : end);
        } else if (is_fence) {
            is_fenced = !is_fenced;
        } else if (is_fenced || is_code) {
            end = code_end(line);
            check_piece(check, line, end);
        }
        for (const char *tick = line;
             !is_fenced && !is_fence && !is_code && (tick = memchr(tick, '`', (size_t)(end - tick))) != NULL;) {
            const char *close = strchr(tick + 1, '`');
            if (close == NULL || memmem(tick, (size_t)(close - tick), "\n\n", 2) != NULL)
                break;
            check_piece(check, tick + 1, close);
            tick = close + 1;
            if (tick > end)
                end = tick + strcspn(tick, "\n");
        }
        line = *end == '\n' ? end + 1 : end;
    }
}

static void tell(struct check *check)
{
    if (check->complaints > 0)
        fail_msg("the documents name what does not exist:\n%s", buffer_c_string(&check->said));
}

TEST(documents_name_commands_that_exist)
{
    struct check check = {0};
    static const char *const patterns[] = {"*.md", "docs/*.md", "docs/examples/*/*.md", "topologies/README.md",
                                           "workloads/README.md"};
    glob_t found = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        assert_int_equal(glob(patterns[i], i > 0 ? GLOB_APPEND : 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_file(found.gl_pathv[i]);
        check.path = found.gl_pathv[i];
        check.text = text;
        check_markdown(&check);
        mem_free(text);
    }
    globfree(&found);
    print_message("%zu commands\n", check.commands);
    tell(&check);
    assert_true(check.commands > 120);
    buffer_release(&check.said);
}

/* What stands in quotes: 'windtunnel decide'. */
static void check_quoted(struct check *check, const char *text)
{
    for (const char *at = text; text != NULL && (at = strstr(at, "'windtunnel ")) != NULL; at++) {
        const char *end = strchr(at + 1, '\'');
        if (end == NULL)
            break;
        check_piece(check, at + 1, end);
    }
}

TEST(help_texts_name_commands_that_exist)
{
    struct check check = {0};
    for (size_t v = 0; tool_command.verbs[v] != NULL; v++) {
        const struct args_verb *verb = tool_command.verbs[v];
        check.path = verb->name;
        for (size_t i = 0; verb->description != NULL && verb->description[i] != NULL; i++)
            check_quoted(&check, check.text = verb->description[i]);
        for (const struct args_option *o = verb->options; o != NULL && o->name != NULL; o++)
            check_quoted(&check, check.text = o->help);
        for (const struct args_example *e = verb->examples; e != NULL && e->command != NULL; e++) {
            check_commands(&check, check.text = e->command, e->command);
            check_quoted(&check, check.text = e->meaning);
        }
    }
    for (const struct args_example *e = tool_command.files; e->command != NULL; e++)
        check_quoted(&check, check.text = e->meaning);
    tell(&check);
    assert_true(check.commands > 15);
    buffer_release(&check.said);
}

/* ---- a mistake is seen ---- */

TEST(mistakes_are_seen)
{
    static const struct {
        const char *text, *why; /* why NULL: good */
    } cases[] = {
        {"```\n./windtunnel run a.json --out o  # with a record\n```\n", NULL},
        {"Type `windtunnel run` with `--policy`; `windtunnel VERB --help`, `windtunnel trace`.", NULL},
        {"    windtunnel run S --scheduler 'COMMAND ...' [--scheduler-timeout SECONDS]\n", NULL},
        {"`make test ONLY=text`, `CC=clang make -j2 lint`, `make -C docs/examples/plugin`", NULL},
        {"no code: windtunnel flies, make haste\n", NULL},
        {"Some `windtunnel fly` here", "there is no command 'fly'"},
        {"```\n./windtunnel run a.json --polcy fifo\n```\n", "unknown option '--polcy'"},
        {"```\nzstd -dc x | windtunnel decide --chek\n```\n", "unknown option '--chek'"},
        {"text\n\n    windtunnel report a b\n", "'report' has no use for 'b'"},
        {"`windtunnel run a.json \\\n  --cluter c.json`", "unknown option '--cluter'"},
        {"```\nwindtunnel run a \\\n    --sed 3\n```\n", "unknown option '--sed'"},
        {"`windtunnel topology\nshaw x`", "there is no command 'topology shaw'"},
        {"<!-- made by: windtunnel report a --json (2026-11-27, 5 seeds) -->\n", NULL},
        {"<!-- made by: windtunnel fly (2026-11-27, 5 seeds) -->\n", "there is no command 'fly'"},
        {"`make tests`", "Makefile has no target 'tests'"},
        {"`make test OLNY=x`", "Makefile uses no variable 'OLNY'"},
        {"```\ncd x && VARIANT=a make lnit\n```\n", "Makefile has no target 'lnit'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct check check = {.path = "text", .text = cases[i].text};
        check_markdown(&check);
        const char *said = buffer_c_string(&check.said);
        if (cases[i].why == NULL ? check.complaints != 0 : check.complaints != 1 || strstr(said, cases[i].why) == NULL)
            fail_msg("%s\nis said to be: %s", cases[i].text, said);
        buffer_release(&check.said);
    }
}

/* ---- the names in ARCHITECTURE.md ---- */

enum { DEPTH_MAX = 4, NAME_MAX_BYTES = 128 };
static const char *const above[DEPTH_MAX] = {"", "*/", "*/*/", "*/*/*/"};

/* Append the files of the tree whose path ends in the pattern; what was built is none of them. */
static void find_files(const char *pattern, glob_t *found)
{
    char path[NAME_MAX_BYTES + 16];
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        snprintf(path, sizeof path, "%s%s", above[depth], pattern);
        const int result = glob(path, found->gl_pathc > 0 ? GLOB_APPEND : 0, NULL, found);
        assert_true(result == 0 || result == GLOB_NOMATCH);
    }
}

static bool is_in_tree(const char *path)
{
    glob_t found = {0};
    bool is_found = false;
    find_files(path, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        is_found |= strncmp(found.gl_pathv[i], "build/", 6) != 0;
    globfree(&found);
    return is_found;
}

/* All C sources, each behind a line of its own: "\f<path>". */
static void read_sources(struct buffer *sources)
{
    glob_t found = {0};
    find_files("*.[ch]", &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strncmp(found.gl_pathv[i], "build/", 6) == 0)
            continue;
        char *text = read_file(found.gl_pathv[i]);
        buffer_format(sources, "\f%s\n%s\n", found.gl_pathv[i], text);
        mem_free(text);
    }
    globfree(&found);
}

/* Is the function defined or declared in a file whose path ends in `file` (NULL: in any)?  The line that does begins
 * in the first column, as no call does. */
static bool has_function(const char *sources, const char *name, const char *file)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(sources, name); at != NULL; at = strstr(at + 1, name)) {
        if (at[length] != '(' || at == sources || isalnum((unsigned char)at[-1]) || at[-1] == '_')
            continue;
        const char *line = at;
        while (line > sources && line[-1] != '\n')
            line--;
        if (!isalpha((unsigned char)*line) || strncmp(line, "return ", 7) == 0)
            continue;
        if (file == NULL)
            return true;
        while (*line != '\f')
            line--;
        const size_t path_length = strcspn(line, "\n"), file_length = strlen(file);
        if (path_length > file_length && strncmp(line + path_length - file_length, file, file_length) == 0)
            return true;
    }
    return false;
}

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./*-")] == '\0' &&
           (strchr(name, '/') != NULL || (length > 2 && name[length - 2] == '.' && strchr("ch", name[length - 1])));
}

/* `name()`, `name(...)`, or words in small letters joined by '_', as functions have: then without what stands in
 * brackets. */
static bool is_function(char *name)
{
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (length == 0 || !islower((unsigned char)*name))
        return false;
    if (name[length] == '(' && name[strlen(name) - 1] == ')') {
        name[length] = '\0';
        return true;
    }
    return name[length] == '\0' && strchr(name, '_') != NULL;
}

/* What stands between these ticks; false: too long for a name. */
static bool copy_name(const char *tick, const char *close, char name[NAME_MAX_BYTES])
{
    const size_t length = (size_t)(close - tick - 1);
    if (length == 0 || length >= NAME_MAX_BYTES)
        return false;
    memcpy(name, tick + 1, length);
    name[length] = '\0';
    return true;
}

/* A file that stands behind a function, as in `name()` (`folder/file.c`): it is where the function must be. */
static const char *file_beside(const char *close, char file[NAME_MAX_BYTES])
{
    const char *tick = close + 1 + strspn(close + 1, " \n(,");
    const char *end = *tick == '`' ? strchr(tick + 1, '`') : NULL;
    if (end == NULL || !copy_name(tick, end, file) || !is_path(file))
        return NULL;
    return file;
}

static void check_names(struct check *check, const char *sources)
{
    char name[NAME_MAX_BYTES], file[NAME_MAX_BYTES];
    for (const char *tick = strchr(check->text, '`'); tick != NULL;) {
        const char *close = strchr(tick + 1, '`');
        if (close == NULL)
            return;
        if (copy_name(tick, close, name)) {
            const char *beside = file_beside(close, file);
            if (is_path(name)) {
                check->commands++;
                if (!is_in_tree(name))
                    complain(check, tick, name, "no such file or folder");
            } else if (is_function(name)) {
                check->commands++;
                if (!has_function(sources, name, NULL))
                    complain(check, tick, name, "no such function");
                else if (beside != NULL && !has_function(sources, name, beside))
                    complain(check, tick, name, "not in the file beside it");
            }
        }
        tick = strchr(close + 1, '`');
    }
}

TEST(architecture_names_what_exists)
{
    struct buffer sources = {0};
    read_sources(&sources);
    char *text = read_file("ARCHITECTURE.md");
    struct check check = {.path = "ARCHITECTURE.md", .text = text};
    check_names(&check, buffer_c_string(&sources));
    print_message("%zu names\n", check.commands);
    tell(&check);
    assert_true(check.commands > 120);
    buffer_release(&check.said);
    buffer_release(&sources);
    mem_free(text);
}

TEST(wrong_names_are_seen)
{
    static const struct {
        const char *text, *why; /* why NULL: good */
    } cases[] = {
        {"`policies/`, `policies/cycle/cycle.c`, `cycle.c`, `engine/engine.h`, `verb_*.c`, `tools/lint/layers`", NULL},
        {"`sched_cycle()`, `sched_cycle`, `trim()`, `act(sched)`, `struct sched`, `world.end`, `reclaim`", NULL},
        {"`sched_cycle()` (`policies/cycle/cycle.c`), `allocate()`, `policies/allocate/allocate.c`", NULL},
        {"`policies/cycle/cycles.c`", "`policies/cycle/cycles.c`: no such file or folder"},
        {"`cycles.c`", "no such file or folder"},
        {"`policies/lanes/`", "no such file or folder"},
        {"x\n`sched_cycel()`", "text:2: `sched_cycel`: no such function"},
        {"`sched_jobs_submitted`", "no such function"},
        {"`ched_cycle()`", "no such function"},
        {"`sched_cycle()`\n(`policies/cycle/facts.c`)", "`sched_cycle`: not in the file beside it"},
        {"(`ledger_mark()`, `policies/allocate/allocate.c`)", "not in the file beside it"}, /* it is called there */
    };
    struct buffer sources = {0};
    read_sources(&sources);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct check check = {.path = "text", .text = cases[i].text};
        check_names(&check, buffer_c_string(&sources));
        const char *said = buffer_c_string(&check.said);
        if (cases[i].why == NULL ? check.complaints != 0 : check.complaints != 1 || strstr(said, cases[i].why) == NULL)
            fail_msg("%s\nis said to be: %s", cases[i].text, said);
        buffer_release(&check.said);
    }
    buffer_release(&sources);
}
