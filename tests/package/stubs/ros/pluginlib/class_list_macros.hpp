// A stand-in for the tests: makes an object through the base class, as a class loader would.
#pragma once
#include <memory>

#define PLUGINLIB_EXPORT_CLASS(Derived, Base) \
    std::unique_ptr<Base> stub_create();      \
    std::unique_ptr<Base> stub_create()       \
    {                                         \
        return std::make_unique<Derived>();   \
    }
