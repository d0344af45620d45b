#pragma once
// Measuring a row: runs, of which those on a quiet machine count.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../default_rsh.h"
#include "catalogue.h"
#include "emu_limit.h"
#include "quiet.h"

namespace gexperf {

struct Hosts {
  std::string first;
  std::string second;
};

/// Where the programs are, and how much is measured.
struct Plan {
  std::string launcher;       ///< gexrun
  std::string worker_folder;  ///< of gexperf-seq, -par and -fi-flood
  unsigned rounds = 25;       ///< pairs of samples in a run
  unsigned runs = 3;          ///< quiet runs wanted
  unsigned tries = 0;         ///< runs made at most; 0: three times `runs`
  /// The processors that may be used, first one of each core: gexrun binds rank r to processor r.
  std::vector<std::uint32_t> processors;
  unsigned cores = 0;  ///< that they belong to, as far as they may run at the same time
  /// Measures what has too few cores, too, and bears no figures: threads and ranks share cores.
  bool oversubscribe = false;
  /// The provider over which both ends measure rows over libfabric.
  std::string provider = "tcp;ofi_rxm";
  /// The two hosts between which those rows are measured, and how they are reached; nothing: on
  /// this one.
  std::optional<Hosts> hosts;
  std::string rsh = gex::cmd::default_rsh;
  /// The model of emu in the rows over it: a value of GEX_EMU that gives them a time.
  std::string emu_model = usual_emu_model;

  /// How many runs are tried before gexperf makes do with what it has.
  unsigned max_tries() const { return tries != 0 ? tries : 3 * runs; }
  std::string worker(Mode mode) const;
};

/// Samples in nanoseconds; a limit of 0: there is none.
struct Sample {
  double subject;
  double limit;
};

/// The result of a run.
struct Run {
  std::vector<Sample> samples;
  Disturbance disturbance;
};

struct Result {
  const Row* row = nullptr;
  double value = 0;     ///< median, in the row's unit
  double spread = 0;    ///< distance of the quartiles, as a fraction of the median
  double limit = 0;     ///< median, in the row's unit; 0: there is none
  double ratio = 0;     ///< median of the pairs' ratios; 0: there is none
  double measured = 0;  ///< the value before it is given its unit: nanoseconds, or KiB
  unsigned accepted = 0;
  unsigned tried = 0;
  Disturbance worst{};  ///< most that was seen in any run that was not accepted

  bool oversubscribed = false;  ///< there were too few cores
  std::string device{};         ///< whose memory was copied to or from; empty: no device's
  bool fake_device = false;     ///< the figures are of a driver for tests

  /// The value of quiet runs is less than can be: something is wrong with the measurement.
  bool below_floor() const;
  bool has_budget() const { return row->held != Budget::none; }
  /// The row's allowance as a part of the limit.
  double allowed_ratio() const;
  /// The budget is shown to be met, by quiet runs.
  bool met() const;
};

/// Measures a row. On failure `trouble` is what failed, and there is no result.
bool measure(const Plan& plan, const Row& row, Result& result, std::string& trouble);

/// The result of runs: of the quiet ones, or of all if there is none. At least one run, with at
/// least one sample.
Result summarise(const Row& row, const std::vector<Run>& runs);

}  // namespace gexperf
