// The client's side of PMI-2: after a first line as in PMI-1, messages are "cmd=NAME;KEY=VALUE;..."
// after their number of bytes, in six characters.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "job/pmi_wire.h"
#include "job/process_manager.h"

namespace gex::job {

namespace {

constexpr std::size_t length_bytes = 6;

std::string framed(const std::string& words) {
  char length[length_bytes + 1];
  std::snprintf(length, sizeof length, "%6zu", words.size() % 1000000);
  return length + words;
}

class Pmi2 final : public ProcessManager {
 public:
  explicit Pmi2(const PmiPlace& place) : wire_(place.wire), place_(place) {
    wire_.on_long_wait(long_wait_ms,
                       [this] { report_long_wait(protocol(), place_.rank, place_.size); });
  }

  bool begin() {
    std::optional<std::string> answer;
    if (wire_.send("cmd=init pmi_version=2 pmi_subversion=0\n")) answer = wire_.receive_line();
    if (!answer) {
      error_ = wire_.error();
      return false;
    }
    if (pmi_value(*answer, "cmd", ' ') != "response_to_init" ||
        pmi_value(*answer, "rc", ' ') != "0" || pmi_value(*answer, "pmi_version", ' ') != "2") {
      error_ = "it answers '" + *answer + "'";
      return false;
    }
    // Some launchers expect the name of their job.
    const char* const job = std::getenv("PMI_JOBID");
    const std::string job_word = job != nullptr ? "pmijobid=" + std::string(job) + ';' : "";
    return ask("fullinit", job_word + "pmirank=" + std::to_string(place_.rank) + ";threaded=FALSE;")
        .has_value();
  }

  const char* protocol() const noexcept override { return "PMI-2"; }
  std::uint32_t rank() const noexcept override { return place_.rank; }
  std::uint32_t size() const noexcept override { return place_.size; }

  std::vector<std::uint32_t> node_of_ranks() override {
    const auto answer = ask("info-getjobattr", std::string("key=") + pmi_mapping_key + ';');
    if (!answer) return {};
    return nodes_of_mapping(pmi_value(*answer, "value", ';'), place_.size);
  }

  bool put(const std::string& key, const std::string& value, Reach) override {
    return ask("kvs-put", "key=" + pmi_key(place_.rank, key) + ";value=" + value + ';').has_value();
  }
  bool fence(Reach) override { return ask("kvs-fence", "").has_value(); }
  std::optional<std::string> get(std::uint32_t rank, const std::string& key) override {
    // An empty job id is this job; source -1 is any, since the key contains the rank.
    const auto answer = ask("kvs-get", "jobid=;srcid=-1;key=" + pmi_key(rank, key) + ';');
    if (!answer) return std::nullopt;
    std::string value = pmi_value(*answer, "value", ';');
    if (!value.empty()) return value;
    // Some launchers return an empty value for a missing key. libgex never puts an empty value.
    error_ = "it answers '" + *answer + "'";
    return std::nullopt;
  }

  void leave() noexcept override {
    wire_.finalize("    13cmd=finalize;", [](std::string_view answer) noexcept {
      std::size_t bytes = 0;
      for (const char digit : answer.substr(0, length_bytes))
        if (digit >= '0' && digit <= '9')
          bytes = 10 * bytes + static_cast<std::size_t>(digit - '0');
      return answer.size() >= length_bytes + bytes;
    });
  }

 private:
  std::optional<std::string> ask(const std::string& command, const std::string& words) {
    std::optional<std::string> answer;
    if (wire_.send(framed("cmd=" + command + ';' + words))) answer = receive_message();
    if (!answer) {
      error_ = wire_.error();
      return std::nullopt;
    }
    if (pmi_value(*answer, "cmd", ';') == command + "-response" &&
        pmi_value(*answer, "rc", ';') == "0")
      return answer;
    error_ = "it answers '" + *answer + "'";
    return std::nullopt;
  }

  std::optional<std::string> receive_message() {
    const auto length = wire_.receive(length_bytes);
    if (!length) return std::nullopt;
    std::size_t bytes = 0;
    const std::size_t first = std::min(length->find_first_not_of(' '), length->size());
    const char* const end = length->data() + length->size();
    const auto [rest, error] = std::from_chars(length->data() + first, end, bytes);
    // Some launchers pad the number on the right.
    const std::string_view behind(rest, static_cast<std::size_t>(end - rest));
    if (error != std::errc() || behind.find_first_not_of(' ') != behind.npos) {
      wire_.fail("its message has no length");
      return std::nullopt;
    }
    return wire_.receive(bytes);
  }

  PmiWire wire_;
  PmiPlace place_;
};

}  // namespace

std::unique_ptr<ProcessManager> connect_pmi2(const PmiPlace& place, std::string& why) {
  auto connected = std::make_unique<Pmi2>(place);
  if (connected->begin()) return connected;
  why = "the launcher does not speak PMI-2 at PMI_FD: " + connected->error();
  return nullptr;
}

}  // namespace gex::job
