// gextrace: reads the traces of a job's ranks, and writes a timeline, a picture, a summary.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "../output.h"
#include "align.h"
#include "base/os_file.h"
#include "base/trace_format.h"
#include "match.h"
#include "options.h"
#include "perfetto.h"
#include "picture.h"
#include "read.h"
#include "spans.h"
#include "summary.h"

namespace {

constexpr const char* name = "gextrace";

/// Writes a file, or standard output for "-". The status to exit with.
int write_output(const std::string& path, const std::function<void(std::FILE*)>& write) {
  if (path == "-") {
    write(stdout);
    return gex::cmd::finish_output(name);
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  bool written = false;
  if (file != nullptr) {
    write(file);
    written = std::ferror(file) == 0;
    written = std::fclose(file) == 0 && written;
  }
  if (written) return 0;
  std::fprintf(stderr, "%s: cannot write %s: %s\n", name, path.c_str(), std::strerror(errno));
  return 1;
}

/// Returns true if an output of that name would overwrite a trace; printed if so.
bool would_overwrite_a_trace(const char* option, const std::string& path) {
  char start[sizeof gex::trace::magic] = {};
  std::FILE* const file = path.empty() || path == "-" ? nullptr : std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const bool is_trace = std::fread(start, 1, sizeof start, file) == sizeof start &&
                        std::memcmp(start, gex::trace::magic, sizeof start) == 0;
  std::fclose(file);
  if (is_trace)
    std::fprintf(stderr, "%s: %s %s: it is a trace, which is not overwritten; name another file\n",
                 name, option, path.c_str());
  return is_trace;
}

}  // namespace

int main(int count, char** arguments) {
  gex::os::fill_standard_descriptors();
  const gextrace::Reading reading = gextrace::read_command_line(count, arguments);
  if (!reading.message.empty()) return reading.print(name);
  const gextrace::Options& options = reading.options;
  if (would_overwrite_a_trace("-o", options.perfetto) ||
      would_overwrite_a_trace("--svg", options.picture)) {
    return 2;
  }

  std::string why;
  std::optional<gextrace::Job> job = gextrace::read_job(options.files, options.filter.ranks, why);
  if (!job) {
    std::fprintf(stderr, "%s: %s\n", name, why.c_str());
    return 1;
  }
  gextrace::convert_ticks(*job);
  const gextrace::Messages messages = gextrace::match(*job);
  gextrace::correct_clocks(*job, messages);
  const std::vector<gextrace::RankSpans> spans = gextrace::spans_of(*job);

  int status = 0;
  if (!options.perfetto.empty())
    status |= write_output(options.perfetto, [&](std::FILE* file) {
      gextrace::write_perfetto(file, *job, spans, messages, options.filter);
    });
  if (!options.picture.empty())
    status |= write_output(options.picture, [&](std::FILE* file) {
      std::fputs(gextrace::draw(*job, spans, messages, options.filter).c_str(), file);
    });
  if (options.summary == gextrace::SummaryForm::none) {
    for (const std::string& remark : job->remarks)
      std::fprintf(stderr, "%s: note: %s\n", name, remark.c_str());
    return status;
  }
  const gextrace::Summary summary = gextrace::summarize(*job, spans, messages, options.filter);
  std::fputs((options.summary == gextrace::SummaryForm::json ? as_json(summary) : as_text(summary))
                 .c_str(),
             stdout);
  return gex::cmd::finish_output(name) | status;
}
