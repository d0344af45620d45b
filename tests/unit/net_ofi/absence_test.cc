// Why a provider is not to be had, on machines made of files.

#include "net/ofi/absence.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>

#include "../temporary_folder.h"

namespace gex::net::ofi {
namespace {

namespace fs = std::filesystem;

class Absence : public testing::Test {
 protected:
  void SetUp() override {
    machine.root = folder.path();
    machine.has_address = [this](const std::string& name) { return addresses.contains(name); };
  }
  void add_device(const std::string& name, const std::string& driver, const std::string& state) {
    const std::string device = "sys/class/infiniband/" + name;
    folder.write(device + "/ports/1/state", state + "\n");
    folder.write("drivers/" + driver + "/bind", "");
    fs::create_directories(folder.path() + "/" + device + "/device");
    fs::create_directory_symlink(folder.path() + "/drivers/" + driver,
                                 folder.path() + "/" + device + "/device/driver");
  }
  void add_interface(const std::string& device, const std::string& name) {
    folder.write("sys/class/infiniband/" + device + "/device/net/" + name + "/mtu", "2044\n");
  }
  std::string faults(const std::string& provider) { return faults_of_devices(provider, machine); }

  TemporaryFolder folder;
  Machine machine;
  std::set<std::string> addresses;
};

TEST_F(Absence, DevicesAreThoseWithTheDriverThatAProviderIsFor) {
  add_device("mlx5_0", "mlx5_core", "4: ACTIVE");
  add_device("mlx5_1", "mlx5_core", "4: ACTIVE");
  add_device("hfi1_0", "hfi1", "4: ACTIVE");
  add_device("rdmap0s6", "efa", "4: ACTIVE");
  folder.write("sys/class/cxi/cxi0/uevent", "");
  EXPECT_EQ(devices_of("verbs;ofi_rxm", machine), "mlx5_0, mlx5_1");
  EXPECT_EQ(devices_of("psm2", machine), "hfi1_0");
  EXPECT_EQ(devices_of("opx", machine), "hfi1_0");
  EXPECT_EQ(devices_of("efa", machine), "rdmap0s6");
  EXPECT_EQ(devices_of("cxi", machine), "cxi0");
  EXPECT_EQ(devices_of("tcp;ofi_rxm", machine), "");
}

TEST_F(Absence, NothingIsWrongWithADeviceThatWorks) {
  add_device("mlx5_0", "mlx5_core", "4: ACTIVE");
  add_interface("mlx5_0", "ib0");
  addresses.insert("ib0");
  folder.write("dev/infiniband/uverbs0", "");
  EXPECT_EQ(faults("verbs;ofi_rxm"), "");
}

TEST_F(Absence, APortThatIsDownIsNamed) {
  add_device("hfi1_0", "hfi1", "2: INIT");
  folder.write("dev/hfi1_0", "");
  EXPECT_EQ(faults("psm2"), "port 1 of hfi1_0 is INIT (ibstat prints more)");
}

TEST_F(Absence, AnInterfaceWithoutAddressIsNamedWithWhatGivesItOne) {
  add_device("mlx5_0", "mlx5_core", "4: ACTIVE");
  folder.write("dev/infiniband/uverbs0", "");
  EXPECT_EQ(faults("verbs;ofi_rxm"),
            "mlx5_0 has no network interface (for InfiniBand: modprobe ib_ipoib)");
  add_interface("mlx5_0", "ib0");
  EXPECT_EQ(faults("verbs;ofi_rxm"),
            "ib0 of mlx5_0 has no IP address (ip address add ADDRESS/BITS dev ib0)");
}

TEST_F(Absence, AFileThatIsNotThereIsNamed) {
  add_device("hfi1_0", "hfi1", "4: ACTIVE");
  EXPECT_EQ(faults("psm2"), "no file /dev/hfi1_* (in a container --device)");
}

TEST_F(Absence, AFileThatCannotBeOpenedIsNamed) {
  add_device("hfi1_0", "hfi1", "4: ACTIVE");
  // Permissions would not hold for root, as which this may run.
  fs::create_directories(folder.path() + "/dev");
  fs::create_symlink("nowhere", folder.path() + "/dev/hfi1_0");
  EXPECT_EQ(faults("psm2"),
            "/dev/hfi1_0: No such file or directory (ls -l /dev/hfi1_0; in a container --device "
            "/dev/hfi1_0)");
}

TEST_F(Absence, TheLimitOfRegisteredMemoryStandsWithWhatRaisesIt) {
  EXPECT_EQ(limit_of_registration(machine), "");
  machine.lockable = 65536;
  EXPECT_EQ(limit_of_registration(machine),
            "a process can register no more than 64 KiB of memory (ulimit -l unlimited)");
}

TEST_F(Absence, AFilterIsReadAsLibfabricReadsIt) {
  EXPECT_TRUE(is_filtered("tcp", "cxi"));
  EXPECT_TRUE(is_filtered("tcp,shm", "verbs;ofi_rxm"));
  EXPECT_FALSE(is_filtered("tcp,verbs", "verbs;ofi_rxm"));
  EXPECT_FALSE(is_filtered("verbs;ofi_rxm", "verbs;ofi_rxm"));
  EXPECT_TRUE(is_filtered("^cxi,verbs", "verbs;ofi_rxm"));
  EXPECT_FALSE(is_filtered("^cxi", "verbs;ofi_rxm"));
  EXPECT_FALSE(is_filtered("", "cxi"));
}

TEST_F(Absence, AProviderThatTheLibraryLacksIsNamedAndSoIsAFilter) {
  EXPECT_EQ(why_absent("nosuch", false, machine), "libfabric " + library_version() +
                                                      " has no provider nosuch (fi_info -l prints "
                                                      "which it has)");
  ::setenv("FI_PROVIDER", "^udp", 0);
  EXPECT_EQ(why_absent("udp;ofi_rxd", true, machine), "FI_PROVIDER=^udp leaves it out");
  ::unsetenv("FI_PROVIDER");
}

}  // namespace
}  // namespace gex::net::ofi
