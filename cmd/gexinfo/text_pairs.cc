#include <cstdio>
#include <string>

#include "job/rank_set.h"
#include "layout.h"
#include "text.h"

namespace gexinfo {

namespace {

using gex::net::Means;
using std::to_string;

/// The letter of a class in the matrix; Z stands for the 26th and all further ones, a dot for none.
char letter_of(int number) {
  if (number < 0) return '.';
  return number < 25 ? static_cast<char>('A' + number) : 'Z';
}

std::string list_operations(const PairFacts& pairs, Means wanted) {
  std::string list;
  const auto operations = gex::net::operations();
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (pairs.means[i] == wanted) list.append(list.empty() ? "" : "; ").append(operations[i].name);
  return list.empty() ? "nothing" : list;
}

void print(const PairFacts& pairs, char letter) {
  std::printf("\n%c  %s\n", letter, printable(pairs.ranks).c_str());
  std::string transport = pairs.network == "shm" ? "shared memory" : pairs.network;
  if (!pairs.way.empty()) transport.append(": ").append(pairs.way);
  print_fact("transport", transport);
  print_fact("largest payload", "medium " + to_string(pairs.limits.medium) + ", long request " +
                                    to_string(pairs.limits.long_request) + ", long reply " +
                                    to_string(pairs.limits.long_reply) + " bytes");
  print_fact("requests", to_string(pairs.limits.outstanding) + " without a reply, to " +
                             (pairs.outstanding_to_all ? "all peers together" : "one peer"));
  print_fact("native", list_operations(pairs, Means::native));
  if (pairs.network == "shm") return;
  print_fact("made of messages", list_operations(pairs, Means::reference));
  print_fact("not shared memory", pairs.why_no_memory);
  if (!pairs.why_way.empty()) print_fact("why this way", pairs.why_way);
  for (const RulePlace& one : pairs.instead) print_fact("not " + one.name, one.reason);
}

void print(const std::vector<DeviceRoute>& routes) {
  std::printf("\nmemory of devices of other ranks\n");
  for (const DeviceRoute& route : routes)
    print_fact(route.way, "from " + gex::job::describe_ranks(gex::job::RankSet(route.from)) +
                              " to " + route.kind + " devices of " +
                              gex::job::describe_ranks(gex::job::RankSet(route.to)) +
                              (route.reason.empty() ? "" : ": " + route.reason));
}

}  // namespace

void print_rule(const std::vector<RulePlace>& rule) {
  std::printf("\nnetwork of a job on several hosts, if none is named (docs/which-way.md)\n");
  Table table;
  for (const RulePlace& one : rule)
    table.add({one.place == 0 ? "-" : to_string(one.place), one.name, one.reason});
  table.print(2);
}

void print_text(const PairsFacts& facts) {
  std::printf("job\n");
  print_fact("ranks", to_string(facts.job.ranks) + " on " + to_string(facts.job.hosts) +
                          (facts.job.hosts == 1 ? " host" : " hosts") + ", in " +
                          to_string(facts.job.neighborhoods) +
                          (facts.job.neighborhoods == 1 ? " neighborhood" : " neighborhoods"));
  print_fact("conduit", facts.job.conduit + ": " + facts.job.conduit_reason);
  if (!facts.is_job) {
    std::printf("\nA job of one rank has no pairs. In jobs that are started from here:\n");
    if (facts.classes.size() == 1)
      std::printf("(on several hosts they would end at once: no network can be used)\n");
  }
  int number = 0;
  for (const PairFacts& pairs : facts.classes) print(pairs, letter_of(number++));
  if (!facts.matrix.empty()) {
    std::printf("\nfrom each rank (a row) to each (a column)\n");
    for (std::size_t rank = 0; rank < facts.matrix.size(); ++rank) {
      std::string row;
      for (const int pairs : facts.matrix[rank]) row += letter_of(pairs);
      std::printf("%6zu  %s\n", rank, row.c_str());
    }
  }
  if (!facts.devices.empty()) print(facts.devices);
  if (!facts.rule.empty()) print_rule(facts.rule);
}

}  // namespace gexinfo
