#include "address_vector.h"

#include <cstdio>

#include "address.h"
#include "counts.h"
#include "domain.h"
#include "stubs.h"

namespace gexsim {

struct AddressVectorTable {
  static AddressVector& own(fid_av* addresses) { return *static_cast<AddressVector*>(addresses); }

  static int insert(fid_av* addresses, const void* names, std::size_t count, fi_addr_t* numbers,
                    std::uint64_t /*flags*/, void* /*context*/) {
    AddressVector& table = own(addresses);
    const std::lock_guard guard(table.mutex_);
    int inserted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Address address =
          read_name(static_cast<const std::byte*>(names) + i * address_format().size);
      const bool is_name = address.process != 0;
      if (numbers != nullptr) numbers[i] = is_name ? table.addresses_.size() : FI_ADDR_NOTAVAIL;
      if (!is_name) continue;
      table.addresses_.emplace_back(address);
      count_address();
      ++inserted;
    }
    return inserted;
  }

  static int remove(fid_av* addresses, fi_addr_t* numbers, std::size_t count, std::uint64_t) {
    AddressVector& table = own(addresses);
    const std::lock_guard guard(table.mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      if (numbers[i] >= table.addresses_.size()) return -FI_EINVAL;
      table.addresses_[numbers[i]].reset();
    }
    return 0;
  }

  static int lookup(fid_av* addresses, fi_addr_t number, void* name, std::size_t* size) {
    const std::optional<Address> address = own(addresses).find(number);
    if (!address) return -FI_EINVAL;
    return write_name(*address, 0, name, *size);
  }

  static const char* to_text(fid_av*, const void* name, char* text, std::size_t* size) {
    const Address address = read_name(name);
    *size = static_cast<std::size_t>(
        std::snprintf(text, *size, "gexsim://%u:%u", address.process, address.file) + 1);
    return text;
  }

  static int close(fid* object) {
    delete &own(reinterpret_cast<fid_av*>(object));
    return 0;
  }
};

namespace {

fi_ops address_object{.size = sizeof(fi_ops),
                      .close = AddressVectorTable::close,
                      .bind = missing,
                      .control = missing,
                      .ops_open = missing,
                      .tostr = missing,
                      .ops_set = missing};
// Later versions of libfabric have further members, which stay null.
fi_ops_av address_table = [] {
  fi_ops_av table{};
  table.size = sizeof table;
  table.insert = AddressVectorTable::insert;
  table.insertsvc = missing;
  table.insertsym = missing;
  table.remove = AddressVectorTable::remove;
  table.lookup = AddressVectorTable::lookup;
  table.straddr = AddressVectorTable::to_text;
  table.av_set = missing;
  return table;
}();

}  // namespace

AddressVector::AddressVector(void* context) : fid_av{} {
  fid.fclass = FI_CLASS_AV;
  fid.context = context;
  fid.ops = &address_object;
  ops = &address_table;
}

std::optional<Address> AddressVector::find(fi_addr_t number) const {
  const std::lock_guard guard(mutex_);
  if (number >= addresses_.size()) return std::nullopt;
  return addresses_[number];
}

int open_addresses(fid_domain*, fi_av_attr*, fid_av** addresses, void* context) {
  *addresses = new AddressVector(context);
  return 0;
}

}  // namespace gexsim
