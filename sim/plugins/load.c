#include "sim/plugins/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/input.h"
#include "base/mem.h"
#include "sim/plugins/guard.h"

/* ---- May it be trusted? ---- */

static struct error check_writers(const char *path, const char *what, const char *which, mode_t mode)
{
    if ((mode & (S_IWGRP | S_IWOTH)) == 0)
        return ERROR_OK;
    struct error error = error_new(ERROR_CONFIG, "plug-in %s is not loaded: %s may be written by others (mode %04o)",
                                   path, what, mode & 07777);
    error_set_hint(&error, "chmod go-w %s", which);
    return error;
}

/* The file itself (links are followed) and its folder. */
static struct error check_file(const char *path, const char *real, struct stat *file)
{
    struct stat folder;
    if (stat(real, file) != 0)
        return error_io("open", path, errno);
    if (!S_ISREG(file->st_mode))
        return error_new(ERROR_CONFIG, "plug-in %s is not a regular file", path);
    TRY(check_writers(path, "it", path, file->st_mode));
    const char *slash = strrchr(real, '/');
    struct buffer name = {0};
    buffer_bytes(&name, real, slash == real ? 1 : (size_t)(slash - real));
    struct error error = ERROR_OK;
    if (stat(buffer_c_string(&name), &folder) != 0)
        error = error_io("open", buffer_c_string(&name), errno);
    else
        error = check_writers(path, "its folder", buffer_c_string(&name), folder.st_mode);
    buffer_release(&name);
    return error;
}

/* ---- Slots ---- */

static struct guard_slot *find_slot(const struct stat *file)
{
    for (uint32_t s = 0; s < PLUGINS_MAX; s++) {
        struct guard_slot *slot = guard_slot_at(s);
        if (slot->users > 0 && slot->device == file->st_dev && slot->inode == file->st_ino)
            return slot;
    }
    return NULL;
}

static struct guard_slot *free_slot(void)
{
    for (uint32_t s = 0; s < PLUGINS_MAX; s++)
        if (guard_slot_at(s)->users == 0)
            return guard_slot_at(s);
    return NULL;
}

static char *format_label(const char *path, const struct windtunnel_plugin *plugin)
{
    struct buffer text = {0};
    buffer_format(&text, "plug-in %s", path);
    if (plugin != NULL)
        buffer_format(&text, " (%s policy '%s')", plugin_seam_name((enum plugin_seam)plugin->seam),
                      plugin_policy_name(plugin));
    char *label = mem_copy_text(buffer_c_string(&text));
    buffer_release(&text);
    return label;
}

/* dlclose runs code of the plug-in. */
static void close_handle(const struct guard_slot *slot)
{
    struct guard_frame frame;
    if (slot->handle == NULL)
        return;
    guard_enter(&frame, slot, "while it was unloaded");
    dlclose(slot->handle);
    guard_leave(&frame);
}

static void empty_slot(struct guard_slot *slot)
{
    close_handle(slot);
    mem_free(slot->path);
    mem_free(slot->label);
    *slot = (struct guard_slot){0};
}

static bool is_any_loaded(void)
{
    for (uint32_t s = 0; s < PLUGINS_MAX; s++)
        if (guard_slot_at(s)->users > 0)
            return true;
    return false;
}

/* ---- Loading ---- */

static struct error open_object(struct guard_slot *slot, const char *real, const struct plugin_set *beside)
{
    struct guard_frame frame;
    guard_enter(&frame, slot, "while it was loaded");
    slot->handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    guard_leave(&frame);
    if (slot->handle == NULL)
        return error_new(ERROR_CONFIG, "plug-in %s is not a shared object that can be loaded here: %s", slot->path,
                         dlerror());
    slot->own = dlsym(slot->handle, PLUGIN_SYMBOL);
    if (slot->own == NULL) {
        struct error error =
            error_new(ERROR_CONFIG, "plug-in %s does not export the symbol '%s'", slot->path, PLUGIN_SYMBOL);
        error_set_hint(&error, "policies/plugin.h says what it must be");
        return error;
    }
    return plugin_check(slot->own, slot->path, beside);
}

