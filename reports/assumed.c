#include "reports/assumed.h"

#include <string.h>

static bool has(const struct assumed_list *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->of[i].what, what) == 0)
            return true;
    return false;
}

void assumed_join(struct assumed_list *list, const struct assumed_list *other)
{
    for (size_t i = 0; i < other->count && list->count < ASSUMED_MAX; i++)
        if (!has(list, other->of[i].what))
            list->of[list->count++] = other->of[i];
}

void assumed_brief(const struct assumed_list *list, struct buffer *out)
{
    for (size_t i = 0; i < list->count; i++)
        buffer_format(out, "%s%s", i == 0 ? "" : i + 1 < list->count ? ", " : " and ", list->of[i].what);
}

static void add_table(struct show *show, const struct assumed_list *list)
{
    show_table(show, "<no job says", "<taken", "<matters", "<to take something else", NULL);
    for (size_t i = 0; i < list->count; i++) {
        const struct assumed *of = &list->of[i];
        show_row(show, of->what);
        buffer_string(show_cell(show), of->taken);
        buffer_string(show_cell(show), of->matters);
        buffer_format(show_cell(show), "--set '%s'", of->setting);
    }
}

void assumed_lead(struct show *show, const struct assumed_list *list)
{
    if (list->count == 0)
        return;
    struct buffer *out = show_line(show, SHOW_LEAD);
    buffer_string(out, "assumed, because no job says it: ");
    assumed_brief(list, out);
    buffer_string(out, " (`windtunnel validate` says what is taken)");
    show_on(show, SHOW_PAGE);
    show_fold(show, "What is assumed of the jobs", false);
    add_table(show, list);
    show_unfold(show);
    show_on(show, SHOW_ALL);
}

void assumed_show(struct show *show, const struct assumed_list *list)
{
    if (list->count == 0)
        return;
    show_section(show, "Assumed, because no job says it");
    show_on(show, SHOW_WORDS);
    for (size_t i = 0; i < list->count; i++) {
        const struct assumed *of = &list->of[i];
        buffer_format(show_line(show, SHOW_PLAIN), "%s: %s. It matters %s. Otherwise:", of->what, of->taken,
                      of->matters);
        buffer_format(show_line(show, SHOW_CODE), "  --set '%s'", of->setting);
    }
    show_on(show, SHOW_PAGE);
    add_table(show, list);
    show_on(show, SHOW_ALL);
}

void assumed_json(const struct assumed_list *list, struct buffer *out)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < list->count; i++)
        buffer_members(out, ",\n  {'what': %s, 'taken': %s, 'matters': %s, 'setting': %s}", list->of[i].what,
                       list->of[i].taken, list->of[i].matters, list->of[i].setting);
    buffer_char(out, ']');
}

static const char *text_at(struct json_object *object, const char *key, struct arena *arena)
{
    const char *text = json_get_string(object, key, "");
    return arena_copy(arena, text_of(text != NULL ? text : ""));
}

void assumed_read(struct assumed_list *list, const struct json_value *value, struct arena *arena)
{
    const size_t count = value->node != NULL ? json_array_count(value) : 0;
    for (size_t i = 0; i < count && list->count < ASSUMED_MAX; i++) {
        const struct json_value item = json_array_item(value, i);
        struct json_object object;
        json_object_open(&object, &item);
        list->of[list->count++] = (struct assumed){.what = text_at(&object, "what", arena),
                                                   .taken = text_at(&object, "taken", arena),
                                                   .matters = text_at(&object, "matters", arena),
                                                   .setting = text_at(&object, "setting", arena)};
        json_object_close(&object);
    }
}
