// The provider's reports, demands and refusals before anything is sent.

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client.h"
#include "knobs.h"
#include "presets.h"

namespace gexsim::test {
namespace {

bool is_refused(const Ask& ask) {
  return look_up(ask) == nullptr;
}

struct Contract {
  const char* preset;
  const char* provider;
  std::uint32_t format;
  int mr_mode;  ///< with everything offered
  std::size_t key_size;
  std::size_t inject;
  std::uint64_t
      raw;  ///< the largest write that a read does not overtake, with RAW asked; 1: refused
};

TEST(Presets, ReportWhatTheProvidersThatTheySimulateDo) {
  constexpr int rdma = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  const Contract contracts[] = {
      {"cxi", "cxi", FI_ADDR_CXI, FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY, 4, 192, 1},
      {"verbs;ofi_rxm", "verbs;ofi_rxm", FI_SOCKADDR_IN, rdma | FI_MR_LOCAL, 4, 192, 1U << 30},
      {"efa", "efa", FI_ADDR_EFA, rdma | FI_MR_LOCAL, 4, 4096, 1},
      {"psm3", "psm3", FI_ADDR_PSMX3, 0, 8, 64, 4096},
      {"psm2", "psm2", FI_ADDR_PSMX2, 0, 8, 64, 4096},
      {"opx", "opx", FI_ADDR_OPX, 0, 8, 16, 1},
      {"tcp", "tcp", FI_SOCKADDR_IN, 0, 8, 128, UINT64_MAX},
  };
  for (const Contract& contract : contracts)
    run({.knobs = "", .preset = contract.preset}, [&] {
      const Info info = look_up();
      ASSERT_TRUE(info) << contract.preset;
      EXPECT_STREQ(info->fabric_attr->prov_name, contract.provider);
      EXPECT_EQ(info->addr_format, contract.format) << contract.preset;
      EXPECT_EQ(info->domain_attr->mr_mode, contract.mr_mode) << contract.preset;
      EXPECT_EQ(info->domain_attr->mr_key_size, contract.key_size) << contract.preset;
      EXPECT_EQ(info->tx_attr->inject_size, contract.inject) << contract.preset;
      const Info ordered =
          look_up([](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_RMA_RAW; });
      const std::uint64_t raw = ordered ? ordered->ep_attr->max_order_raw_size : 1;
      EXPECT_EQ(raw, contract.raw) << contract.preset;
    });
}

TEST(Presets, AreFoundByName) {
  EXPECT_EQ(find_preset("no such"), nullptr);
  for (const Preset& preset : presets()) EXPECT_EQ(find_preset(preset.name), &preset);
  EXPECT_EQ(WEXITSTATUS(status_of({.knobs = "", .preset = "no such"}, [] { look_up(); })), 99);
}

TEST(Knobs, AMistakeInTheirNamesOrValuesEndsTheProcess) {
  for (const char* wrong : {"no_such=1", "inject=many", "inject", "orders=sideways"})
    EXPECT_EQ(WEXITSTATUS(status_of({wrong}, [] { look_up(); })), 99) << wrong;
}

TEST(Knobs, HoldOnlyWhereTheyAreToHold) {
  run({.knobs = "", .variables = {{"FI_GEXSIM_WHERE", "RANK=1:absent=1"}, {"RANK", "0"}}},
      [] { EXPECT_FALSE(is_refused({})); });
  run({.knobs = "", .variables = {{"FI_GEXSIM_WHERE", "RANK=1:absent=1"}, {"RANK", "1"}}},
      [] { EXPECT_TRUE(is_refused({})); });
}

TEST(Knobs, EachIsTried) {
  std::string tests;
  for (const auto& file : std::filesystem::directory_iterator(GEXSIM_SOURCES)) {
    if (!file.path().string().ends_with("_test.cc")) continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    tests += text.str();
  }
  for (const KnobRow& row : knob_rows()) {
    const std::string setting = std::string(row.name) + "=";
    const bool is_tried = tests.find("\"" + setting) != std::string::npos ||
                          tests.find("," + setting) != std::string::npos;
    EXPECT_TRUE(is_tried) << row.name << ": " << row.doc;
  }
}

TEST(Report, NamesItsProviderNicsAndFabrics) {
  run({"name=gexsim,nic_name=eth%x,nics=3,fabrics=2,nics_reversed=1,nic_pci=1"}, [] {
    const Info info = look_up();
    std::vector<std::string> domains, fabrics;
    std::vector<int> buses;
    for (const fi_info* one = info.get(); one != nullptr; one = one->next) {
      domains.emplace_back(one->domain_attr->name);
      fabrics.emplace_back(one->fabric_attr->name);
      ASSERT_NE(one->nic, nullptr);
      buses.push_back(one->nic->bus_attr->attr.pci.bus_id);
    }
    EXPECT_EQ(domains, (std::vector<std::string>{"eth2x", "eth1x", "eth0x"}));
    EXPECT_EQ(fabrics, (std::vector<std::string>{"sim-fabric-0", "sim-fabric-1", "sim-fabric-0"}));
    EXPECT_EQ(buses, (std::vector<int>{0x30, 0x20, 0x10}));
  });
  run({"nic_pci=0"}, [] { EXPECT_EQ(look_up()->nic, nullptr); });
}

TEST(Report, MayHaveOneNameForSeveralFabrics) {
  run({"nics=2,fabrics=2,fabric_name=ib"}, [] {
    const Info info = look_up();
    EXPECT_STREQ(info->fabric_attr->name, "ib");
    EXPECT_STREQ(info->next->fabric_attr->name, "ib");
  });
}

TEST(Report, TakesTheAddressFormatOfItsNetwork) {
  run({"address=sockaddr"}, [] {
    const Info info = look_up();
    EXPECT_EQ(info->addr_format, static_cast<std::uint32_t>(FI_SOCKADDR_IN));
    ASSERT_EQ(info->src_addrlen, sizeof(sockaddr_in));
  });
}

TEST(Report, RefusesWhatIsMoreThanItHas) {
  run({"required_mode=context2"}, [] {
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.mode = FI_CONTEXT; }));
    EXPECT_FALSE(is_refused({}));
  });
  run({"multi_recv=0"},
      [] { EXPECT_TRUE(is_refused([](fi_info& hints) { hints.caps |= FI_MULTI_RECV; })); });
  run({"progress=manual"}, [] {
    EXPECT_TRUE(
        is_refused([](fi_info& hints) { hints.domain_attr->data_progress = FI_PROGRESS_AUTO; }));
  });
  run({"domain_thread_only=1"}, [] {
    EXPECT_TRUE(is_refused({}));
    EXPECT_FALSE(
        is_refused([](fi_info& hints) { hints.domain_attr->threading = FI_THREAD_DOMAIN; }));
  });
  run({"strict_tx_caps=1"},
      [] { EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->caps = FI_TAGGED; })); });
  run({"inject=10,tx_size=20,iov=2,rma_iov=3,max_message=40,rx_size=50"}, [] {
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->inject_size = 11; }));
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->size = 21; }));
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->iov_limit = 3; }));
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->rma_iov_limit = 4; }));
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.ep_attr->max_msg_size = 41; }));
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.rx_attr->size = 51; }));
    EXPECT_FALSE(is_refused([](fi_info& hints) { hints.tx_attr->inject_size = 10; }));
  });
  run({"atomics=none"},
      [] { EXPECT_TRUE(is_refused([](fi_info& hints) { hints.caps |= FI_ATOMIC; })); });
  run({"delivery=refused"}, [] {
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->op_flags = FI_DELIVERY_COMPLETE; }));
  });
  run({"orders=sas|rma_waw"}, [] {
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_RMA_RAW; }));
    EXPECT_FALSE(is_refused([](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_SAS; }));
  });
}

