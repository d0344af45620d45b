#include "net/emu/model.h"

#include <gtest/gtest.h>

#include <string>

namespace gex::net::emu {
namespace {

std::string mistake(std::string_view text) {
  std::string why;
  EXPECT_FALSE(parse_model(text, why)) << text;
  return why;
}

Model parsed(std::string_view text) {
  std::string why;
  const std::optional<Model> model = parse_model(text, why);
  EXPECT_TRUE(model) << text << ": " << why;
  return model.value_or(Model{});
}

TEST(EmuModel, OfNothingTakesNoTime) {
  const Model model = parsed("");
  EXPECT_FALSE(model.has_time());
  EXPECT_TRUE(model.native);
  EXPECT_TRUE(model.atomics);
  EXPECT_GE(model.depth, 1u);
  EXPECT_EQ(describe(model), "no time passes");
}

TEST(EmuModel, ReadsEveryUnit) {
  const Model model = parsed(
      "latency=1.5us,send_overhead=200ns,receive_overhead=0.001ms,gap=0.5us,bandwidth=2GB/s,"
      "rate=3M/s,bisection=1GiB/"
      "s,registration=1s,cache=3MiB,jitter=4ns,depth=7,pieces=5,total=9,native=0,atomics=0");
  EXPECT_DOUBLE_EQ(model.latency, 1500);
  EXPECT_DOUBLE_EQ(model.send_overhead, 200);
  EXPECT_DOUBLE_EQ(model.receive_overhead, 1000);
  EXPECT_DOUBLE_EQ(model.gap, 500);
  EXPECT_DOUBLE_EQ(model.bandwidth, 2e9);
  EXPECT_DOUBLE_EQ(model.rate, 3e6);
  EXPECT_DOUBLE_EQ(model.bisection, 1 << 30);
  EXPECT_DOUBLE_EQ(model.registration, 1e9);
  EXPECT_DOUBLE_EQ(model.cache, 3 << 20);
  EXPECT_DOUBLE_EQ(model.jitter, 4);
  EXPECT_EQ(model.depth, 7u);
  EXPECT_EQ(model.pieces, 5u);
  EXPECT_EQ(model.total, 9u);
  EXPECT_FALSE(model.native);
  EXPECT_FALSE(model.atomics);
  EXPECT_TRUE(model.has_time());
}

TEST(EmuModel, SettingsOverrideWhatStandsBeforeThem) {
  const Model preset = parsed("elan4");
  const Model changed = parsed("elan4,latency=9us");
  EXPECT_DOUBLE_EQ(changed.latency, 9000);
  EXPECT_DOUBLE_EQ(changed.bandwidth, preset.bandwidth);
  EXPECT_DOUBLE_EQ(parsed("latency=9us,elan4").latency, preset.latency);
}

TEST(EmuModel, EveryPresetIsANetwork) {
  EXPECT_FALSE(presets().empty());
  for (const Preset& preset : presets()) {
    const Model model = parsed(preset.name);
    EXPECT_GT(model.latency, 0) << preset.name;
    EXPECT_GT(model.bandwidth, 0) << preset.name;
    EXPECT_GT(model.send_overhead, 0) << preset.name;
  }
}

TEST(EmuModel, ReportsWhatIsWrong) {
  EXPECT_EQ(mistake("xt5").substr(0, 45), "'xt5' is not a known network; available: myri");
  EXPECT_EQ(mistake("lat=1us").substr(0, 35), "'lat' is not a setting; available: ");
  EXPECT_EQ(mistake("latency=1"), "latency=1: expected a time such as 1.5us");
  EXPECT_EQ(mistake("latency=-1us"), "latency=-1us: expected a time such as 1.5us");
  EXPECT_EQ(mistake("latency=nanus"), "latency=nanus: expected a time such as 1.5us");
  EXPECT_EQ(mistake("gap=9999999s"), "gap=9999999s: expected a time such as 1.5us");
  EXPECT_EQ(mistake("bandwidth=1GB"), "bandwidth=1GB: expected a bandwidth such as 10GB/s");
  EXPECT_EQ(mistake("bandwidth=0.5B/s"), "bandwidth=0.5B/s: expected a bandwidth such as 10GB/s");
  EXPECT_EQ(mistake("cache=1"), "cache=1: expected an amount of memory such as 64MB");
  EXPECT_EQ(mistake("cache=9999999GB"),
            "cache=9999999GB: expected an amount of memory such as 64MB");
  EXPECT_EQ(mistake("rate=2us"), "rate=2us: expected a rate such as 2.5M/s");
  EXPECT_EQ(mistake("depth=0"), "depth=0: expected 1 to 4096");
  EXPECT_EQ(mistake("pieces=257"), "pieces=257: expected 0 to 256");
  EXPECT_EQ(mistake("total=-1"), "total=-1: expected 0 to 1048576");
  EXPECT_EQ(mistake("native=yes"), "native=yes: expected 0 or 1");
  EXPECT_EQ(mistake("xt,,gap=1us").substr(0, 26), "'' is not a known network;");
}

}  // namespace
}  // namespace gex::net::emu
