#include "net/ucx/printout.h"

#include <cstdlib>
#include <sstream>

namespace gex::net::ucx {

std::vector<std::string> printed_lines(const std::function<void(std::FILE*)>& print) {
  std::vector<std::string> lines;
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = open_memstream(&text, &size);
  if (stream == nullptr) return lines;
  print(stream);
  std::fclose(stream);
  std::istringstream all(std::string(text, size));
  std::free(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

}  // namespace gex::net::ucx
