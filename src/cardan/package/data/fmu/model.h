/* What the unit of this robot differs in from others. */
#ifndef CARDAN_MODEL_H
#define CARDAN_MODEL_H

#define FMI3_FUNCTION_PREFIX @NAME@_
#define MODEL_TOKEN "@TOKEN@"
#define MODEL_STEP @STEP@
#define MODEL_RATE @RATE@ /* 1/s, at which open loops close */
#define NQ @NQ@ /* joint positions */
#define NV @NV@ /* joint velocities among the states */
#define NF @NF@ /* joints that follow the others, by closed loops, couplings and wheels */
#define NR @NR@ /* numbers that vanish where the loops are closed */
#define FLOATING @FLOATING@ /* does the base float? */
#define NU @NU@ /* inputs */
#define NP @NP@ /* parameters of the robot */
#define NX (NQ + NV + 13 * FLOATING) /* states */
#define MODEL_P {@P@}
/* the states: q, then of a floating base P and e (w, x, y, z); qd, then V0 */
#define MODEL_START @START@

@PROTOTYPE@

static inline void model_accelerations(const double *q, const double *qd, const double *V0,
                                       const double *g0, const double *u, const double *p,
                                       double *qdd, double *V0d)
{
    (void)V0;
    (void)g0;
    (void)u;
    (void)p;
    (void)V0d;
    @CALL@
}

@TANGENT@

/* how they change along a direction */
static inline void model_directions(const double *q, const double *qd, const double *V0,
                                    const double *g0, const double *u, const double *p,
                                    const double *dq, const double *dqd, const double *dV0,
                                    const double *dg0, const double *du, double *dqdd, double *dV0d)
{
    (void)V0;
    (void)g0;
    (void)u;
    (void)p;
    (void)dV0;
    (void)dg0;
    (void)du;
    (void)dV0d;
    @CALL_TANGENT@
}
@BASE@@LOOPS@
#endif
