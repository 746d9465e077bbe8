/* Runs the unit through its functions and compares it with numbers that were computed by another route. */
#include "model.h"

#include "cardan_fmi3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STATES @STATES@

static const double q[STATES][NQ] = {
@Q@
};
static const double qd[STATES][NQ] = {
@QD@
};
static const double u[STATES][NU + 1] = {
@U@
};
static const double qdd[STATES][NQ] = {
@QDD@
};
/* after @STEPS@ steps of @SIZE@ s from state 0 with constant inputs: q, qd */
static const double after[2 * NQ] = {
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

static void set(fmi3Instance unit, int first, const double *x, int count)
{
    int k;
    for (k = 0; k < count; ++k) {
        const fmi3ValueReference r = (fmi3ValueReference)(first + k);
        expect(FMI(SetFloat64)(unit, &r, 1, &x[k], 1) == fmi3OK, "a start value is refused");
    }
}

static void begin(fmi3Instance unit, int k)
{
    set(unit, 1, q[k], NQ);
    set(unit, 1 + NQ, qd[k], NQ);
    set(unit, 1 + 4 * NQ, u[k], NU);
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
        double dx[2 * NQ];
        begin(unit, k);
        expect(FMI(EnterContinuousTimeMode)(unit) == fmi3OK, "continuous time");
        expect(FMI(GetContinuousStateDerivatives)(unit, dx, 2 * NQ) == fmi3OK, "derivatives");
        compare("derivative of q", dx, qd[k], NQ);
        compare("derivative of qd", dx + NQ, qdd[k], NQ);
        expect(FMI(Reset)(unit) == fmi3OK, "reset");
    }
    FMI(FreeInstance)(unit);
}

static void steps(fmi3Instance unit, double time)
{
    fmi3Boolean event, terminate, early;
    double last, x[2 * NQ];
    int k;
    for (k = 0; k < @STEPS@; ++k)
        expect(FMI(DoStep)(unit, time + k * @SIZE@, @SIZE@, true, &event, &terminate, &early,
                           &last) == fmi3OK, "a step is refused");
    FMI(GetContinuousStates)(unit, x, 2 * NQ);
    compare("q, qd after the steps", x, after, 2 * NQ);
}

static void co_simulation(void)
{
    fmi3FMUState state = NULL;
    const fmi3ValueReference step = 1 + 4 * NQ + NU + NP;
    const double negative = -1.0;
    fmi3Instance unit = FMI(InstantiateCoSimulation)("test", MODEL_TOKEN, NULL, false, false, false,
                                                     false, NULL, 0, NULL, NULL, NULL);
    expect(unit != NULL, "no instance for co-simulation");
    if (unit == NULL)
        return;
    expect(FMI(SetFloat64)(unit, &step, 1, &negative, 1) == fmi3Error, "a negative step is taken");
    begin(unit, 0);
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
