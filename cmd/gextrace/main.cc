// gextrace: reads the traces of a job's ranks, and writes a timeline, a picture, a summary.

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../output.h"
#include "base/os_file.h"
#include "options.h"
#include "output_file.h"
#include "perfetto.h"
#include "picture.h"
#include "predict.h"
#include "recording.h"
#include "summary.h"

namespace {

constexpr const char* name = "gextrace";

int fail(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", name, why.c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  gex::os::fill_standard_descriptors();
  if (count > 1 && std::string_view(arguments[1]) == "predict")
    return gextrace::predict(count - 1, arguments + 1);
  const gextrace::Reading reading = gextrace::read_command_line(count, arguments);
  if (!reading.message.empty()) return reading.print(name);
  const gextrace::Options& options = reading.options;
  if (gextrace::would_overwrite_a_trace("-o", options.perfetto) ||
      gextrace::would_overwrite_a_trace("--svg", options.picture)) {
    return 2;
  }

  std::string why;
  int status = 0;
  std::vector<std::string> remarks;
  if (!options.perfetto.empty()) {
    const std::optional<gextrace::Outline> outline =
        gextrace::read_outline(options.files, options.filter.ranks, why);
    if (!outline) return fail(why);
    bool complete = true;
    status |= gextrace::write_output(options.perfetto, [&](std::FILE* file) {
      complete = gextrace::write_perfetto(file, *outline, options.filter, why);
    });
    if (!complete) return fail(why);
    remarks = outline->job.remarks;
  }
  if (!options.picture.empty()) {
    const std::optional<gextrace::Recording> recording =
        gextrace::read_recording(options.files, options.filter.ranks, why);
    if (!recording) return fail(why);
    status |= gextrace::write_output(options.picture, [&](std::FILE* file) {
      std::fputs(
          gextrace::draw(recording->job, recording->spans, recording->messages, options.filter)
              .c_str(),
          file);
    });
    remarks = recording->job.remarks;
  }
  if (options.summary == gextrace::SummaryForm::none) {
    for (const std::string& remark : remarks)
      std::fprintf(stderr, "%s: note: %s\n", name, remark.c_str());
    return status;
  }
  const std::optional<gextrace::Summary> summary =
      gextrace::summarize_files(options.files, options.filter, why);
  if (!summary) return fail(why);
  std::fputs(
      (options.summary == gextrace::SummaryForm::json ? as_json(*summary) : as_text(*summary))
          .c_str(),
      stdout);
  return gex::cmd::finish_output(name) | status;
}
