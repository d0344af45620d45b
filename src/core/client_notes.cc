#include "core/client_notes.h"

#include <gasnetex.h>
#include <link.h>

#include <cstring>

#include "base/error.h"
#include "core/process.h"

namespace gex {

namespace {

struct Reading {
  ClientNotes notes;
  std::string first_object;
};

std::string object_name(const dl_phdr_info& object) {
  return object.dlpi_name != nullptr && object.dlpi_name[0] != '\0' ? object.dlpi_name
                                                                    : "the program";
}

void read_record(Reading& reading, const dl_phdr_info& object, const gex_ClientNote_& note) {
  const std::string name = object_name(object);
  if (note.abi != GEX_ABI_VERSION_)
    fatal("%s was compiled for libgex ABI %u, this library has ABI %u: compile it again",
          name.c_str(), note.abi, static_cast<unsigned>(GEX_ABI_VERSION_));
  if (reading.notes.count == 0) {
    reading.notes.mode = note.mode;
    reading.first_object = name;
  } else if (note.mode != reading.notes.mode) {
    const char* const first = mode_name(reading.notes.mode);
    if (name == reading.first_object)
      fatal(
          "threading modes are mixed: GASNET_%s and GASNET_%s in two object files of %s; compile "
          "all with one mode",
          first, mode_name(note.mode), name.c_str());
    fatal("threading modes are mixed: GASNET_%s in %s, GASNET_%s in %s; compile both with one mode",
          first, reading.first_object.c_str(), mode_name(note.mode), name.c_str());
  }
  const std::string label(note.conduit, strnlen(note.conduit, sizeof note.conduit));
  if (reading.notes.conduit.empty()) reading.notes.conduit = label;
  if (label == "smp" && reading.notes.smp_object.empty()) reading.notes.smp_object = name;
  ++reading.notes.count;
}

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 3) & ~std::size_t{3};
}

int read_object(dl_phdr_info* object, std::size_t, void* context) {
  auto& reading = *static_cast<Reading*>(context);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const std::size_t size = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
      if (size > static_cast<std::size_t>(end - at)) break;
      gex_ClientNote_ record;
      if (note.n_type == GEX_NOTE_TYPE_CLIENT_ && note.n_namesz == sizeof record.name &&
          size >= sizeof record &&
          std::memcmp(at + sizeof note, GEX_NOTE_NAME_, sizeof record.name) == 0) {
        std::memcpy(&record, at, sizeof record);
        read_record(reading, *object, record);
      }
      at += size;
    }
  }
  return 0;
}

}  // namespace

ClientNotes read_client_notes() {
  Reading reading;
  dl_iterate_phdr(read_object, &reading);
  return reading.notes;
}

}  // namespace gex
