#include "kinds/cuda/copy_stream.h"

#include <mutex>
#include <utility>

#include "core/progress.h"
#include "core/unrung_work.h"

namespace gex::kinds::cuda {

Result CopyStream::open(const Driver& driver, volatile std::uint32_t* flag) noexcept {
  driver_ = &driver;
  has_batches_ = driver.copy_batch != nullptr;
  flag_ = flag;
  *flag_ = 0;
  return driver.create_stream(&stream_, stream_non_blocking);
}

Result CopyStream::begin(void* to, const void* from, std::size_t bytes, CompletionTarget done,
                         CompletionTarget local_done) noexcept {
  const std::lock_guard lock(lock_);
  if (has_batches_ && bytes <= max_kept_back && !copies_.empty()) {
    kept_back_.to[kept_back_.count] = address_of(to);
    kept_back_.from[kept_back_.count] = address_of(from);
    kept_back_.bytes[kept_back_.count] = bytes;
    ++kept_back_.count;
  } else if (const Result error =
                 noted("cuMemcpyAsync",
                       driver_->copy(address_of(to), address_of(from), bytes, stream_))) {
    return error;
  }
  return add(done, local_done, max_batch);
}

Result CopyStream::begin_rows(const RowsCopy& rows, CompletionTarget done,
                              CompletionTarget local_done) noexcept {
  const std::lock_guard lock(lock_);
  if (const Result error = noted("cuMemcpy2DAsync", driver_->copy_rows(&rows, stream_)))
    return error;
  return add(done, local_done, max_batch);
}

Result CopyStream::begin_planes(const PlanesCopy& planes, CompletionTarget done,
                                CompletionTarget local_done) noexcept {
  const std::lock_guard lock(lock_);
  if (const Result error = noted("cuMemcpy3DAsync", driver_->copy_planes(&planes, stream_)))
    return error;
  return add(done, local_done, max_batch);
}

Result CopyStream::begin_after(Event event, CompletionTarget happened) noexcept {
  const std::lock_guard lock(lock_);
  if (const Result error = noted("cuStreamWaitEvent", driver_->wait_event(stream_, event, 0)))
    return error;
  return add(happened, nullptr, 1);
}

bool CopyStream::is_idle() noexcept {
  const std::lock_guard lock(lock_);
  return copies_.empty();
}

Result CopyStream::add(CompletionTarget done, CompletionTarget local_done,
                       std::size_t batch) noexcept {
  if (copies_.empty()) {
    want_polls();
    begin_unrung_work();
  }
  copies_.push_back({done, local_done});
  ++unnumbered_;
  return unnumbered_ >= batch ? end_batch() : success;
}

Result CopyStream::copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (const Result error =
          noted("cuMemcpyAsync", driver_->copy(address_of(to), address_of(from), bytes, stream_)))
    return error;
  return noted("cuStreamSynchronize", driver_->synchronize_stream(stream_));
}

Result CopyStream::give_kept_back() noexcept {
  const std::size_t count = std::exchange(kept_back_.count, 0);
  constexpr BatchAttributes attributes;
  constexpr std::size_t of_all = 0;
  std::size_t failed = 0;
  if (count > 1 && has_batches_) {
    if (driver_->copy_batch(kept_back_.to.data(), kept_back_.from.data(), kept_back_.bytes.data(),
                            count, &attributes, &of_all, 1, &failed, stream_) == success)
      return success;
    // A driver, or a device, may refuse batches of such memory. Those that it has begun are made
    // twice, which does no harm: their sources are still in use.
    has_batches_ = false;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (const Result error = noted(
            "cuMemcpyAsync",
            driver_->copy(kept_back_.to[i], kept_back_.from[i], kept_back_.bytes[i], stream_)))
      return error;
  return success;
}

Result CopyStream::end_batch() noexcept {
  if (const Result error = give_kept_back()) return error;
  const std::uint32_t number = last_number_ + 1;
  if (const Result error = noted("cuStreamWriteValue32",
                                 driver_->write_value(stream_, address_of(flag_), number, 0)))
    return error;
  last_number_ = number;
  batches_.push_back({number, unnumbered_});
  unnumbered_ = 0;
  return success;
}

Result CopyStream::poll(Context context, bool& progressed) noexcept {
  if (!lock_.try_lock()) return success;
  const std::lock_guard lock(lock_, std::adopt_lock);
  if (copies_.empty()) return success;
  if (unnumbered_ != 0) {
    const CurrentContext current(*driver_, context);
    if (const Result error = noted("cuCtxPushCurrent", current.error())) return error;
    if (const Result error = end_batch()) return error;
  }
  // Acquire: the bytes that were copied to the host are read behind the flag.
  const std::uint32_t reached = __atomic_load_n(flag_, __ATOMIC_ACQUIRE);
  while (!batches_.empty() && static_cast<std::int32_t>(reached - batches_.front().number) >= 0) {
    for (std::size_t i = 0; i < batches_.front().copies; ++i) {
      const Copy copy = copies_.front();
      copies_.pop_front();
      if (copy.done != nullptr) complete(copy.done);
      if (copy.local_done != nullptr) complete(copy.local_done);
    }
    batches_.pop_front();
    progressed = true;
  }
  if (copies_.empty()) {
    unwant_polls();
    end_unrung_work();
  }
  return success;
}

}  // namespace gex::kinds::cuda
