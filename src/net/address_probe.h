#pragma once
// `AddressProbe`: asks other hosts, at each of their addresses, whether they are reached there, and
// answers what they ask.
//
// Questions and answers bear a tag under a key that the ranks of the job have exchanged. The tag
// covers who asks whom at which address, the direction, and a random number of the question, so
// that nothing but the host that was meant, at the address that was meant, can answer. What has no
// such tag is dropped without an answer; a connection has 2 s to show one, and of those that have
// not there are at most 64, the oldest of which makes room.
//
// Thread rules: the functions from one thread; a thread of the object's own asks and answers from
// `start` to the end of the object.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/os_file.h"
#include "base/siphash.h"
#include "net/address_choice.h"

namespace gex::net {

class AddressProbe {
 public:
  enum class By : std::uint8_t { datagrams, connections };

  /// Can be asked at each of `own` from now on, and sets the port there. Takes the first free one
  /// from `first_port` to `last_port`; 0: the system chooses. An address for which none is free
  /// is left with port 0, and is not reached.
  AddressProbe(By by, std::uint16_t first_port, std::uint16_t last_port,
               std::span<OfferedAddress> own);
  AddressProbe(const AddressProbe&) = delete;
  AddressProbe& operator=(const AddressProbe&) = delete;
  ~AddressProbe();

  /// An address that has not answered by then is not reached. The system repeats the first packet
  /// of a connection after 1 s.
  static constexpr std::chrono::milliseconds default_limit{3000};

  /// Begins to ask, as host number `self`, and to answer. Returns 0, or an error number if the
  /// system has no thread or no random numbers for that.
  int start(const SipKey& key, std::uint32_t self, std::span<const Question> questions,
            std::span<const HostOffer> offers, std::chrono::milliseconds limit = default_limit);

  /// The outcomes once each host that is asked has answered somewhere, and its other addresses have
  /// had a moment to do so; at the latest when all questions are decided.
  std::vector<Outcome> first_outcomes();
  /// The outcomes once all questions are decided: what has not been answered by the limit is not
  /// reached.
  std::vector<Outcome> final_outcomes();

 private:
  class Service;
  std::unique_ptr<Service> service_;
  std::thread thread_;
};

}  // namespace gex::net
