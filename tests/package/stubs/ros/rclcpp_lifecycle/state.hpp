// A stand-in for the tests.
#pragma once
namespace rclcpp_lifecycle
{
class State
{
};
}  // namespace rclcpp_lifecycle
