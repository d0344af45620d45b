#pragma once
// A variable of the environment by which libfabric learns of the job, unless the user has set it.
//
// Thread rules: while no other thread reads or writes the environment.

#include <cstdlib>
#include <string>
#include <utility>

namespace gex::net::ofi {

/// Returns the value of one of libfabric's variables; null: it is not set.
inline const char* value_of(const char* name) {
  return std::getenv(name);
}

/// Returns true if one of libfabric's variables is set.
inline bool is_set(const char* name) {
  return value_of(name) != nullptr;
}

/// Sets the variable while this object lives, unless it is set already.
class DefaultVariable {
 public:
  DefaultVariable(const char* name, const std::string& value)
      : name_(is_set(name) ? nullptr : name) {
    if (name_ != nullptr) setenv(name_, value.c_str(), 0);
  }
  DefaultVariable(DefaultVariable&& other) noexcept : name_(std::exchange(other.name_, nullptr)) {}
  DefaultVariable& operator=(DefaultVariable&&) = delete;
  ~DefaultVariable() {
    if (name_ != nullptr) unsetenv(name_);
  }

 private:
  const char* name_;  ///< null: it was set before
};

}  // namespace gex::net::ofi
