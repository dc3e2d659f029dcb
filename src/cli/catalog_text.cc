/// Catalogs of rented machines as people and as machines read them.
#include <fmt/format.h>

#include <array>

#include "cli/prices_text.h"
#include "core/text.h"

namespace ace::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string price(const std::optional<Usd>& hourly) { return hourly ? to_decimal(*hourly) : "-"; }

/// Offers and findings that are asked for, and how often each trap was met.
struct Asked {
  std::vector<const RentalOffer*> offers;
  std::vector<const CatalogFinding*> findings;
  std::array<std::size_t, kCatalogTraps> met{};
};
Asked asked_for(const CatalogReading& catalog, const AskedFor& asked) {
  Asked found;
  for (const RentalOffer& offer : catalog.offers)
    if (asked(offer.instance, offer.region)) found.offers.push_back(&offer);
  for (const CatalogFinding& finding : catalog.findings) {
    if (!asked(finding.instance, finding.region)) continue;
    found.findings.push_back(&finding);
    ++found.met[static_cast<std::size_t>(finding.trap)];
  }
  return found;
}

}  // namespace

std::string catalog_text(const CatalogReading& catalog, const AskedFor& asked) {
  const Asked found = asked_for(catalog, asked);
  constexpr std::size_t kShown = 40;
  std::string text = fmt::format("{:<10} {:<28} {:<22} {:<16} {:>14} {:>14}\n", "date", "instance", "region",
                                 "accelerator", "on-demand", "spot");
  std::size_t shown = 0;
  for (const RentalOffer* offer : found.offers) {
    if (++shown > kShown) break;
    fmt::format_to(Out(text), "{:<10} {:<28} {:<22} {:<16} {:>14} {:>14}{}\n", offer->date, offer->instance,
                   offer->region, offer->accelerator, price(offer->on_demand), price(offer->spot),
                   offer->plausible ? "" : "  not believed");
  }
  if (found.offers.size() > kShown)
    fmt::format_to(Out(text), "and {} more: --instance and --region narrow it down\n", found.offers.size() - kShown);
  text += "\n";
  shown = 0;
  for (const CatalogFinding* finding : found.findings) {
    if (++shown > kShown) break;
    fmt::format_to(Out(text), "line {}: {}: {}\n", finding->line, name_of(finding->trap), finding->what);
  }
  if (found.findings.size() > kShown)
    fmt::format_to(Out(text), "and {} more findings\n", found.findings.size() - kShown);
  std::vector<std::string> counts;
  for (std::size_t trap = 0; trap < kCatalogTraps; ++trap)
    if (found.met[trap] > 0)
      counts.push_back(fmt::format("{} {}", found.met[trap], name_of(static_cast<CatalogTrap>(trap))));
  fmt::format_to(Out(text), "{} rows in the file; {} offers here (USD per hour of the machine); findings: {}\n",
                 catalog.rows, found.offers.size(), counts.empty() ? "none" : listed(counts));
  return text;
}

std::string catalog_json(const CatalogReading& catalog, const AskedFor& asked) {
  const Asked found = asked_for(catalog, asked);
  const auto usd = [](const std::optional<Usd>& hourly) {
    return hourly ? "\"" + to_decimal(*hourly) + "\"" : std::string("null");
  };
  std::string json = fmt::format("{{\"rows\":{},\"offers\":[", catalog.rows);
  for (const RentalOffer* offer : found.offers)
    fmt::format_to(Out(json),
                   "{}{{\"line\":{},\"date\":{},\"instance\":{},\"region\":{},\"zone\":{},\"accelerator\":{},"
                   "\"on_demand_usd_per_h\":{},\"spot_usd_per_h\":{},\"plausible\":{}}}",
                   json.back() == '[' ? "" : ",", offer->line, json_text(offer->date), json_text(offer->instance),
                   json_text(offer->region), json_text(offer->zone), json_text(offer->accelerator),
                   usd(offer->on_demand), usd(offer->spot), offer->plausible);
  json += "],\"findings\":[";
  for (const CatalogFinding* finding : found.findings)
    fmt::format_to(Out(json), "{}{{\"trap\":\"{}\",\"line\":{},\"instance\":{},\"region\":{},\"what\":{}}}",
                   json.back() == '[' ? "" : ",", name_of(finding->trap), finding->line, json_text(finding->instance),
                   json_text(finding->region), json_text(finding->what));
  return json + "]}\n";
}

}  // namespace ace::cli
