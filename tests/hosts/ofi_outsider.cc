// A process that speaks libfabric's protocol and does not belong to the job.
//
//   ofi_outsider PROVIDER ADDRESS PORT send
//     messages of many sizes, with chance for contents: some shorter than a stamp, some longer than
//     any message of a job's. Ends with status 0 when something was sent, whatever became of it
//   ofi_outsider PROVIDER ADDRESS PORT read
//     memory under the keys that an outsider would guess. Ends with status 0 when it was not there;
//     the provider breaks the connection at the first that is wrong
//
// Connects to a rank's port as a peer would, with FI_OFI_RXM_BUFFER_SIZE as ranks have it: rxm
// itself refuses connections with another size.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/ofi/wire.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "ofi_outsider: %s\n", what);
  std::_Exit(1);
}

bool is_one_of(const void* context, std::span<const fi_context2> all) {
  return context >= all.data() && context < all.data() + all.size();
}

/// The facts that an outsider can find out about a rank.
struct Reached {
  fid_ep* endpoint;
  fid_cq* completions;
  fi_addr_t peer;
};

void send_messages(const Reached& rank, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> text(16384);
  for (std::uint64_t& word : text) word = random();
  fi_context2 contexts[64];
  unsigned sent = 0;
  unsigned over = 0;
  // A receiver that refuses a message may keep it unanswered.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (over < 64 && std::chrono::steady_clock::now() < until) {
    constexpr std::size_t sizes[] = {0, 1, 15, 16, 17, 48, 64, 1000, 16384, 16656, 16657, 100000};
    if (sent < 64 && fi_send(rank.endpoint, text.data(), sizes[sent % std::size(sizes)], nullptr,
                             rank.peer, &contexts[sent]) == 0)
      ++sent;
    fi_cq_data_entry entry;
    const ssize_t read = fi_cq_read(rank.completions, &entry, 1);
    if (read == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      if (fi_cq_readerr(rank.completions, &error, 0) == 1) ++over;
    } else if (read == 1) {
      ++over;
    }
  }
  std::printf("sent %u, over %u\n", sent, over);
  require(sent != 0, "nothing was sent");
}

void read_memory(const Reached& rank) {
  std::uint64_t words[8];
  unsigned begun = 0;
  unsigned refused = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  fi_context2 read_contexts[16];
  while (refused < std::size(read_contexts) && std::chrono::steady_clock::now() < end) {
    if (begun < std::size(read_contexts) &&
        fi_read(rank.endpoint, words, sizeof words, nullptr, rank.peer, 0, begun + 1,
                &read_contexts[begun]) == 0)
      ++begun;
    fi_cq_data_entry entry;
    const ssize_t read = fi_cq_read(rank.completions, &entry, 1);
    if (read == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      if (fi_cq_readerr(rank.completions, &error, 0) == 1 &&
          is_one_of(error.op_context, read_contexts))
        ++refused;
    } else if (read == 1) {
      require(!is_one_of(entry.op_context, read_contexts), "memory of a rank's was read");
    }
  }
  std::printf("began %u reads, %u refused\n", begun, refused);
  require(begun != 0 && refused != 0, "no key was tried");
}

}  // namespace

int main(int count, char** arguments) {
  require(count == 5, "PROVIDER ADDRESS PORT send|read");
  setenv("FI_OFI_RXM_BUFFER_SIZE", std::to_string(gex::net::ofi::max_wire).c_str(), 0);
  fi_info* const hints = fi_allocinfo();
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->addr_format = FI_SOCKADDR_IN;
  hints->fabric_attr->prov_name = strdup(arguments[1]);
  fi_info* info = nullptr;
  require(fi_getinfo(FI_VERSION(1, 17), arguments[2], arguments[3], 0, hints, &info) == 0,
          "no such provider");

  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* peers = nullptr;
  fid_cq* completions = nullptr;
  fid_ep* endpoint = nullptr;
  fi_av_attr peers_attributes{};
  peers_attributes.type = info->domain_attr->av_type;
  fi_cq_attr queue_attributes{};
  queue_attributes.size = 1024;
  queue_attributes.format = FI_CQ_FORMAT_DATA;
  require(fi_fabric(info->fabric_attr, &fabric, nullptr) == 0 &&
              fi_domain(fabric, info, &domain, nullptr) == 0 &&
              fi_av_open(domain, &peers_attributes, &peers, nullptr) == 0 &&
              fi_cq_open(domain, &queue_attributes, &completions, nullptr) == 0 &&
              fi_endpoint(domain, info, &endpoint, nullptr) == 0 &&
              fi_ep_bind(endpoint, &peers->fid, 0) == 0 &&
              fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV) == 0 &&
              fi_enable(endpoint) == 0,
          "no endpoint");
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<std::uint16_t>(std::atoi(arguments[3])));
  require(inet_pton(AF_INET, arguments[2], &there.sin_addr) == 1, "no address");
  fi_addr_t peer = FI_ADDR_UNSPEC;
  require(fi_av_insert(peers, &there, 1, &peer, 0, nullptr) == 1, "no peer");

  const Reached rank{endpoint, completions, peer};
  if (std::string_view(arguments[4]) == "read")
    read_memory(rank);
  else
    send_messages(rank, there.sin_port);
  std::fflush(stdout);
  // Gone as a process that is killed.
  std::_Exit(0);
}
