// A stand-in for the tests, after ros2_control's controller_interface.
#pragma once
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/state.hpp>

#include <memory>
#include <string>
#include <vector>

namespace controller_interface
{
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration
{
    interface_configuration_type type;
    std::vector<std::string> names = {};
};
struct Loaned
{
    double value = 0.0;
    double get_value() const { return value; }
    bool set_value(double x)
    {
        value = x;
        return true;
    }
};
class ControllerInterface
{
public:
    virtual ~ControllerInterface() = default;
    virtual CallbackReturn on_init() = 0;
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
    virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
    virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
    std::vector<Loaned> state_interfaces_, command_interfaces_;
    std::shared_ptr<rclcpp::Node> get_node() const { return node_; }

protected:
    template <typename T>
    void auto_declare(const std::string &name, const T &value)
    {
        node_->declare(name, value);
    }

private:
    std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>();
};
}  // namespace controller_interface
