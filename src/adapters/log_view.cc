#include "adapters/log_view.h"

namespace ace {

Result<LogView> LogView::open(const std::string& directory, const std::string& archive) {
  LogView view;
  Result<std::unique_ptr<PosixDisk>> log = PosixDisk::open(directory, PosixDisk::Access::read);
  if (!log) return std::move(log).error();
  view.log_ = *std::move(log);
  if (!archive.empty()) {
    Result<std::unique_ptr<PosixDisk>> more = PosixDisk::open(archive, PosixDisk::Access::read);
    if (!more) return std::move(more).error().with("the archive");
    view.archive_ = *std::move(more);
  }
  view.together_ = std::make_unique<spine::ArchivedDisk>(*view.log_, view.archive_ ? *view.archive_ : *view.log_);
  return view;
}

namespace {

/// Holds the two that it reads from.
class WholeDisk : public spine::ArchivedDisk {
 public:
  WholeDisk(std::unique_ptr<PosixDisk> log, std::unique_ptr<PosixDisk> archive)
      : ArchivedDisk(*log, archive ? *archive : *log), log_(std::move(log)), archive_(std::move(archive)) {}

 private:
  std::unique_ptr<PosixDisk> log_, archive_;
};

}  // namespace

Result<std::unique_ptr<spine::Disk>> LogView::whole(const std::string& directory, const std::string& archive) {
  Result<LogView> view = open(directory, archive);
  if (!view) return std::move(view).error();
  return std::unique_ptr<spine::Disk>(std::make_unique<WholeDisk>(std::move(view->log_), std::move(view->archive_)));
}

Result<std::vector<event::Record>> SpineEvents::operator()(std::uint32_t tenant, RequestId id, std::uint64_t before) {
  const Result<std::vector<spine::Finder::Found>> found = finder_.request(tenant, {id.high, id.low}, before);
  if (!found) return Error(found.error());
  std::vector<event::Record> records;
  for (const spine::Finder::Found& one : *found) {
    Result<event::Record> record = event::decode(one.payload);
    if (!record) return std::move(record).error().with("record " + std::to_string(one.sequence));
    records.push_back(*std::move(record));
  }
  return records;
}

Result<std::vector<std::pair<std::uint32_t, RequestId>>> SpineEvents::decided_in(Instant from, Instant to,
                                                                                 std::uint64_t before) {
  std::vector<std::pair<std::uint32_t, RequestId>> found;
  const Result<spine::LogSummary> log =
      spine::read_log(log_.disk(), {}, [&](const spine::Frame& frame) -> Result<void> {
        if (frame.type != spine::RecordType::event || frame.sequence >= before) return {};
        const Result<event::Key> key = event::key_from(frame.payload);
        if (!key || (key->kind != event::Kind::admitted && key->kind != event::Kind::decided)) return {};
        const Result<event::Record> record = event::decode(frame.payload);
        if (!record) return Error(record.error());
        if (const Instant at = event::at_of(record->event); at < from || at >= to) return {};
        found.emplace_back(key->tenant, RequestId{key->id.high, key->id.low});
        return {};
      });
  if (!log) return Error(log.error());
  return found;
}

}  // namespace ace
