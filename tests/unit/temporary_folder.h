#pragma once
// A folder for one test, filled with the files that the code under test should find in it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

/// Makes an empty folder and removes it with everything in it.
///
///   TemporaryFolder root;
///   root.write("proc/meminfo", "MemTotal: 1024 kB\n");
///   EXPECT_EQ(physical_memory(root.path()), 1 << 20);
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gex-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const noexcept { return path_; }

  /// Writes a file, making the folders above it.
  void write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    if (!(std::ofstream(file) << content)) throw std::runtime_error("writing " + file.string());
  }

 private:
  std::string path_;
};
