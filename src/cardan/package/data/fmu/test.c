/* Runs the unit through its functions and compares it with numbers that were computed by another route. */
#include "model.h"

#include "cardan_fmi3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATES @STATES@
#define FIRST_U (1 + 2 * NX + 2 * NF + (NR > 0)) /* value references as in fmu.c */

static const double x[STATES][NX] = {
@X@
};
static const double u[STATES][NU + 1] = {
@U@
};
static const double rates[STATES][NX] = {
@RATES@
};
/* after @STEPS@ steps of @SIZE@ s from state @FIRST@ with constant inputs */
static const double after[NX] = {
@AFTER@
};

static int faults;

static void expect(int condition, const char *what)
{
    if (!condition) {
        printf("%s\n", what);
        ++faults;
    }
}

static void compare(const char *what, const double *got, const double *want, int size)
{
    double scale = 1.0;
    int k;
    for (k = 0; k < size; ++k)
        if (fabs(want[k]) > scale)
            scale = fabs(want[k]);
    for (k = 0; k < size; ++k)
        if (!(fabs(got[k] - want[k]) <= @TOLERANCE@ * scale)) {
            printf("%s[%d]: %.12g instead of %.12g\n", what, k, got[k], want[k]);
            ++faults;
        }
}

static void set(fmi3Instance unit, int first, const double *y, int count)
{
    int k;
    for (k = 0; k < count; ++k) {
        const fmi3ValueReference r = (fmi3ValueReference)(first + k);
        expect(FMI(SetFloat64)(unit, &r, 1, &y[k], 1) == fmi3OK, "a start value is refused");
    }
}

static void begin(fmi3Instance unit, int k)
{
    set(unit, 1, x[k], NX);
    set(unit, FIRST_U, u[k], NU);
    expect(FMI(EnterInitializationMode)(unit, false, 0.0, 0.0, false, 0.0) == fmi3OK, "enter");
    expect(FMI(ExitInitializationMode)(unit) == fmi3OK, "exit");
}

static void model_exchange(void)
{
    int k;
    fmi3Instance unit =
        FMI(InstantiateModelExchange)("test", MODEL_TOKEN, NULL, false, false, NULL, NULL);
    expect(unit != NULL, "no instance for model exchange");
    for (k = 0; unit != NULL && k < STATES; ++k) {
        double dx[NX];
        begin(unit, k);
        expect(FMI(EnterContinuousTimeMode)(unit) == fmi3OK, "continuous time");
        expect(FMI(GetContinuousStateDerivatives)(unit, dx, NX) == fmi3OK, "derivatives");
        compare("derivative of a state", dx, rates[k], NX);
        expect(FMI(Reset)(unit) == fmi3OK, "reset");
    }
    FMI(FreeInstance)(unit);
}

static void steps(fmi3Instance unit, double time)
{
    fmi3Boolean event, terminate, early;
    double last, y[NX];
    int k;
    for (k = 0; k < @STEPS@; ++k)
        expect(FMI(DoStep)(unit, time + k * @SIZE@, @SIZE@, true, &event, &terminate, &early,
                           &last) == fmi3OK, "a step is refused");
    FMI(GetContinuousStates)(unit, y, NX);
    compare("state after the steps", y, after, NX);
#if NR > 0
    {
        const fmi3ValueReference open = FIRST_U - 1;
        double wide = 1.0;
        expect(FMI(GetFloat64)(unit, &open, 1, &wide, 1) == fmi3OK, "loops.open is not given");
        expect(wide < 1e-12, "the loops are open");
    }
#endif
}

static void co_simulation(void)
{
    fmi3FMUState state = NULL;
    const fmi3ValueReference step = FIRST_U + NU + NP;
    const double negative = -1.0;
    fmi3Instance unit = FMI(InstantiateCoSimulation)("test", MODEL_TOKEN, NULL, false, false, false,
                                                     false, NULL, 0, NULL, NULL, NULL);
    expect(unit != NULL, "no instance for co-simulation");
    if (unit == NULL)
        return;
    expect(FMI(SetFloat64)(unit, &step, 1, &negative, 1) == fmi3Error, "a negative step is taken");
    begin(unit, @FIRST@);
    expect(FMI(GetFMUState)(unit, &state) == fmi3OK, "the state is not given");
    steps(unit, 0.0);
    expect(FMI(SetFMUState)(unit, state) == fmi3OK, "the state is not taken back");
    steps(unit, 0.0);
    FMI(FreeFMUState)(unit, &state);
    FMI(FreeInstance)(unit);
}

int main(void)
{
    expect(strncmp(FMI(GetVersion)(), "3.0", 3) == 0, "the version is not 3.0");
    expect(FMI(InstantiateModelExchange)("test", "other", NULL, false, false, NULL, NULL) == NULL,
           "another token is accepted");
    model_exchange();
    co_simulation();
    printf("%d numbers differ\n", faults);
    return faults != 0;
}
