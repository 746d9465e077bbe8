// The thin adapter between the generated models and the interface of inverse_dynamics_solver.
#ifndef CARDAN_@GUARD@_SOLVER_HPP
#define CARDAN_@GUARD@_SOLVER_HPP

#include <@NAME@/@NAME@.hpp>@INCLUDE@

#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace @NAME@
{

class Solver : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
    static constexpr int joints = @N@;

    // Everything is in the code already: nothing is read.
    void initialize(
        rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr = nullptr,
        const std::string & = "", const std::string & = "") override
    {
    }

    Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &q) const override
    {
        const auto A = inertia_matrix(positions(q));
        Eigen::MatrixXd found(joints, joints);
        for (int i = 0; i < joints; ++i)
            for (int j = 0; j < joints; ++j)
                found(i, j) = A[at(i * joints + j)];
        return found;
    }

    Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &q,
                                      const Eigen::VectorXd &qd) const override
    {
        const auto position = positions(q);
        const auto velocity = array("joint_velocities", qd);
        auto found = bias(position, velocity);
        const auto weight = gravity(position);
        for (int i = 0; i < joints; ++i)
            found[at(i)] -= weight[at(i)] + friction(i, velocity[at(i)]);
        return vector(found);
    }

    Eigen::VectorXd getGravityVector(const Eigen::VectorXd &q) const override
    {
        return vector(gravity(positions(q)));
    }

    Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &qd) const override
    {
        auto found = array("joint_velocities", qd);
        for (int i = 0; i < joints; ++i)
            found[at(i)] = friction(i, found[at(i)]);
        return vector(found);
    }

    // Inertia, Coriolis and gravity in one pass; as in the interface, friction is not in it.
    Eigen::VectorXd getTorques(const Eigen::VectorXd &q, const Eigen::VectorXd &qd,
                               const Eigen::VectorXd &qdd) const override
    {
        const auto velocity = array("joint_velocities", qd);
        auto tau = inverse_dynamics(positions(q), velocity,
                                    array("joint_accelerations", qdd));
        for (int i = 0; i < joints; ++i)
            tau[at(i)] -= friction(i, velocity[at(i)]);
        return vector(tau);
    }

private:
    using Array = std::array<double, @N@>;

    // of all joints, as the models take them
    static std::array<double, @NQ@> positions(const Eigen::VectorXd &q)
    {
        return @POSITIONS@;
    }

    static constexpr std::size_t at(int k)
    {
        return static_cast<std::size_t>(k);
    }

    static double friction(int i, double qd)
    {
        constexpr Array FV{{@FV@}};
        constexpr Array FS{{@FS@}};
        const double sign = qd > 0 ? 1.0 : qd < 0 ? -1.0 : 0.0;@FURTHER@
        return FV[at(i)] * qd + FS[at(i)] * sign;
    }

    static Array array(const char *name, const Eigen::VectorXd &x)
    {
        if (x.size() != joints)
            throw std::invalid_argument(std::string("@NAME@/Solver: ") + name + " has " +
                                        std::to_string(x.size()) + " elements; expected @N@");
        Array found{};
        for (int i = 0; i < joints; ++i)
            found[at(i)] = x(i);
        return found;
    }

    static Eigen::VectorXd vector(const Array &x)
    {
        Eigen::VectorXd found(joints);
        for (int i = 0; i < joints; ++i)
            found(i) = x[at(i)];
        return found;
    }
};

}  // namespace @NAME@

#endif
