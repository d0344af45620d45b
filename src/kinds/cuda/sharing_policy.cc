#include "kinds/cuda/sharing_policy.h"

#include <string>

#include "base/env.h"
#include "base/error.h"

namespace gex::kinds::cuda {

SharingPolicy sharing_policy() {
  const std::string text = env::text(env::Variable::cuda_share);
  if (text.empty()) return {true, true};
  if (text == "descriptor") return {true, false};
  if (text == "legacy") return {false, true};
  if (text == "off") return {false, false};
  fatal("GEX_CUDA_SHARE=%s: descriptor, legacy or off were expected", text.c_str());
}

}  // namespace gex::kinds::cuda
