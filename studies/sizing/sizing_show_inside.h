/* studies/sizing/sizing_show_inside.h -- what the files that show a plan share. */
#ifndef STUDIES_SIZING_SIZING_SHOW_INSIDE_H
#define STUDIES_SIZING_SIZING_SHOW_INSIDE_H

#include "studies/sizing/sizing_show.h"

/* ---- In words (sizing_words.c) ---- */

/* The smallest is sought, not the largest. */
bool sizing_is_least(const struct sizing *sizing);

/* What is sought: "number of nodes of the pool h100", "offered load"; a path that has no words stays as it is. */
void sizing_write_sought(const struct sizing_question *question, struct buffer *out);

/* A number of it: "17 nodes of the pool h100", "an offered load of 0.9". */
void sizing_write_amount(const struct sizing_question *question, double number, struct buffer *out);

/* "met", "not met", and where it may be chance "met in 2 of 2 seeds, not sure": the word alone is for what is sure. */
void sizing_write_verdict(const struct sizing_point *point, struct buffer *out);

/* The answer in one to three sentences: the number, how sure it is, and what is sure where it is not. */
void sizing_write_answer(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out);

/* Where more is surely worse, and what the answer is then; false: nowhere, and nothing is written. */
bool sizing_write_reversals(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out);

/* What the answer takes for granted, and what was looked into. */
void sizing_write_assumption(const struct sizing *sizing, const struct sizing_answer *answer, struct buffer *out);

/* ---- Drawn (sizing_curve.c) ---- */

/* A section with the curve of a level; nothing if fewer than two numbers were tried. */
void sizing_add_curve(struct show *show, const struct sizing *sizing, const struct sizing_answer *answer, size_t gate);

#endif
