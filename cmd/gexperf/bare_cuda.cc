#include "bare_cuda.h"

#include <sstream>

#include "child.h"

namespace gexperf {

namespace {

CudaDevice find(const Plan& plan) {
  CudaDevice device;
  const Finished done = run({plan.worker(Mode::seq), "cuda"});
  std::istringstream lines(done.output);
  std::string kind;
  std::getline(lines, device.trouble);
  std::getline(lines, device.name);
  std::getline(lines, device.driver);
  std::getline(lines, kind);
  device.is_fake = kind == "fake";
  if (!done.succeeded) device.trouble = done.trouble;
  return device;
}

}  // namespace

const CudaDevice& cuda_device(const Plan& plan) {
  static const CudaDevice device = find(plan);
  return device;
}

}  // namespace gexperf
