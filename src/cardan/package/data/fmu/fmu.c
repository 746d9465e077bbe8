/* FMI 3.0 unit of the direct dynamics of a robot: model exchange, and co-simulation by a fixed-step Runge-Kutta method
 * of order 4. What differs from robot to robot is in model.h. Closed loops are kept closed: in model exchange by the
 * derivatives of the positions, in co-simulation after each internal step. */
#include "model.h"

#include "cardan_fmi3.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLOATING
#include "base.h"
#endif
#if NF > 0
#include "loops.h"
#endif

enum {
    VELOCITIES = NQ + 7 * FLOATING, /* the first in x */
    NO = 2 * NF + (NR > 0),         /* outputs of joints that follow, and of closed loops */
    /* value references: time, then these blocks one after the other */
    FIRST_X = 1,
    FIRST_DX = FIRST_X + NX,
    FIRST_OUT = FIRST_DX + NX,
    FIRST_U = FIRST_OUT + NO,
    FIRST_P = FIRST_U + NU,
    STEP = FIRST_P + NP,
    LAST = STEP + (NR > 0) /* the rate at which loops close, 1/s */
};

typedef enum { INSTANTIATED, INITIALIZING, EVENTS, CONTINUOUS, STEPPING, TERMINATED } Phase;

/* all that a simulation can change, and nothing else: it is copied to save the state */
typedef struct {
    double time;
    double x[NX];
    double q[NQ]; /* start positions as they were set, the loops maybe open */
    double u[NU + 1];
    double p[NP + 2]; /* then step, and the rate at which loops close */
    int settled;      /* x begins with q, its loops closed */
    int sign;         /* of what the joints that follow divide by */
    Phase phase;
} State;

/* what follows from a state */
typedef struct {
    double dx[NX];
    double out[NO + 1]; /* qd and qdd of the joints that follow, how far loops are open */
} Rates;

