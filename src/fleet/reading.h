#pragma once
/// What the sections of one fleet file share while it is read: names to refer to, money with its exchange rates, and
/// the files it includes. One function per section; each fills its part of the fleet.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/names.h"
#include "fleet/findings.h"
#include "fleet/fleet.h"

namespace ace::fleet_file {

using Named = std::vector<std::pair<std::string, Place>>;

class Reading {
 public:
  Reading(Findings& into, Fleet& filled, const ReadText& read, const ReadEnv& env)
      : findings(into), fleet(filled), read_(read), env_(env) {}

  Findings& findings;
  Fleet& fleet;

  // Who is declared, with the place; filled before any section is read, so that sections may refer forward.
  Named providers, models, slo_classes, compliance, tenants, destinations, clusters;
  Named repeated_destinations;  ///< ids already taken: mistakes, read only for what else is wrong with them
  NameTable provider_names, model_names, slo_names, compliance_names, tenant_names, destination_names;
  std::map<std::string, std::string> aliases;  ///< alias -> model

  /// The id a name refers to; a mistake that lists what there is if there is no such name. Models also by alias.
  template <class Id>
  Id refer(const Place& at, const NameTable& names, std::string_view what) {
    const std::optional<std::string> name = findings.name(at);
    if (!name) return {};
    if (const auto found = names.find(*name)) return Id{*found};
    unknown(at, *name, names, what);
    return {};
  }
  ModelId refer_model(const Place& at);

  // Money. Each reports what it cannot read.
  /// USD per million tokens. @param negative only a bias may be
  std::optional<UsdPerMtok> per_mtok(const Place& at, bool negative = false);
  /// USD per hour of the whole: "/h", "/month" or "/year" (730 and 8,760 h), times `counts` for a second unit.
  std::optional<Usd> per_hour(const Place& at, std::string_view like,
                              const std::vector<std::pair<std::string, std::int64_t>>& counts);
  std::optional<UsdPerKwh> per_kwh(const Place& at);
  /// One amount of USD per `unit`, e.g. "0.002 USD/request".
  std::optional<Usd> per(const Place& at, std::string_view like, std::string_view unit);
  /// Exchange rates: one map {rate: "1.08 USD/EUR", source, as_of} or a list of them.
  void read_fx(const Place& at);
  /// nano-USD per unit of a currency, or nothing.
  [[nodiscard]] std::optional<std::int64_t> rate_of(const std::string& currency) const;

  /// Text of an included file; a mistake at `at` if it cannot be read. Takes part in the digest.
  std::optional<std::string> include(const Place& at);
  [[nodiscard]] std::optional<std::string> environment(const std::string& name) const {
    return env_ ? env_(name) : std::nullopt;
  }
  void digest(std::string_view bytes) { fleet.digest = mix_digest(fleet.digest, bytes); }

 private:
  void unknown(const Place& at, const std::string& name, const NameTable& names, std::string_view what);
  std::optional<Amount> amount(const Place& at, std::string_view like);
  static std::uint64_t mix_digest(std::uint64_t digest, std::string_view bytes);

  const ReadText& read_;
  const ReadEnv& env_;
  std::map<std::string, std::int64_t> fx_;
};

// The sections, in the order in which they are read.
void read_prices(Reading& reading, const Place& at);
void read_electricity(Reading& reading, const Place& at);
void read_providers(Reading& reading);
void read_slo_classes(Reading& reading, const Place& default_slo);
void read_compliance(Reading& reading);
void read_tenants(Reading& reading);
void read_policies(Reading& reading, const Place& at);
void read_models(Reading& reading);
void read_destinations(Reading& reading);
void read_baselines(Reading& reading);  ///< after destinations: they refer to prices found there
void read_clusters(Reading& reading);

// Parts of sections that live in files of their own.
std::optional<PriceRow> read_price_row(Reading& reading, const Place& at, const std::string& key);
/// Adds a row to the price book, replacing one of the same key. Ids of rows shift: call before any id is taken.
void add_price_row(Reading& reading, PriceRow row);
std::optional<ServerProfile> read_measured(Reading& reading, const Place& at);
UnitPlan read_units(Reading& reading, Map& map);
std::optional<Rental> read_rental(Reading& reading, const Place& at, const Destination& destination);
/// A URL that ACE would call, or nothing; a mistake if it is one that it may not.
std::optional<Endpoint> read_endpoint(Reading& reading, const Place& at, bool allow_private);
void read_gpus(Reading& reading, Map& map, Destination& destination);
/// `requires:` of an SLO class.
Requirements read_requirements(Reading& reading, const Place& at);
void read_ptu(Reading& reading, const Place& at, Destination& destination);
void read_gsu(Reading& reading, const Place& at, Destination& destination);

}  // namespace ace::fleet_file
