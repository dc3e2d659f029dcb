#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "adapters/litellm_parts.h"
#include "core/decimal.h"

namespace ace::litellm {
namespace {

using fleet_file::Place;

std::optional<std::int64_t> count_at(const Place& at, std::int64_t most) {
  std::int64_t value = 0;
  const std::string_view text = at.text();
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || stop != text.data() + text.size() || value < 1 || value > most) return std::nullopt;
  return value;
}

/// USD per token as USD per million tokens, exactly to a nano-dollar.
std::string price_at(const Place& at, Findings& findings) {
  if (!at) return "";
  const Result<std::int64_t> nano = parse_decimal_rounded(at.text(), 15);
  if (!nano || *nano < 0) {
    findings.left_out(at, "expected a price in USD per token");
    return "";
  }
  std::string fraction = fmt::format("{:09}", *nano % 1'000'000'000);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fmt::format("{}{}{} USD/Mtok", *nano / 1'000'000'000, fraction.empty() ? "" : ".", fraction);
}

bool is_variable(std::string_view text) {
  return !text.empty() && text.size() <= 128 &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

/// "os.environ/NAME" as NAME. Anything else that is written there is the secret itself, which stays where it is.
std::string variable_of(const Place& at, const Place& around, std::string_view usual, Findings& findings) {
  constexpr std::string_view marker = "os.environ/";
  const std::string_view text = at.text();
  std::string name(usual);
  if (text.starts_with(marker) && is_variable(text.substr(marker.size()))) {
    name = text.substr(marker.size());
    findings.secret(at, name, "set it for the gateway");
  } else if (text.starts_with(marker)) {
    findings.secret(at, name, "its variable's name is not made of capitals, digits and _: set this one instead");
  } else if (at) {
    findings.secret(at, name, "a literal key, which was not copied: put it there");
  } else {
    findings.secret(around, name, "set it for the gateway");
  }
  return name;
}

/// A URL, or nothing with a finding. Keys in it are never shown.
std::string url_at(const Place& at, Account& account, Findings& findings) {
  if (!at) return "";
  if (at.text().starts_with("os.environ/")) {
    const std::string_view name = at.text().substr(11);
    if (is_variable(name)) {
      findings.secret(at, std::string(name), "an address: set it for whoever reads the fleet file");
      return fmt::format("${{{}}}", name);
    }
  }
  fleet_file::Misread why;
  if (fleet_file::parse_url(at.text(), false, why)) return std::string(at.text());
  if (fleet_file::parse_url(at.text(), true, why)) {
    account.allow_private = true;
    findings.changed(at, "a private host: `allow_private: true` was added to its provider");
    return std::string(at.text());
  }
  findings.left_out(at, fmt::format("expected {}: this deployment cannot be called", why.expected));
  return "";
}

/// The model as the provider calls it, and what LiteLLM's price map calls it.
struct Names {
  const Prefix* prefix = nullptr;
  std::string name, price_key;
};

std::optional<Names> names_of(const Place& at, const Place& provider, Findings& findings) {
  const std::string_view text = at.text();
  if (text.find('*') != std::string_view::npos) {
    findings.left_out(at, "a wildcard: name each model, so that it has a price and a window");
    return std::nullopt;
  }
  Names out;
  const std::size_t slash = text.find('/');
  std::string_view word = provider ? provider.text() : text.substr(0, slash), rest = text;
  const bool named = slash != std::string_view::npos && text.substr(0, slash) == word;
  if (named) rest = text.substr(slash + 1);
  if (!provider && slash == std::string_view::npos) {
    word = text.starts_with("claude") ? "anthropic" : text.starts_with("gemini") ? "gemini" : "openai";
    if (!text.starts_with("gpt-") && !text.starts_with("o1") && !text.starts_with("o3") && !text.starts_with("o4") &&
        !text.starts_with("chatgpt-") && !text.starts_with("text-") && word == "openai")
      findings.changed(at, "no provider is named; openai was assumed");
  }
  out.prefix = prefix_of(word);
  if (out.prefix == nullptr) {
    findings.left_out(at, fmt::format("provider \"{}\" is not one that can be called", plain_name(word)));
    return std::nullopt;
  }
  out.price_key = text;
  if (word == "openai" || word == "anthropic" || word == "bedrock") out.price_key = rest;
  if (word == "bedrock") {
    for (const std::string_view route : {"converse/", "invoke/"})
      if (rest.starts_with(route)) rest.remove_prefix(route.size());
    out.price_key = rest;
    if (rest.find("anthropic.") == std::string_view::npos) {
      findings.left_out(at,
                        "of Bedrock only Anthropic's models are spoken to; others have an OpenAI-compatible endpoint "
                        "(docs/PROVIDERS.md)");
      return std::nullopt;
    }
  }
  if (word == "vertex_ai") {
    if (rest.find("gemini") == std::string_view::npos) {
      findings.left_out(at, "of Vertex AI only the OpenAI-compatible endpoint is spoken to, which serves Gemini");
      return std::nullopt;
    }
    out.name = "google/";
  }
  out.price_key = plain_name(out.price_key);
  out.name += plain_name(rest);
  if (rest.empty()) {
    findings.left_out(at, "expected the name of a model behind its provider");
    return std::nullopt;
  }
  return out;
}

/// A version with a date, or the one that has none. LiteLLM's other words for that one mean the same.
std::string version_at(const Place& at, Findings& findings) {
  if (!at || at.text() == "v1" || at.text() == "preview" || at.text() == "latest") return "";
  const std::string_view day = at.text().substr(0, 10), rest = at.text().substr(day.size());
  fleet_file::Misread why;
  if (fleet_file::parse_date(day, why) && (rest.empty() || rest == "-preview")) return std::string(at.text());
  findings.left_out(at, "expected a version such as 2024-10-21; v1 is asked for");
  return "";
}

std::string usual_variable(const Prefix& prefix) {
  return prefix.key_env.empty() ? "OPENAI_LIKE_API_KEY" : std::string(prefix.key_env);
}

void read_account(const Place& params, const Prefix& prefix, Account& account, Findings& findings) {
  const auto text = [&](std::string_view key) {
    const Place at = member(params, key);
    if (at.text().starts_with("os.environ/") && is_variable(at.text().substr(11))) {
      findings.secret(at, std::string(at.text().substr(11)), "set it for whoever reads the fleet file");
      return fmt::format("${{{}}}", at.text().substr(11));
    }
    return at ? plain_name(at.text()) : std::string();
  };
  account.api = prefix.api;
  account.word = prefix.word;
  Place base = member(params, "api_base");
  if (!base) base = member(params, "base_url");
  account.url = base ? url_at(base, account, findings) : std::string(prefix.url);
  if (prefix.word == "ollama" || prefix.word == "ollama_chat") {
    while (account.url.ends_with('/')) account.url.pop_back();
    if (!account.url.empty() && !account.url.ends_with("/v1")) account.url += "/v1";
  }
  if (prefix.api == Api::bedrock) account.region = text("aws_region_name");
  if (prefix.api == Api::vertex) {
    account.region = text("vertex_location");
    account.project = text("vertex_project");
  }
  if (prefix.api == Api::openai) account.organization = text("organization");
  if (prefix.api == Api::azure_openai) account.api_version = version_at(member(params, "api_version"), findings);
  account.jurisdiction = text("region_name");
  const Place key = member(params, "api_key");
  if (prefix.api == Api::bedrock) {
    const Place id = member(params, "aws_access_key_id"), token = member(params, "aws_session_token");
    account.key_id = variable_of(id, params, "AWS_ACCESS_KEY_ID", findings);
    account.key = variable_of(member(params, "aws_secret_access_key"), params, "AWS_SECRET_ACCESS_KEY", findings);
    if (token) account.session_token = variable_of(token, params, "AWS_SESSION_TOKEN", findings);
  } else if (key || !prefix.key_env.empty()) {
    account.key = variable_of(key, params, usual_variable(prefix), findings);
  }
}

}  // namespace

void Findings::add(LitellmFinding::Kind kind, const Place& at, std::string what) {
  const int line = at.node != nullptr ? at.node->line : at.parent != nullptr ? at.parent->line : 0;
  found_.push_back({kind, line, at.path, std::move(what), {}});
}

void Findings::secret(const Place& at, std::string variable, std::string what) {
  add(LitellmFinding::Kind::secret, at, std::move(what));
  found_.back().name = std::move(variable);
}

std::vector<LitellmFinding> Findings::take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const LitellmFinding& a, const LitellmFinding& b) { return a.line < b.line; });
  return std::move(found_);
}

