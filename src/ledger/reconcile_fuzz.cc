/// A bill comes from outside. Whatever it says, it is read or refused with its line; the order of its lines changes
/// nothing; and against itself it never differs.
#include <algorithm>
#include <cstdint>

#include "core/check.h"
#include "ledger/reconcile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ace;
  const std::string_view csv(reinterpret_cast<const char*>(data), size);
  const Result<std::vector<Billed>> bill = parse_bill(csv, "", "p");
  if (!bill) {
    ACE_CHECK(!bill.error().what().empty(), "a refusal says why");
    return 0;
  }
  const std::vector<Billed> sums = summed_by_key(*bill);
  std::vector<Billed> backwards = *bill;
  std::reverse(backwards.begin(), backwards.end());
  ACE_CHECK(summed_by_key(backwards) == sums, "the order of its lines changes a bill");
  for (const Reconciled& line : reconcile(*bill, *bill, instant(0), instant(nanos(kDay))))
    ACE_CHECK(line.state == Reconciled::State::equal || line.state == Reconciled::State::silent,
              "a bill differs from itself");
  (void)reconciled_csv(reconcile(sums, {}, instant(0), instant(nanos(kDay))));
  return 0;
}
