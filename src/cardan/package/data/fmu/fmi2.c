/* The same unit by the functions of FMI 2.0, each a call of that of FMI 3.0; declared anew from the text of the standard
 * (fmi-standard.org). */
#include "model.h"

#include "cardan_fmi3.h"

#include <stdlib.h>
#include <string.h>

#ifdef FMI3_ACTUAL_FUNCTION_PREFIX
#define FMI2(name) FMI3_JOINED(FMI3_ACTUAL_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI2(name) fmi2##name
#endif

typedef void *fmi2Component;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef fmi3Status fmi2Status; /* the same values, and fmi2Pending, which is not used */

typedef struct {
    void (*logger)(void *environment, fmi2String instance, fmi2Status, fmi2String category,
                   fmi2String message, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *);
    void (*finished)(void *environment, fmi2Status);
    void *environment;
} Callbacks;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} EventInfo;

typedef struct {
    fmi3Instance unit;
    const Callbacks *callbacks;
    char name[200];
    fmi2Boolean has_tolerance, has_stop;
    fmi2Real tolerance, start, stop;
} Component;

#define UNIT(component) (((Component *)(component))->unit)

/* all kinds of units */
FMI3_API const char *FMI2(GetTypesPlatform)(void);
FMI3_API const char *FMI2(GetVersion)(void);
FMI3_API fmi2Component FMI2(Instantiate)(fmi2String name, int type, fmi2String guid,
                                         fmi2String resources, const Callbacks *, fmi2Boolean visible,
                                         fmi2Boolean logging);
FMI3_API void FMI2(FreeInstance)(fmi2Component);
FMI3_API fmi2Status FMI2(SetDebugLogging)(fmi2Component, fmi2Boolean on, size_t count,
                                          const fmi2String categories[]);
FMI3_API fmi2Status FMI2(SetupExperiment)(fmi2Component, fmi2Boolean has_tolerance,
                                          fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
                                          fmi2Real stop);
