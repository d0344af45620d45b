#pragma once
// The actions of the ranks of a recorded job, without times: the steps that a replay takes
// (replay.h).
//
// Time in the client's code and in its handlers is kept. Time within calls is not: a replay
// computes it. The library's own messages are not kept either, since another network has others.
// A handler is a step of the rank on which it ran, at its place among the rank's other steps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gextrace {

struct Outline;

struct Step {
  enum class Kind : std::uint8_t {
    compute,           ///< `ns`
    put,               ///< operation `number`, of `bytes`, to `peer`
    get,               ///< the same, from it
    await,             ///< until operation `number` of this rank is complete
    send,              ///< message `number`
    handle,            ///< the begin of its handler, as soon as it has come
    arrive,            ///< at collective `number`
    await_collective,  ///< until it is over for this rank
  };
  Kind kind;
  std::uint32_t peer = 0;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  double ns = 0;

  bool operator==(const Step&) const = default;
};

struct RankProgram {
  double begin_ns = 0;  ///< after the first rank's
  std::uint32_t operations = 0;
  std::vector<Step> steps;
};

struct ProgramMessage {
  std::uint32_t from, to;
  std::uint64_t bytes;
};

/// The pattern of its messages.
enum class CollectiveShape : std::uint8_t {
  barrier,
  broadcast,
  reduce_to_one,
  reduce_to_all,
  blocks,  ///< a block for each other member
};

struct ProgramCollective {
  CollectiveShape shape;
  std::vector<std::uint32_t> members;  ///< rising
  std::uint64_t bytes;                 ///< of a member's operand, or of a block
};

struct Programs {
  std::string name;  ///< the command line
  std::vector<RankProgram> ranks;
  std::vector<ProgramMessage> messages;
  std::vector<ProgramCollective> collectives;
  double recorded_ns = 0;  ///< from the first rank's first step to the last one's last
  std::vector<std::string> remarks;
};

/// Reads them, one rank after the other. Nothing, and the reason in `why`, if the traces do not
/// show all of the job.
std::optional<Programs> programs_of(const Outline& outline, std::string& why);

}  // namespace gextrace
