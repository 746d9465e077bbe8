/* The types and functions of FMI 3.0 that a unit for model exchange and co-simulation offers, declared anew
 * from the text of the standard (fmi-standard.org). */
#ifndef CARDAN_FMI3_H
#define CARDAN_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names have a prefix in a static library; importers that build a shared one define
 * FMI3_OVERRIDE_FUNCTION_PREFIX, and may give another prefix. */
#if !defined(FMI3_OVERRIDE_FUNCTION_PREFIX) && defined(FMI3_FUNCTION_PREFIX)
#define FMI3_ACTUAL_FUNCTION_PREFIX FMI3_FUNCTION_PREFIX
#endif
#ifdef FMI3_ACTUAL_FUNCTION_PREFIX
#define FMI3_JOIN(prefix, name) prefix##name
#define FMI3_JOINED(prefix, name) FMI3_JOIN(prefix, name)
#define FMI(name) FMI3_JOINED(FMI3_ACTUAL_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI(name) fmi3##name
#endif

#if defined(_WIN32) || defined(__CYGWIN__)
#define FMI3_API __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI3_API __attribute__((visibility("default")))
#else
#define FMI3_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent
} fmi3DependencyKind;
typedef enum {
    fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged
} fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested, fmi3Boolean get_allowed,
    fmi3Boolean step_finished, fmi3Boolean can_return_early, fmi3Boolean *return_early,
    fmi3Float64 *return_time);

/* all kinds of units */
FMI3_API const char *FMI(GetVersion)(void);
FMI3_API fmi3Status FMI(SetDebugLogging)(fmi3Instance, fmi3Boolean on, size_t count,
                                         const fmi3String categories[]);
