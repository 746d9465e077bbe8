
#define ROWS @ROWS@ /* independent equations of velocities, */
#define COLUMNS @COLUMNS@ /* of the joints that follow but those that are idle */
#define MODEL_DRIVING {@DRIVING@} /* elements of q whose rates are states */
#define MODEL_FOLLOWING {@FOLLOWING@} /* elements of q whose rates follow */
#define MODEL_HELD {@HELD@} /* is each q positioned by loops or couplings? wheels give rates alone */
#define MODEL_REACH @REACH@ /* unit of their motions: rad, or the robot's size */
#define MODEL_WEIGHTS @WEIGHTS@ /* lengths of r are divided by the robot's size */
#define MODEL_OWNERS {@OWNERS@} /* the loop of each r */
#define MODEL_LOOPS @NAMES@

@PROTOTYPE@

/* qd_f = W qd, qdd_f = W qdd + psi; r, and the step dq_f of Newton's method that makes it vanish */
static inline void model_loops(const double *q, const double *qd, const double *p, double *W,
                               double *psi, double *Wp, double *r, double *dq_p)
{
    (void)r;
    (void)dq_p;
@GATHER@    @CALL@
}

@TANGENT@

static inline void model_loops_directions(const double *q, const double *qd, const double *p,
                                          const double *dq, const double *dqd, double *dW,
                                          double *dpsi, double *dWp, double *dr, double *ddq_p)
{
    (void)dr;
    (void)ddq_p;
@GATHER@    @CALL_TANGENT@
}