TEST(Report, OffersMemoryOfDevicesWhereItIsTaken) {
  const Ask of_devices = [](fi_info& hints) {
    hints.caps |= FI_HMEM;
    hints.domain_attr->mr_mode |= FI_MR_HMEM;
  };
  run({"hmem=interface"}, [&] { EXPECT_FALSE(is_refused(of_devices)); });
  run({""}, [&] { EXPECT_TRUE(is_refused(of_devices)); });
  run({"hmem=interface,kinds=2,hmem_kind=1"},
      [&] { EXPECT_EQ(look_up(of_devices)->ep_attr->protocol, look_up()->ep_attr->protocol + 1); });
}

TEST(Report, RequiresRegistrationAsTheNetworkDoes) {
  run({"mr_mode=virt_addr|endpoint,mr_if_offered=local,key_size=4"}, [] {
    EXPECT_TRUE(is_refused([](fi_info& hints) { hints.domain_attr->mr_mode = FI_MR_VIRT_ADDR; }));
    const Info all = look_up();
    EXPECT_EQ(all->domain_attr->mr_mode, FI_MR_VIRT_ADDR | FI_MR_ENDPOINT | FI_MR_LOCAL);
    const Info without =
        look_up([](fi_info& hints) { hints.domain_attr->mr_mode &= ~FI_MR_LOCAL; });
    EXPECT_EQ(without->domain_attr->mr_mode, FI_MR_VIRT_ADDR | FI_MR_ENDPOINT);
    EXPECT_EQ(all->domain_attr->mr_key_size, 4U);
  });
}

