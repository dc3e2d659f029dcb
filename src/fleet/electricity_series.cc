/// Day-ahead tables of power exchanges.
#include "core/csv.h"
#include "core/decimal.h"
#include "core/money.h"
#include "fleet/price_draft.h"
#include "fleet/series.h"

namespace ace {
namespace {

constexpr std::int64_t kPriceMax = 25'000;  // per MWh; the highest cap of a real market is about 18,000

Error bad(const CsvRow& row, std::string_view what) {
  return {Errc::bad_input, "line " + std::to_string(row.line) + ": " + std::string(what)};
}

/// Two digits, or -1.
int two(std::string_view text, std::size_t at) {
  if (at + 2 > text.size() || text[at] < '0' || text[at] > '9' || text[at + 1] < '0' || text[at + 1] > '9') return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

/// Hours since the epoch of "2016-01-04 07:00:00", with T for the blank, without seconds and with Z if you like.
Result<std::int64_t> hour_from(const CsvRow& row, std::string_view text) {
  const auto refuse = [&] {
    return bad(row, "expected a full hour in UTC such as 2016-01-04 07:00:00, got \"" +
                        std::string(text.substr(0, 64)) + "\"");
  };
  std::string_view rest = text;
  if (rest.ends_with('Z')) rest.remove_suffix(1);
  if (rest.ends_with("+00:00")) rest.remove_suffix(6);
  if ((rest.size() != 16 && rest.size() != 19) || !is_date(rest.substr(0, 10))) return refuse();
  const int hour = two(rest, 11);
  if ((rest[10] != ' ' && rest[10] != 'T') || hour < 0 || hour > 23 || rest.substr(13, 3) != ":00" ||
      (rest.size() == 19 && rest.substr(16) != ":00"))
    return refuse();
  const int year = two(rest, 0) * 100 + two(rest, 2);
  return hour_of(instant_of(
      {year, static_cast<unsigned>(two(rest, 5)), static_cast<unsigned>(two(rest, 8)), static_cast<unsigned>(hour)}));
}

/// A price per MWh as nano-USD per kWh: nano-currency x fx / 10^9 / 10^3, one rounding.
Result<UsdPerKwh> price_from(const CsvRow& row, std::size_t column, const std::string& name, std::int64_t fx_nano) {
  const std::string_view text = trim(row.fields[column]);
  const Result<std::int64_t> nano = parse_decimal_rounded(text, 9);
  if (!nano || *nano > kPriceMax * 1'000'000'000 || *nano < -kPriceMax * 1'000'000'000) {
    if (!nano && nano.error().code() == Errc::bad_input)
      return bad(row, "expected a price per MWh in \"" + name + "\", got \"" + std::string(text.substr(0, 64)) + "\"");
    return Error(Errc::out_of_range, "line " + std::to_string(row.line) + ": \"" + std::string(text.substr(0, 64)) +
                                         "\" in \"" + name + "\" is beyond 25,000 per MWh; is the unit MWh?");
  }
  return UsdPerKwh{static_cast<std::int64_t>(divide_half_away(int128{*nano} * fx_nano, int128{1'000'000'000'000}))};
}

}  // namespace

Result<ElectricitySeries> parse_electricity(std::string_view csv, const ElectricityLayout& layout) {
  constexpr std::string_view doing = "reading the electricity series";
  // 1,000 dollars for a unit of currency: beyond every currency there is, and below what could overflow.
  if (layout.fx_nano < 1 || layout.fx_nano > 1'000'000'000'000)
    return Error(Errc::out_of_range, "the exchange rate is outside 0.000000001 to 1,000 USD for a unit");
  Result<CsvTable> table = CsvTable::open(csv);
  if (!table) return std::move(table).error().with(doing);
  const Result<std::size_t> booked = table->require(layout.booked);
  if (!booked) return Error(booked.error()).with(doing);
  const Result<std::size_t> believed = layout.believed.empty() ? *booked : table->require(layout.believed);
  if (!believed) return Error(believed.error()).with(doing);

  ElectricitySeries series;
  CsvRow row;
  for (;;) {
    Result<bool> any = table->next(row);
    if (!any) return std::move(any).error().with(doing);
    if (!*any) break;
    const std::string_view stamp = trim(row.fields[0]);
    Result<std::int64_t> hour = hour_from(row, stamp);
    if (!hour) return std::move(hour).error().with(doing);
    if (series.hourly.empty()) series.first_hour = *hour;
    const std::int64_t expected = series.first_hour + static_cast<std::int64_t>(series.hourly.size());
    if (*hour != expected) {
      const std::string want = to_rfc3339(instant(expected * nanos(kHour)));
      std::string why = "expected the hour " + want + ", got " + std::string(stamp);
      if (*hour == expected - 1)
        why += ", which is there already (a local clock set back in autumn? give the series in UTC)";
      else if (*hour == expected + 1)
        why += ", so an hour is missing (a local clock set forward in spring? give the series in UTC)";
      else
        why += *hour < expected ? ", which is earlier; sort the table by hour" : ", so hours are missing";
      return Error(bad(row, why)).with(doing);
    }
    Result<UsdPerKwh> paid = price_from(row, *booked, layout.booked, layout.fx_nano);
    if (!paid) return std::move(paid).error().with(doing);
    series.hourly.push_back(*paid);
    if (layout.believed.empty()) continue;
    Result<UsdPerKwh> planned = price_from(row, *believed, layout.believed, layout.fx_nano);
    if (!planned) return std::move(planned).error().with(doing);
    series.day_ahead.push_back(*planned);
  }
  if (series.hourly.empty()) return Error(Errc::bad_input, "the table has no hours").with(doing);
  return series;
}

}  // namespace ace
