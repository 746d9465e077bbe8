/* What the unit of this robot differs in from others. */
#ifndef CARDAN_MODEL_H
#define CARDAN_MODEL_H

#define FMI3_FUNCTION_PREFIX @NAME@_
#define MODEL_TOKEN "@TOKEN@"
#define MODEL_STEP @STEP@
#define NQ @NQ@ /* joint variables */
#define NU @NU@ /* inputs */
#define NP @NP@ /* parameters of the robot */
#define MODEL_P {@P@}

@PROTOTYPE@;

static inline void model_accelerations(const double *q, const double *qd, const double *u,
                                       const double *p, double *qdd)
{
    (void)u;
    (void)p;
    @CALL@
}

#endif
