#pragma once
/// One path of the admin API: what it takes, what it answers, and what it does. The description that is served and the
/// requests that are served are made of the same table.
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/admin.h"

namespace ace::gateway {

struct Admin::Answer {
  int status = 200;
  nlohmann::ordered_json json = nullptr;  ///< the body, where `text` is empty
  std::string text{}, type = "application/json";
};

struct Admin::Asked {
  Admin& admin;
  Instant now{};
  std::string_view query, parameter;   ///< raw; the part of the path that the route leaves open
  const nlohmann::ordered_json& body;  ///< null where there is none

  [[nodiscard]] Steering& steering() const { return admin.steering_; }
  [[nodiscard]] KeyBook* keys() const { return admin.keys_; }
  [[nodiscard]] const Limits& limits() const { return admin.limits_; }
  [[nodiscard]] const MetricRegistry& metrics() const { return admin.metrics_; }
  [[nodiscard]] const std::string& version() const { return admin.options_.version; }
  /// A value of the query; null if it is not there.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
};

struct Admin::Route {
  std::string_view method, path;  ///< "/v1/keys/{id}/rotate": one part at most is open
  std::string_view summary;
  bool for_all = false;  ///< also without an admin key: what load balancers and scrapers ask
  /// JSON schema of the query's values by name, of the body ("" = none), and of the answer ("" = it is no JSON).
  std::vector<std::pair<std::string_view, std::string_view>> query{};
  std::string_view body{}, answers{};
  Answer (*run)(const Asked&) = nullptr;
};

/// {"error": {"code", "message"}}
Admin::Answer refusal(int status, std::string_view code, std::string_view message);
/// The same for what went wrong behind it.
Admin::Answer refusal(const Error& error);

/// What is not known, or no number, is null in an answer; so is an empty text.
nlohmann::ordered_json or_null(const std::string& text);
nlohmann::ordered_json or_null(const std::optional<double>& value);
nlohmann::ordered_json or_null(const std::optional<Instant>& at);

/// The routes about keys, and all others.
std::vector<Admin::Route> key_routes();
std::vector<Admin::Route> steering_routes();

}  // namespace ace::gateway
