/* Closed loops, couplings, wheels: joints that follow others, and Newton's method that keeps the loops closed. Wheels
 * tie rates alone: the joints that they hold have positions of their own. */
#ifndef CARDAN_LOOPS_H
#define CARDAN_LOOPS_H

#include "model.h"

#include <math.h>
#include <string.h>

#define CLOSED 1e-11   /* by the robot's size, or rad: a loop no wider open is closed */
#define SINGULAR 1e-5 /* smallest by largest pivot: the joints that follow are out of control */

typedef struct {
    double W[NF * NV], psi[NF], Wp[ROWS * COLUMNS], r[NR + 1], dq[NF];
} Loops;

static const int driving[NV] = MODEL_DRIVING;
static const int following[NF] = MODEL_FOLLOWING;
static const int held[NQ] = MODEL_HELD;
static const double reach[NF] = MODEL_REACH;

static void loops_at(const double *q, const double *qd, const double *p, Loops *at)
{
    static const double rest[NV] = {0};
    memset(at->dq, 0, sizeof at->dq); /* where there is nothing to close */
    model_loops(q, qd ? qd : rest, p, at->W, at->psi, at->Wp, at->r, at->dq);
}

/* how they change along a direction */
static void loops_directions(const double *q, const double *qd, const double *p, const double *dq,
                             const double *dqd, Loops *to)
{
    memset(to->dq, 0, sizeof to->dq);
    model_loops_directions(q, qd, p, dq, dqd, to->W, to->psi, to->Wp, to->r, to->dq);
}

/* how far the loops are open at most, not a number where r is not; and which loop it is */
static double loops_open(const Loops *at, const char **name)
{
    static const double weights[NR + 1] = MODEL_WEIGHTS; /* and one that stands for none */
    static const int owners[NR + 1] = MODEL_OWNERS;
    static const char *const names[] = MODEL_LOOPS;
    double widest = 0.0;
    int i, which = 0;
    for (i = 0; i < NR; ++i) {
        const double now = fabs(at->r[i]) * weights[i];
        if (now > widest || isnan(now)) {
            widest = now;
            which = owners[i];
        }
        if (isnan(now))
            break;
    }
    if (name)
        *name = names[which];
    return widest;
}

/* the largest motion of the joints that follow, rad or of the robot's size */
static double loops_far(const double *q, const double *from)
{
    double far = 0.0;
    int i;
    for (i = 0; i < NF; ++i)
        far = fmax(far, fabs(q[following[i]] - from[following[i]]) / reach[i]);
    return far;
}

/* Newton's method on the joints that follow, in shorter steps where it would go far or astray. Returns how far the loops
 * are open in the end. */
static double loops_closed(double *q, const double *p, int most, const char **name)
{
    Loops now, next;
    double open, before[NQ];
    int i, k, tries;
    loops_at(q, NULL, p, &now);
    open = loops_open(&now, name);
    for (k = 0; k < most && open > 1e-15; ++k) {
        double scale = 1.0, ahead = open;
        for (i = 0; i < NF; ++i)
            if (fabs(now.dq[i]) * scale > 0.5 * reach[i])
                scale = 0.5 * reach[i] / fabs(now.dq[i]);
        memcpy(before, q, sizeof before);
        for (tries = 0; tries < 8; ++tries, scale *= 0.4) {
            for (i = 0; i < NF; ++i)
                q[following[i]] = before[following[i]] + scale * now.dq[i];
            loops_at(q, NULL, p, &next);
            ahead = loops_open(&next, NULL);
            if (ahead < open || open < 0.01 * CLOSED)
                break;
        }
        if (!(ahead < open)) {
            memcpy(q, before, sizeof before);
            break;
        }
        now = next;
        open = loops_open(&now, name);
    }
    return open;
}

/* One way from a closed configuration to other positions of the joints that are not held, along a straight line, so that
 * the robot stays assembled as it is; 0 if there is none. */