FMI3_API fmi3Instance FMI(InstantiateModelExchange)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment, fmi3LogMessageCallback);
FMI3_API fmi3Instance FMI(InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference required[], size_t count, fmi3InstanceEnvironment,
    fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
FMI3_API fmi3Instance FMI(InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment, fmi3LogMessageCallback, fmi3ClockUpdateCallback,
    fmi3LockPreemptionCallback, fmi3UnlockPreemptionCallback);
FMI3_API void FMI(FreeInstance)(fmi3Instance);
FMI3_API fmi3Status FMI(EnterInitializationMode)(fmi3Instance, fmi3Boolean has_tolerance,
                                                 fmi3Float64 tolerance, fmi3Float64 start,
                                                 fmi3Boolean has_stop, fmi3Float64 stop);
FMI3_API fmi3Status FMI(ExitInitializationMode)(fmi3Instance);
FMI3_API fmi3Status FMI(EnterEventMode)(fmi3Instance);
FMI3_API fmi3Status FMI(Terminate)(fmi3Instance);
FMI3_API fmi3Status FMI(Reset)(fmi3Instance);
FMI3_API fmi3Status FMI(EnterConfigurationMode)(fmi3Instance);
FMI3_API fmi3Status FMI(ExitConfigurationMode)(fmi3Instance);

#define FMI3_VALUES(Type)                                                                      \
    FMI3_API fmi3Status FMI(Get##Type)(fmi3Instance, const fmi3ValueReference references[],    \
                                       size_t count, fmi3##Type values[], size_t n_values);    \
    FMI3_API fmi3Status FMI(Set##Type)(fmi3Instance, const fmi3ValueReference references[],    \
                                       size_t count, const fmi3##Type values[], size_t n_values);
FMI3_VALUES(Float32)
FMI3_VALUES(Float64)
FMI3_VALUES(Int8)
FMI3_VALUES(UInt8)
FMI3_VALUES(Int16)
FMI3_VALUES(UInt16)
FMI3_VALUES(Int32)
FMI3_VALUES(UInt32)
FMI3_VALUES(Int64)
FMI3_VALUES(UInt64)
FMI3_VALUES(Boolean)
FMI3_VALUES(String)
FMI3_API fmi3Status FMI(GetBinary)(fmi3Instance, const fmi3ValueReference references[],
                                   size_t count, size_t sizes[], fmi3Binary values[],
                                   size_t n_values);
FMI3_API fmi3Status FMI(SetBinary)(fmi3Instance, const fmi3ValueReference references[],
                                   size_t count, const size_t sizes[], const fmi3Binary values[],
                                   size_t n_values);
FMI3_API fmi3Status FMI(GetClock)(fmi3Instance, const fmi3ValueReference references[],
                                  size_t count, fmi3Clock values[]);
FMI3_API fmi3Status FMI(SetClock)(fmi3Instance, const fmi3ValueReference references[],
                                  size_t count, const fmi3Clock values[]);

FMI3_API fmi3Status FMI(GetNumberOfVariableDependencies)(fmi3Instance, fmi3ValueReference,
                                                         size_t *count);
FMI3_API fmi3Status FMI(GetVariableDependencies)(fmi3Instance, fmi3ValueReference dependent,
                                                 size_t elements[],
                                                 fmi3ValueReference independents[],
                                                 size_t independent_elements[],
                                                 fmi3DependencyKind kinds[], size_t count);
FMI3_API fmi3Status FMI(GetFMUState)(fmi3Instance, fmi3FMUState *);
FMI3_API fmi3Status FMI(SetFMUState)(fmi3Instance, fmi3FMUState);
FMI3_API fmi3Status FMI(FreeFMUState)(fmi3Instance, fmi3FMUState *);
FMI3_API fmi3Status FMI(SerializedFMUStateSize)(fmi3Instance, fmi3FMUState, size_t *size);
FMI3_API fmi3Status FMI(SerializeFMUState)(fmi3Instance, fmi3FMUState, fmi3Byte bytes[],
                                           size_t size);
FMI3_API fmi3Status FMI(DeserializeFMUState)(fmi3Instance, const fmi3Byte bytes[], size_t size,
                                             fmi3FMUState *);
FMI3_API fmi3Status FMI(GetDirectionalDerivative)(
    fmi3Instance, const fmi3ValueReference unknowns[], size_t n_unknowns,
    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
    fmi3Float64 sensitivity[], size_t n_sensitivity);
FMI3_API fmi3Status FMI(GetAdjointDerivative)(
    fmi3Instance, const fmi3ValueReference unknowns[], size_t n_unknowns,
    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
    fmi3Float64 sensitivity[], size_t n_sensitivity);

/* clocks */
FMI3_API fmi3Status FMI(GetIntervalDecimal)(fmi3Instance, const fmi3ValueReference references[],
                                            size_t count, fmi3Float64 intervals[],
                                            fmi3IntervalQualifier qualifiers[]);
FMI3_API fmi3Status FMI(GetIntervalFraction)(fmi3Instance, const fmi3ValueReference references[],
                                             size_t count, fmi3UInt64 counters[],
                                             fmi3UInt64 resolutions[],
                                             fmi3IntervalQualifier qualifiers[]);
FMI3_API fmi3Status FMI(GetShiftDecimal)(fmi3Instance, const fmi3ValueReference references[],
                                         size_t count, fmi3Float64 shifts[]);
FMI3_API fmi3Status FMI(GetShiftFraction)(fmi3Instance, const fmi3ValueReference references[],
                                          size_t count, fmi3UInt64 counters[],
                                          fmi3UInt64 resolutions[]);
FMI3_API fmi3Status FMI(SetIntervalDecimal)(fmi3Instance, const fmi3ValueReference references[],
                                            size_t count, const fmi3Float64 intervals[]);
FMI3_API fmi3Status FMI(SetIntervalFraction)(fmi3Instance, const fmi3ValueReference references[],
                                             size_t count, const fmi3UInt64 counters[],
                                             const fmi3UInt64 resolutions[]);
FMI3_API fmi3Status FMI(SetShiftDecimal)(fmi3Instance, const fmi3ValueReference references[],
                                         size_t count, const fmi3Float64 shifts[]);
FMI3_API fmi3Status FMI(SetShiftFraction)(fmi3Instance, const fmi3ValueReference references[],
                                          size_t count, const fmi3UInt64 counters[],
                                          const fmi3UInt64 resolutions[]);
FMI3_API fmi3Status FMI(ActivateModelPartition)(fmi3Instance, fmi3ValueReference clock,
                                                fmi3Float64 time);

/* model exchange */
FMI3_API fmi3Status FMI(EvaluateDiscreteStates)(fmi3Instance);
FMI3_API fmi3Status FMI(UpdateDiscreteStates)(fmi3Instance, fmi3Boolean *need_update,
                                              fmi3Boolean *terminate,
                                              fmi3Boolean *nominals_changed,
                                              fmi3Boolean *values_changed,
                                              fmi3Boolean *has_next_event,
                                              fmi3Float64 *next_event);
FMI3_API fmi3Status FMI(EnterContinuousTimeMode)(fmi3Instance);
FMI3_API fmi3Status FMI(CompletedIntegratorStep)(fmi3Instance, fmi3Boolean no_set_state_before,
                                                 fmi3Boolean *enter_event_mode,
                                                 fmi3Boolean *terminate);
FMI3_API fmi3Status FMI(SetTime)(fmi3Instance, fmi3Float64 time);
FMI3_API fmi3Status FMI(SetContinuousStates)(fmi3Instance, const fmi3Float64 x[], size_t count);
FMI3_API fmi3Status FMI(GetContinuousStates)(fmi3Instance, fmi3Float64 x[], size_t count);
FMI3_API fmi3Status FMI(GetContinuousStateDerivatives)(fmi3Instance, fmi3Float64 dx[],
                                                       size_t count);
FMI3_API fmi3Status FMI(GetNominalsOfContinuousStates)(fmi3Instance, fmi3Float64 nominals[],
                                                       size_t count);
FMI3_API fmi3Status FMI(GetEventIndicators)(fmi3Instance, fmi3Float64 indicators[], size_t count);
FMI3_API fmi3Status FMI(GetNumberOfEventIndicators)(fmi3Instance, size_t *count);
FMI3_API fmi3Status FMI(GetNumberOfContinuousStates)(fmi3Instance, size_t *count);

/* co-simulation */
FMI3_API fmi3Status FMI(EnterStepMode)(fmi3Instance);
FMI3_API fmi3Status FMI(GetOutputDerivatives)(fmi3Instance, const fmi3ValueReference references[],
                                              size_t count, const fmi3Int32 orders[],
                                              fmi3Float64 values[], size_t n_values);
FMI3_API fmi3Status FMI(DoStep)(fmi3Instance, fmi3Float64 time, fmi3Float64 size,
                                fmi3Boolean no_set_state_before, fmi3Boolean *event_needed,
                                fmi3Boolean *terminate, fmi3Boolean *early_return,
                                fmi3Float64 *last_time);

#ifdef __cplusplus
}
#endif

#endif
