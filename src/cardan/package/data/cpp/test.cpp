// Compares every function with numbers that were computed by another route.
#include <@NAME@/@NAME@.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using std::memcpy;

namespace
{

int differs(const char *what, int state, const double *got, const double *want, int size)
{
    double scale = 1.0;
    int faults = 0;
    for (int k = 0; k < size; ++k)
        scale = std::max(scale, std::fabs(want[k]));
    for (int k = 0; k < size; ++k)
        if (!(std::fabs(got[k] - want[k]) <= @TOLERANCE@ * scale)) {
            std::printf("%s[%d], state %d: %.12g instead of %.12g\n", what, k, state, got[k],
                        want[k]);
            ++faults;
        }
    return faults;
}

@TESTS@
}  // namespace

int main()
{
    int faults = 0;
@CALLS@
    std::printf("%d numbers differ\n", faults);
    return faults != 0;
}