static int loops_followed(double *q, const double *wanted, const double *p)
{
    double start[NQ], trial[NQ], ahead[NQ], done = 0.0, size = 0.125;
    int i, k;
    memcpy(start, q, sizeof start);
    while (done < 1.0) {
        const double to = fmin(1.0, done + size);
        Loops now;
        loops_at(q, NULL, p, &now);
        memcpy(trial, q, sizeof trial);
        for (k = 0; k < NQ; ++k)
            if (!held[k])
                trial[k] = to < 1.0 ? start[k] + to * (wanted[k] - start[k]) : wanted[k];
        for (k = 0; k < NV; ++k)
            for (i = 0; i < NF; ++i)
                if (held[following[i]])
                    trial[following[i]] +=
                        now.W[i * NV + k] * (trial[driving[k]] - q[driving[k]]);
        memcpy(ahead, trial, sizeof ahead);
        if (loops_closed(trial, p, 30, NULL) <= CLOSED && loops_far(trial, ahead) < 0.1) {
            memcpy(q, trial, sizeof trial);
            done = to;
            size *= 1.5;
        } else {
            size *= 0.5;
            if (size < 1e-4)
                return 0;
        }
    }
    return 1;
}

/* Closes the loops at the positions in q of the joints that are not held. Where the others are as the robot stands, it is
 * moved from there; else their positions are a guess. Returns how far the loops are open in the end. */
static double loops_assembled(double *q, const double *p, const char **name)
{
    static const double stands[NX] = MODEL_START;
    double from[NQ];
    int i, guessed = 0;
    for (i = 0; i < NF; ++i)
        guessed |= held[following[i]] && q[following[i]] != stands[following[i]];
    memcpy(from, stands, sizeof from);
    if (!guessed && loops_closed(from, p, 60, NULL) <= CLOSED && loops_followed(from, q, p))
        memcpy(q, from, sizeof from);
    return loops_closed(q, p, 60, name);
}

/* Elimination of W_p with the largest element as pivot: 0 where it is singular, else 1, or -1 where the determinant is
 * negative. */
static int loops_regular(const Loops *at)
{
    double A[ROWS][COLUMNS], largest = 0.0;
    int i, j, k, sign = 1;
    for (i = 0; i < ROWS; ++i) { /* rows are in m and in rad */
        double scale = 0.0;
        for (j = 0; j < COLUMNS; ++j)
            scale = fmax(scale, fabs(at->Wp[i * COLUMNS + j]));
        for (j = 0; j < COLUMNS; ++j)
            A[i][j] = scale > 0.0 ? at->Wp[i * COLUMNS + j] / scale : 0.0;
    }
    for (k = 0; k < COLUMNS; ++k) {
        int row = k, column = k;
        for (i = k; i < ROWS; ++i)
            for (j = k; j < COLUMNS; ++j)
                if (fabs(A[i][j]) > fabs(A[row][column])) {
                    row = i;
                    column = j;
                }
        if (k == 0)
            largest = fabs(A[row][column]);
        if (!(fabs(A[row][column]) > SINGULAR * largest))
            return 0;
        for (j = 0; j < COLUMNS; ++j) {
            const double x = A[k][j];
            A[k][j] = A[row][j];
            A[row][j] = x;
        }
        for (i = 0; i < ROWS; ++i) {
            const double x = A[i][k];
            A[i][k] = A[i][column];
            A[i][column] = x;
        }
        sign = (row != k) != (column != k) ? -sign : sign;
        sign = A[k][k] < 0.0 ? -sign : sign;
        for (i = k + 1; i < ROWS; ++i) {
            const double ratio = A[i][k] / A[k][k];
            for (j = k; j < COLUMNS; ++j)
                A[i][j] -= ratio * A[k][j];
        }
    }
    return ROWS == COLUMNS ? sign : 1;
}

#endif
