#include "fleet/catalog.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/csv.h"
#include "core/decimal.h"
#include "core/time.h"
#include "fleet/catalog_hosts.h"
#include "fleet/price_draft.h"

namespace ace {
namespace {

constexpr std::size_t kMedianOf = 8;  // fewer prices of a machine say nothing about what is usual

/// Columns by position; absent ones are empty.
struct Layout {
  enum class Kind : std::uint8_t { skypilot, history, clouds } kind = Kind::skypilot;
  std::optional<std::size_t> date, cloud, instance, region, zone, accelerator, gpus, on_demand, spot, commit_1y,
      commit_3y;
};

Result<Layout> layout_of(const CsvTable& table) {
  const auto at = [&](std::string_view name) { return table.column(name); };
  Layout layout;
  if (at("InstanceType") && at("Price")) {
    layout = {.kind = Layout::Kind::skypilot,
              .date = {},
              .cloud = {},
              .instance = at("InstanceType"),
              .region = at("Region"),
              .zone = at("AvailabilityZone"),
              .accelerator = at("AcceleratorName"),
              .gpus = at("AcceleratorCount"),
              .on_demand = at("Price"),
              .spot = at("SpotPrice"),
              .commit_1y = {},
              .commit_3y = {}};
    for (const char* name : {"AcceleratorName", "AcceleratorCount", "Region", "SpotPrice"})
      if (auto column = table.require(name); !column) return Error(column.error());
  } else if (at("date") && at("ondemand_usd_per_h")) {
    layout = {.kind = Layout::Kind::history,
              .date = at("date"),
              .cloud = {},
              .instance = at("instance"),
              .region = at("region"),
              .zone = {},
              .accelerator = {},
              .gpus = {},
              .on_demand = at("ondemand_usd_per_h"),
              .spot = at("spot_usd_per_h"),
              .commit_1y = at("commit1y_usd_per_month"),
              .commit_3y = at("commit3y_usd_per_month")};
    for (const char* name : {"instance", "region", "spot_usd_per_h"})
      if (auto column = table.require(name); !column) return Error(column.error());
  } else if (at("GPU Type") && (at("On-demand") || at("Per-Hour"))) {
    const auto cloud = at("Cloud"), hourly = at("On-demand");
    layout = {.kind = Layout::Kind::clouds,
              .date = {},
              .cloud = cloud ? cloud : at("Vendor"),
              .instance = at("Name"),
              .region = {},
              .zone = {},
              .accelerator = at("GPU Type"),
              .gpus = at("GPUs"),
              .on_demand = hourly ? hourly : at("Per-Hour"),
              .spot = at("Spot"),
              .commit_1y = {},
              .commit_3y = {}};
    if (auto column = table.require("GPUs"); !column) return Error(column.error());
  } else {
    return Error(Errc::bad_input,
                 "expected a catalog with InstanceType and Price (SkyPilot), with date and ondemand_usd_per_h (a price "
                 "history) or with GPU Type and On-demand (many clouds); got the header " +
                     (table.header().empty() ? std::string() : table.header()[0]) + ", ...");
  }
  return layout;
}

/// 700.0 in SkyPilot's TPU rows; nines in many an export. No machine costs exactly that.
bool is_sentinel(std::int64_t nano) {
  for (const std::int64_t dollars : {700, 999, 9'999, 99'999, 999'999})
    if (nano == dollars * 1'000'000'000) return true;
  return false;
}

class CatalogReader {
 public:
  explicit CatalogReader(Layout layout) : layout_(layout) {}

  void row(const CsvRow& row) {
    ++reading_.rows;
    RentalOffer offer;
    offer.line = row.line;
    offer.cloud = text(row, layout_.cloud);
    offer.instance = text(row, layout_.instance);
    offer.region = text(row, layout_.region);
    offer.zone = text(row, layout_.zone);
    offer.date = text(row, layout_.date);
    if (layout_.date && !is_date(offer.date))
      return find(CatalogTrap::unreadable, offer, "expected a day as YYYY-MM-DD, got \"" + offer.date + "\"");
    if (!accelerator(row, offer)) return;
    prices(row, offer);
    if (offer.instance.empty() && layout_.kind == Layout::Kind::skypilot)
      return accelerators_.push_back(std::move(offer));
    if (offer.accelerator.empty() && layout_.accelerator) return hosts_.push_back(std::move(offer));
    take(std::move(offer));
  }

  CatalogReading finish() && {
    join();
    judge();
    compare_zones();
    std::stable_sort(reading_.findings.begin(), reading_.findings.end(),
                     [](const CatalogFinding& a, const CatalogFinding& b) { return a.line < b.line; });
    return std::move(reading_);
  }

 private:
  static std::string text(const CsvRow& row, std::optional<std::size_t> column) {
    return column ? std::string(trim(row.fields[*column])) : std::string();
  }

  void prices(const CsvRow& row, RentalOffer& offer) {
    offer.on_demand = price(row, layout_.on_demand, offer);
    offer.spot = price(row, layout_.spot, offer);
    offer.commit_1y = price(row, layout_.commit_1y, offer);
    offer.commit_3y = price(row, layout_.commit_3y, offer);
  }

  void take(RentalOffer offer) {
    if (offer.on_demand && offer.spot && *offer.spot > *offer.on_demand) {
      find(CatalogTrap::spot_above_on_demand, offer,
           "spot " + to_decimal(*offer.spot) + " is above on-demand " + to_decimal(*offer.on_demand) + " USD/h");
      offer.spot.reset();
    }
    if (!offer.on_demand && !offer.spot) return find(CatalogTrap::no_price, offer, "no price per hour is left");
    reading_.offers.push_back(std::move(offer));
  }

  /// Hosts and accelerators that are sold apart become machines, at the end, when all rows are known.
  void join() {
    std::set<std::size_t> used;
    for (const RentalOffer& host : hosts_) {
      const Result<RentalOffer> whole = with_accelerators(host, accelerators_);
      if (!whole) {
        find(CatalogTrap::host_only, host,
             "no accelerator is named: the price is the host's alone, and " + whole.error().what());
        continue;
      }
      find(CatalogTrap::summed, *whole,
           "the host and its " + std::to_string(whole->gpu_thousandths / 1000) + " x " + whole->accelerator +
               " are priced apart; their sum is taken");
      for (const RentalOffer& part : accelerators_)
        if (part.accelerator == whole->accelerator && part.region == whole->region &&
            part.gpu_thousandths == whole->gpu_thousandths)
          used.insert(part.line);
      take(*whole);
    }
    for (const RentalOffer& part : accelerators_)
      if (!used.contains(part.line))
        find(CatalogTrap::accelerator_only, part,
             "the price of \"" + part.accelerator + "\" without a machine to hold it");
    std::stable_sort(reading_.offers.begin(), reading_.offers.end(),
                     [](const RentalOffer& a, const RentalOffer& b) { return a.line < b.line; });
  }

  void find(CatalogTrap trap, const RentalOffer& offer, std::string what) {
    reading_.findings.push_back({trap, offer.line, offer.instance, offer.region, std::move(what)});
  }

  /// @return false if the row is no offer of a machine with GPUs.
  bool accelerator(const CsvRow& row, RentalOffer& offer) {
    if (!layout_.accelerator) return true;
    const std::string name = text(row, layout_.accelerator), count = text(row, layout_.gpus);
    if (name.empty()) {
      if (layout_.kind == Layout::Kind::skypilot && of_gpu_family(offer.instance)) return true;  // a host, see join()
      find(CatalogTrap::no_gpu, offer, "a machine without accelerators");
      return false;
    }
    const Result<std::int64_t> gpus = parse_decimal(count, 3);
    if (!gpus || *gpus <= 0) {
      find(CatalogTrap::unreadable, offer, "expected a count of accelerators above 0, got \"" + count + "\"");
      return false;
    }
    offer.gpu_thousandths = *gpus;
    offer.accelerator = canonical_accelerator(name);
    std::string lower = name;
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (lower != offer.accelerator && aliases_.insert(name).second)
      find(CatalogTrap::alias, offer, "\"" + name + "\" is taken as " + offer.accelerator);
    return true;
  }

  std::optional<Usd> price(const CsvRow& row, std::optional<std::size_t> column, const RentalOffer& offer) {
    if (!column) return std::nullopt;
    const std::string_view field = trim(row.fields[*column]);
    if (field.empty() || field == "nan" || field == "NaN") return std::nullopt;  // pandas writes an absent one so
    const Result<std::int64_t> nano = parse_decimal_rounded(field, 9);
    if (!nano)
      find(CatalogTrap::unreadable, offer, nano.error().what());
    else if (*nano <= 0)
      find(CatalogTrap::not_positive, offer, "a price of \"" + std::string(field) + "\" is not above 0");
    else if (is_sentinel(*nano))
      find(CatalogTrap::sentinel, offer, "a price of \"" + std::string(field) + "\" stands for an unknown one");
    else
      return Usd{*nano};
    return std::nullopt;
  }

  /// Marks what is below half or above twice the median of its machine.
  void judge() {
    std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> by_machine;
    for (const RentalOffer& offer : reading_.offers)
      if (offer.on_demand && !offer.instance.empty())
        by_machine[{offer.cloud, offer.instance}].push_back(offer.on_demand->nano);
    std::map<std::pair<std::string, std::string>, std::int64_t> usual;
    for (auto& [machine, prices] : by_machine) {
      if (prices.size() < kMedianOf) continue;
      const auto middle = prices.begin() + static_cast<std::ptrdiff_t>(prices.size() / 2);
      std::nth_element(prices.begin(), middle, prices.end());
      usual.emplace(machine, *middle);
    }
    for (RentalOffer& offer : reading_.offers) {
      const auto median = usual.find({offer.cloud, offer.instance});
      if (median == usual.end() || !offer.on_demand) continue;
      const int128 price = offer.on_demand->nano, middle = median->second;
      if (price * 2 >= middle && price <= middle * 2) continue;
      offer.plausible = false;
      find(CatalogTrap::implausible, offer,
           "on-demand " + to_decimal(*offer.on_demand) + " USD/h is " +
               (price < middle ? "below half" : "above twice") + " of the machine's median " +
               to_decimal(Usd{median->second}) + (price < middle ? "; is the accelerator's part missing?" : ""));
    }
  }

  /// SkyPilot holds on-demand prices to be the same in all zones of a region.
  void compare_zones() {
    if (layout_.kind != Layout::Kind::skypilot) return;
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, const RentalOffer*> first;
    std::vector<const RentalOffer*> unequal;
    for (const RentalOffer& offer : reading_.offers) {
      if (!offer.on_demand) continue;
      const auto [at, fresh] =
          first.emplace(std::tuple(offer.instance, offer.region, offer.accelerator, offer.gpu_thousandths), &offer);
      if (!fresh && at->second->on_demand != offer.on_demand) unequal.push_back(&offer);
    }
    for (const RentalOffer* offer : unequal)
      find(CatalogTrap::unequal_zones, *offer,
           "zone " + offer->zone + " asks another on-demand price than the zone before");
  }

  Layout layout_;
  CatalogReading reading_;
  std::set<std::string> aliases_;
  std::vector<RentalOffer> hosts_, accelerators_;  ///< of GPU machines, and without a machine
};

}  // namespace

std::string_view name_of(CatalogTrap trap) {
  constexpr std::array<std::string_view, kCatalogTraps> names = {
      "sentinel", "host_only", "accelerator_only", "spot_above_on_demand", "not_positive", "unreadable",
      "no_price", "alias",     "implausible",      "unequal_zones",        "no_gpu",       "summed"};
  return names[static_cast<std::size_t>(trap)];
}

std::size_t CatalogReading::count(CatalogTrap trap) const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const CatalogFinding& finding) { return finding.trap == trap; }));
}

Result<CatalogReading> parse_catalog(std::string_view csv) {
  Result<CsvTable> table = CsvTable::open(csv);
  if (!table) return std::move(table).error().with("reading the catalog");
  Result<Layout> layout = layout_of(*table);
  if (!layout) return std::move(layout).error().with("reading the catalog");
  CatalogReader reader(*layout);
  CsvRow row;
  for (;;) {
    Result<bool> any = table->next(row);
    if (!any) return std::move(any).error().with("reading the catalog");
    if (!*any) break;
    reader.row(row);
  }
  return std::move(reader).finish();
}

}  // namespace ace
