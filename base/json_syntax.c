/* base/json_syntax.c -- error messages for a text that jansson refused.
 *
 * jansson tells a code and the byte where it stopped.  The walk of base/json_place.h goes
 * up to the token there, and so knows the brackets around it and the pointer; then the
 * token is judged by what may stand in its place, and the usual slips (a comma too many,
 * comments, single quotes, NaN) get a sentence of their own.
 */
#include <string.h>

#include "base/json_doc.h"

/* The kinds of tokens that are valid at the token's place. */
enum expected { EXPECTED_VALUE, EXPECTED_KEY, EXPECTED_COLON, EXPECTED_COMMA, EXPECTED_END };

static const char too_much_text[] = "more text after the end of the JSON value";

struct syntax {
    struct text text;
    enum json_error_code code;
    const char *jansson_says;
    struct json_walk walk; /* at the token that was refused */
    struct text token;     /* empty: the text ended */
    char before;           /* first byte of the previous token; NUL: none */
    enum expected expected;
    size_t begin; /* start of the underline */
    size_t end;
    struct buffer message;
    struct buffer hint; /* empty: none */
};

static const struct json_frame *frame_of(const struct syntax *syntax)
{
    return syntax->walk.depth != 0 ? &syntax->walk.frames[syntax->walk.depth - 1] : NULL;
}

static void say(struct syntax *syntax, const char *message, const char *hint)
{
    buffer_string(&syntax->message, message);
    buffer_string(&syntax->hint, hint);
}

/* Append the token in quotes, as foreign text in a message. */
static void say_token(struct syntax *syntax)
{
    enum { TOKEN_BYTES_MAX = 40 };
    bool is_cut = syntax->token.length > TOKEN_BYTES_MAX;
    struct text shown = {syntax->token.at, is_cut ? TOKEN_BYTES_MAX : syntax->token.length};
    bool is_string = shown.at[0] == '"';
    buffer_string(&syntax->message, is_string ? "" : "'");
    for (size_t i = 0; i < shown.length; i++)
        buffer_char(&syntax->message, shown.at[i] != '\0' ? shown.at[i] : '?');
    buffer_string(&syntax->message, is_cut ? "..." : "");
    buffer_string(&syntax->message, is_string ? "" : "'");
}

/* Append jansson's message without its "near ...". */
static void say_as_jansson(struct syntax *syntax, const char *said)
{
    const char *near = strstr(said, " near ");
    buffer_bytes(&syntax->message, said, near != NULL ? (size_t)(near - said) : strlen(said));
}

/* ---- the token in itself ---- */

/* The text ended: underline the end, and name the bracket that is open. */
static void judge_end(struct syntax *syntax)
{
    const struct json_frame *frame = frame_of(syntax);
    size_t end = syntax->text.length;
    while (end != 0 && memchr(" \t\r\n", syntax->text.at[end - 1], 4) != NULL)
        end--;
    syntax->begin = syntax->end = end;
    if (end == 0) {
        say(syntax, "there is no JSON here: the text is empty", "");
    } else if (frame == NULL) {
        say(syntax, "the text ends too early", "");
    } else {
        struct json_place opened = json_place_of(syntax->text, frame->begin, frame->begin + 1);
        buffer_format(&syntax->message, "the text ends before the '%c' that closes the '%c' of line %zu",
                      frame->is_object ? '}' : ']', frame->is_object ? '{' : '[', opened.line);
    }
}

/* refusal: jansson's, of the string alone. */
static void judge_string(struct syntax *syntax, const json_error_t *refusal)
{
    switch (json_error_code(refusal)) {
    case json_error_premature_end_of_input:
        say(syntax, "this string is not closed in its line",
            "put '\"' behind it; a line break within a string is written \\n");
        break;
    case json_error_null_character:
        say(syntax, "a string must not hold the character \\u0000", "");
        break;
    default:
        say_as_jansson(syntax, refusal->text);
        say(syntax, " in this string", strstr(refusal->text, "control") != NULL ? "a tab is written \\t" : "");
    }
}

static bool is_number_like(struct text word)
{
    size_t at = 0;
    while (at < word.length && memchr("+-.", word.at[at], 3) != NULL)
        at++;
    return at == word.length || (word.at[at] >= '0' && word.at[at] <= '9');
}

static bool is_no_number(struct text word)
{
    static const char *const names[] = {"nan", "inf", "infinity", NULL};
    if (word.at[0] == '-' || word.at[0] == '+')
        word = (struct text){word.at + 1, word.length - 1};
    for (size_t i = 0; names[i] != NULL; i++)
        if (word.length == strlen(names[i]) && strncasecmp(word.at, names[i], word.length) == 0)
            return true;
    return false;
}

