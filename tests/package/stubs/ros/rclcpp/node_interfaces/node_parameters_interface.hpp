// A stand-in for the tests.
#pragma once
#include <memory>

namespace rclcpp::node_interfaces
{
class NodeParametersInterface
{
public:
    using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
};
}  // namespace rclcpp::node_interfaces
