/* A base that floats: its place P and orientation e (w, x, y, z) in the world, its twist V0 = (v, w) in its own axes. */
#ifndef CARDAN_BASE_H
#define CARDAN_BASE_H

#include "model.h"

/* the axes of frame 0 in the world, of a quaternion of any length */
static void base_rotation(const double *e, double R[9])
{
    const double k = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    R[0] = 1.0 - k * (e[2] * e[2] + e[3] * e[3]);
    R[1] = k * (e[1] * e[2] - e[0] * e[3]);
    R[2] = k * (e[1] * e[3] + e[0] * e[2]);
    R[3] = k * (e[1] * e[2] + e[0] * e[3]);
    R[4] = 1.0 - k * (e[1] * e[1] + e[3] * e[3]);
    R[5] = k * (e[2] * e[3] - e[0] * e[1]);
    R[6] = k * (e[1] * e[3] - e[0] * e[2]);
    R[7] = k * (e[2] * e[3] + e[0] * e[1]);
    R[8] = 1.0 - k * (e[1] * e[1] + e[2] * e[2]);
}

/* gravity in the axes of frame 0 */
static void base_gravity(const double R[9], double g0[3])
{
    static const double g[3] = MODEL_GRAVITY;
    int i;
    for (i = 0; i < 3; ++i)
        g0[i] = R[i] * g[0] + R[3 + i] * g[1] + R[6 + i] * g[2];
}

/* The rates of P, e and V0. V0d is the acceleration of the origin in the axes of frame 0, of which w x v is no change of
 * V0; e is drawn back to unit length, so that any integrator may be used. */
static void base_rates(const double R[9], const double *e, const double *V0, const double *V0d,
                       double *dP, double *de, double *dV0)
{
    const double *v = V0, *w = V0 + 3;
    const double pull = 1.0 - (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    int i;
    for (i = 0; i < 3; ++i)
        dP[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
    de[0] = -0.5 * (e[1] * w[0] + e[2] * w[1] + e[3] * w[2]) + pull * e[0];
    de[1] = 0.5 * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]) + pull * e[1];
    de[2] = 0.5 * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]) + pull * e[2];
    de[3] = 0.5 * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]) + pull * e[3];
    dV0[0] = V0d[0] - (w[1] * v[2] - w[2] * v[1]);
    dV0[1] = V0d[1] - (w[2] * v[0] - w[0] * v[2]);
    dV0[2] = V0d[2] - (w[0] * v[1] - w[1] * v[0]);
    for (i = 3; i < 6; ++i)
        dV0[i] = V0d[i];
}

/* dR along de: the elements of R are k b(e, e) with forms b of two vectors, k = 2 / (e e). */
static void base_rotation_direction(const double *e, const double *de, double dR[9])
{
    const double k = 2.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    const double dk = -k * k * (e[0] * de[0] + e[1] * de[1] + e[2] * de[2] + e[3] * de[3]);
    static const int off[3][2] = {{2, 3}, {1, 3}, {1, 2}}; /* what the diagonal leaves */
    int i, j;
    for (i = 0; i < 3; ++i)
        for (j = 0; j < 3; ++j) {
            double b, db;
            if (i == j) {
                const int m = off[i][0], n = off[i][1];
                b = -(e[m] * e[m] + e[n] * e[n]);
                db = -2.0 * (e[m] * de[m] + e[n] * de[n]);
            } else {
                const int n = 6 - (i + 1) - (j + 1); /* the third axis */
                const double sign = (j - i + 3) % 3 == 1 ? -1.0 : 1.0;
                b = e[i + 1] * e[j + 1] + sign * e[0] * e[n];
                db = de[i + 1] * e[j + 1] + e[i + 1] * de[j + 1] +
                     sign * (de[0] * e[n] + e[0] * de[n]);
            }
            dR[3 * i + j] = dk * b + k * db;
        }
}

/* How base_rates changes along a direction. */
static void base_directions(const double R[9], const double dR[9], const double *e, const double *de,
                            const double *V0, const double *dV0, const double *dV0d, double *ddP,
                            double *dde, double *ddV0)
{
    static const double none[6] = {0.0};
    const double shrink = -2.0 * (e[0] * de[0] + e[1] * de[1] + e[2] * de[2] + e[3] * de[3]);
    double P[2][3], turn[2][4], twist[2][6];
    int i;
    /* bilinear but for the pull to unit length, whose change is put right */
    base_rates(R, e, dV0, none, P[0], turn[0], twist[0]);
    base_rates(dR, de, V0, none, P[1], turn[1], twist[1]);
    for (i = 0; i < 3; ++i)
        ddP[i] = P[0][i] + P[1][i];
    for (i = 0; i < 4; ++i) {
        const double pull = 1.0 - (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        const double other =
            1.0 - (de[0] * de[0] + de[1] * de[1] + de[2] * de[2] + de[3] * de[3]);
        dde[i] = turn[0][i] - pull * e[i] + turn[1][i] - other * de[i] + shrink * e[i] +
                 pull * de[i];
    }
    ddV0[0] = dV0d[0] - (dV0[4] * V0[2] - dV0[5] * V0[1] + V0[4] * dV0[2] - V0[5] * dV0[1]);
    ddV0[1] = dV0d[1] - (dV0[5] * V0[0] - dV0[3] * V0[2] + V0[5] * dV0[0] - V0[3] * dV0[2]);
    ddV0[2] = dV0d[2] - (dV0[3] * V0[1] - dV0[4] * V0[0] + V0[3] * dV0[1] - V0[4] * dV0[0]);
    for (i = 3; i < 6; ++i)
        ddV0[i] = dV0d[i];
}

/* e at unit length; 0 where it has no direction */
static int base_normalised(double *e)
{
    const double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    int i;
    if (!(length > 1e-6 && isfinite(length)))
        return 0;
    for (i = 0; i < 4; ++i)
        e[i] /= length;
    return 1;
}

#endif
