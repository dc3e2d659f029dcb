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

class JsonTrace : public FileTrace {
 public:
  JsonTrace(std::unique_ptr<Window> window, std::string name, const ReadOptions& options, TimeColumn times,
            JsonPlan plan);

 protected:
  Result<std::size_t> fill(std::span<Arrival> batch) override;
  void restart() override;
  void add_notes(std::vector<std::string>& notes) const override;

 private:
  Result<void> set_members(std::string_view document);
  Result<void> set_member(const Column& column, simdjson::ondemand::value value);
  Result<void> set_block_list(simdjson::ondemand::array list);

  JsonPlan plan_;
  JsonDocuments documents_;
  simdjson::ondemand::parser parser_;
};

}  // namespace ace
