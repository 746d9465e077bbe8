// Compares every function with numbers that were computed by another route.
#include <@NAME@/@NAME@.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace
{

template <typename Array>
int differs(const char *what, int state, const Array &got, const Array &want)
{
    double scale = 1.0;
    int faults = 0;
    for (const double x : want)
        scale = std::max(scale, std::fabs(x));
    for (std::size_t k = 0; k < want.size(); ++k)
        if (!(std::fabs(got[k] - want[k]) <= @TOLERANCE@ * scale)) {
            std::printf("%s[%d], state %d: %.12g instead of %.12g\n", what, static_cast<int>(k),
                        state, got[k], want[k]);
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
