#pragma once
/// A LiteLLM configuration as a fleet file and an ace.yaml, with a report of what was taken over and what was not.
/// Nothing is dropped in silence and no secret is copied.
///
/// Source: LiteLLM documentation, "Proxy config", "Routing" and the provider pages, 2026-09.
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.h"

namespace ace {

struct LitellmFinding {
  enum class Kind : std::uint8_t {
    secret,    ///< a key that must be put where `name` says
    changed,   ///< taken over in another form, or by an assumption that a person should look at
    left_out,  ///< has no counterpart, or needs a person's word
  } kind = Kind::left_out;
  int line = 0;      ///< of the configuration, from 1
  std::string path;  ///< "model_list[2].litellm_params.weight"
  std::string what;
  std::string name{};  ///< of a secret: its variable
};

struct LitellmImport {
  std::string fleet, gateway;  ///< texts of fleet.yaml and ace.yaml; empty where nothing can be called
  std::size_t models = 0, destinations = 0, providers = 0;
  std::vector<LitellmFinding> findings;  ///< by line
  std::vector<Mistake> mistakes;         ///< of the text itself: not empty = there is nothing else
};

struct LitellmOptions {
  const PriceBook* prices = nullptr;  ///< LiteLLM's price map, for context windows and baselines
  std::string prices_path;            ///< as the fleet file is to name it; empty = not
  std::string today;                  ///< YYYY-MM-DD, the day on which prices were looked up
};

LitellmImport import_litellm(std::string_view yaml, const std::string& file, const LitellmOptions& options);

}  // namespace ace