TEST(Report, GrantsOrderAsAskedOrAllOfIt) {
  const Ask asks_waw = [](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_RMA_WAW; };
  run({"orders=sas|rma_raw|rma_waw,orders_as_asked=1,max_order=100"}, [&] {
    EXPECT_EQ(look_up()->tx_attr->msg_order, 0U);
    EXPECT_EQ(look_up(asks_waw)->tx_attr->msg_order, FI_ORDER_RMA_WAW);
    EXPECT_EQ(look_up(asks_waw)->ep_attr->max_order_waw_size, 100U);
    EXPECT_EQ(look_up(asks_waw)->ep_attr->max_order_raw_size, 0U);
  });
  run({"orders=sas|rma_raw|rma_waw,orders_as_asked=0,atomics_void_order=1"}, [] {
    EXPECT_EQ(look_up()->tx_attr->msg_order, FI_ORDER_SAS | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW);
    EXPECT_NE(look_up()->ep_attr->max_order_raw_size, 0U);
    const Info atomic = look_up([](fi_info& hints) { hints.caps |= FI_ATOMIC; });
    EXPECT_EQ(atomic->ep_attr->max_order_raw_size, 0U);
  });
}

TEST(Report, GivesSizesThatItDoesNotKeep) {
  run({"tx_reported=max,cq_data=4"}, [] {
    EXPECT_EQ(look_up()->tx_attr->size, UINT64_MAX);
    EXPECT_EQ(look_up()->domain_attr->cq_data_size, 4U);
  });
}

TEST(Report, HasResourceManagementOnlyIfAsked) {
  run({"rm=echo"}, [] {
    EXPECT_EQ(look_up()->domain_attr->resource_mgmt, FI_RM_ENABLED);
    const Info info =
        look_up([](fi_info& hints) { hints.domain_attr->resource_mgmt = FI_RM_UNSPEC; });
    EXPECT_EQ(info->domain_attr->resource_mgmt, FI_RM_DISABLED);
  });
}

TEST(Report, IsMissingWhereLittleMemoryMayBeLocked) {
  run({"memlock=1M"}, [] {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    limit.rlim_cur = 1024;
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    EXPECT_TRUE(is_refused({}));
  });
  run({"absent=1"}, [] { EXPECT_TRUE(is_refused({})); });
}

TEST(Open, FailsAfterASuccessfulLookUp) {
  run({"domain_error=38"}, [] {
    const Client client;
    EXPECT_EQ(client.failed, "fi_domain");
    EXPECT_EQ(client.error, -38);
  });
  run({"domain_needs=SLINGSHOT_VNIS"}, [] { EXPECT_EQ(Client().failed, "fi_domain"); });
  run({.knobs = "domain_needs=SLINGSHOT_VNIS", .variables = {{"SLINGSHOT_VNIS", "7"}}},
      [] { EXPECT_EQ(Client().failed, ""); });
  run({"domains=1"}, [] {
    const Client first;
    EXPECT_EQ(first.failed, "");
    EXPECT_EQ(Client().failed, "fi_domain");
  });
  run({"endpoints=1"}, [] {
    const Client first;
    EXPECT_EQ(first.failed, "");
    EXPECT_EQ(Client().failed, "fi_endpoint");
  });
  run({"nics=2,broken_nics=1"}, [] {
    EXPECT_EQ(Client().failed, "fi_domain");
    Info second = look_up();
    EXPECT_EQ(Client(Info(fi_dupinfo(second->next))).failed, "");
  });
  run({"cq_max=100"}, [] {
    EXPECT_EQ(Client(look_up(), 101).failed, "fi_enable");
    EXPECT_EQ(Client(look_up(), 100).failed, "");
  });
}

TEST(Open, MakesQueuesForTheUniverse) {
  run({"universe_cq=10,cq_max=1K"}, [] { EXPECT_EQ(Client().failed, "fi_enable"); });
  run({.knobs = "universe_cq=10,cq_max=1K", .variables = {{"FI_UNIVERSE_SIZE", "100"}}},
      [] { EXPECT_EQ(Client().failed, ""); });
}

TEST(Open, ForbidsForks) {
  const int status = status_of({"fork_aborts=1"}, [] {
    const Client client;
    if (fork() == 0) _exit(0);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_EQ(status_of({"fork_aborts=0"},
                      [] {
                        const Client client;
                        const pid_t child = fork();
                        if (child == 0) _exit(0);
                        waitpid(child, nullptr, 0);
                      }),
            0);
}

}  // namespace
}  // namespace gexsim::test
