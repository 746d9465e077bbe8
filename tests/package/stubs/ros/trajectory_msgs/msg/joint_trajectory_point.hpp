// A stand-in for the tests.
#pragma once
#include <vector>
namespace trajectory_msgs::msg
{
struct JointTrajectoryPoint
{
    std::vector<double> positions, velocities, accelerations;
};
}  // namespace trajectory_msgs::msg
