#include "cli/progress.h"

#include <fmt/core.h>

#include <ostream>

namespace ace::cli {

Progress::Progress(Context& context, std::string what)
    : context_(&context), what_(std::move(what)), began_(SteadyClock::now()), shown_(began_) {}

Progress::~Progress() {
  if (dirty_) *context_->err << "\r\033[K" << std::flush;
}

void Progress::operator()(double share, std::uint64_t done) {
  if (!context_->err_is_terminal) return;
  const auto now = SteadyClock::now();
  if (now - shown_ < std::chrono::milliseconds{200}) return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  std::string text = fmt::format("{} {} requests, {:.2f} M/s", what_, done, static_cast<double>(done) / seconds / 1e6);
  if (share > 0.0) text += fmt::format(", {:.0f}%, {:.0f} s left", share * 100.0, seconds * (1.0 - share) / share);
  *context_->err << "\r\033[K" << text << std::flush;
  dirty_ = true;
}

}  // namespace ace::cli
