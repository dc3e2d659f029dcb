#pragma once
/// Inside the readers: logs that are JSON objects, one per request.
#include <simdjson.h>

#include "trace/file_trace.h"
#include "trace/json_documents.h"

namespace ace {

struct JsonPlan {
  std::string format;
  std::vector<Column> columns;
};

class JsonTrace : public RecordTrace {
 public:
  JsonTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
            JsonPlan plan);

 protected:
  Result<bool> next_record() override { return documents_.next(); }
  std::optional<BadRecord> set_fields() override;
  [[nodiscard]] std::int64_t line() const override { return documents_.line(); }
  std::string_view content() override { return documents_.document(); }
  void restart() override;
  void add_notes(std::vector<std::string>& notes) const override;

 private:
  Result<void> set_members(std::string_view document);
  Result<void> set_member(const Column& column, simdjson::ondemand::value value);
  Result<void> set_block_list(simdjson::ondemand::array list);

  void see_unused(std::string_view name);

  JsonPlan plan_;
  JsonDocuments documents_;
  simdjson::ondemand::parser parser_;
  std::vector<std::string> unused_;  ///< members that nobody asked for, by name
  std::size_t unused_next_ = 0;      ///< logs repeat the order of their members
};

}  // namespace ace
