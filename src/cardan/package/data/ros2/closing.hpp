// Closed loops: the positions of all joints, of those that are driven.
#ifndef CARDAN_@GUARD@_CLOSING_HPP
#define CARDAN_@GUARD@_CLOSING_HPP

#include <@NAME@/@NAME@.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace @NAME@
{

class Loops
{
public:
    using Positions = std::array<double, @NQ@>;
    using Driven = std::array<double, @NV@>;

    // From where the robot stands along a straight line of the driven joints, by Newton's method, so that it stays assembled
    // as it is. Without state: the same for the same positions, from any thread.
    static Positions closed(const Driven &wanted)
    {
        Positions q{{@START@}};
        Driven start{};
        for (std::size_t k = 0; k < start.size(); ++k)
            start[k] = q[driving[k]];
        double done = 0.0, size = 0.25, open = newton(q);
        while (done < 1.0) {
            const double to = std::fmin(1.0, done + size);
            const auto now = at(q);
            Positions trial = q;
            for (std::size_t k = 0; k < start.size(); ++k) {
                const std::size_t j = driving[k];
                trial[j] = to < 1.0 ? start[k] + to * (wanted[k] - start[k]) : wanted[k];
                for (std::size_t i = 0; i < following.size(); ++i)
                    trial[following[i]] += now.W[i * start.size() + k] * (trial[j] - q[j]);
            }
            const Positions ahead = trial;
            open = newton(trial);
            if (open <= closed_to && far(trial, ahead) < 0.1) {
                q = trial;
                done = to;
                size *= 1.5;
            } else if ((size *= 0.5) < 1e-4) {
                throw std::domain_error("@NAME@: the loops cannot be closed at these positions; "
                                        "they stay open by " + std::to_string(open) +
                                        " of the robot's size, or rad");
            }
        }
        return q;
    }

private:
    static constexpr double closed_to = 1e-11;
    static constexpr std::array<std::size_t, @NV@> driving{{@DRIVING@}};
    static constexpr std::array<std::size_t, @NF@> following{{@FOLLOWING@}};
    static constexpr std::array<double, @NF@> reach{{@REACH@}};
    static constexpr std::array<double, @NR@> weights{{@WEIGHTS@}};

    static loop_kinematics_result<double> at(const Positions &q)
    {
        return loop_kinematics(q, Driven{});
    }

    static double width(const loop_kinematics_result<double> &now)
    {
        double widest = 0.0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double x = std::fabs(now.r[i]) * weights[i];
            if (!(x <= widest))
                widest = x;
            if (std::isnan(x))
                break;
        }
        return widest;
    }

    static double far(const Positions &q, const Positions &from)
    {
        double found = 0.0;
        for (std::size_t i = 0; i < following.size(); ++i)
            found = std::fmax(found, std::fabs(q[following[i]] - from[following[i]]) / reach[i]);
        return found;
    }

    // steps as long as they close the loops; how far these are open in the end
    static double newton(Positions &q)
    {
        auto now = at(q);
        double open = width(now);
        for (int k = 0; k < 20 && open > 1e-15; ++k) {
            Positions next = q;
            for (std::size_t i = 0; i < following.size(); ++i)
                next[following[i]] += now.dq_p[i];
            now = at(next);
            const double ahead = width(now);
            if (!(ahead < open))
                break;
            q = next;
            open = ahead;
        }
        return open;
    }
};

}  // namespace @NAME@

#endif