static struct error fill_slot(struct guard_slot *slot, const char *path, const char *real, const struct stat *file,
                              const struct plugin_set *beside)
{
    slot->users = 1;
    slot->device = file->st_dev;
    slot->inode = file->st_ino;
    slot->path = mem_copy_text(path);
    slot->label = format_label(path, NULL);
    TRY(input_digest(real, slot->digest));
    TRY(open_object(slot, real, beside));
    mem_free(slot->label);
    slot->label = format_label(path, slot->own);
    guard_arm(slot);
    return ERROR_OK;
}

static bool has(const struct plugin_set *set, const struct guard_slot *slot)
{
    for (uint32_t p = 0; p < set->count; p++)
        if (set->plugins[p] == &slot->guarded)
            return true;
    return false;
}

static struct error load_real(struct plugins *plugins, const char *path, const char *real)
{
    struct stat file;
    TRY(check_file(path, real, &file));
    struct guard_slot *slot = find_slot(&file);
    if (slot != NULL && has(&plugins->set, slot))
        return ERROR_OK;
    if (slot != NULL) { /* another set has loaded it */
        TRY(plugin_check(slot->own, path, &plugins->set));
        slot->users++;
    } else {
        slot = free_slot();
        if (slot == NULL)
            return error_new(ERROR_CONFIG, "plug-in %s is one more than the %d there may be", path, PLUGINS_MAX);
        watch_begin(plugins->timeout_s > 0 ? plugins->timeout_s : WATCH_DEFAULT_S);
        struct error error = fill_slot(slot, path, real, &file, &plugins->set);
        if (error_is(error)) {
            empty_slot(slot);
            if (!is_any_loaded())
                watch_end();
            return error;
        }
    }
    plugins->set.plugins[plugins->set.count++] = &slot->guarded;
    return ERROR_OK;
}

struct error plugins_load(struct plugins *plugins, const char *path)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return error_io("open plug-in", path, errno);
    struct error error = load_real(plugins, path, real);
    free(real);
    return error;
}

struct error plugins_take_timeout(struct plugins *plugins, const struct plugin_options *options)
{
    int64_t timeout_s = WATCH_DEFAULT_S;
    if (options->timeout != NULL && !text_to_int64(text_of(options->timeout), 1, WATCH_MAX_S, &timeout_s))
        return error_new(ERROR_USAGE, "option '--plugin-timeout' must be an integer from 1 to %d, got '%s'",
                         WATCH_MAX_S, options->timeout);
    plugins->timeout_s = (int)timeout_s;
    return ERROR_OK;
}

struct error plugins_load_all(struct plugins *plugins, const struct plugin_options *options)
{
    TRY(plugins_take_timeout(plugins, options));
    for (size_t i = 0; i < options->count; i++)
        TRY(plugins_load(plugins, options->paths[i]));
    return ERROR_OK;
}

void plugins_read(struct plugins *plugins, const struct json_value *array, const char *folder)
{
    if (array->node == NULL)
        return;
    size_t count = json_array_count(array);
    for (size_t i = 0; i < count && !error_is(*array->error); i++) {
        struct json_value item = json_array_item(array, i);
        const char *named = json_value_file(&item, "plugin");
        if (error_is(*array->error))
            return;
        struct buffer path = {0};
        buffer_format(&path, "%s%s", named[0] == '/' ? "" : folder, named);
        *array->error = plugins_load(plugins, buffer_c_string(&path));
        buffer_release(&path);
    }
}

void plugins_release(struct plugins *plugins)
{
    for (uint32_t p = 0; p < plugins->set.count; p++)
        for (uint32_t s = 0; s < PLUGINS_MAX; s++) {
            struct guard_slot *slot = guard_slot_at(s);
            if (plugins->set.plugins[p] == &slot->guarded && --slot->users == 0) {
                slot->users = 1; /* the watch must still know the plug-in while it is unloaded */
                empty_slot(slot);
            }
        }
    plugins->set.count = 0;
    if (!is_any_loaded())
        watch_end();
}

struct plugin_file plugins_file(const struct plugins *plugins, uint32_t index)
{
    for (uint32_t s = 0; s < PLUGINS_MAX; s++) {
        const struct guard_slot *slot = guard_slot_at(s);
        if (plugins->set.plugins[index] == &slot->guarded)
            return (struct plugin_file){slot->path, slot->digest};
    }
    return (struct plugin_file){"", ""};
}
