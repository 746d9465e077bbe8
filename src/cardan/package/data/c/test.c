/* Compares every function with numbers that were computed by another route. */
#include <@NAME@.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int differs(const char *what, int state, const @REAL@ *got, const double *want,
                   int size)
{
    double scale = 1.0;
    int k, faults = 0;
    for (k = 0; k < size; ++k)
        if (fabs(want[k]) > scale)
            scale = fabs(want[k]);
    for (k = 0; k < size; ++k)
        if (!(fabs((double)got[k] - want[k]) <= @TOLERANCE@ * scale)) {
            printf("%s[%d], state %d: %.12g instead of %.12g\n", what, k, state, (double)got[k],
                   want[k]);
            ++faults;
        }
    return faults;
}

@TESTS@
int main(void)
{
    int faults = 0;
@CALLS@
    printf("%d numbers differ\n", faults);
    return faults != 0;
}
