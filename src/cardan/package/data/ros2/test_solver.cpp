// Compares the plugin's class with numbers that were computed by another route.
#include <@NAME@/solver.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace
{

constexpr int n = @N@;
const double q[@COUNT@][n] = {
@Q@
};
const double qd[@COUNT@][n] = {
@QD@
};
const double qdd[@COUNT@][n] = {
@QDD@
};
const double tau[@COUNT@][n] = {
@TAU@
};

Eigen::VectorXd vector(const double *x)
{
    Eigen::VectorXd found(n);
    for (int i = 0; i < n; ++i)
        found(i) = x[i];
    return found;
}

int differs(const char *what, int state, const Eigen::VectorXd &got, const double *want)
{
    double scale = 1.0;
    int faults = 0;
    for (int i = 0; i < n; ++i)
        scale = std::max(scale, std::fabs(want[i]));
    for (int i = 0; i < n; ++i)
        if (!(std::fabs(got(i) - want[i]) <= @TOLERANCE@ * scale)) {
            std::printf("%s[%d], state %d: %.12g instead of %.12g\n", what, i, state, got(i),
                        want[i]);
            ++faults;
        }
    return faults;
}

}  // namespace

int main()
{
    @NAME@::Solver solver;
    solver.initialize();
    int faults = 0;
    for (int k = 0; k < @COUNT@; ++k) {
        const Eigen::VectorXd position = vector(q[k]);
        const Eigen::VectorXd velocity = vector(qd[k]);
        const Eigen::VectorXd friction = solver.getFrictionVector(velocity);
        Eigen::VectorXd whole = solver.getTorques(position, velocity, vector(qdd[k]));
        Eigen::VectorXd sum = solver.getCoriolisVector(position, velocity);
        const Eigen::VectorXd gravity = solver.getGravityVector(position);
        const Eigen::MatrixXd A = solver.getInertiaMatrix(position);
        for (int i = 0; i < n; ++i) {
            whole(i) += friction(i);
            sum(i) += gravity(i) + friction(i);
            for (int j = 0; j < n; ++j)
                sum(i) += A(i, j) * qdd[k][j];
        }
        faults += differs("torques", k, whole, tau[k]);
        faults += differs("sum of the parts", k, sum, tau[k]);
    }
    try {
        solver.getGravityVector(Eigen::VectorXd(n + 1));
        std::printf("a vector of a wrong size was accepted\n");
        ++faults;
    } catch (const std::invalid_argument &) {
    }
@BEYOND@    std::printf("%d numbers differ\n", faults);
    return faults != 0;
}
