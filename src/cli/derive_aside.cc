#include "cli/derive_aside.h"

namespace ace::cli {

Result<std::optional<verify::Mismatch>> DeriveAside::operator()(const verify::Entry& entry) {
  if (filling_.file != entry.file || filling_.events.size() == kBatchEvents) {
    hand_over();
    filling_.file = entry.file;
  }
  filling_.bytes += entry.payload;
  filling_.events.push_back({entry.offset, entry.sequence, filling_.bytes.size()});
  return std::optional<verify::Mismatch>();
}

void DeriveAside::hand_over() {
  if (filling_.events.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kBatchesAhead || stopped_; });
  waiting_.push_back(std::move(filling_));
  filling_ = {};
  changed_.notify_all();
}

Result<std::optional<verify::Difference>> DeriveAside::finish() {
  if (thread_.joinable()) {
    hand_over();
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  if (error_) return *error_;
  return difference_;
}

void DeriveAside::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
    if (waiting_.empty()) return;
    const Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    if (stopped_) continue;
    lock.unlock();
    const bool good = derive(batch);
    lock.lock();
    stopped_ = !good;
  }
}

bool DeriveAside::derive(const Batch& batch) {
  std::size_t begin = 0;
  for (const auto& [offset, sequence, end] : batch.events) {
    Result<std::optional<verify::Mismatch>> found =
        derivation_.hear(sequence, std::string_view(batch.bytes).substr(begin, end - begin));
    begin = end;
    if (!found)
      error_ = std::move(found).error();
    else if (*found)
      difference_ = verify::Difference{batch.file, offset, (*found)->expected, (*found)->got};
    else
      continue;
    return false;
  }
  return true;
}

}  // namespace ace::cli