FMI3_API fmi2Status FMI2(EnterInitializationMode)(fmi2Component);
FMI3_API fmi2Status FMI2(ExitInitializationMode)(fmi2Component);
FMI3_API fmi2Status FMI2(Terminate)(fmi2Component);
FMI3_API fmi2Status FMI2(Reset)(fmi2Component);
FMI3_API fmi2Status FMI2(GetReal)(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
FMI3_API fmi2Status FMI2(SetReal)(fmi2Component, const fmi2ValueReference[], size_t,
                                  const fmi2Real[]);
#define FMI2_NO_VALUES(Type)                                                                      \
    FMI3_API fmi2Status FMI2(Get##Type)(fmi2Component, const fmi2ValueReference[], size_t,        \
                                        fmi2##Type[]);                                            \
    FMI3_API fmi2Status FMI2(Set##Type)(fmi2Component, const fmi2ValueReference[], size_t,        \
                                        const fmi2##Type[]);                                      \
    fmi2Status FMI2(Get##Type)(fmi2Component a, const fmi2ValueReference b[], size_t c,           \
                               fmi2##Type d[])                                                    \
    {                                                                                             \
        (void)a, (void)b, (void)d;                                                                \
        return c ? fmi3Error : fmi3OK;                                                            \
    }                                                                                             \
    fmi2Status FMI2(Set##Type)(fmi2Component a, const fmi2ValueReference b[], size_t c,           \
                               const fmi2##Type d[])                                              \
    {                                                                                             \
        (void)a, (void)b, (void)d;                                                                \
        return c ? fmi3Error : fmi3OK;                                                            \
    }
FMI2_NO_VALUES(Integer)
FMI2_NO_VALUES(Boolean)
FMI2_NO_VALUES(String)
FMI3_API fmi2Status FMI2(GetFMUstate)(fmi2Component, fmi2FMUstate *);
FMI3_API fmi2Status FMI2(SetFMUstate)(fmi2Component, fmi2FMUstate);
FMI3_API fmi2Status FMI2(FreeFMUstate)(fmi2Component, fmi2FMUstate *);
FMI3_API fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component, fmi2FMUstate, size_t *);
FMI3_API fmi2Status FMI2(SerializeFMUstate)(fmi2Component, fmi2FMUstate, char[], size_t);
FMI3_API fmi2Status FMI2(DeSerializeFMUstate)(fmi2Component, const char[], size_t, fmi2FMUstate *);
FMI3_API fmi2Status FMI2(GetDirectionalDerivative)(fmi2Component, const fmi2ValueReference[], size_t,
                                                   const fmi2ValueReference[], size_t,
                                                   const fmi2Real[], fmi2Real[]);
/* model exchange */
FMI3_API fmi2Status FMI2(EnterEventMode)(fmi2Component);
FMI3_API fmi2Status FMI2(NewDiscreteStates)(fmi2Component, EventInfo *);
FMI3_API fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component);
FMI3_API fmi2Status FMI2(CompletedIntegratorStep)(fmi2Component, fmi2Boolean, fmi2Boolean *,
                                                  fmi2Boolean *);
FMI3_API fmi2Status FMI2(SetTime)(fmi2Component, fmi2Real);
FMI3_API fmi2Status FMI2(SetContinuousStates)(fmi2Component, const fmi2Real[], size_t);
FMI3_API fmi2Status FMI2(GetDerivatives)(fmi2Component, fmi2Real[], size_t);
FMI3_API fmi2Status FMI2(GetEventIndicators)(fmi2Component, fmi2Real[], size_t);
FMI3_API fmi2Status FMI2(GetContinuousStates)(fmi2Component, fmi2Real[], size_t);
FMI3_API fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component, fmi2Real[], size_t);
/* co-simulation */
FMI3_API fmi2Status FMI2(SetRealInputDerivatives)(fmi2Component, const fmi2ValueReference[], size_t,
                                                  const fmi2Integer[], const fmi2Real[]);
FMI3_API fmi2Status FMI2(GetRealOutputDerivatives)(fmi2Component, const fmi2ValueReference[], size_t,
                                                   const fmi2Integer[], fmi2Real[]);
FMI3_API fmi2Status FMI2(DoStep)(fmi2Component, fmi2Real time, fmi2Real size, fmi2Boolean);
FMI3_API fmi2Status FMI2(CancelStep)(fmi2Component);
FMI3_API fmi2Status FMI2(GetStatus)(fmi2Component, int kind, fmi2Status *);
FMI3_API fmi2Status FMI2(GetRealStatus)(fmi2Component, int kind, fmi2Real *);
FMI3_API fmi2Status FMI2(GetIntegerStatus)(fmi2Component, int kind, fmi2Integer *);
FMI3_API fmi2Status FMI2(GetBooleanStatus)(fmi2Component, int kind, fmi2Boolean *);
FMI3_API fmi2Status FMI2(GetStringStatus)(fmi2Component, int kind, fmi2String *);

const char *FMI2(GetTypesPlatform)(void)
{
    return "default";
}

const char *FMI2(GetVersion)(void)
{
    return "2.0";
}

static void say(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                fmi3String message)
{
    const Component *component = environment;
    const Callbacks *to = component->callbacks;
    if (to && to->logger)
        to->logger(to->environment, component->name, status, category, "%s", message);
}

fmi2Component FMI2(Instantiate)(fmi2String name, int type, fmi2String guid, fmi2String resources,
                                const Callbacks *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    Component *component = calloc(1, sizeof *component);
    if (component == NULL)
        return NULL;
    component->callbacks = callbacks;
    strncpy(component->name, name ? name : "", sizeof component->name - 1);
    component->unit =
        type == 0 ? FMI(InstantiateModelExchange)(name, guid, resources, visible != 0, logging != 0,
                                                  component, say)
                  : FMI(InstantiateCoSimulation)(name, guid, resources, visible != 0, logging != 0,
                                                 false, false, NULL, 0, component, say, NULL);
    if (component->unit == NULL) {
        free(component);
        return NULL;
    }
    return component;
}

void FMI2(FreeInstance)(fmi2Component component)
{
    if (component != NULL)
        FMI(FreeInstance)(UNIT(component));
    free(component);
}

fmi2Status FMI2(SetDebugLogging)(fmi2Component component, fmi2Boolean on, size_t count,
                                 const fmi2String categories[])
{
    return FMI(SetDebugLogging)(UNIT(component), on != 0, count, categories);
}

fmi2Status FMI2(SetupExperiment)(fmi2Component component, fmi2Boolean has_tolerance,
                                 fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
                                 fmi2Real stop)
{
    Component *c = component;
    c->has_tolerance = has_tolerance;
    c->tolerance = tolerance;
    c->start = start;
    c->has_stop = has_stop;
    c->stop = stop;
    return fmi3OK;
}

fmi2Status FMI2(EnterInitializationMode)(fmi2Component component)
{
    const Component *c = component;
    return FMI(EnterInitializationMode)(c->unit, c->has_tolerance != 0, c->tolerance, c->start,
                                        c->has_stop != 0, c->stop);
}

fmi2Status FMI2(ExitInitializationMode)(fmi2Component component)
{
    return FMI(ExitInitializationMode)(UNIT(component));
}

fmi2Status FMI2(Terminate)(fmi2Component component)
{
    return FMI(Terminate)(UNIT(component));
}

fmi2Status FMI2(Reset)(fmi2Component component)
{
    Component *c = component;
    c->has_tolerance = c->has_stop = 0;
    c->start = 0.0;
    return FMI(Reset)(c->unit);
}

fmi2Status FMI2(GetReal)(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, fmi2Real values[])
{
    return FMI(GetFloat64)(UNIT(component), references, count, values, count);
}

fmi2Status FMI2(SetReal)(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, const fmi2Real values[])
{
    return FMI(SetFloat64)(UNIT(component), references, count, values, count);
}

fmi2Status FMI2(GetFMUstate)(fmi2Component component, fmi2FMUstate *state)
{
    return FMI(GetFMUState)(UNIT(component), state);
}

fmi2Status FMI2(SetFMUstate)(fmi2Component component, fmi2FMUstate state)
{
    return FMI(SetFMUState)(UNIT(component), state);
}

fmi2Status FMI2(FreeFMUstate)(fmi2Component component, fmi2FMUstate *state)
{
    return FMI(FreeFMUState)(UNIT(component), state);
}

fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    return FMI(SerializedFMUStateSize)(UNIT(component), state, size);
}

fmi2Status FMI2(SerializeFMUstate)(fmi2Component component, fmi2FMUstate state, char bytes[],
                                   size_t size)
{
    return FMI(SerializeFMUState)(UNIT(component), state, (fmi3Byte *)bytes, size);
}

fmi2Status FMI2(DeSerializeFMUstate)(fmi2Component component, const char bytes[], size_t size,
                                     fmi2FMUstate *state)
{
    return FMI(DeserializeFMUState)(UNIT(component), (const fmi3Byte *)bytes, size, state);
}

fmi2Status FMI2(GetDirectionalDerivative)(fmi2Component component,
                                          const fmi2ValueReference unknowns[], size_t n_unknowns,
                                          const fmi2ValueReference knowns[], size_t n_knowns,
                                          const fmi2Real seed[], fmi2Real sensitivity[])
{
    return FMI(GetDirectionalDerivative)(UNIT(component), unknowns, n_unknowns, knowns, n_knowns,
                                         seed, n_knowns, sensitivity, n_unknowns);
}

fmi2Status FMI2(EnterEventMode)(fmi2Component component)
{
    return FMI(EnterEventMode)(UNIT(component));
}

fmi2Status FMI2(NewDiscreteStates)(fmi2Component component, EventInfo *info)
{
    fmi3Boolean need, terminate, nominals, values, next;
    const fmi2Status status = FMI(UpdateDiscreteStates)(UNIT(component), &need, &terminate, &nominals,
                                                        &values, &next, &info->nextEventTime);
    if (status != fmi3OK)
        return status;
    info->newDiscreteStatesNeeded = need;
    info->terminateSimulation = terminate;
    info->nominalsOfContinuousStatesChanged = nominals;
    info->valuesOfContinuousStatesChanged = values;
    info->nextEventTimeDefined = next;
    return fmi3OK;
}

fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component component)
{
    return FMI(EnterContinuousTimeMode)(UNIT(component));
}

