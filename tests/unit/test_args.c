/* The command line: what is accepted, what is refused and with which words, and the texts made from the tables. */
#include "tests/support/test.h"

#include "base/buffer.h"
#include "base/error.h"
#include "tools/args.h"

static int run_nothing(const struct args *args)
{
    return (int)args_operand_count(args);
}

static const struct args_option run_options[] = {
    {.name = "policy", .letter = 'p', .metavar = "PRESET|FILE", .help = "The policy to use."},
    {.name = "set", .metavar = "PATH=VALUE", .help = "Override a field.", .is_repeatable = true},
    {.name = "seed", .metavar = "N", .help = "The seed of all chance."},
    {.name = "check", .letter = 'c', .help = "Check every invariant."},
    {.name = "verbose", .help = "Say more.", .is_repeatable = true},
    {0},
};

static const struct args_verb verb_run = {
    .name = "run",
    .summary = "simulate a scenario",
    .synopsis = "[SCENARIO] [OPTION]...",
    .description = (const char *const[]){"A paragraph that is long enough to be broken, because it "
                                         "goes on and on until the eightieth "
                                         "column has been passed by a word.",
                                         ".A second one with a back\\slash.", NULL},
    .options = run_options,
    .examples = (const struct args_example[]){{"windtunnel run s.json", "Run one."}, {0}},
    .operands_max = 1,
    .run = run_nothing,
};
static const struct args_verb verb_info = {
    .name = "trace info", .summary = "describe a trace", .operands_min = 1, .operands_max = 1, .run = run_nothing};
static const struct args_verb verb_synth = {
    .name = "trace synth", .summary = "make a trace", .operands_max = SIZE_MAX, .run = run_nothing};

static const struct args_command command = {
    .name = "windtunnel",
    .version = "1.2.3",
    .summary = "a wind tunnel",
    .verbs = (const struct args_verb *const[]){&verb_run, &verb_info, &verb_synth, NULL},
    .exit_statuses = (const struct args_example[]){{"0", "Success."}, {0}},
};

enum { WORDS_MAX = 12 };

/* Cut "a b c" into words in place. */
static int cut(char *line, char *words[WORDS_MAX])
{
    int count = 0;
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < WORDS_MAX);
        words[count++] = word;
    }
    return count;
}

static struct error parse(struct args **args, const struct args_verb *verb, char *line)
{
    char *words[WORDS_MAX];
    int count = cut(line, words);
    return args_parse(args, verb, count, words);
}

static struct args *parsed(const struct args_verb *verb, char *line)
{
    struct args *args;
    struct error error = parse(&args, verb, line);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return args;
}

/* The line is refused with this message and, if not NULL, this text somewhere in the whole report. */
static void refuses(const struct args_verb *verb, const char *line, const char *message, const char *hint)
{
    char copy[200];
    assert_true(strlen(line) < sizeof copy);
    strcpy(copy, line);
    struct args *args;
    struct error error = parse(&args, verb, copy);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_null(args);
    assert_string_equal(error_message(&error), message);
    char *report = error_text_new(&error);
    if (hint != NULL && strstr(report, hint) == NULL)
        fail_msg("no '%s' in: %s", hint, report);
    free(report);
    error_release(&error);
}

TEST(values_are_found_in_every_form)
{
    char line[] = "--policy fifo -c s.json --set a=1 --set=b=2 --seed=-7 --verbose --verbose";
    struct args *args = parsed(&verb_run, line);
    assert_string_equal(args_string(args, "policy"), "fifo");
    assert_true(args_flag(args, "check"));
    assert_true(args_flag(args, "verbose"));
    size_t count;
    const char *const *set = args_list(args, "set", &count);
    assert_int_equal(count, 2);
    assert_string_equal(set[0], "a=1");
    assert_string_equal(set[1], "b=2");
    assert_string_equal(args_string(args, "set"), "b=2");
    int64_t seed;
    struct error error = args_int64(args, "seed", -10, 10, 0, &seed);
    assert_false(error_is(error));
    assert_int_equal(seed, -7);
    assert_int_equal(args_operand_count(args), 1);
    assert_string_equal(args_operand(args, 0), "s.json");
    assert_null(args_operand(args, 1));
    assert_ptr_equal(args_verb(args), &verb_run);
    assert_false(args_wants_help(args));
    args_free(args);
}

