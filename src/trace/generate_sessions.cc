#include "trace/generate_sessions.h"

#include <algorithm>

namespace ace {
namespace {

constexpr std::int32_t kBlock = 512;

}  // namespace

void Sessions::attach(std::int64_t at, std::int32_t prompt, std::uint32_t& next_block,
                      std::vector<std::uint32_t>& out) {
  if (system_.empty())
    for (std::int32_t i = 0; i < spec_.system_blocks; ++i) system_.push_back(next_block++);
  const auto whole = static_cast<std::size_t>(prompt / kBlock);
  const std::size_t all = whole + (prompt % kBlock != 0 ? 1 : 0);
  const std::size_t begin = out.size();

  Session* found = nullptr;
  const bool goes_on = rng_.chance(spec_.continued);
  if (goes_on)
    for (Session& session : sessions_) {
      if (session.due > at || session.blocks.size() > whole) continue;
      if (found == nullptr || session.blocks.size() > found->blocks.size()) found = &session;
    }
  if (found != nullptr)
    out.insert(out.end(), found->blocks.begin(), found->blocks.end());
  else
    out.insert(out.end(), system_.begin(),
               system_.begin() + static_cast<std::ptrdiff_t>(std::min(system_.size(), whole)));
  while (out.size() - begin < all) out.push_back(next_block++);

  if (spec_.continued <= 0.0 || whole <= system_.size()) return;  // nothing of its own to go on from
  if (found == nullptr) {
    if (sessions_.size() < static_cast<std::size_t>(spec_.sessions)) {
      found = &sessions_.emplace_back();
    } else {
      found = &sessions_[oldest_];
      oldest_ = (oldest_ + 1) % sessions_.size();
    }
  }
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(begin);
  found->blocks.assign(first, first + static_cast<std::ptrdiff_t>(whole));
  found->due = at + nanos(from_seconds(rng_.exponential(to_seconds(spec_.think))));
}

}  // namespace ace
