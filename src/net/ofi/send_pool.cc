#include "net/ofi/send_pool.h"

#include <string>
#include <utility>

#include "net/kit/fatal.h"

namespace gex::net::ofi {

SendPool::SendPool(const Host& host, std::size_t count, Registrar& registrar, bool threaded)
    : net::SendPool<SendBuffer>(count, max_wire, threaded,
                                [this](std::span<std::byte> memory, SendBuffer& prototype) {
                                  return prepare(memory, prototype);
                                }),
      host_(host),
      registrar_(registrar) {
  if (!has_memory()) fatal(host_, "ofi: no address space for %zu messages to send", count);
  // With some there from the start, a caller that finds none waits for one to come back.
  if (registrar.needs_local()) give_back(take());
}

bool SendPool::prepare(std::span<std::byte> memory, SendBuffer& prototype) {
  prototype.purpose = OperationContext::Purpose::send;
  if (!registrar_.needs_local()) return true;
  std::string error;
  Region region = registrar_.add(memory.data(), memory.size(), FI_SEND | FI_WRITE | FI_READ, error);
  if (!region) {
    if (!regions_.empty()) return false;
    fatal(host_, "ofi: rank %u cannot register what it sends: %s", host_.rank, error.c_str());
  }
  prototype.descriptor = fi_mr_desc(region.get());
  regions_.push_back(std::move(region));
  return true;
}

}  // namespace gex::net::ofi