/* The token is no string, bracket, number or word of JSON. */
static void judge_word(struct syntax *syntax)
{
    static const char *const words[] = {"true", "false", "null", NULL};
    char first = syntax->token.at[0];
    if (first == '/' || first == '#') {
        say(syntax, "JSON has no comments", "write \"$comment\": \"...\" as a member of an object");
        return;
    }
    if (first == '\'') {
        say(syntax, "strings and keys stand in double quotes", "write \" in place of '");
        return;
    }
    if (syntax->expected == EXPECTED_END) {
        say(syntax, too_much_text, "");
        return;
    }
    say_token(syntax);
    const char *nearest = text_nearest(syntax->token, words);
    if (syntax->expected == EXPECTED_KEY)
        say(syntax, " stands where a key must be", "put keys in double quotes");
    else if (is_no_number(syntax->token))
        say(syntax, " is no number that JSON knows", "leave the key out, or write null");
    else if (is_number_like(syntax->token))
        say(syntax, " is no number as JSON writes them", "as in 8, -0.5 or 1e3");
    else
        say(syntax, " is no JSON value", nearest != NULL ? "" : "put texts in double quotes");
    if (syntax->hint.length == 0 && nearest != NULL)
        buffer_format(&syntax->hint, "did you mean '%s'?", nearest);
}

/* True if the token is wrong at any place. */
static bool judge_token(struct syntax *syntax)
{
    if (syntax->token.length == 0) {
        judge_end(syntax);
        return true;
    }
    if (memchr("{}[],:", syntax->token.at[0], 6) != NULL)
        return false;
    json_error_t refusal;
    json_t *alone = json_loadb(syntax->token.at, syntax->token.length, JSON_DECODE_ANY, &refusal);
    bool is_wrong = alone == NULL;
    json_decref(alone);
    if (is_wrong && syntax->token.at[0] == '"') {
        judge_string(syntax, &refusal);
    } else if (is_wrong && json_error_code(&refusal) == json_error_numeric_overflow) {
        say_token(syntax);
        say(syntax, " is too large a number", "");
    } else if (is_wrong) {
        judge_word(syntax);
    }
    return is_wrong;
}

/* ---- the token in its place ---- */

/* A closing bracket or a comma, where another token must be. */
static void judge_stop(struct syntax *syntax, char c)
{
    bool is_after_comma = syntax->before == ',';
    if (is_after_comma && c != ',' && c != ':') {
        syntax->begin = syntax->walk.comma;
        syntax->end = syntax->begin + 1;
        buffer_format(&syntax->message, "a comma before '%c'", c);
        say(syntax, "", "remove the comma");
    } else if (is_after_comma && c == ',') {
        say(syntax, "two commas with nothing between them", "remove one");
    } else if (syntax->before == ':') {
        buffer_format(&syntax->message, "a value is missing before '%c'", c);
    } else {
        buffer_format(&syntax->message, "'%c' stands where a %s must be", c,
                      syntax->expected == EXPECTED_KEY ? "key" : "value");
    }
}

static void judge_missing(struct syntax *syntax, char what)
{
    buffer_format(&syntax->message, "a '%c' is missing before ", what);
    say_token(syntax);
}

static bool judge_comma(struct syntax *syntax, char c)
{
    if (c == ',')
        return false;
    if (!syntax->walk.is_closing) {
        judge_missing(syntax, ',');
        return true;
    }
    const struct json_frame *frame = frame_of(syntax);
    if (frame->is_object == (c == '}'))
        return false;
    struct json_place opened = json_place_of(syntax->text, frame->begin, frame->begin + 1);
    buffer_format(&syntax->message, "'%c' cannot close the '%c' of line %zu", c, frame->is_object ? '{' : '[',
                  opened.line);
    return true;
}

/* True if the token is valid, but at a wrong place. */
static bool judge_place(struct syntax *syntax)
{
    char c = syntax->token.at[0];
    bool is_stop = memchr("}],:", c, 4) != NULL;
    switch (syntax->expected) {
    case EXPECTED_END:
        say(syntax, too_much_text, "");
        return true;
    case EXPECTED_COLON:
        if (c != ':')
            judge_missing(syntax, ':');
        return c != ':';
    case EXPECTED_COMMA:
        return judge_comma(syntax, c);
    case EXPECTED_KEY:
    case EXPECTED_VALUE:
        break;
    }
    bool is_empty = syntax->walk.is_closing && syntax->before == (c == '}' ? '{' : '[');
    if (is_empty)
        return false;
    if (is_stop) {
        judge_stop(syntax, c);
        return true;
    }
    if (syntax->expected == EXPECTED_KEY && c != '"') {
        say_token(syntax);
        say(syntax, " stands where a key must be", "put keys in double quotes");
        return true;
    }
    return false;
}

