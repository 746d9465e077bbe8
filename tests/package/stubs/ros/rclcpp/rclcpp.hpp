// A stand-in for the tests: parameters by name, subscriptions that are never called.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rclcpp
{
class Time
{
};
class Duration
{
};
class SystemDefaultsQoS
{
};
template <typename T>
class Subscription
{
public:
    using SharedPtr = std::shared_ptr<Subscription>;
};
class Parameter
{
public:
    std::vector<std::string> strings;
    std::vector<double> doubles;
    std::vector<std::string> as_string_array() const { return strings; }
    std::vector<double> as_double_array() const { return doubles; }
};
class Node
{
public:
    void declare(const std::string &name, const std::vector<std::string> &x)
    {
        parameters_[name].strings = x;
    }
    void declare(const std::string &name, const std::vector<double> &x)
    {
        parameters_[name].doubles = x;
    }
    Parameter get_parameter(const std::string &name) const { return parameters_.at(name); }
    template <typename T, typename Call>
    typename Subscription<T>::SharedPtr create_subscription(const char *, SystemDefaultsQoS, Call)
    {
        return std::make_shared<Subscription<T>>();
    }

private:
    std::map<std::string, Parameter> parameters_;
};
}  // namespace rclcpp