TEST(what_was_not_given_is_absent)
{
    char line[] = "";
    struct args *args = parsed(&verb_run, line);
    assert_null(args_string(args, "policy"));
    assert_false(args_flag(args, "check"));
    size_t count = 9;
    args_list(args, "set", &count);
    assert_int_equal(count, 0);
    int64_t seed;
    struct error error = args_int64(args, "seed", 0, 10, 42, &seed);
    assert_false(error_is(error));
    assert_int_equal(seed, 42);
    args_free(args);
}

TEST(letters_take_values_apart_and_attached)
{
    char apart[] = "-p fifo", attached[] = "-pfifo", empty[] = "--policy=", dash[] = "--policy - -";
    struct args *args = parsed(&verb_run, apart);
    assert_string_equal(args_string(args, "policy"), "fifo");
    args_free(args);
    args = parsed(&verb_run, attached);
    assert_string_equal(args_string(args, "policy"), "fifo");
    args_free(args);
    args = parsed(&verb_run, empty);
    assert_string_equal(args_string(args, "policy"), "");
    args_free(args);
    args = parsed(&verb_run, dash);
    assert_string_equal(args_string(args, "policy"), "-");
    assert_string_equal(args_operand(args, 0), "-");
    args_free(args);
}

TEST(two_dashes_end_the_options)
{
    char line[] = "a -- --policy -h";
    struct args *args = parsed(&verb_synth, line);
    assert_int_equal(args_operand_count(args), 3);
    assert_string_equal(args_operand(args, 1), "--policy");
    assert_string_equal(args_operand(args, 2), "-h");
    assert_false(args_wants_help(args));
    args_free(args);
}

TEST(help_goes_before_any_complaint)
{
    char line[] = "--nonsense --help";
    struct args *args = parsed(&verb_run, line);
    assert_true(args_wants_help(args));
    args_free(args);
}

TEST(bad_lines_are_refused)
{
    refuses(&verb_run, "--polcy fifo", "unknown option '--polcy'", "did you mean '--policy'?");
    refuses(&verb_run, "--pol fifo", "unknown option '--pol'", NULL);
    refuses(&verb_run, "--zzzzzzzz", "unknown option '--zzzzzzzz'", "'run --help' lists the options");
    refuses(&verb_run, "--hepl", "unknown option '--hepl'", "--help");
    refuses(&verb_run, "-x", "unknown option '-x'", "goes behind '--'");
    refuses(&verb_run, "--policy", "option '--policy' needs a value: PRESET|FILE", NULL);
    refuses(&verb_run, "--policy --check", "option '--policy' needs a value: PRESET|FILE, got '--check'",
            "'--policy=--check'");
    refuses(&verb_run, "--check=yes", "option '--check' takes no value, got 'yes'", NULL);
    refuses(&verb_run, "-cp", "option '--check' takes no value, got 'p'", NULL);
    refuses(&verb_run, "--policy a --policy b", "option '--policy' is given twice", NULL);
    refuses(&verb_run, "-c --check", "option '--check' is given twice", NULL);
    refuses(&verb_run, "a b", "'run' has no use for 'b'", "run [SCENARIO] [OPTION]...");
    refuses(&verb_info, "", "'trace info' needs an operand", NULL);
}

TEST(bad_integers_are_refused)
{
    static const char *const lines[] = {"--seed 11", "--seed 1x", "--seed=", "--seed 99999999999999999999"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[64];
        strcpy(line, lines[i]);
        struct args *args = parsed(&verb_run, line);
        int64_t seed;
        struct error error = args_int64(args, "seed", 0, 10, 0, &seed);
        assert_int_equal(error.kind, ERROR_USAGE);
        assert_non_null(strstr(error_message(&error), "'--seed' must be an integer from 0 to 10, got '"));
        error_release(&error);
        args_free(args);
    }
}

static const struct args_verb *found(char *line, int *used)
{
    char *words[WORDS_MAX];
    int count = cut(line, words);
    const struct args_verb *verb;
    struct error error = args_find_verb(&command, count, words, &verb, used);
    if (error_is(error))
        fail_msg("%s", error_message(&error));
    return verb;
}

