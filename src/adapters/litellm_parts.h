#pragma once
/// Inside litellm_config.h: one deployment on its way from their words to ours.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/litellm_config.h"
#include "fleet/findings.h"

namespace ace::litellm {

/// A word in front of a model's name ("azure/gpt-4o"), and what it means.
struct Prefix {
  std::string_view word;
  Api api;
  std::string_view url;      ///< where it is called if the configuration does not say; empty = it must
  std::string_view key_env;  ///< variable that LiteLLM reads if the configuration names none; empty = no key
};
/// Null for a provider that ACE does not speak to.
const Prefix* prefix_of(std::string_view word);

/// What makes two deployments the same provider of ours.
struct Account {
  Api api = Api::openai;
  std::string word, url, key, key_id, session_token;  ///< keys: names of variables
  std::string api_version, region, project, organization, jurisdiction;
  bool allow_private = false;
  friend auto operator<=>(const Account&, const Account&) = default;
};

struct Deployment {
  std::string group;  ///< their model_name, a model of ours
  Account account;
  std::string name;       ///< what it is called there
  std::string price_key;  ///< in LiteLLM's price map
  std::optional<std::int64_t> rpm, tpm, context, output_max, order;
  std::string input_price, cached_price, output_price;  ///< "2.5 USD/Mtok", empty = not given
  int line = 0;
  std::string path;
};

/// What the settings around the list say.
struct Settings {
  std::vector<std::pair<std::string, std::string>> aliases;  ///< alias, group
  std::optional<std::int64_t> attempts_max;
  std::string total;  ///< "600s"
  bool response_cache = false;
};

class Findings {
 public:
  void add(LitellmFinding::Kind kind, const fleet_file::Place& at, std::string what);
  void left_out(const fleet_file::Place& at, std::string what) {
    add(LitellmFinding::Kind::left_out, at, std::move(what));
  }
  void changed(const fleet_file::Place& at, std::string what) {
    add(LitellmFinding::Kind::changed, at, std::move(what));
  }
  void changed(const Deployment& at, std::string what) {
    found_.push_back({LitellmFinding::Kind::changed, at.line, at.path, std::move(what), {}});
  }
  void secret(const fleet_file::Place& at, std::string variable, std::string what);
  [[nodiscard]] std::vector<LitellmFinding> take();

 private:
  std::vector<LitellmFinding> found_;
};

/// Why a key of a deployment is left out, and where to look instead.
std::string_view reason_for(std::string_view key);

/// At most 200 characters, all of those that names of a fleet file have; others become a dash.
std::string plain_name(std::string_view text);

/// The members of a map with their places; none if it is none.
std::vector<std::pair<std::string, fleet_file::Place>> members(const fleet_file::Place& at);
fleet_file::Place member(const fleet_file::Place& at, std::string_view key);

/// Reads one entry of model_list. Nothing if it cannot be called, which is a finding.
std::optional<Deployment> read_deployment(const fleet_file::Place& entry, Findings& findings);
/// Reads router_settings, litellm_settings, general_settings, environment_variables and what else stands at the top.
Settings read_settings(const fleet_file::Place& root, Findings& findings);

}  // namespace ace::litellm
