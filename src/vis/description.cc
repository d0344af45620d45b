#include "vis/description.h"

#include <algorithm>
#include <cstring>

#include "vis/by_kind.h"
#include "vis/region_copy.h"

namespace gex::vis {

namespace {

// A region that is a list travels as its list: addresses, or addresses with lengths.
static_assert(sizeof(void*) == 8 && sizeof(gex_Memvec_t) == 16);

/// Before the dimensions of a part of a strided region.
struct StridedHead {
  std::uint64_t first;
  std::uint64_t element;
  std::uint64_t block;
  std::uint64_t offset;
};
struct StridedEntry {
  std::uint64_t count;
  std::int64_t stride;
};

/// Before the addresses of a part of an indexed list.
struct IndexedHead {
  std::uint64_t length;
  std::uint64_t offset;
};

/// A part with more dimensions would have more elements than fit in a message.
constexpr unsigned max_described_dims = 16;

template <class Value>
void write(std::byte* out, const Value& value) noexcept {
  std::memcpy(out, &value, sizeof value);
}

/// The bytes of a part that begins at the cursor: whole elements where it can be, of the next
/// `elements` that one description can be of.
std::size_t part_bytes(const Shape& shape, const Cursor& cursor, std::size_t elements,
                       std::size_t bytes, const Room& room, std::size_t described) noexcept {
  const std::size_t left = (elements - cursor.block % elements) * shape.element - cursor.offset;
  const std::size_t limit =
      std::min({bytes, left, room.data, room.both - std::min(described, room.both)});
  if (cursor.offset != 0) return std::min(limit, shape.element - cursor.offset);
  return limit > shape.element ? limit - limit % shape.element : limit;
}

Part describe_indexed(const BlockList& region, Cursor& cursor, std::size_t bytes, const Room& room,
                      std::byte* out) noexcept {
  Part part{Layout::indexed, 0, sizeof(IndexedHead), 0};
  write(out, IndexedHead{region.length(), cursor.offset});
  while (part.data_bytes < bytes) {
    const std::size_t description = part.description_bytes + sizeof(void*);
    if (description > room.description || description + part.data_bytes >= room.both) break;
    const std::size_t left = region.length() - cursor.offset;
    const std::size_t here = std::min({left, bytes - part.data_bytes, room.data - part.data_bytes,
                                       room.both - description - part.data_bytes});
    if (here == 0) break;
    write(out + part.description_bytes, region.address(cursor.block));
    part.description_bytes = description;
    ++part.entries;
    part.data_bytes += here;
    cursor.offset += here;
    if (here < left) break;
    cursor = {cursor.block + 1, 0};
  }
  return part;
}

Part describe_vector(const BlockList& region, Cursor& cursor, std::size_t bytes, const Room& room,
                     std::byte* out) noexcept {
  Part part{Layout::vector, 0, 0, 0};
  gex_Memvec_t entry{nullptr, 0};
  while (part.data_bytes < bytes) {
    const std::size_t left = region.length(cursor.block) - cursor.offset;
    std::byte* const address = region.address(cursor.block) + cursor.offset;
    const bool joined =
        part.entries != 0 && address == static_cast<std::byte*>(entry.gex_addr) + entry.gex_len;
    const std::size_t description = part.description_bytes + (joined ? 0 : sizeof entry);
    if (description > room.description || description + part.data_bytes >= room.both) break;
    const std::size_t here = std::min({left, bytes - part.data_bytes, room.data - part.data_bytes,
                                       room.both - description - part.data_bytes});
    if (here != 0) {
      entry =
          joined ? gex_Memvec_t{entry.gex_addr, entry.gex_len + here} : gex_Memvec_t{address, here};
      part.entries += joined ? 0 : 1;
      part.description_bytes = description;
      write(out + description - sizeof entry, entry);
      part.data_bytes += here;
      cursor.offset += here;
    }
    if (here < left) break;
    cursor = {cursor.block + 1, 0};
  }
  return part;
}

}  // namespace

std::size_t max_description_bytes(const StridedRegion& region) noexcept {
  return sizeof(StridedHead) +
         std::min(region.shape->dims, max_described_dims) * sizeof(StridedEntry);
}

std::size_t max_description_bytes(const BlockList& region) noexcept {
  const std::size_t entry = region.is_indexed() ? sizeof(void*) : sizeof(gex_Memvec_t);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(region.count(), entry, &bytes)) return ~std::size_t{0} / 2;
  return sizeof(IndexedHead) + bytes;
}

