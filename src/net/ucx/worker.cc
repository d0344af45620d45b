#include "net/ucx/worker.h"

#include <sys/statvfs.h>

#include <cstring>

#include "net/kit/stamp.h"

namespace gex::net::ucx {

namespace {

/// Returns a hint for a failure that a lack of memory may be the cause of: UCX's transports over
/// shared memory have some 5 MB a rank in a folder that containers make small.
std::string hint_of(ucs_status_t status) {
  constexpr unsigned long long plenty = 256;
  struct statvfs folder {};
  if ((status != UCS_ERR_NO_MEMORY && status != UCS_ERR_NO_RESOURCE) ||
      statvfs("/dev/shm", &folder) != 0)
    return {};
  const auto size_of = [&](unsigned long long blocks) { return blocks * folder.f_frsize >> 20; };
  if (size_of(folder.f_bavail) > plenty) return {};
  return "; /dev/shm (" + std::to_string(size_of(folder.f_blocks)) + " MiB, " +
         std::to_string(size_of(folder.f_bavail)) +
         " free) may have no room for UCX's shared memory, some 5 MiB for each rank: make it "
         "larger (docker run --shm-size), or do without (GEX_UCX_TRANSPORTS=tcp,self)";
}

}  // namespace

Worker::Worker(const Context& context, bool threaded, std::string& error)
    : context_(context), threaded_(threaded) {
  error = context.why_no_port();
  if (!error.empty()) return;
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS |
                          UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  // What a dead peer never answered is left when a job ends.
  parameters.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
  parameters.am_alignment = message_alignment;
  const ucs_status_t status = ucp_worker_create(context.get(), &parameters, &worker_);
  if (status == UCS_OK) {
    if (!context.wakes() || ucp_worker_get_efd(worker_, &wait_descriptor_) != UCS_OK)
      wait_descriptor_ = -1;
    return;
  }
  worker_ = nullptr;
  error = std::string("a UCX worker cannot be made: ") + text_of(status) + hint_of(status);
}

Worker::~Worker() {
  if (worker_ != nullptr && !has_given_address_) ucp_worker_destroy(worker_);
}

std::vector<std::byte> Worker::address(std::string& error) {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &size);
  if (status != UCS_OK) {
    error = std::string("a UCX worker has no address: ") + text_of(status);
    return {};
  }
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), address, size);
  ucp_worker_release_address(worker_, address);
  has_given_address_ = true;
  context_.keep();
  return bytes;
}

bool Worker::receive(unsigned number, unsigned flags, ucp_am_recv_callback_t callback,
                     void* argument, std::string& error) {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                          UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.id = number;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG | flags;
  parameters.cb = callback;
  parameters.arg = argument;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker_, &parameters);
  if (status == UCS_OK) return true;
  error = std::string("messages cannot be received: ") + text_of(status);
  return false;
}

}  // namespace gex::net::ucx
