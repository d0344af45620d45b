// Fuzzing of a process manager's responses: valid responses with random changes, truncated or too
// long, and random bytes. The client fails with a reason, or returns a value that is contained in
// the response. It never reads a byte beyond its response, and never waits for more than was sent.

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "job/limits.h"
#include "job/pmi_wire.h"
#include "job/process_manager.h"

namespace gex::job {
namespace {

constexpr int rounds = 600;
constexpr std::size_t longest = 8192;

std::string some_bytes(Random& random, std::size_t count, std::string_view of) {
  std::string bytes(count, '\0');
  for (char& byte : bytes)
    byte = of.empty() ? static_cast<char>(random()) : of[random.below(of.size())];
  return bytes;
}

/// A response, possibly changed.
std::string mangled(Random& random, std::string answer) {
  const std::size_t at = answer.empty() ? 0 : random.below(answer.size());
  switch (random.below(10)) {
    case 0:  // one byte is changed
      if (!answer.empty()) answer[at] = static_cast<char>(random());
      break;
    case 1:  // truncated, with or without its end
      answer = answer.substr(0, at) + (random.below(2) == 0 ? "\n" : "");
      break;
    case 2:  // bytes are inserted
      answer.insert(at, some_bytes(random, random.below(64), " ;=\n0123456789abcmdrc"));
      break;
    case 3:  // bytes are removed
      answer.erase(at, 1 + random.below(8));
      break;
    case 4:  // too long
      answer.insert(at, longest - 40 + random.below(80), 'x');
      break;
    case 5:  // repeated
      answer += answer;
      break;
    case 6:  // random bytes
      answer = some_bytes(random, random.below(200), "");
      break;
    default:
      break;
  }
  return answer;
}

/// A response's words with random changes: a key or value that is replaced or repeated.
std::string words(Random& random, std::vector<std::string> all, char separator) {
  if (random.below(3) == 0) {
    std::string& word = all[random.below(all.size())];
    switch (random.below(4)) {
      case 0:
        word.clear();
        break;
      case 1:
        word = some_bytes(random, random.below(12), "cmd=rvalue0123 ;\n-");
        break;
      case 2:
        word.erase(0, 1 + random.below(3));
        break;
      default:
        word += some_bytes(random, 1 + random.below(3), "0123456789=-x");
    }
  }
  if (random.below(8) == 0) std::swap(all.front(), all.back());
  std::string text;
  for (const std::string& word : all) text += word + separator;
  return text;
}

/// A process manager that has sent all of its responses already.
class Manager {
 public:
  explicit Manager(std::string responses) : responses_(std::move(responses)) {
    // The socket's buffer must hold all responses.
    if (responses_.size() > 100'000) responses_.resize(100'000);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
    const int room = 1 << 20;
    setsockopt(ends_[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    EXPECT_EQ(write(ends_[1], responses_.data(), responses_.size()),
              static_cast<ssize_t>(responses_.size()));
    shutdown(ends_[1], SHUT_WR);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() {
    for (const int end : ends_) close(end);
  }

  PmiPlace place() const { return {ends_[0], 1, 3}; }
  const std::string& responses() const { return responses_; }
  /// How many bytes have been read.
  std::size_t read_of_it() const {
    int left = 0;
    EXPECT_EQ(ioctl(ends_[0], FIONREAD, &left), 0);
    return responses_.size() - static_cast<std::size_t>(left);
  }

 private:
  std::string responses_;
  int ends_[2];
};

/// Returns true if a reader may have read `count` bytes of lines: whole lines, or all of the input,
/// or as many bytes of a line as make it too long.
bool are_lines(std::string_view text, std::size_t count) {
  if (count == text.size() || count == 0) return true;
  const std::size_t end = text.substr(0, count).rfind('\n');
  const std::size_t begun = end == text.npos ? 0 : end + 1;
  return begun == count || count - begun == longest + 1;
}

/// Returns true if a reader may have read `count` bytes of a first line and responses with a length
/// prefix.
bool are_framed(std::string_view text, std::size_t count) {
  std::size_t at = std::min(text.find('\n'), text.size());
  if (at > longest || at == text.size()) return count <= std::min(text.size(), longest + 1);
  for (++at; at < count;) {
    const std::string head(text.substr(at, 6));
    at += 6;
    char* rest = nullptr;
    const unsigned long bytes = std::strtoul(head.c_str(), &rest, 10);
    // After an invalid length, or one above the maximum, nothing is read.
    const bool is_length = head.find_first_not_of(" 0123456789") == head.npos &&
                           std::string_view(rest).find_first_not_of(' ') == std::string_view::npos;
    if (!is_length || bytes > longest) return count <= at;
    at += bytes;
  }
  return at == count || count == text.size();
}

/// Counts of the outcomes, to check that the random changes have covered all of them.
struct Count {
  int connected = 0;
  int refused = 0;
  int accounts_of_nodes = 0;
  int values = 0;
  int without_value = 0;
};

/// Connects, asks for nodes, puts, fences and gets like a rank; `taken` checks how much was read.
template <class Connect>
void try_answers(const std::string& answers, Connect connect, const char* protocol,
                 bool (*taken)(std::string_view, std::size_t), Count& count) {
  const Manager manager(answers);
  const std::string& responses = manager.responses();
  std::string why;
  const std::unique_ptr<ProcessManager> connected = connect(manager.place(), why);
  EXPECT_TRUE(taken(responses, manager.read_of_it()))
      << manager.read_of_it() << " of: " << responses;
  if (!connected) {
    EXPECT_TRUE(
        why.starts_with(std::string("the launcher does not speak ") + protocol + " at PMI_FD: "))
        << why;
    EXPECT_FALSE(why.ends_with(": ")) << why;
    ++count.refused;
    return;
  }
  ++count.connected;
  EXPECT_EQ(why, "");
  EXPECT_EQ(connected->rank(), 1u);
  EXPECT_EQ(connected->size(), 3u);
  const std::vector<std::uint32_t> nodes = connected->node_of_ranks();
  EXPECT_TRUE(nodes.empty() || nodes.size() == 3) << nodes.size();
  if (!nodes.empty()) ++count.accounts_of_nodes;
  if (!connected->put("place", "a:1", Reach::job) || !connected->fence(Reach::job)) {
    EXPECT_NE(connected->error(), "");
  } else if (const std::optional<std::string> value = connected->get(0, "place")) {
    EXPECT_LE(value->size(), longest);
    EXPECT_EQ(value->find('\n'), value->npos);
    EXPECT_TRUE(value->empty() || responses.find("value=" + *value) != responses.npos)
        << *value << " of: " << responses;
    ++count.values;
  } else {
    EXPECT_NE(connected->error(), "");
    ++count.without_value;
  }
  EXPECT_TRUE(taken(responses, manager.read_of_it()))
      << manager.read_of_it() << " of: " << responses;
  // A connection that has failed before need not finalize.
  connected->leave();
}

void expect_all_tried(const Count& count) {
  EXPECT_GT(count.connected, rounds / 10);
  EXPECT_GT(count.refused, rounds / 10);
  EXPECT_GT(count.accounts_of_nodes, rounds / 20);
  EXPECT_GT(count.values, rounds / 20);
  EXPECT_GT(count.without_value, rounds / 100);
}

TEST(PmiAnswers, Pmi1TakesOrRefusesAnyText) {
  Count count;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Random random(static_cast<std::uint64_t>(round));
    const std::vector<std::vector<std::string>> answers = {
        {"cmd=response_to_init", "pmi_version=1", "pmi_subversion=1", "rc=0"},
        {"cmd=my_kvsname", "kvsname=kvs_1"},
        {"cmd=get_result", "rc=0", "msg=success", "value=(vector,(0,2,2))"},
        {"cmd=put_result", "rc=0", "msg=success"},
        {"cmd=barrier_out"},
        {"cmd=get_result", "rc=0", "msg=success", "value=10.0.0.1:77,abc"},
        {"cmd=finalize_ack"}};
    std::string responses;
    for (const auto& answer : answers) {
      const bool changed = random.below(4) == 0;
      std::string line = changed ? words(random, answer, ' ') : "";
      if (!changed)
        for (const std::string& word : answer) line += word + ' ';
      responses += changed ? mangled(random, line + '\n') : line + '\n';
    }
    try_answers(responses, connect_pmi1, "PMI-1", are_lines, count);
  }
  expect_all_tried(count);
}

std::string framed(Random& random, const std::string& text) {
  // With blanks before or after the length, which is sometimes wrong.
  std::size_t bytes = text.size();
  if (random.below(16) == 0) bytes = random.below(2) == 0 ? random.below(20000) : bytes + 1;
  std::string length = std::to_string(bytes).substr(0, 6);
  length.insert(random.below(2) == 0 ? 0 : length.size(), 6 - length.size(), ' ');
  if (random.below(24) == 0) length = some_bytes(random, 6, "0123456789 -+x");
  return length + text;
}

TEST(PmiAnswers, Pmi2TakesOrRefusesAnyText) {
  Count count;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Random random(static_cast<std::uint64_t>(round));
    std::string responses = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
    if (random.below(8) == 0) responses = mangled(random, responses);
    const std::vector<std::vector<std::string>> answers = {
        {"cmd=fullinit-response", "pmi-version=2", "rank=1", "size=3", "rc=0"},
        {"cmd=info-getjobattr-response", "found=TRUE", "value=(vector,(0,2,2))", "rc=0"},
        {"cmd=kvs-put-response", "rc=0"},
        {"cmd=kvs-fence-response", "rc=0"},
        {"cmd=kvs-get-response", "flag=TRUE", "value=10.0.0.1:77,abc", "rc=0"},
        {"cmd=finalize-response", "rc=0"}};
    for (const auto& answer : answers) {
      std::string text;
      for (const std::string& word : answer) text += word + ';';
      if (random.below(4) == 0) text = words(random, answer, ';');
      if (random.below(8) == 0) text = mangled(random, text);
      responses += framed(random, text);
      if (random.below(32) == 0) responses = mangled(random, responses);
    }
    try_answers(responses, connect_pmi2, "PMI-2", are_framed, count);
  }
  expect_all_tried(count);
}

TEST(PmiAnswers, AValueIsTheFirstWordsBehindItsKey) {
  Random random(1);
  int found = 0;
  for (int round = 0; round < 10 * rounds; ++round) {
    const char separator = random.below(2) == 0 ? ' ' : ';';
    const std::string text = some_bytes(random, random.below(40), "ab=; \n");
    const std::string key = some_bytes(random, 1 + random.below(2), "ab");
    std::string expected;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(separator, at), text.size());
      if (text.compare(at, key.size() + 1, key + '=') == 0) {
        expected = text.substr(at + key.size() + 1, end - at - key.size() - 1);
        expected = expected.substr(0, expected.find('\n'));
        break;
      }
      at = end + 1;
    }
    ASSERT_EQ(pmi_value(text, key, separator), expected) << key << " in '" << text << "'";
    if (!expected.empty()) ++found;
  }
  EXPECT_GT(found, rounds / 10);
}

TEST(PmiAnswers, APlaceIsOneOfAllOrNone) {
  Random random(2);
  int places = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) {
      std::string value = std::to_string(random.below(1 + (1U << random.below(12))));
      if (random.below(4) == 0) value = some_bytes(random, random.below(24), "0123456789 -+.xe");
      setenv(name, value.c_str(), 1);
      if (random.below(32) == 0) unsetenv(name);
    }
    const std::optional<PmiPlace> place = pmi_place();
    if (!place) continue;
    ++places;
    EXPECT_LT(place->rank, place->size);
    EXPECT_LE(place->size, max_ranks);
    EXPECT_EQ(std::to_string(place->wire),
              std::to_string(std::strtol(std::getenv("PMI_FD"), nullptr, 10)));
    EXPECT_EQ(place->rank, std::strtoul(std::getenv("PMI_RANK"), nullptr, 10));
    EXPECT_EQ(place->size, std::strtoul(std::getenv("PMI_SIZE"), nullptr, 10));
  }
  EXPECT_GT(places, rounds / 20);
  for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) unsetenv(name);
}

}  // namespace
}  // namespace gex::job
