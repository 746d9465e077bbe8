// A stand-in for the tests.
#pragma once
namespace realtime_tools
{
template <typename T>
class RealtimeBuffer
{
public:
    void writeFromNonRT(const T &x) { value_ = x; }
    T *readFromRT() { return &value_; }

private:
    T value_{};
};
}  // namespace realtime_tools