TEST(verbs_of_one_and_two_words_are_found)
{
    int used;
    char one[] = "run info", two[] = "trace synth x";
    assert_ptr_equal(found(one, &used), &verb_run);
    assert_int_equal(used, 1);
    assert_ptr_equal(found(two, &used), &verb_synth);
    assert_int_equal(used, 2);
}

static void finds_no_verb(const char *line, const char *message, const char *hint)
{
    char copy[64], *words[WORDS_MAX];
    strcpy(copy, line);
    int count = cut(copy, words), used;
    const struct args_verb *verb;
    struct error error = args_find_verb(&command, count, words, &verb, &used);
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_string_equal(error_message(&error), message);
    char *report = error_text_new(&error);
    assert_non_null(strstr(report, hint));
    free(report);
    error_release(&error);
}

TEST(unknown_verbs_are_refused)
{
    finds_no_verb("xyzzy", "there is no command 'xyzzy'", "lists the commands");
    finds_no_verb("trase", "there is no command 'trase'", "did you mean 'trace'?");
    finds_no_verb("trace", "'trace' needs a second word, such as 'trace info'", "lists the commands");
    finds_no_verb("trace imfo", "there is no command 'trace imfo'", "did you mean 'trace info'?");
    finds_no_verb("", "no command given", "'windtunnel help'");
}

static void no_line_is_wider_than_80(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > 80)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

TEST(help_of_a_verb_is_laid_out)
{
    struct buffer out = {0};
    args_help_verb(&command, &verb_run, &out);
    const char *text = buffer_c_string(&out);
    no_line_is_wider_than_80(text);
    assert_string_equal(text, "usage: windtunnel run [SCENARIO] [OPTION]...\n"
                              "\n"
                              "Simulate a scenario.\n"
                              "\n"
                              "A paragraph that is long enough to be broken, because it goes on and on until\n"
                              "the eightieth column has been passed by a word.\n"
                              "\n"
                              ".A second one with a back\\slash.\n"
                              "\n"
                              "options:\n"
                              "  -p, --policy PRESET|FILE  The policy to use.\n"
                              "      --set PATH=VALUE      Override a field. May be given more than once.\n"
                              "      --seed N              The seed of all chance.\n"
                              "  -c, --check               Check every invariant.\n"
                              "      --verbose             Say more. May be given more than once.\n"
                              "  -h, --help                Show this help.\n"
                              "\n"
                              "examples:\n"
                              "  windtunnel run s.json\n"
                              "      Run one.\n");
    buffer_release(&out);
}

TEST(help_lists_verbs_and_families)
{
    struct buffer out = {0};
    args_help_command(&command, &out);
    const char *text = buffer_c_string(&out);
    no_line_is_wider_than_80(text);
    assert_non_null(strstr(text, "windtunnel 1.2.3: a wind tunnel.\n"));
    assert_non_null(strstr(text, "  run          simulate a scenario\n  trace info   describe a trace\n"));
    assert_non_null(strstr(text, "  0   Success.\n"));
    out.length = 0;
    assert_true(args_help_family(&command, "trace", &out));
    text = buffer_c_string(&out);
    assert_non_null(strstr(text, "trace synth  make a trace\n"));
    assert_null(strstr(text, "simulate"));
    out.length = 0;
    assert_false(args_help_family(&command, "run", &out));
    assert_int_equal(out.length, 0);
    buffer_release(&out);
}

TEST(manual_escapes_what_roff_would_read)
{
    struct buffer out = {0};
    args_manual(&command, &out);
    const char *text = buffer_c_string(&out);
    assert_ptr_equal(strstr(text, ".TH WINDTUNNEL 1 \"\" \"windtunnel 1.2.3\" "), text);
    assert_non_null(strstr(text, "\n\\&.A second one with a back\\eslash.\n"));
    assert_non_null(strstr(text, "\n.TP\n\\fB\\-p\\fR, \\fB\\-\\-policy\\fR \\fIPRESET|FILE\\fR\n"));
    assert_non_null(strstr(text, "\n.SS \"windtunnel trace info\"\nDescribe a trace.\n"));
    assert_non_null(strstr(text, "\n.SH EXIT STATUS\n.TP\n\\fB0\\fR\nSuccess.\n"));
    buffer_release(&out);
}