std::vector<std::pair<std::string, Place>> members(const Place& at) {
  std::vector<std::pair<std::string, Place>> out;
  if (!at.is_map()) return out;
  for (std::size_t i = 0; i < at.node->keys.size(); ++i) {
    const std::string& key = at.node->keys[i].text;
    out.emplace_back(key, Place{&at.node->items[i], &at.node->keys[i], at.path.empty() ? key : at.path + "." + key});
  }
  return out;
}

Place member(const Place& at, std::string_view key) {
  for (const auto& [name, place] : members(at))
    if (name == key && place.node->kind != yaml::Node::Kind::null) return place;
  return {};
}

std::optional<Deployment> read_deployment(const Place& entry, Findings& findings) {
  const Place group = member(entry, "model_name"), params = member(entry, "litellm_params"),
              info = member(entry, "model_info"), model = member(params, "model");
  if (!group.is_scalar() || group.text().empty() || !model.is_scalar()) {
    findings.left_out(entry, "expected model_name and litellm_params.model");
    return std::nullopt;
  }
  if (group.text().find('*') != std::string_view::npos) {
    findings.left_out(group, "a wildcard: name each model, so that it has a price and a window");
    return std::nullopt;
  }
  const auto names = names_of(model, member(params, "custom_llm_provider"), findings);
  if (!names) return std::nullopt;
  Deployment out;
  out.line = entry.node->line;
  out.path = entry.path;
  out.group = plain_name(group.text());
  if (out.group != group.text()) findings.changed(group, fmt::format("called \"{}\" here", out.group));
  out.name = names->name;
  out.price_key = names->price_key;
  read_account(params, *names->prefix, out.account, findings);
  const Account& account = out.account;
  const bool by_region = account.api == Api::bedrock || account.api == Api::vertex;
  if (by_region && account.region.empty()) {
    findings.left_out(entry, "no aws_region_name or vertex_location: where this deployment is called is not known");
    return std::nullopt;
  }
  if (account.api == Api::vertex && account.project.empty()) {
    findings.left_out(entry, "no vertex_project");
    return std::nullopt;
  }
  if (account.url.empty() && !by_region) {
    findings.left_out(entry, "no api_base: where this deployment is called is not known");
    return std::nullopt;
  }
  for (const Place& part : {params, info}) {
    for (const auto& [key, place] : members(part)) {
      const auto number = [&](std::optional<std::int64_t>& into, std::int64_t most = 1'000'000'000) {
        into = count_at(place, most);
        if (!into) findings.left_out(place, fmt::format("expected a whole number from 1 to {}", most));
      };
      if (key == "rpm") {
        number(out.rpm, 1'000'000'000'000);
      } else if (key == "tpm") {
        number(out.tpm, 1'000'000'000'000);
      } else if (key == "order") {
        number(out.order);
      } else if (key == "max_input_tokens") {
        number(out.context);
      } else if (key == "max_output_tokens") {
        number(out.output_max);
      } else if (key == "base_model") {
        out.price_key = plain_name(place.text());
      } else if (key == "input_cost_per_token") {
        out.input_price = price_at(place, findings);
      } else if (key == "output_cost_per_token") {
        out.output_price = price_at(place, findings);
      } else if (key == "cache_read_input_token_cost") {
        out.cached_price = price_at(place, findings);
      } else {
        static constexpr std::string_view read[] = {
            "model", "api_key", "api_base", "base_url", "custom_llm_provider", "region_name", "id", "mode", "db_model"};
        static constexpr std::pair<std::string_view, Api> of_one[] = {
            {"api_version", Api::azure_openai},      {"organization", Api::openai},
            {"aws_region_name", Api::bedrock},       {"aws_access_key_id", Api::bedrock},
            {"aws_secret_access_key", Api::bedrock}, {"aws_session_token", Api::bedrock},
            {"vertex_project", Api::vertex},         {"vertex_location", Api::vertex}};
        const bool taken = std::find(std::begin(read), std::end(read), key) != std::end(read) ||
                           std::find(std::begin(of_one), std::end(of_one),
                                     std::pair<std::string_view, Api>(key, out.account.api)) != std::end(of_one);
        if (!taken) findings.left_out(place, std::string(reason_for(key)));
      }
    }
  }
  for (const auto& [key, place] : members(entry))
    if (key != "model_name" && key != "litellm_params" && key != "model_info")
      findings.left_out(place, std::string(reason_for(key)));
  return out;
}

}  // namespace ace::litellm
