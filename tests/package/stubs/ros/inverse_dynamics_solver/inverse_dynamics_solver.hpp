// A stand-in for the interface that the plugin expects, written for the tests from its public signatures.
#pragma once
#include <eigen3/Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
#include <string>

namespace inverse_dynamics_solver
{
class InverseDynamicsSolver
{
public:
    virtual ~InverseDynamicsSolver() = default;
    virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters,
                            const std::string &parameter_namespace,
                            const std::string &robot_description) = 0;
    virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &positions) const = 0;
    virtual Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd &positions,
                                              const Eigen::VectorXd &velocities) const = 0;
    virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd &positions) const = 0;
    virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &velocities) const = 0;
    virtual Eigen::VectorXd getTorques(const Eigen::VectorXd &positions,
                                       const Eigen::VectorXd &velocities,
                                       const Eigen::VectorXd &accelerations) const = 0;
};
}  // namespace inverse_dynamics_solver
