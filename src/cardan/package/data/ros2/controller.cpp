#include <@NAME@/controller.hpp>

#include <pluginlib/class_list_macros.hpp>

PLUGINLIB_EXPORT_CLASS(@NAME@::EffortController, controller_interface::ControllerInterface)
