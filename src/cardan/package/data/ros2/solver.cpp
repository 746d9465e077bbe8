#include <@NAME@/solver.hpp>

#include <pluginlib/class_list_macros.hpp>

PLUGINLIB_EXPORT_CLASS(@NAME@::Solver, inverse_dynamics_solver::InverseDynamicsSolver)
