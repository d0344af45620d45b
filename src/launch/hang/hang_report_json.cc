#include <string>

#include "launch/hang/hang_report.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += text_of("\\u%04x", byte);
    } else if (byte >= 0x80) {
      // Whatever it was meant as: JSON is UTF-8, and this may not be.
      out += '?';
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Elements by commas.
template <class T, class Show>
std::string array_of(const std::vector<T>& list, const Show& show) {
  std::string out = "[";
  for (const T& one : list) {
    if (out.size() > 1) out += ", ";
    out += show(one);
  }
  return out + "]";
}
std::string array_of(const RankRuns& ranks) {
  return array_of(first_of(ranks, max_ranks_in_full),
                  [](std::uint32_t rank) { return std::to_string(rank); });
}

/// The fields that the object of several ranks has besides its lowest rank.
std::string fields_of(const RankRuns& ranks) {
  if (ranks.count == 1) return "";
  return ", \"ranks\": " + quoted(list_of(ranks, RankRuns::max_runs)) +
         text_of(", \"count\": %llu", static_cast<unsigned long long>(ranks.count));
}

std::string seconds_of(const std::optional<double>& seconds) {
  return seconds ? text_of("%.3f", *seconds) : "null";
}

/// Without braces: what an operation's object holds.
std::string fields_of(const OpReport& op) {
  std::string out = text_of("\"kind\": \"%s\", \"call\": ", name_of(op.kind)) +
                    (op.call.empty() ? "null" : quoted(op.call));
  out += ", \"age_s\": " + seconds_of(op.age_s);
  if (op.peer) out += ", \"peer\": " + std::to_string(*op.peer);
  if (is_of_team(op.kind))
    out += text_of(", \"team\": \"%016llx\", \"sequence\": %u",
                   static_cast<unsigned long long>(op.team), op.sequence);
  if (op.kind != job::OpKind::none && op.kind != job::OpKind::lock)
    out += text_of(", \"bytes\": %llu", static_cast<unsigned long long>(op.bytes));
  if (const char* const way = memory_way_of(op)) out += ", \"device_memory\": " + quoted(way);
  if (op.implicit_parts != 0) out += text_of(", \"implicit_parts\": %u", op.implicit_parts);
  return out;
}

std::string json_of(const ThreadReport& thread) {
  std::string out =
      text_of("{\"thread\": %u, \"kernel_thread\": %d, \"in_handler\": %s", thread.number,
              thread.kernel_thread, thread.in_handler ? "true" : "false");
  if (thread.polls) out += ", \"polls\": true";
  if (thread.region_open) out += ", \"region_open\": true";
  if (thread.wait) out += ", \"wait\": {" + fields_of(*thread.wait) + "}";
  if (!thread.annotation.empty()) out += ", \"annotation\": " + quoted(thread.annotation);
  if (thread.condition_s) out += ", \"condition_s\": " + seconds_of(thread.condition_s);
  if (thread.state != 0) out += ", \"state\": " + quoted(std::string(1, thread.state));
  if (!thread.system_call.empty()) out += ", \"system_call\": " + quoted(thread.system_call);
  if (!thread.backtrace.empty()) out += ", \"backtrace\": " + quoted(thread.backtrace);
  return out + "}";
}

std::string json_of(const TeamReport& team) {
  std::string out = text_of(
      "{\"team\": \"%016llx\", \"size\": %u, \"rank\": %u, \"barriers\": %u, \"collectives\": %u, "
      "\"agreements\": %u, \"named_barriers\": %u",
      static_cast<unsigned long long>(team.id), team.size, team.rank, team.barriers,
      team.collectives, team.agreements, team.named_barriers);
  if (team.made_as != 0) {
    out += text_of(", \"parent\": \"%016llx\", \"made_as\": %u, \"made_by\": ",
                   static_cast<unsigned long long>(team.parent), team.made_as) +
           (team.made_by.empty() ? "null" : quoted(team.made_by)) +
           ", \"made_at\": " + (team.made_at.empty() ? "null" : quoted(team.made_at));
  }
  return out + "}";
}

std::string json_of(const HangReport::Deed& deed) {
  return text_of("{\"rank\": %u", deed.ranks.lowest()) + fields_of(deed.ranks) +
         ", \"what\": " + quoted(deed.what) + "}";
}

std::string json_of(const RankReport& rank) {
  std::string out = text_of("{\"rank\": %u, \"host\": %s, \"process\": %d, \"state\": \"%s\", ",
                            rank.rank, quoted(rank.host).c_str(), rank.process,
                            rank.state != 0 ? std::string(1, rank.state).c_str() : "");
  out += text_of("\"cpu_s\": %.3f, \"left\": %s, \"shown\": %s, \"last_call\": ", rank.cpu_s,
                 rank.left ? "true" : "false", rank.shown ? "true" : "false");
  out += rank.last_call.empty() ? "null" : quoted(rank.last_call.substr(1));
  out += ",\n   \"threads\": " +
         array_of(rank.threads, [](const ThreadReport& one) { return json_of(one); });
  out += ",\n   \"operations\": " +
         array_of(rank.operations, [](const OpReport& one) { return "{" + fields_of(one) + "}"; });
  out += ",\n   \"teams\": " +
         array_of(rank.teams, [](const TeamReport& one) { return json_of(one); });
  return out + text_of(", \"hidden\": %u}", rank.hidden);
}

std::string json_of(const RankWait& wait) {
  return text_of("{\"rank\": %u", wait.rank) + fields_of(wait.ranks) +
         text_of(", \"thread\": %u, ", wait.thread) + fields_of(wait.op) +
         ", \"waits_for\": " + array_of(*wait.waits_for) + ", \"why\": " + quoted(wait.why) + "}";
}

std::string json_of(const RankClass& one) {
  return text_of("{\"rank\": %u, \"ranks\": ", one.example.rank) +
         quoted(list_of(one.members, RankRuns::max_runs)) +
         text_of(
             ", \"count\": %llu, \"min_cpu_s\": %.3f, \"max_cpu_s\": %.3f, \"max_age_s\": %.3f}",
             static_cast<unsigned long long>(one.members.count), one.min_cpu_s, one.max_cpu_s,
             one.max_age_s);
}

/// The field for the parts that the report does not show; empty: it shows all.
std::string left_out_of(const HangReport& report) {
  if (report.left_out == 0 && report.not_followed.empty()) return "";
  return text_of(",\n \"left_out\": {\"count\": %llu, \"not_followed\": ",
                 static_cast<unsigned long long>(report.left_out)) +
         quoted(list_of(report.not_followed, RankRuns::max_runs)) + "}";
}

}  // namespace

std::string to_json(const HangReport& report) {
  const auto shown = [](const auto& one) { return json_of(one); };
  const std::vector<RankClass> classes = by_rank(alike(report.classes));
  std::string out(report_json_start);
  for (std::size_t i = 0; i < report.classes.size(); ++i)
    out += (i == 0 ? "\n  " : ",\n  ") + json_of(report.classes[i].example);
  out += "],\n \"classes\": " + array_of(classes, shown);
  out += ",\n \"waits\": " + array_of(report.waits, shown);
  out += ",\n \"circles\": " +
         array_of(report.circles, [](const RankRuns& circle) { return array_of(circle); });
  out += ",\n \"culprits\": " + array_of(report.culprits, shown);
  out += ",\n \"others\": " + array_of(report.others, shown);
  out += ",\n \"mismatches\": " +
         array_of(report.mismatches, [](const HangReport::Mismatch& mismatch) {
           return text_of("{\"team\": \"%016llx\", \"sequence\": %u, \"ranks\": ",
                          static_cast<unsigned long long>(mismatch.team), mismatch.sequence) +
                  array_of(mismatch.ranks) + ", \"what\": " + quoted(mismatch.what) + "}";
         });
  return out + left_out_of(report) + "}\n";
}

}  // namespace gex::launch