/* ---- where, and what jansson's code says ---- */

static enum expected expected_after(const struct json_walk *walk, char before, bool was_key)
{
    bool is_in_object = walk->depth != 0 && walk->frames[walk->depth - 1].is_object;
    if (was_key)
        return EXPECTED_COLON;
    if (before == '{' || (before == ',' && is_in_object))
        return EXPECTED_KEY;
    if (before == '\0' || before == '[' || before == ',' || before == ':')
        return EXPECTED_VALUE;
    return walk->depth != 0 ? EXPECTED_COMMA : EXPECTED_END;
}

/* Walk to the token at which jansson stopped. */
static void walk_to(struct syntax *syntax, size_t stop)
{
    struct json_walk *walk = &syntax->walk;
    bool is_token;
    do {
        bool was_key = walk->is_key;
        syntax->before = walk->end != 0 ? json_walk_char(walk) : '\0';
        is_token = json_walk_next(walk);
        syntax->expected = expected_after(walk, syntax->before, was_key);
    } while (is_token && walk->end < stop);
    syntax->begin = walk->begin;
    syntax->end = walk->end;
    syntax->token = (struct text){syntax->text.at + walk->begin, walk->end - walk->begin};
}

static void judge_utf8(struct syntax *syntax)
{
    struct text rest = syntax->text;
    size_t bytes;
    while ((bytes = text_utf8_bytes(rest)) != 0) {
        rest.at += bytes;
        rest.length -= bytes;
    }
    syntax->begin = (size_t)(rest.at - syntax->text.at);
    syntax->end = syntax->begin + 1;
    if (rest.length != 0)
        buffer_format(&syntax->message, "byte 0x%02x is not UTF-8", (unsigned char)rest.at[0]);
    else
        say_as_jansson(syntax, syntax->jansson_says);
}

/* The token is valid at its place, so jansson's code tells the error. */
static void judge_by_code(struct syntax *syntax)
{
    switch (syntax->code) {
    case json_error_duplicate_key:
        buffer_string(&syntax->message, "the key ");
        say_token(syntax);
        say(syntax, " stands twice in this object", "keep one of them");
        break;
    case json_error_stack_overflow:
        say(syntax, "brackets are nested too deep", "");
        break;
    case json_error_out_of_memory:
        say(syntax, "there is too little memory to read this", "");
        break;
    case json_error_premature_end_of_input: /* the text ends right after the token */
        json_walk_next(&syntax->walk);
        syntax->token.length = 0;
        judge_end(syntax);
        break;
    default:
        say_as_jansson(syntax, syntax->jansson_says);
    }
}

static struct error error_of(struct syntax *syntax, const char *name, enum error_kind kind)
{
    struct json_place place = json_place_of(syntax->text, syntax->begin, syntax->end);
    struct error error = error_at(kind, name, place.line, place.column, "%s", buffer_c_string(&syntax->message));
    error_set_excerpt(&error, place.line_text.at, place.line_text.length, place.span);
    /* the present member is not meant if the token is a comma, a closing bracket or the end */
    size_t depth = syntax->walk.depth;
    bool is_member = syntax->token.length != 0 && !syntax->walk.is_closing && syntax->token.at[0] != ',';
    if (depth != 0 && !is_member)
        depth--;
    if (syntax->code == json_error_stack_overflow)
        depth = 0; /* so deep a pointer is useless */
    struct buffer pointer = {0};
    json_walk_pointer(&syntax->walk, depth, &pointer);
    error_set_where(&error, buffer_c_string(&pointer));
    buffer_release(&pointer);
    if (syntax->hint.length != 0)
        error_set_hint(&error, "%s", buffer_c_string(&syntax->hint));
    return error;
}

struct error json_syntax_error(const char *name, struct text text, enum error_kind kind, const json_error_t *refusal)
{
    struct syntax syntax = {.text = text, .code = json_error_code(refusal), .jansson_says = refusal->text};
    syntax.walk.text = text;
    walk_to(&syntax, refusal->position > 0 ? (size_t)refusal->position : 0);
    if (syntax.code == json_error_invalid_utf8)
        judge_utf8(&syntax);
    else if (!judge_token(&syntax) && !judge_place(&syntax))
        judge_by_code(&syntax);
    struct error error = error_of(&syntax, name, kind);
    json_walk_release(&syntax.walk);
    buffer_release(&syntax.message);
    buffer_release(&syntax.hint);
    return error;
}
