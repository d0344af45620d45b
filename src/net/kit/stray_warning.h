#pragma once
// One warning of messages that arrive here and are not of this job.
//
// Thread rules: one thread at a time.

#include <gex/plugin/conduit.h>

#include <cstdio>
#include <utility>

namespace gex::net {

class StrayWarning {
 public:
  /// `name`: the conduit's.
  StrayWarning(const Host& host, const char* name) noexcept : host_(host), name_(name) {}

  /// A message has been dropped.
  void dropped() {
    if (std::exchange(has_warned_, true)) return;
    char text[120];
    std::snprintf(text, sizeof text,
                  "%s: rank %u drops messages that do not belong to this job (reported once)",
                  name_, host_.rank);
    host_.warn(text);
  }

 private:
  const Host& host_;
  const char* const name_;
  bool has_warned_ = false;
};

}  // namespace gex::net
