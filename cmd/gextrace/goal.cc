#include "goal.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <vector>

#include "team/barrier_plan.h"

namespace gextrace {

namespace {

/// The size of a question or an answer without data, since GOAL has no empty messages.
constexpr std::uint64_t empty_bytes = 1;

/// One rank's lines. Each step requires those that the program has before it.
class Schedule {
 public:
  /// A line of the program's order; returns its label.
  std::uint32_t next(const std::string& line) {
    const std::uint32_t label = aside(line);
    if (last_ != none) require(label, last_);
    return last_ = label;
  }
  /// A line that is begun by nothing of the program's.
  std::uint32_t aside(const std::string& line) {
    lines_ += "l" + std::to_string(++labels_) + ": " + line + "\n";
    return labels_;
  }
  void require(std::uint32_t label, std::uint32_t before) {
    lines_ += "l" + std::to_string(label) + " requires l" + std::to_string(before) + "\n";
  }
  /// The next line of the program's order requires this one too.
  void join(std::uint32_t before) {
    const std::uint32_t label = next("calc 0");
    require(label, before);
  }
  std::uint32_t last() const { return last_; }
  const std::string& lines() const { return lines_; }

  static constexpr std::uint32_t none = 0;

 private:
  std::string lines_;
  std::uint32_t labels_ = 0;
  std::uint32_t last_ = none;
};

std::string message(const char* verb, const char* preposition, std::uint64_t bytes,
                    std::uint32_t peer, std::uint32_t tag) {
  return std::string(verb) + ' ' + std::to_string(std::max(bytes, empty_bytes)) + "b " +
         preposition + ' ' + std::to_string(peer) + " tag " + std::to_string(tag);
}
std::string send(std::uint64_t bytes, std::uint32_t to, std::uint32_t tag) {
  return message("send", "to", bytes, to, tag);
}
std::string receive(std::uint64_t bytes, std::uint32_t from, std::uint32_t tag) {
  return message("recv", "from", bytes, from, tag);
}

class Writer {
 public:
  explicit Writer(const Programs& programs)
      : programs_(programs), schedules_(programs.ranks.size()) {
    std::uint32_t tags = 0;
    for (std::uint32_t number = 0; number < programs.collectives.size(); ++number) {
      tag_of_collective_.push_back(tags);
      const auto members = static_cast<std::uint32_t>(programs.collectives[number].members.size());
      tags += gex::team::Dissemination{members}.rounds();
    }
    tag_of_messages_ = tags;
    next_tag_ = tags + static_cast<std::uint32_t>(programs.messages.size());
    for (std::uint32_t rank = 0; rank < programs.ranks.size(); ++rank) write(rank);
  }

  void print(std::FILE* file) const {
    std::fprintf(file, "num_ranks %zu\n", schedules_.size());
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank)
      std::fprintf(file, "\nrank %zu {\n%s}\n", rank, schedules_[rank].lines().c_str());
  }

 private:
  void write(std::uint32_t rank) {
    const RankProgram& program = programs_.ranks[rank];
    Schedule& own = schedules_[rank];
    std::vector<std::uint32_t> done(program.operations, Schedule::none);
    own.next("calc " + std::to_string(std::llround(program.begin_ns)));
    for (const Step& step : program.steps) {
      switch (step.kind) {
        case Step::Kind::compute:
          own.next("calc " + std::to_string(std::llround(step.ns)));
          break;
        case Step::Kind::put:
          done[step.number] = transfer(rank, step.peer, step.bytes, empty_bytes);
          break;
        case Step::Kind::get:
          done[step.number] = transfer(rank, step.peer, empty_bytes, step.bytes);
          break;
        case Step::Kind::await:
          own.join(done[step.number]);
          break;
        case Step::Kind::send:
          own.next(send(step.bytes, step.peer, tag_of_messages_ + step.number));
          break;
        case Step::Kind::handle: {
          const ProgramMessage& of = programs_.messages[step.number];
          own.next(receive(of.bytes, of.from, tag_of_messages_ + step.number));
          break;
        }
        case Step::Kind::arrive:
          break;
        case Step::Kind::await_collective:
          meet(rank, step.number);
          break;
      }
    }
  }

  /// A message there and one back; returns the label of the latter's arrival.
  std::uint32_t transfer(std::uint32_t rank, std::uint32_t peer, std::uint64_t there,
                         std::uint64_t back) {
    const std::uint32_t tag = next_tag_;
    next_tag_ += 2;
    Schedule& own = schedules_[rank];
    Schedule& other = schedules_[peer];
    const std::uint32_t asked = own.next(send(there, peer, tag));
    const std::uint32_t came = other.aside(receive(there, rank, tag));
    const std::uint32_t answer = other.aside(send(back, rank, tag + 1));
    other.require(answer, came);
    const std::uint32_t answered = own.aside(receive(back, peer, tag + 1));
    own.require(answered, asked);
    return answered;
  }

  void meet(std::uint32_t rank, std::uint32_t number) {
    const ProgramCollective& collective = programs_.collectives[number];
    const std::vector<std::uint32_t>& ranks = collective.members;
    const auto me = static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) -
                                               ranks.begin());
    const gex::team::Dissemination plan{static_cast<std::uint32_t>(ranks.size())};
    Schedule& own = schedules_[rank];
    for (unsigned round = 0; round < plan.rounds(); ++round) {
      const std::uint32_t tag = tag_of_collective_[number] + round;
      own.next(send(collective.bytes, ranks[plan.to(me, round)], tag));
      own.next(receive(collective.bytes, ranks[plan.from(me, round)], tag));
    }
  }

  const Programs& programs_;
  std::vector<Schedule> schedules_;
  std::vector<std::uint32_t> tag_of_collective_;  ///< of the first round
  std::uint32_t tag_of_messages_ = 0;
  std::uint32_t next_tag_ = 0;
};

}  // namespace

void write_goal(std::FILE* file, const Programs& programs) {
  Writer(programs).print(file);
}

}  // namespace gextrace
