/* base/member.h -- a member of a struct as a number, for tables that map texts to fields.
 *
 *   static const struct member priority = MEMBER(struct job, priority);
 *   member_set(&priority, &job, 50);
 *
 * The member is an integer or a bool.  Its value fits an int64_t, or is a uint64_t of the same bits.
 */
#ifndef BASE_MEMBER_H
#define BASE_MEMBER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member {
    uint16_t offset;
    uint8_t bytes;
    bool is_signed;
};

#define MEMBER(type, name)                                                                                             \
    {                                                                                                                  \
        .offset = offsetof(type, name), .bytes = sizeof(((type *)0)->name),                                            \
        .is_signed = (__typeof__(((type *)0)->name))-1 < (__typeof__(((type *)0)->name))1                              \
    }

static inline int64_t member_get(const struct member *member, const void *base)
{
    const char *at = (const char *)base + member->offset;
    switch (member->bytes) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return member->is_signed ? *(const int32_t *)at : (int64_t) * (const uint32_t *)at;
    default:
        assert(member->bytes == 8);
        return *(const int64_t *)at;
    }
}

static inline void member_set(const struct member *member, void *base, int64_t value)
{
    char *at = (char *)base + member->offset;
    switch (member->bytes) {
    case 1:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)value;
        break;
    default:
        *(int64_t *)at = value;
    }
}

#endif
