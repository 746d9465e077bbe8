/* FMI 3.0 unit of the direct dynamics of a robot: model exchange, and co-simulation by a fixed-step Runge-Kutta method
 * of order 4. What differs from robot to robot is in model.h. */
#include "model.h"

#include "cardan_fmi3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* value references: time, then these blocks one after the other */
enum {
    FIRST_Q = 1,
    FIRST_QD = FIRST_Q + NQ,
    FIRST_DER_Q = FIRST_QD + NQ,
    FIRST_QDD = FIRST_DER_Q + NQ,
    FIRST_U = FIRST_QDD + NQ,
    FIRST_P = FIRST_U + NU,
    STEP = FIRST_P + NP
};

typedef enum { INSTANTIATED, INITIALIZING, EVENTS, CONTINUOUS, STEPPING, TERMINATED } Phase;

/* all that a simulation can change, and nothing else: it is copied to save the state */
typedef struct {
    double time;
    double x[2 * NQ]; /* q, qd */
    double u[NU + 1];
    double p[NP + 1]; /* the last one is step */
    Phase phase;
} State;

typedef struct {
    State s;
    double qdd[NQ];
    int fresh; /* qdd belongs to s */
    int cosimulation;
    int has_stop;
    double stop;
    int logging;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Unit;

static fmi3Status refuse(const Unit *unit, fmi3Status status, const char *message)
{
    if (unit->log && unit->logging)
        unit->log(unit->environment, status, "logStatusError", message);
    return status;
}

static void start(Unit *unit)
{
    static const double p[NP + 1] = MODEL_P;
    memset(&unit->s, 0, sizeof unit->s);
    memcpy(unit->s.p, p, sizeof p);
    unit->s.p[NP] = MODEL_STEP;
    unit->s.phase = INSTANTIATED;
    unit->fresh = 0;
    unit->has_stop = 0;
}

static const double *accelerations(Unit *unit)
{
    if (!unit->fresh)
        model_accelerations(unit->s.x, unit->s.x + NQ, unit->s.u, unit->s.p, unit->qdd);
    unit->fresh = 1;
    return unit->qdd;
}

static int is_finite(const double *x, size_t count)
{
    size_t k;
    for (k = 0; k < count; ++k)
        if (!isfinite(x[k]))
            return 0;
    return 1;
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
    for (k = 0; k < count; ++k) {
        const fmi3ValueReference r = references[k];
        if (r > STEP)
            return refuse(unit, fmi3Error, "there is no variable of this value reference");
        values[k] = r < FIRST_Q       ? unit->s.time
                    : r < FIRST_DER_Q ? unit->s.x[r - FIRST_Q]
                    : r < FIRST_QDD   ? unit->s.x[NQ + r - FIRST_DER_Q]
                    : r < FIRST_U     ? accelerations(unit)[r - FIRST_QDD]
                    : r < FIRST_P     ? unit->s.u[r - FIRST_U]
                                      : unit->s.p[r - FIRST_P];
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
        const int has_start = (r >= FIRST_Q && r < FIRST_DER_Q) || (r >= FIRST_P && r <= STEP);
        if (!(is_input || (early && has_start)))
            return refuse(unit, fmi3Error, "this variable cannot be set now");
        if (r == STEP && !(values[k] > 0 && isfinite(values[k])))
            return refuse(unit, fmi3Error, "step must be positive");
        if (is_input)
            unit->s.u[r - FIRST_U] = values[k];
        else if (r < FIRST_DER_Q)
            unit->s.x[r - FIRST_Q] = values[k];
        else
            unit->s.p[r - FIRST_P] = values[k];
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
    (void)instance;
    (void)no_set_state_before;
    *enter_event_mode = *terminate = false;
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
    if (unit->s.phase != CONTINUOUS || count != 2 * NQ)
        return refuse(unit, fmi3Error, "the states are set in continuous-time mode, all at once");
    memcpy(unit->s.x, x, sizeof unit->s.x);
    unit->fresh = 0;
    return fmi3OK;
}

fmi3Status FMI(GetContinuousStates)(fmi3Instance instance, fmi3Float64 x[], size_t count)
{
    Unit *unit = instance;
    if (count != 2 * NQ)
        return refuse(unit, fmi3Error, "the number of states is another");
    memcpy(x, unit->s.x, sizeof unit->s.x);
    return fmi3OK;
}

fmi3Status FMI(GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 dx[],
                                              size_t count)
{
    Unit *unit = instance;
    if (count != 2 * NQ)
        return refuse(unit, fmi3Error, "the number of states is another");
    memcpy(dx, unit->s.x + NQ, NQ * sizeof *dx);
    memcpy(dx + NQ, accelerations(unit), NQ * sizeof *dx);
    if (!is_finite(dx, count))
        return refuse(unit, fmi3Discard, "the accelerations of this state are not finite");
    return fmi3OK;
}

fmi3Status FMI(GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[],
                                              size_t count)
{
    size_t k;
    if (count != 2 * NQ)
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
    *count = 2 * NQ;
    return fmi3OK;
}

/* co-simulation */

static void derivatives(const Unit *unit, const double *x, double *dx)
{
    memcpy(dx, x + NQ, NQ * sizeof *dx);
    model_accelerations(x, x + NQ, unit->s.u, unit->s.p, dx + NQ);
}

/* One step of the classical Runge-Kutta method; inputs are constant over it. */
static void advance(Unit *unit, double h)
{
    double k1[2 * NQ], k2[2 * NQ], k3[2 * NQ], k4[2 * NQ], y[2 * NQ];
    double *x = unit->s.x;
    int i;
    derivatives(unit, x, k1);
    for (i = 0; i < 2 * NQ; ++i)
        y[i] = x[i] + 0.5 * h * k1[i];
    derivatives(unit, y, k2);
    for (i = 0; i < 2 * NQ; ++i)
        y[i] = x[i] + 0.5 * h * k2[i];
    derivatives(unit, y, k3);
    for (i = 0; i < 2 * NQ; ++i)
        y[i] = x[i] + h * k3[i];
    derivatives(unit, y, k4);
    for (i = 0; i < 2 * NQ; ++i)
        x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

fmi3Status FMI(DoStep)(fmi3Instance instance, fmi3Float64 time, fmi3Float64 size,
                       fmi3Boolean no_set_state_before, fmi3Boolean *event_needed,
                       fmi3Boolean *terminate, fmi3Boolean *early_return, fmi3Float64 *last_time)
{
    Unit *unit = instance;
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
    unit->fresh = 0;
    for (k = 0; k < count; ++k)
        advance(unit, size / count);
    if (!is_finite(unit->s.x, 2 * NQ))
        return refuse(unit, fmi3Error, "the motion is not finite: make step smaller");
    unit->s.time = *last_time = time + size;
    return fmi3OK;
}
