// An effort controller of ros2_control: computed torque about a reference, by the generated inverse dynamics.
//   tau = inverse_dynamics(q, qd, qdd_r + kd (qd_r - qd) + kp (q_r - q))
#ifndef CARDAN_@GUARD@_CONTROLLER_HPP
#define CARDAN_@GUARD@_CONTROLLER_HPP

#include <@NAME@/@NAME@.hpp>@INCLUDE@

#include <controller_interface/controller_interface.hpp>
#include <hardware_interface/types/hardware_interface_type_values.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/state.hpp>
#include <realtime_tools/realtime_buffer.hpp>
#include <trajectory_msgs/msg/joint_trajectory_point.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace @NAME@
{

using Vector = std::array<double, @N@>;

// The law, without ROS.
inline Vector computed_torque(const Vector &q, const Vector &qd, const Vector &q_r, const Vector &qd_r,
                              const Vector &qdd_r, const Vector &kp, const Vector &kd)
{
    Vector wanted{};
    for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = qdd_r[i] + kd[i] * (qd_r[i] - qd[i]) + kp[i] * (q_r[i] - q[i]);
    return inverse_dynamics(@Q@, qd, wanted);
}

class EffortController : public controller_interface::ControllerInterface
{
public:
    using Return = controller_interface::CallbackReturn;
    using Point = trajectory_msgs::msg::JointTrajectoryPoint;

    Return on_init() override
    {
        auto_declare<std::vector<std::string>>("joints", {@JOINTS@});
        auto_declare<std::vector<double>>("kp", std::vector<double>(@N@, 100.0));
        auto_declare<std::vector<double>>("kd", std::vector<double>(@N@, 20.0));
        return Return::SUCCESS;
    }

    controller_interface::InterfaceConfiguration command_interface_configuration() const override
    {
        return {controller_interface::interface_configuration_type::INDIVIDUAL,
                names({hardware_interface::HW_IF_EFFORT})};
    }

    controller_interface::InterfaceConfiguration state_interface_configuration() const override
    {
        return {controller_interface::interface_configuration_type::INDIVIDUAL,
                names({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY})};
    }

    Return on_configure(const rclcpp_lifecycle::State &) override
    {
        joints_ = get_node()->get_parameter("joints").as_string_array();
        const auto kp = get_node()->get_parameter("kp").as_double_array();
        const auto kd = get_node()->get_parameter("kd").as_double_array();
        if (joints_.size() != @N@ || kp.size() != @N@ || kd.size() != @N@)
            return Return::ERROR;
        for (std::size_t i = 0; i < joints_.size(); ++i) {
            kp_[i] = kp[i];
            kd_[i] = kd[i];
        }
        subscription_ = get_node()->create_subscription<Point>(
            "~/reference", rclcpp::SystemDefaultsQoS(),
            [this](const Point &point) { reference_.writeFromNonRT(point); });
        return Return::SUCCESS;
    }

    // It holds the positions at which it is switched on, until a reference comes.
    Return on_activate(const rclcpp_lifecycle::State &) override
    {
        Point here;
        here.positions.resize(@N@);
        for (std::size_t i = 0; i < @N@; ++i)
            here.positions[i] = state_interfaces_[2 * i].get_value();
        reference_.writeFromNonRT(here);
        return Return::SUCCESS;
    }

    controller_interface::return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
    {
        const Point &to = *reference_.readFromRT();
        if (to.positions.size() != @N@)
            return controller_interface::return_type::ERROR;
        Vector q{}, qd{}, q_r{}, qd_r{}, qdd_r{};
        for (std::size_t i = 0; i < @N@; ++i) {
            q[i] = state_interfaces_[2 * i].get_value();
            qd[i] = state_interfaces_[2 * i + 1].get_value();
            q_r[i] = to.positions[i];
            qd_r[i] = to.velocities.size() == @N@ ? to.velocities[i] : 0.0;
            qdd_r[i] = to.accelerations.size() == @N@ ? to.accelerations[i] : 0.0;
        }
        const Vector tau = computed_torque(q, qd, q_r, qd_r, qdd_r, kp_, kd_);
        for (std::size_t i = 0; i < @N@; ++i)
            (void)command_interfaces_[i].set_value(tau[i]);
        return controller_interface::return_type::OK;
    }

private:
    std::vector<std::string> names(const std::vector<std::string> &kinds) const
    {
        std::vector<std::string> listed;
        for (const auto &joint : get_node()->get_parameter("joints").as_string_array())
            for (const auto &kind : kinds)
                listed.push_back(joint + "/" + kind);
        return listed;
    }

    std::vector<std::string> joints_;
    Vector kp_{}, kd_{};
    realtime_tools::RealtimeBuffer<Point> reference_;
    rclcpp::Subscription<Point>::SharedPtr subscription_;
};

}  // namespace @NAME@

#endif
