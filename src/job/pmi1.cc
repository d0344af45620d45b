// The client's side of PMI-1: requests and responses are lines "cmd=NAME KEY=VALUE ...".

#include "job/pmi_wire.h"
#include "job/process_manager.h"

namespace gex::job {

namespace {

class Pmi1 final : public ProcessManager {
 public:
  explicit Pmi1(const PmiPlace& place) : wire_(place.wire), place_(place) {
    wire_.on_long_wait(long_wait_ms,
                       [this] { report_long_wait(protocol(), place_.rank, place_.size); });
  }

  bool begin() {
    // An MPI library in this program may also initialize PMI, before or after. Launchers allow
    // that.
    const auto begun = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    if (!begun) return false;
    const auto table = ask("cmd=get_my_kvsname", "my_kvsname");
    if (!table) return false;
    table_ = pmi_value(*table, "kvsname", ' ');
    if (table_.empty()) error_ = "it answers '" + *table + "'";
    return !table_.empty();
  }

  const char* protocol() const noexcept override { return "PMI-1"; }
  std::uint32_t rank() const noexcept override { return place_.rank; }
  std::uint32_t size() const noexcept override { return place_.size; }

  std::vector<std::uint32_t> node_of_ranks() override {
    return nodes_of_mapping(look_up(pmi_mapping_key).value_or(""), place_.size);
  }

  bool put(const std::string& key, const std::string& value, Reach) override {
    return ask("cmd=put kvsname=" + table_ + " key=" + pmi_key(place_.rank, key) +
                   " value=" + value,
               "put_result")
        .has_value();
  }
  bool fence(Reach) override { return ask("cmd=barrier_in", "barrier_out").has_value(); }
  std::optional<std::string> get(std::uint32_t rank, const std::string& key) override {
    return look_up(pmi_key(rank, key));
  }

  void leave() noexcept override {
    wire_.finalize("cmd=finalize\n", [](std::string_view answer) noexcept {
      return answer.find('\n') != answer.npos;
    });
  }

 private:
  std::optional<std::string> look_up(const std::string& key) {
    const auto answer = ask("cmd=get kvsname=" + table_ + " key=" + key, "get_result");
    if (!answer) return std::nullopt;
    return pmi_value(*answer, "value", ' ');
  }

  std::optional<std::string> ask(const std::string& line, const std::string& expected) {
    std::optional<std::string> answer;
    if (wire_.send(line + '\n')) answer = wire_.receive_line();
    if (!answer) {
      error_ = wire_.error();
      return std::nullopt;
    }
    const std::string result = pmi_value(*answer, "rc", ' ');
    if (pmi_value(*answer, "cmd", ' ') == expected && (result.empty() || result == "0"))
      return answer;
    error_ = "it answers '" + *answer + "'";
    return std::nullopt;
  }

  PmiWire wire_;
  PmiPlace place_;
  std::string table_;
};

}  // namespace

std::unique_ptr<ProcessManager> connect_pmi1(const PmiPlace& place, std::string& why) {
  auto connected = std::make_unique<Pmi1>(place);
  if (connected->begin()) return connected;
  why = "the launcher does not speak PMI-1 at PMI_FD: " + connected->error();
  return nullptr;
}

}  // namespace gex::job