Part describe(const StridedRegion& region, Cursor& cursor, std::size_t bytes, const Room& room,
              std::byte* out) noexcept {
  const Shape& shape = *region.shape;
  std::size_t elements = 1;
  for (unsigned i = 0; i < std::min(shape.dims, max_described_dims); ++i)
    elements *= shape.dim[i].count;
  const std::size_t data =
      part_bytes(shape, cursor, elements, bytes, room, max_description_bytes(region));

  // The dimensions that the part spans; its index in the others is constant.
  const std::size_t last = cursor.block + (cursor.offset + data - 1) / shape.element;
  unsigned dims = 0;
  std::size_t spanned = 1;
  while (cursor.block / spanned != last / spanned) spanned *= shape.dim[dims++].count;

  const std::size_t inner = cursor.block % spanned;
  const std::byte* first = region.first + shape.place(region.end, cursor.block - inner);
  write(out,
        StridedHead{reinterpret_cast<std::uint64_t>(first), shape.element, inner, cursor.offset});
  for (unsigned i = 0; i < dims; ++i)
    write(out + sizeof(StridedHead) + i * sizeof(StridedEntry),
          StridedEntry{shape.dim[i].count, shape.dim[i].stride[region.end]});

  advance(region, cursor, data);
  return {Layout::strided, dims, sizeof(StridedHead) + dims * sizeof(StridedEntry), data};
}

Part describe(const BlockList& region, Cursor& cursor, std::size_t bytes, const Room& room,
              std::byte* out) noexcept {
  return region.is_indexed() ? describe_indexed(region, cursor, bytes, room, out)
                             : describe_vector(region, cursor, bytes, room, out);
}

bool Described::read_strided(std::uint32_t dims, const std::byte* message, std::size_t size,
                             std::size_t& description_bytes) noexcept {
  if (dims > max_described_dims) return false;
  description_bytes = sizeof(StridedHead) + dims * sizeof(StridedEntry);
  if (description_bytes > size) return false;
  StridedHead head;
  std::memcpy(&head, message, sizeof head);
  shape_.element = head.element;
  shape_.elements = 1;
  shape_.dims = 0;
  for (std::uint32_t i = 0; i < dims; ++i) {
    StridedEntry entry;
    std::memcpy(&entry, message + sizeof head + i * sizeof entry, sizeof entry);
    if (entry.count == 0) return false;
    if (__builtin_mul_overflow(shape_.elements, entry.count, &shape_.elements)) return false;
    // The extent does not bound the stride of a loop of one turn.
    if (entry.count != 1) shape_.dim[shape_.dims++] = {entry.count, {entry.stride, entry.stride}};
  }
  first_ = reinterpret_cast<std::byte*>(head.first);
  start_ = {head.block, head.offset};
  std::size_t bytes = 0;
  return head.element != 0 && head.offset < head.element && head.block < shape_.elements &&
         !__builtin_mul_overflow(shape_.elements, shape_.element, &bytes);
}

bool Described::strided_holds(std::size_t bytes) const noexcept {
  return bytes <= (shape_.elements - start_.block) * shape_.element - start_.offset;
}

bool Described::read(std::uint32_t layout, std::uint32_t entries, std::byte* message,
                     std::size_t size, std::size_t& description_bytes) noexcept {
  switch (static_cast<Layout>(layout)) {
    case Layout::strided:
      layout_ = Layout::strided;
      return read_strided(entries, message, size, description_bytes);
    case Layout::indexed: {
      layout_ = Layout::indexed;
      description_bytes = sizeof(IndexedHead) + std::size_t{entries} * sizeof(void*);
      if (description_bytes > size) return false;
      IndexedHead head;
      std::memcpy(&head, message, sizeof head);
      start_ = {0, head.offset};
      list_ =
          BlockList(reinterpret_cast<void* const*>(message + sizeof head), entries, head.length);
      return true;
    }
    case Layout::vector:
      layout_ = Layout::vector;
      description_bytes = std::size_t{entries} * sizeof(gex_Memvec_t);
      if (description_bytes > size) return false;
      start_ = {};
      list_ = BlockList(reinterpret_cast<const gex_Memvec_t*>(message), entries);
      return true;
  }
  return false;
}

void Described::gather(std::size_t bytes, std::byte* to) const noexcept {
  Cursor cursor = start_;
  if (layout_ == Layout::strided)
    vis::gather(StridedRegion{&shape_, remote_end, first_}, cursor, bytes, to);
  else
    vis::gather(list_, cursor, bytes, to);
}

void Described::scatter(std::size_t bytes, const std::byte* from) const noexcept {
  Cursor cursor = start_;
  if (layout_ == Layout::strided)
    vis::scatter(StridedRegion{&shape_, remote_end, first_}, cursor, bytes, from);
  else
    vis::scatter(list_, cursor, bytes, from);
}

std::uint32_t Described::begin_gather(const MemoryKind& kind, std::size_t bytes, std::byte* to,
                                      CompletionTarget done) const noexcept {
  Cursor cursor = start_;
  return layout_ == Layout::strided
             ? vis::begin_gather(kind, StridedRegion{&shape_, remote_end, first_}, cursor, bytes,
                                 to, done)
             : vis::begin_gather(kind, list_, cursor, bytes, to, done);
}

std::uint32_t Described::begin_scatter(const MemoryKind& kind, std::size_t bytes,
                                       const std::byte* from,
                                       CompletionTarget done) const noexcept {
  Cursor cursor = start_;
  return layout_ == Layout::strided
             ? vis::begin_scatter(kind, StridedRegion{&shape_, remote_end, first_}, cursor, bytes,
                                  from, done)
             : vis::begin_scatter(kind, list_, cursor, bytes, from, done);
}

}  // namespace gex::vis
