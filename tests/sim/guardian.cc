#include "guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "job/packed_table.h"

namespace gex::sim {

namespace {

job::HostPart one_host(std::uint32_t ranks) {
  job::HostPart host{"this process", {}};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) host.ranks.add(rank);
  return host;
}

job::FrameHeader frame_of(job::FrameKind kind) {
  job::FrameHeader header;
  header.kind = kind;
  return header;
}

}  // namespace

Guardian::Guardian(std::uint32_t ranks) : host_(one_host(ranks)), gather_(host_), sharing_(host_) {
  os::FileDescriptor page;
  std::string why;
  if (page_.create(page, ranks, &why) != 0) fatal("the job's page of memory: %s", why.c_str());
  page_.decide_error_report(job::JobPage::ErrorReport::allowed);
  const std::vector<std::uint32_t> hosts(ranks, 0);
  const std::vector<std::byte> packed = job::pack_rows(hosts);
  job::FrameHeader welcome = frame_of(job::FrameKind::welcome);
  welcome.total = packed.size();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      fatal_system("the connection to a rank", errno);
    ours_.emplace_back(ends[0]);
    theirs_.emplace_back(ends[1]);
    send(rank, welcome, packed, page.get());
  }
}

std::string Guardian::membership(std::uint32_t rank) const {
  return job::format_membership({theirs_[rank].get(), rank, host_.ranks.size()});
}

void Guardian::serve_for(int milliseconds) {
  std::vector<pollfd> sockets;
  for (const os::FileDescriptor& socket : ours_) sockets.push_back({socket.get(), POLLIN, 0});
  if (poll(sockets.data(), sockets.size(), milliseconds) <= 0) return;
  for (std::uint32_t rank = 0; rank < sockets.size(); ++rank)
    if (sockets[rank].revents != 0) receive(rank);
}

void Guardian::receive(std::uint32_t rank) {
  job::Received frame = job::receive_frame(ours_[rank].get(), buffer_, /*wait=*/false);
  if (frame.outcome == job::Received::Outcome::would_block) return;
  if (frame.outcome != job::Received::Outcome::frame)
    fatal("rank %u: what it sends is not the control protocol", rank);
  launch::Fault wrong;
  switch (frame.header.kind) {
    case job::FrameKind::gather:
      wrong = gather_.add(rank, frame.header, frame.payload);
      if (!wrong && gather_.complete()) send_result(gather_.take());
      break;
    case job::FrameKind::share: {
      std::optional<launch::Sharing::Group> group;
      wrong = sharing_.add(rank, frame.header, frame.payload, std::move(frame.descriptor), group);
      if (!group) break;
      for (const std::uint32_t member : group->ranks)
        send(member, frame_of(job::FrameKind::shared), {},
             member == group->owner ? -1 : group->descriptor->get());
      break;
    }
    case job::FrameKind::leave: {
      const job::Departure departure = job::departure_of(frame.header);
      // Its streams are flushed.
      if (departure.code != 0) _exit(departure.code);
      if (++left_ == host_.ranks.size())
        for (const std::uint32_t member : host_.ranks)
          send(member, frame_of(job::FrameKind::release));
      break;
    }
    case job::FrameKind::end:
      _exit(frame.header.code);
    case job::FrameKind::hello:
    case job::FrameKind::status:
    case job::FrameKind::error_report:
      break;
    default:
      fatal("rank %u: a frame of kind %u", rank, static_cast<unsigned>(frame.header.kind));
  }
  if (wrong) fatal("rank %u %s", rank, wrong->c_str());
}

void Guardian::send_result(const launch::Gather::Result& result) {
  job::FrameHeader header = frame_of(job::FrameKind::gathered);
  header.sequence = result.sequence;
  const std::span<const std::byte> bytes = *result.bytes;
  header.total = bytes.size();
  do {
    const auto piece =
        bytes.subspan(header.offset, std::min(bytes.size() - header.offset, job::max_payload));
    for (const std::uint32_t rank : host_.ranks) send(rank, header, piece);
    header.offset += piece.size();
  } while (header.offset < bytes.size());
}

void Guardian::send(std::uint32_t rank, const job::FrameHeader& header,
                    std::span<const std::byte> payload, int descriptor) {
  if (job::send_frame(ours_[rank].get(), header, payload, descriptor, /*wait=*/true) !=
      job::Sent::whole)
    fatal("rank %u: it cannot be sent to", rank);
}

}  // namespace gex::sim
