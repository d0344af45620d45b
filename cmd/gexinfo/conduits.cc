#include "conduits.h"

#include <algorithm>
#include <filesystem>

#include "base/env.h"
#include "core/process.h"
#include "net/registry.h"

namespace gexinfo {

namespace {

constexpr const char* smp_description = "the ranks of one host, in shared memory; no network";

Probe describe_smp() {
  Probe smp;
  smp.name = "smp";
  smp.description = smp_description;
  for (const gex::net::NetworkOperation& operation : gex::net::operations())
    smp.means.push_back(means_of(operation, nullptr));
  return smp;
}

}  // namespace

void look_beside_libgex() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  if (error) return;
  const fs::path folder = fs::canonical(program.parent_path() / GEXINFO_LIBRARY_FOLDER, error);
  if (!error) gex::net::set_library_folder(folder.string());
}

Conduits find_conduits(int control) {
  Conduits found;
  found.list.push_back({"smp", "shared memory", {}, false, describe_smp()});
  for (const gex::net::Conduit* conduit : gex::net::built_in())
    found.list.push_back({conduit->name, "built in", {}, false, probe(conduit->name, control)});

  const gex::net::Survey survey = gex::net::survey();
  for (const gex::net::Folder& folder : survey.folders)
    found.folders.push_back({folder.path, folder.error});
  for (const gex::net::PlugIn& plug_in : survey.plug_ins) {
    ConduitFacts facts{plug_in.name, "plug-in", plug_in.file, false, {}};
    if (plug_in.hidden_by.empty()) {
      facts.probe = probe(plug_in.name, control);
    } else {
      facts.probe.refusal = "hidden by " + plug_in.hidden_by;
    }
    found.list.push_back(std::move(facts));
  }
  // One that is named by its file need not lie in any of the folders.
  const std::string wanted = gex::env::text(gex::env::Variable::conduit);
  const bool is_listed =
      std::any_of(found.list.begin(), found.list.end(),
                  [&](const ConduitFacts& conduit) { return conduit.file == wanted; });
  if (wanted.find('/') != wanted.npos && !is_listed) {
    Probe tried_out = probe(wanted, control);
    const std::string name = tried_out.refusal.empty() ? tried_out.name : wanted;
    found.list.push_back({name, "plug-in", wanted, false, std::move(tried_out)});
  }
  return found;
}

void mark_chosen(Conduits& conduits) {
  const gex::Process& process = gex::process();
  const bool by_file = process.conduit_name.find('/') != std::string::npos;
  for (ConduitFacts& conduit : conduits.list) {
    if (!(by_file ? conduit.file == process.conduit_name
                  : conduit.name == process.conduit_name && conduit.probe.refusal.empty()))
      continue;
    conduit.chosen = true;
    if (process.conduit != nullptr) conduit.probe = probe_own();
  }
}

}  // namespace gexinfo