fmi2Status FMI2(CompletedIntegratorStep)(fmi2Component component, fmi2Boolean no_set_state_before,
                                         fmi2Boolean *enter_event_mode, fmi2Boolean *terminate)
{
    fmi3Boolean enter = false, end = false;
    const fmi2Status status =
        FMI(CompletedIntegratorStep)(UNIT(component), no_set_state_before != 0, &enter, &end);
    *enter_event_mode = enter;
    *terminate = end;
    return status;
}

fmi2Status FMI2(SetTime)(fmi2Component component, fmi2Real time)
{
    return FMI(SetTime)(UNIT(component), time);
}

fmi2Status FMI2(SetContinuousStates)(fmi2Component component, const fmi2Real x[], size_t count)
{
    return FMI(SetContinuousStates)(UNIT(component), x, count);
}

fmi2Status FMI2(GetDerivatives)(fmi2Component component, fmi2Real dx[], size_t count)
{
    return FMI(GetContinuousStateDerivatives)(UNIT(component), dx, count);
}

fmi2Status FMI2(GetEventIndicators)(fmi2Component component, fmi2Real indicators[], size_t count)
{
    return FMI(GetEventIndicators)(UNIT(component), indicators, count);
}

fmi2Status FMI2(GetContinuousStates)(fmi2Component component, fmi2Real x[], size_t count)
{
    return FMI(GetContinuousStates)(UNIT(component), x, count);
}

fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component component, fmi2Real nominals[],
                                               size_t count)
{
    return FMI(GetNominalsOfContinuousStates)(UNIT(component), nominals, count);
}

fmi2Status FMI2(SetRealInputDerivatives)(fmi2Component a, const fmi2ValueReference b[], size_t c,
                                         const fmi2Integer d[], const fmi2Real e[])
{
    (void)a, (void)b, (void)d, (void)e;
    return c ? fmi3Error : fmi3OK;
}

fmi2Status FMI2(GetRealOutputDerivatives)(fmi2Component a, const fmi2ValueReference b[], size_t c,
                                          const fmi2Integer d[], fmi2Real e[])
{
    (void)a, (void)b, (void)d, (void)e;
    return c ? fmi3Error : fmi3OK;
}

fmi2Status FMI2(DoStep)(fmi2Component component, fmi2Real time, fmi2Real size,
                        fmi2Boolean no_set_state_before)
{
    fmi3Boolean event, terminate, early;
    fmi2Real last;
    return FMI(DoStep)(UNIT(component), time, size, no_set_state_before != 0, &event, &terminate,
                       &early, &last);
}

fmi2Status FMI2(CancelStep)(fmi2Component component)
{
    (void)component;
    return fmi3Error;
}

/* steps are done when they return: there is nothing to ask */
#define FMI2_NO_STATUS(name, Type)                                            \
    fmi2Status FMI2(name)(fmi2Component component, int kind, Type *value)     \
    {                                                                         \
        (void)component, (void)kind, (void)value;                             \
        return fmi3Discard;                                                   \
    }
FMI2_NO_STATUS(GetStatus, fmi2Status)
FMI2_NO_STATUS(GetRealStatus, fmi2Real)
FMI2_NO_STATUS(GetIntegerStatus, fmi2Integer)
FMI2_NO_STATUS(GetBooleanStatus, fmi2Boolean)
FMI2_NO_STATUS(GetStringStatus, fmi2String)
