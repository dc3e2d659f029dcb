/// A FOCUS file comes from outside. Checking it ends, finds the same in the same file, and finds nothing where it says
/// that it found nothing: what passes as 1.2 passes again written by our own writer.
#include <cstdint>

#include "core/check.h"
#include "core/csv.h"
#include "ledger/focus.h"

namespace {

using namespace ace;

struct Checked {
  std::uint64_t count = 0, rows = 0;
  std::string again;  ///< the file as we would have written it
  bool read = false;
};

Checked check(std::string_view csv) {
  Checked checked;
  Result<CsvTable> table = CsvTable::open(csv);
  if (!table) return checked;
  focus::Checker checker(table->header(), focus::Version::v1_2);
  focus::append_csv_header(checked.again, table->header());
  CsvRow row;
  while (true) {
    const Result<bool> more = table->next(row);
    if (!more) return checked;
    if (!*more) break;
    focus::Cells cells(row.fields.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!row.fields[i].empty() && row.fields[i] != "NULL") cells[i] = std::string(row.fields[i]);
    checker.row(cells);
    if (cells.size() == table->header().size()) focus::append_csv(checked.again, table->header(), cells);
  }
  checker.finish();
  checked.count = checker.count();
  checked.rows = checker.rows();
  checked.read = true;
  ACE_CHECK(checker.findings().size() == std::min<std::uint64_t>(checker.count(), focus::Checker::kFindingsMax),
            "a finding is counted and not kept, or kept and not counted");
  return checked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view csv(reinterpret_cast<const char*>(data), size);
  (void)focus::valid_flat_json(csv);
  const Checked once = check(csv);
  if (!once.read || once.count != 0) return 0;
  const Checked twice = check(once.again);
  ACE_CHECK(twice.read && twice.rows == once.rows, "our own writing of a good file is not read");
  return 0;
}
