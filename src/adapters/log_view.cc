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

}  // namespace ace