typedef struct {
    State s;
    Rates rates;
    int fresh; /* rates belong to s */
    int cosimulation;
    int has_stop;
    double stop;
    int logging;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Unit;

static fmi3Status refuse(const Unit *unit, fmi3Status status, const char *message, ...)
{
    if (unit->log && unit->logging) {
        char text[400];
        va_list values;
        va_start(values, message);
        vsnprintf(text, sizeof text, message, values);
        va_end(values);
        unit->log(unit->environment, status, "logStatusError", text);
    }
    return status;
}

static void start(Unit *unit)
{
    static const double p[NP + 1] = MODEL_P, x[NX] = MODEL_START;
    memset(&unit->s, 0, sizeof unit->s);
    memcpy(unit->s.x, x, sizeof x);
    memcpy(unit->s.q, x, sizeof unit->s.q);
    memcpy(unit->s.p, p, NP * sizeof *p);
    unit->s.p[NP] = MODEL_STEP;
    unit->s.p[NP + 1] = MODEL_RATE;
    unit->s.phase = INSTANTIATED;
    unit->fresh = 0;
    unit->has_stop = 0;
}

static int is_finite(const double *x, size_t count)
{
    size_t k;
    for (k = 0; k < count; ++k)
        if (!isfinite(x[k]))
            return 0;
    return 1;
}

/* The rates of the state x; pull: how fast open loops close, 1/s. */
static void find_rates(const State *s, const double *x, double pull, Rates *to)
{
    const double *qd = x + VELOCITIES;
    double *qdd = to->dx + VELOCITIES;
#if FLOATING
    const double *e = x + NQ + 3, *V0 = qd + NV;
    double R[9], g0[3], V0d[6];
    base_rotation(e, R);
    base_gravity(R, g0);
    model_accelerations(x, qd, V0, g0, s->u, s->p, qdd, V0d);
    base_rates(R, e, V0, V0d, to->dx + NQ, to->dx + NQ + 3, qdd + NV);
#else
    model_accelerations(x, qd, NULL, NULL, s->u, s->p, qdd, NULL);
#endif
#if NF > 0
    Loops at;
    int i, k;
    loops_at(x, qd, s->p, &at);
    for (k = 0; k < NV; ++k)
        to->dx[driving[k]] = qd[k];
    for (i = 0; i < NF; ++i) {
        double v = 0.0, a = at.psi[i];
        for (k = 0; k < NV; ++k) {
            v += at.W[i * NV + k] * qd[k];
            a += at.W[i * NV + k] * qdd[k];
        }
        to->dx[following[i]] = v + pull * at.dq[i];
        to->out[i] = v;
        to->out[NF + i] = a;
    }
#if NR > 0
    to->out[2 * NF] = loops_open(&at, NULL);
#endif
#else
    (void)pull;
    memcpy(to->dx, qd, NV * sizeof *qd);
#endif
}

/* How the rates of the state x change along a direction of it and of the inputs. */
static void find_directions(const State *s, const double *x, double pull, const Rates *at_x,
                            const double *dx, const double *du, Rates *to)
{
    const double *qd = x + VELOCITIES, *dqd = dx + VELOCITIES;
    double *dqdd = to->dx + VELOCITIES;
#if FLOATING
    const double *e = x + NQ + 3, *de = dx + NQ + 3, *V0 = qd + NV, *dV0 = dqd + NV;
    double R[9], dR[9], g0[3], dg0[3], dV0d[6];
    base_rotation(e, R);
    base_gravity(R, g0);
    base_rotation_direction(e, de, dR);
    base_gravity(dR, dg0);
    model_directions(x, qd, V0, g0, s->u, s->p, dx, dqd, dV0, dg0, du, dqdd, dV0d);
    base_directions(R, dR, e, de, V0, dV0, dV0d, to->dx + NQ, to->dx + NQ + 3, dqdd + NV);
#else
    model_directions(x, qd, NULL, NULL, s->u, s->p, dx, dqd, NULL, NULL, du, dqdd, NULL);
#endif
#if NF > 0
    Loops at, d;
    const double *qdd = at_x->dx + VELOCITIES;
    int i, k;
    loops_at(x, qd, s->p, &at);
    loops_directions(x, qd, s->p, dx, dqd, &d);
    for (k = 0; k < NV; ++k)
        to->dx[driving[k]] = dqd[k];
    for (i = 0; i < NF; ++i) {
        double v = 0.0, a = d.psi[i];
        for (k = 0; k < NV; ++k) {
            v += at.W[i * NV + k] * dqd[k] + d.W[i * NV + k] * qd[k];
            a += at.W[i * NV + k] * dqdd[k] + d.W[i * NV + k] * qdd[k];
        }
        to->dx[following[i]] = v + pull * d.dq[i];
        to->out[i] = v;
        to->out[NF + i] = a;
    }
#else
    (void)pull;
    (void)at_x;
    memcpy(to->dx, dqd, NV * sizeof *dqd);
#endif
}

static const Rates *rates(Unit *unit)
{
    if (!unit->fresh)
        find_rates(&unit->s, unit->s.x, unit->s.p[NP + 1], &unit->rates);
    unit->fresh = 1;
    return &unit->rates;
}

/* Positions of a first state: loops closed, the orientation at unit length. */
static fmi3Status settle(Unit *unit)
{
#if FLOATING
    if (!base_normalised(unit->s.x + NQ + 3))
        return refuse(unit, fmi3Error, "the orientation e of the base has no length");
#endif
#if NF > 0
    if (!unit->s.settled) {
        const char *name;
        double open;
        Loops at;
        memcpy(unit->s.x, unit->s.q, sizeof unit->s.q);
        open = loops_assembled(unit->s.x, unit->s.p, &name);
        if (!(open <= CLOSED))
            return refuse(unit, fmi3Error, "the loops cannot be closed at these positions: %s "
                          "stays open by %.3g of the robot's size, or rad", name, open);
        loops_at(unit->s.x, NULL, unit->s.p, &at);
        unit->s.sign = loops_regular(&at);
        if (!unit->s.sign)
            return refuse(unit, fmi3Error, "the first configuration is singular (type 2): its "
                          "active joints do not drive the others");
    }
#endif
    unit->s.settled = 1;
    return fmi3OK;
}

/* After a step: loops closed, the orientation at unit length; 0, or what is wrong. */
static const char *corrected(State *s)
{
    if (!is_finite(s->x, NX))
        return "the motion is not finite: make step smaller";
#if FLOATING
    if (!base_normalised(s->x + NQ + 3))
        return "the orientation of the base is lost: make step smaller";
#endif
#if NF > 0
    {
        double before[NQ];
        Loops at;
        int sign;
        memcpy(before, s->x, sizeof before);
        if (!(loops_closed(s->x, s->p, 10, NULL) <= CLOSED))
            return "the loops cannot be closed any more: make step smaller, or keep away from "
                   "singular configurations";
        loops_at(s->x, NULL, s->p, &at);
        sign = loops_regular(&at);
        if (sign != s->sign || loops_far(s->x, before) > 0.1)
            return "a singular configuration (type 2) was reached: the active joints do not drive "
                   "the others there";
    }
#endif
    return NULL;
}

static Unit *instantiate(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                         fmi3LogMessageCallback log)
{
    Unit *unit;
    if (token == NULL || strcmp(token, MODEL_TOKEN) != 0) {
        if (log && logging)
            log(environment, fmi3Error, "logStatusError", "the instantiation token is another");
        return NULL;
    }
    unit = calloc(1, sizeof *unit);
    if (unit == NULL)
        return NULL;
    unit->logging = logging;
    unit->log = log;
    unit->environment = environment;
    start(unit);
    return unit;
}

const char *FMI(GetVersion)(void)
{
    return "3.0";
}

fmi3Status FMI(SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t count,
                                const fmi3String categories[])
{
    (void)count;
    (void)categories;
    ((Unit *)instance)->logging = on;
    return fmi3OK;
}

fmi3Instance FMI(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
                                           fmi3Boolean visible, fmi3Boolean logging,
                                           fmi3InstanceEnvironment environment,
                                           fmi3LogMessageCallback log)
{
    (void)name;
    (void)resources;
    (void)visible;
    return instantiate(token, logging, environment, log);
}

fmi3Instance FMI(InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference required[], size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    Unit *unit;
    (void)name;
    (void)resources;
    (void)visible;
    (void)early_return;
    (void)required;
    (void)update;
    if (event_mode || count > 0) {
        if (log && logging)
            log(environment, fmi3Error, "logStatusError",
                "this unit has neither event mode nor intermediate variables");
        return NULL;
    }
    unit = instantiate(token, logging, environment, log);
    if (unit != NULL)
        unit->cosimulation = 1;
    return unit;
}

void FMI(FreeInstance)(fmi3Instance instance)
{
    free(instance);
}

fmi3Status FMI(EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance,
                                        fmi3Float64 tolerance, fmi3Float64 start_time,
                                        fmi3Boolean has_stop, fmi3Float64 stop)
{
    Unit *unit = instance;
    (void)has_tolerance;
    (void)tolerance;
    if (unit->s.phase != INSTANTIATED)
        return refuse(unit, fmi3Error, "initialization mode follows instantiation or reset");
    unit->s.time = start_time;
    unit->has_stop = has_stop;
    unit->stop = stop;
    unit->s.phase = INITIALIZING;
    return fmi3OK;
}

fmi3Status FMI(ExitInitializationMode)(fmi3Instance instance)
{
    Unit *unit = instance;
    if (unit->s.phase != INITIALIZING)
        return refuse(unit, fmi3Error, "the unit is not in initialization mode");
    unit->fresh = 0;
    if (settle(unit) != fmi3OK)
        return fmi3Error;
    unit->s.phase = unit->cosimulation ? STEPPING : EVENTS;
    return fmi3OK;
}

fmi3Status FMI(EnterEventMode)(fmi3Instance instance)
{
    Unit *unit = instance;
    if (unit->cosimulation || unit->s.phase == TERMINATED)
        return refuse(unit, fmi3Error, "event mode is for model exchange");
    unit->s.phase = EVENTS;
    return fmi3OK;
}

fmi3Status FMI(Terminate)(fmi3Instance instance)
{
    ((Unit *)instance)->s.phase = TERMINATED;
    return fmi3OK;
}

fmi3Status FMI(Reset)(fmi3Instance instance)
{
    start(instance);
    return fmi3OK;
}

/* variables */

fmi3Status FMI(GetFloat64)(fmi3Instance instance, const fmi3ValueReference references[],
                           size_t count, fmi3Float64 values[], size_t n_values)
{
    Unit *unit = instance;
    size_t k;
    if (count != n_values)
        return refuse(unit, fmi3Error, "every variable has one value");
    if (unit->s.phase == INITIALIZING && settle(unit) != fmi3OK)
        return fmi3Error;
    for (k = 0; k < count; ++k) {
        const fmi3ValueReference r = references[k];
        if (r > LAST)
            return refuse(unit, fmi3Error, "there is no variable of this value reference");
        values[k] = r < FIRST_X     ? unit->s.time
                    : r < FIRST_DX  ? unit->s.x[r - FIRST_X]
                    : r < FIRST_OUT ? rates(unit)->dx[r - FIRST_DX]
                    : r < FIRST_U   ? rates(unit)->out[r - FIRST_OUT]
                    : r < FIRST_P   ? unit->s.u[r - FIRST_U]
                                    : unit->s.p[r - FIRST_P];
        if (r >= FIRST_DX && r < FIRST_U && !isfinite(values[k]))
            return refuse(unit, fmi3Discard, "the rates of this state are not finite");
    }
    return fmi3OK;
}

fmi3Status FMI(SetFloat64)(fmi3Instance instance, const fmi3ValueReference references[],
                           size_t count, const fmi3Float64 values[], size_t n_values)
{
    Unit *unit = instance;
    const int early = unit->s.phase <= INITIALIZING;
    size_t k;
    if (count != n_values)
        return refuse(unit, fmi3Error, "every variable has one value");
    unit->fresh = 0;
    for (k = 0; k < count; ++k) {
        const fmi3ValueReference r = references[k];
        const int is_input = r >= FIRST_U && r < FIRST_P;
        const int has_start = (r >= FIRST_X && r < FIRST_DX) || (r >= FIRST_P && r <= LAST);
        if (!(is_input || (early && has_start)))
            return refuse(unit, fmi3Error, "this variable cannot be set now");
        if (r == STEP && !(values[k] > 0 && isfinite(values[k])))
            return refuse(unit, fmi3Error, "step must be positive");
        if (r > STEP && !(values[k] >= 0 && isfinite(values[k])))
            return refuse(unit, fmi3Error, "the rate of closing is not negative");
        if (is_input)
            unit->s.u[r - FIRST_U] = values[k];
        else if (r < FIRST_DX)
            unit->s.x[r - FIRST_X] = values[k];
        else
            unit->s.p[r - FIRST_P] = values[k];
        if (r >= FIRST_X && r < FIRST_X + NQ)
            unit->s.q[r - FIRST_X] = values[k];
        if (!is_input)
            unit->s.settled = 0;
    }
    return fmi3OK;
}

/* Of states, their rates and outputs, along directions of states and inputs. */
fmi3Status FMI(GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                         size_t n_unknowns, const fmi3ValueReference knowns[],
                                         size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                         fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    Unit *unit = instance;
    double dx[NX] = {0.0}, du[NU + 1] = {0.0};
    Rates d;
    size_t k;
    if (n_knowns != n_seed || n_unknowns != n_sensitivity)
        return refuse(unit, fmi3Error, "every variable has one value");
    if (unit->s.phase == INITIALIZING && settle(unit) != fmi3OK)
        return fmi3Error;
    for (k = 0; k < n_knowns; ++k) {
        const fmi3ValueReference r = knowns[k];
        if (r >= FIRST_X && r < FIRST_DX)
            dx[r - FIRST_X] += seed[k];
        else if (r >= FIRST_U && r < FIRST_P)
            du[r - FIRST_U] += seed[k];
        else
            return refuse(unit, fmi3Error, "derivatives are by states and inputs only");
    }
    find_directions(&unit->s, unit->s.x, unit->s.p[NP + 1], rates(unit), dx, du, &d);
    for (k = 0; k < n_unknowns; ++k) {
        const fmi3ValueReference r = unknowns[k];
        if (r < FIRST_X || r >= FIRST_U || (NR > 0 && r == FIRST_U - 1))
            return refuse(unit, fmi3Error, "this variable has no directional derivative");
        sensitivity[k] = r < FIRST_DX    ? dx[r - FIRST_X]
                         : r < FIRST_OUT ? d.dx[r - FIRST_DX]
                                         : d.out[r - FIRST_OUT];
        if (!isfinite(sensitivity[k]))
            return refuse(unit, fmi3Discard, "the derivatives of this state are not finite");
    }
    return fmi3OK;
}

/* the state as a whole */

fmi3Status FMI(GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (*state == NULL)
        *state = malloc(sizeof(State));
    if (*state == NULL)
        return refuse(instance, fmi3Error, "no memory for the state");
    memcpy(*state, &((Unit *)instance)->s, sizeof(State));
    return fmi3OK;
}

fmi3Status FMI(SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    Unit *unit = instance;
    memcpy(&unit->s, state, sizeof(State));
    unit->fresh = 0;
    return fmi3OK;
}

fmi3Status FMI(FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status FMI(SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    (void)instance;
    (void)state;
    *size = sizeof(State);
    return fmi3OK;
}

fmi3Status FMI(SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[],
                                  size_t size)
{
    if (size != sizeof(State))
        return refuse(instance, fmi3Error, "the size is not that of a state");
    memcpy(bytes, state, size);
    return fmi3OK;
}

fmi3Status FMI(DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                    fmi3FMUState *state)
{
    if (size != sizeof(State))
        return refuse(instance, fmi3Error, "the size is not that of a state");
    if (*state == NULL)
        *state = malloc(sizeof(State));
    if (*state == NULL)
        return refuse(instance, fmi3Error, "no memory for the state");
    memcpy(*state, bytes, size);
    return fmi3OK;
}

/* model exchange */

fmi3Status FMI(UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *need_update,
                                     fmi3Boolean *terminate, fmi3Boolean *nominals_changed,
                                     fmi3Boolean *values_changed, fmi3Boolean *has_next_event,
                                     fmi3Float64 *next_event)
{
    if (((Unit *)instance)->s.phase != EVENTS)
        return refuse(instance, fmi3Error, "the unit is not in event mode");
    *need_update = *terminate = *nominals_changed = *values_changed = *has_next_event = false;
    *next_event = 0.0;
#if NF > 0
    {
        Unit *unit = instance;
        Loops at;
        loops_at(unit->s.x, NULL, unit->s.p, &at);
        if (loops_open(&at, NULL) > CLOSED) {
            const char *wrong = corrected(&unit->s);
            if (wrong)
                return refuse(unit, fmi3Error, "%s", wrong);
            *values_changed = true;
            unit->fresh = 0;
        }
    }
#endif
    return fmi3OK;
}

fmi3Status FMI(EnterContinuousTimeMode)(fmi3Instance instance)
{
    Unit *unit = instance;
    if (unit->cosimulation || unit->s.phase != EVENTS)
        return refuse(unit, fmi3Error, "continuous-time mode follows event mode");
    unit->s.phase = CONTINUOUS;
    return fmi3OK;
}

fmi3Status FMI(CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_set_state_before,
                                        fmi3Boolean *enter_event_mode, fmi3Boolean *terminate)
{
    (void)no_set_state_before;
    *enter_event_mode = *terminate = false;
#if NF > 0
    {
        Unit *unit = instance;
        Loops at;
        loops_at(unit->s.x, NULL, unit->s.p, &at);
        if (loops_regular(&at) != unit->s.sign)
            return refuse(unit, fmi3Error, "a singular configuration (type 2) was reached: the "
                          "active joints do not drive the others there");
    }
#else
    (void)instance;
#endif
    return fmi3OK;
}

fmi3Status FMI(SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    ((Unit *)instance)->s.time = time;
    return fmi3OK;
}

fmi3Status FMI(SetContinuousStates)(fmi3Instance instance, const fmi3Float64 x[], size_t count)
{
    Unit *unit = instance;
    if (unit->s.phase != CONTINUOUS || count != NX)
        return refuse(unit, fmi3Error, "the states are set in continuous-time mode, all at once");
    memcpy(unit->s.x, x, sizeof unit->s.x);
    unit->fresh = 0;
    return fmi3OK;
}

fmi3Status FMI(GetContinuousStates)(fmi3Instance instance, fmi3Float64 x[], size_t count)
{
    Unit *unit = instance;
    if (count != NX)
        return refuse(unit, fmi3Error, "the number of states is another");
    memcpy(x, unit->s.x, sizeof unit->s.x);
    return fmi3OK;
}

fmi3Status FMI(GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 dx[],
                                              size_t count)
{
    Unit *unit = instance;
    if (count != NX)
        return refuse(unit, fmi3Error, "the number of states is another");
    memcpy(dx, rates(unit)->dx, NX * sizeof *dx);
    if (!is_finite(dx, count))
        return refuse(unit, fmi3Discard, "the rates of this state are not finite");
    return fmi3OK;
}

fmi3Status FMI(GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[],
                                              size_t count)
{
    size_t k;
    if (count != NX)
        return refuse(instance, fmi3Error, "the number of states is another");
    for (k = 0; k < count; ++k)
        nominals[k] = 1.0;
    return fmi3OK;
}

fmi3Status FMI(GetEventIndicators)(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    (void)indicators;
    return count ? refuse(instance, fmi3Error, "there are no event indicators") : fmi3OK;
}

fmi3Status FMI(GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = 0;
    return fmi3OK;
}

fmi3Status FMI(GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = NX;
    return fmi3OK;
}

/* co-simulation */

/* One step of the classical Runge-Kutta method; inputs are constant over it. 0, or what is wrong. */
static const char *advance(State *s, double h)
{
    static const double ahead[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    double y[NX], sum[NX] = {0.0};
    Rates k;
    int i, stage;
    memcpy(y, s->x, sizeof y);
    for (stage = 0; stage < 4; ++stage) {
        find_rates(s, y, 0.0, &k);
        for (i = 0; i < NX; ++i) {
            sum[i] += weight[stage] * k.dx[i];
            y[i] = s->x[i] + ahead[stage] * h * k.dx[i];
        }
    }
    for (i = 0; i < NX; ++i)
        s->x[i] += h / 6.0 * sum[i];
    return corrected(s);
}

fmi3Status FMI(DoStep)(fmi3Instance instance, fmi3Float64 time, fmi3Float64 size,
                       fmi3Boolean no_set_state_before, fmi3Boolean *event_needed,
                       fmi3Boolean *terminate, fmi3Boolean *early_return, fmi3Float64 *last_time)
{
    Unit *unit = instance;
    State s = unit->s;
    double count, k;
    (void)no_set_state_before;
    *event_needed = *terminate = *early_return = false;
    *last_time = unit->s.time;
    if (unit->s.phase != STEPPING)
        return refuse(unit, fmi3Error, "the unit is not in step mode");
    if (!(size > 0 && isfinite(size)) || !isfinite(time))
        return refuse(unit, fmi3Error, "the communication step must be positive");
    if (unit->has_stop && time + size > unit->stop + 1e-9 * (1 + fabs(unit->stop)))
        return refuse(unit, fmi3Error, "the step goes beyond the stop time");
    count = ceil(size / unit->s.p[NP] - 1e-9);
    if (!(count <= 1e9))
        return refuse(unit, fmi3Error, "more than 1e9 internal steps: make step larger");
    if (count < 1)
        count = 1;
    for (k = 0; k < count; ++k) {
        const char *wrong = advance(&s, size / count);
        if (wrong)
            return refuse(unit, fmi3Discard, "after %.9g s: %s", time + k * size / count, wrong);
    }
    unit->s = s;
    unit->fresh = 0;
    unit->s.time = *last_time = time + size;
    return fmi3OK;
}
