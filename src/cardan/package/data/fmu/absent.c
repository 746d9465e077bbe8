/* Functions of FMI 3.0 for what this unit does not have: variables other than Float64, clocks, adjoint derivatives,
 * configuration, scheduled execution. The standard wants them to exist; they refuse. */
#include "model.h"

#include "cardan_fmi3.h"

#define REFERENCES fmi3Instance a, const fmi3ValueReference b[], size_t c
#define IGNORE3 (void)a, (void)b, (void)c

/* no variable has this type: asking for none is fine */
#define NO_VALUES(Type)                                                                     \
    fmi3Status FMI(Get##Type)(REFERENCES, fmi3##Type d[], size_t e)                         \
    {                                                                                       \
        IGNORE3, (void)d;                                                                   \
        return c || e ? fmi3Error : fmi3OK;                                                 \
    }                                                                                       \
    fmi3Status FMI(Set##Type)(REFERENCES, const fmi3##Type d[], size_t e)                   \
    {                                                                                       \
        IGNORE3, (void)d;                                                                   \
        return c || e ? fmi3Error : fmi3OK;                                                 \
    }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(Int32)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(Boolean)
NO_VALUES(String)

fmi3Status FMI(GetBinary)(REFERENCES, size_t d[], fmi3Binary e[], size_t f)
{
    IGNORE3, (void)d, (void)e;
    return c || f ? fmi3Error : fmi3OK;
}

fmi3Status FMI(SetBinary)(REFERENCES, const size_t d[], const fmi3Binary e[], size_t f)
{
    IGNORE3, (void)d, (void)e;
    return c || f ? fmi3Error : fmi3OK;
}

fmi3Status FMI(GetClock)(REFERENCES, fmi3Clock d[])
{
    IGNORE3, (void)d;
    return c ? fmi3Error : fmi3OK;
}

fmi3Status FMI(SetClock)(REFERENCES, const fmi3Clock d[])
{
    IGNORE3, (void)d;
    return c ? fmi3Error : fmi3OK;
}

fmi3Status FMI(GetNumberOfVariableDependencies)(fmi3Instance a, fmi3ValueReference b, size_t *c)
{
    IGNORE3;
    return fmi3Error;
}

fmi3Status FMI(GetVariableDependencies)(fmi3Instance a, fmi3ValueReference b, size_t c[],
                                        fmi3ValueReference d[], size_t e[],
                                        fmi3DependencyKind f[], size_t g)
{
    IGNORE3, (void)d, (void)e, (void)f, (void)g;
    return fmi3Error;
}

fmi3Status FMI(GetAdjointDerivative)(REFERENCES, const fmi3ValueReference d[], size_t e,
                                     const fmi3Float64 f[], size_t g, fmi3Float64 h[], size_t i)
{
    IGNORE3, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i;
    return fmi3Error;
}

fmi3Status FMI(GetOutputDerivatives)(REFERENCES, const fmi3Int32 d[], fmi3Float64 e[], size_t f)
{
    IGNORE3, (void)d, (void)e, (void)f;
    return fmi3Error;
}

fmi3Status FMI(GetIntervalDecimal)(REFERENCES, fmi3Float64 d[], fmi3IntervalQualifier e[])
{
    IGNORE3, (void)d, (void)e;
    return fmi3Error;
}

fmi3Status FMI(GetIntervalFraction)(REFERENCES, fmi3UInt64 d[], fmi3UInt64 e[],
                                    fmi3IntervalQualifier f[])
{
    IGNORE3, (void)d, (void)e, (void)f;
    return fmi3Error;
}

fmi3Status FMI(GetShiftDecimal)(REFERENCES, fmi3Float64 d[])
{
    IGNORE3, (void)d;
    return fmi3Error;
}

fmi3Status FMI(GetShiftFraction)(REFERENCES, fmi3UInt64 d[], fmi3UInt64 e[])
{
    IGNORE3, (void)d, (void)e;
    return fmi3Error;
}

#define NO_CLOCK(name)                                                                      \
    fmi3Status FMI(Set##name##Decimal)(REFERENCES, const fmi3Float64 d[])                   \
    {                                                                                       \
        IGNORE3, (void)d;                                                                   \
        return fmi3Error;                                                                   \
    }                                                                                       \
    fmi3Status FMI(Set##name##Fraction)(REFERENCES, const fmi3UInt64 d[], const fmi3UInt64 e[]) \
    {                                                                                       \
        IGNORE3, (void)d, (void)e;                                                          \
        return fmi3Error;                                                                   \
    }
NO_CLOCK(Interval)
NO_CLOCK(Shift)

fmi3Status FMI(ActivateModelPartition)(fmi3Instance a, fmi3ValueReference b, fmi3Float64 c)
{
    IGNORE3;
    return fmi3Error;
}

#define NO_MODE(name)                      \
    fmi3Status FMI(name)(fmi3Instance a)   \
    {                                      \
        (void)a;                           \
        return fmi3Error;                  \
    }
NO_MODE(EnterConfigurationMode)
NO_MODE(ExitConfigurationMode)
NO_MODE(EvaluateDiscreteStates)
NO_MODE(EnterStepMode)

fmi3Instance FMI(InstantiateScheduledExecution)(
    fmi3String a, fmi3String b, fmi3String c, fmi3Boolean d, fmi3Boolean e,
    fmi3InstanceEnvironment f, fmi3LogMessageCallback g, fmi3ClockUpdateCallback h,
    fmi3LockPreemptionCallback i, fmi3UnlockPreemptionCallback j)
{
    IGNORE3, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j;
    return NULL;
}
