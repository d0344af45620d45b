#include "launch/hang/report_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/os_file.h"
#include "launch/hang/hang_report.h"

namespace gex::launch {

std::string why_no_report_file(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno == ENOENT ? "" : std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return std::strerror(EISDIR);
  std::string start(report_json_start.size(), '\0');
  const bool is_report =
      S_ISREG(status.st_mode) &&
      (status.st_size == 0 ||
       (std::ifstream(path).read(start.data(), std::ssize(start)) && start == report_json_start));
  return is_report ? "" : "there is something else of that name, which is no report";
}

std::string write_report_file(const std::string& path, const HangReport& report) {
  if (std::string why = why_no_report_file(path); !why.empty()) return why;
  const int error = os::replace_file(path, to_json(report));
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace gex::launch
