#pragma once
/// A log to be read where it lies, with its archive if there is one.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/posix_disk.h"
#include "spine/spine.h"

namespace ace {

class LogView {
 public:
  /// @param archive directory, or empty: then `directory` may be an archive itself
  static Result<LogView> open(const std::string& directory, const std::string& archive);
  /// The same as one directory that owns what it reads. @see open()
  static Result<std::unique_ptr<spine::Disk>> whole(const std::string& directory, const std::string& archive);
  spine::Disk& disk() { return *together_; }  ///< both
  spine::Disk& itself() { return *log_; }     ///< without the archive

 private:
  std::unique_ptr<PosixDisk> log_, archive_;
  std::unique_ptr<spine::ArchivedDisk> together_;
};

/// Events of single requests, looked up in such a log. Not for several threads at once.
class SpineEvents {
 public:
  explicit SpineEvents(LogView log) : log_(std::move(log)), finder_(log_.disk()) {}
  /// All that a request was put together from before record `before`; nothing if it was not admitted before, or that
  /// was pruned. @see SpineLedger::Recall
  Result<std::vector<event::Record>> operator()(std::uint32_t tenant, RequestId id, std::uint64_t before);
  /// @see SpineLedger::DecidedIn. Reads the whole log once.
  Result<std::vector<std::pair<std::uint32_t, RequestId>>> decided_in(Instant from, Instant to, std::uint64_t before);

 private:
  LogView log_;
  spine::Finder finder_;
};

}  // namespace ace
