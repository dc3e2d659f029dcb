/// What a CSV reader makes of any text can be written down again, every field quoted, and reads back the same; lines
/// only go forward.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "core/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::vector<std::string>> rows;
  std::string written;
  ace::CsvReader reader(text);
  ace::CsvRow row;
  std::size_t line = 0;
  for (;;) {
    const auto any = reader.next(row);
    if (!any || !*any) break;
    ACE_CHECK(row.line > line, "a row does not start after the one before");
    line = row.line;
    ACE_CHECK(!row.fields.empty(), "a row without fields");
    for (const std::string_view& field : row.fields) {
      written += &field == row.fields.data() ? "\"" : ",\"";
      for (const char c : field) written += c == '"' ? std::string("\"\"") : std::string(1, c);
      written += '"';
    }
    written += '\n';
    rows.emplace_back(row.fields.begin(), row.fields.end());
  }
  ace::CsvReader again(written);
  for (const auto& want : rows) {
    const auto any = again.next(row);
    ACE_CHECK(any && *any, "a written row cannot be read");
    ACE_CHECK(std::vector<std::string>(row.fields.begin(), row.fields.end()) == want, "a row came back different");
  }
  const auto end = again.next(row);
  ACE_CHECK(end && !*end, "more rows came back than were written");
  return 0;
}
