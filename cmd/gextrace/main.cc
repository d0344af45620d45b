// gextrace: reads the traces of a job's ranks, and writes a timeline, a picture, a summary.

#include <cstdio>
#include <memory>
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
  const std::optional<gextrace::Outline> outline =
      gextrace::read_outline(options.files, options.filter.ranks, why);
  if (!outline) return fail(why);
  std::vector<std::unique_ptr<gextrace::OutputFile>> files;
  std::vector<std::unique_ptr<gextrace::Output>> made;
  const auto create = [&](const std::string& path) {
    if (path.empty()) return static_cast<std::FILE*>(nullptr);
    return files.emplace_back(std::make_unique<gextrace::OutputFile>(path))->stream();
  };
  if (std::FILE* const file = create(options.perfetto))
    made.push_back(gextrace::make_timeline(file, *outline));
  if (std::FILE* const file = create(options.picture))
    made.push_back(gextrace::make_picture(file, *outline, options.filter));
  std::optional<gextrace::Summarizer> summarizer;
  std::vector<gextrace::Output*> outputs;
  outputs.reserve(made.size() + 1);
  for (const auto& one : made) outputs.push_back(one.get());
  if (options.summary != gextrace::SummaryForm::none)
    outputs.push_back(&summarizer.emplace(*outline, options.files, options.filter));
  if (!gextrace::make_outputs(*outline, options.filter, outputs, why)) return fail(why);
  int status = 0;
  for (const auto& file : files) status |= file->finish();
  if (!summarizer) {
    for (const std::string& remark : outline->job.remarks)
      std::fprintf(stderr, "%s: note: %s\n", name, remark.c_str());
    return status;
  }
  const gextrace::Summary& summary = summarizer->summary();
  std::fputs((options.summary == gextrace::SummaryForm::json ? as_json(summary) : as_text(summary))
                 .c_str(),
             stdout);
  return gex::cmd::finish_output(name) | status;
}
