#!/usr/bin/env python3
"""Puts assumptions about fabrics back into ofi, one at a time, and expects a test to fail of each.

    assumptions.py BUILD [NAME...]

Changes sources, and restores them; builds in BUILD what the tests need. The list of all assumptions is in
README.md.
"""

import pathlib
import subprocess
import sys

OFI = "src/net/ofi/"
UNIT = "unit.net_ofi_choice_test"
LOSS = "unit.net_loss_detector_test"
PROGRAMS = {UNIT: ["net_ofi_choice_test"], LOSS: ["unit_net"]}
OF_JOBS = ["gex_ofi", "gexsim", "operations_job", "conformance_par", "gexinfo"]
# Name: file, what stands there, what is put in its place, tests of which one fails.
MUTATIONS = {
    "1 a known name": (OFI + "habits.cc", ".ignores_delivery = true, ", "", UNIT),
    "1 an unknown name": (
        OFI + "trial.cc",
        "if (outcome == Outcome::silent || value_of(word) != value) return broken_delivery;",
        "",
        "job.fabric.untrue-delivery",
    ),
    "1 extent without size": (
        OFI + "provider.cc",
        ": means.max_ordered != 0;",
        ": true;",
        "job.fabric.count.puts.read-back",
    ),
    "2": (
        OFI + "one_sided_fence.cc",
        "if (size > max_fenced_) return false;",
        "if (size != 0 || size > max_fenced_) return false;",
        "job.fabric.count.flood",
    ),
    "2 buffers of puts that were sent": (
        OFI + "one_sided_fence.cc",
        "  if (transfer.bounce != nullptr) bounce_.give_back(std::exchange(transfer.bounce, nullptr));\n",
        "",
        "job.fabric.verbs",
    ),
    "2 order is not kept": (
        OFI + "trial.cc",
        "return value_of(word) == value ? 0 : broken_write_order;",
        "return 0;",
        "job.fabric.untrue-write-order",
    ),
    "3": (
        OFI + "agreement.cc",
        "verdict.refused = way_shown_by(*unready);",
        "return verdict;",
        "job.fabric.next-provider.domain_needs",
    ),
    "4": (
        OFI + "job_variables.cc",
        "variables.push_back({name, seconds_of_contact});",
        "static_cast<void>(name);",
        UNIT + "|job.fabric.patience",
    ),
    "5": (
        OFI + "one_sided.cc",
        "std::min(info.tx_attr->size, std::size_t{1} << 16)",
        "info.tx_attr->size",
        "job.fabric.no-limit",
    ),
    "6": (
        OFI + "provider.cc",
        "{{true, false}, {false, false}, {true, true}, {false, true}}",
        "{{true, true}, {false, true}}",
        "job.fabric.registration",
    ),
    "7 fabrics": (
        OFI + "provider.cc",
        "return fabric(one) != first ||",
        "return",
        "job.fabric.fabrics",
    ),
    "7 one row an interface": (
        OFI + "provider.cc",
        "!seen.insert(one->domain_attr->name).second",
        "(seen.insert(one->domain_attr->name), false)",
        "job.fabric.identity",
    ),
    "7 nearness": (OFI + "nearness.cc", "own < 0 ||", "own < 9 ||", UNIT),
    "8 queues": (
        OFI + "job_variables.cc",
        "std::max(ranks, least_universe)",
        "std::max(ranks, 1024U)",
        "job.fabric.universe",
    ),
    "8 receive buffers": (OFI + "job_variables.cc", "ranks > many_connections", "false", UNIT),
    "10": (OFI + "fabric.h", "library < newest ?", "library < FI_VERSION(1, 18) ?", UNIT),
    "11": (
        OFI + "endpoint.cc",
        "if (domain_.events() != nullptr) fi_ep_bind(endpoint, &domain_.events()->fid, 0);",
        "",
        "job.fabric.device-error",
    ),
    "12": (
        OFI + "network.cc",
        "            progress();\n            return under_way() == 0;",
        "            return under_way() == 0;",
        "job.fabric.efa",
    ),
    "13": (
        OFI + "job_variables.cc",
        "variables.push_back({name, uuid_of(cookie)});",
        "if (cookie == 0) variables.push_back({name, uuid_of(cookie)});",
        "job.fabric.identity",
    ),
    "14": (OFI + "ofi.cc", "if (i == 0) error = refused;", "error = refused;", "job.fabric.no-limit"),
    "15": (
        OFI + "habits.cc",
        "bool takes_option_late(std::string_view provider, std::uint32_t library_version) noexcept {\n"
        "  return habits_of(provider).has_files && library_version < FI_VERSION(2, 0);",
        "bool takes_option_late(std::string_view provider, std::uint32_t) noexcept {\n"
        "  return habits_of(provider).has_files;",
        UNIT,
    ),
    "16": (
        "src/net/kit/loss_detector.h",
        "++peer.late_rounds > patience_",
        "++peer.late_rounds > 0",
        LOSS,
    ),
    "17": (
        OFI + "endpoint.cc",
        "if (size < least_completions || !make(ignored)) return false;",
        "return false;",
        "job.fabric.short-queue",
    ),
    "18": (
        OFI + "provider.cc",
        '    {"psm2", own_protocol},\n',
        "",
        UNIT,
    ),
    "19": (
        OFI + "network.cc",
        "if (operation == nullptr) return;\n  switch",
        "switch",
        "job.fabric.unasked-completions",
    ),
    "20": (
        OFI + "receive_buffers.cc",
        "  else\n    doubt(buffer);",
        "",
        "job.fabric.receive-error",
    ),
    "20 buffers that are kept": (
        OFI + "network.cc",
        "if (!is_released && receive_.is_full(buffer, entry)) {",
        "if (false) {",
        "job.fabric.unreleased",
    ),
    "21": (
        OFI + "network.cc",
        "    if (!is_passing(error.err))\n",
        "    if (!is_passing(error.err) || error.err != 0)\n",
        "job.fabric.unassigned-error",
    ),
    "22": (
        OFI + "registration.cc",
        "return info.domain_attr->mr_key_size >= sizeof(std::uint64_t);",
        "return info.addr_format == FI_SOCKADDR_IN;",
        "job.fabric.count.keys",
    ),
    "23": (
        OFI + "job_variables.cc",
        '{"FI_OFI_RXM_BUFFER_SIZE", "FI_CXI_RDZV_THRESHOLD"}',
        '{"FI_CXI_RDZV_THRESHOLD"}',
        "job.fabric.count.mediums$",
    ),
    "24": (
        OFI + "registration.cc",
        "limit_text(result);",
        "limit_text(0);",
        "job.fabric.little-memory",
    ),
    "25": (
        "src/net/kit/registration_cache.cc",
        "monitor_.unwatch(pages);",
        "",
        "job.fabric.watched-memory",
    ),
    "28": (
        OFI + "endpoint.cc",
        "  const std::vector<std::byte> own_name = name(error);\n",
        "  if (fork() == 0) _exit(0);\n  const std::vector<std::byte> own_name = name(error);\n",
        "job.fabric.efa",
    ),
    "30": (
        OFI + "provider.cc",
        'domain.starts_with(asked) && domain.substr(asked.size()).starts_with("-")',
        "false",
        "job.fabric.interface-name",
    ),
    "31": (
        OFI + "job_variables.cc",
        '{"FI_OFI_RXM_BUFFER_SIZE", "FI_CXI_RDZV_THRESHOLD"}',
        '{"FI_OFI_RXM_BUFFER_SIZE"}',
        "job.fabric.count.mediums.cxi",
    ),
    "32 a missing operation": (
        OFI + "trial.cc",
        "if (works || self_ == FI_ADDR_NOTAVAIL) return true;",
        "if (works || next_word_ != words + 1) return true;",
        "job.fabric.count.atomics.missing",
    ),
    "32 delivery": (
        OFI + "domain.cc",
        "info_->tx_attr->op_flags = 0;",
        "",
        "job.fabric.count.atomics$",
    ),
    "33": (
        OFI + "registration.cc",
        "if ((mode_ & FI_MR_ENDPOINT) != 0) {",
        'if (std::string(endpoint_.info().fabric_attr->prov_name) == "cxi") {',
        "job.fabric.endpoint-regions",
    ),
}


def is_caught(build, source, old, new, tests):
    text = source.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{source}: {text.count(old)} places, not one, are: {old}")
    targets = [one for test in tests.split("|") for one in PROGRAMS.get(test, OF_JOBS)]
    try:
        source.write_text(text.replace(old, new), encoding="utf-8")
        command = ["ninja", "-C", build, *targets]
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
            print(f"{source} does not compile with: {new}")
            return False
        pattern = "|".join(one if one.endswith("$") else one + "$" for one in tests.split("|"))
        command = ["ctest", "--test-dir", build, "-C", "jobs", "-R", f"^({pattern})", "--timeout", "60"]
        command += ["--no-tests=error"]
        return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0
    finally:
        source.write_text(text, encoding="utf-8")


def main():
    build, *names = sys.argv[1:]
    root = pathlib.Path(__file__).parents[2]
    missed = []
    for name, (file, old, new, tests) in MUTATIONS.items():
        if names and name.split()[0] not in names:
            continue
        caught = is_caught(build, root / file, old, new, tests)
        print(f"{name}: {'caught by' if caught else 'NOT caught by'} {tests}", flush=True)
        if not caught:
            missed.append(name)
    sys.exit(f"not caught: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
