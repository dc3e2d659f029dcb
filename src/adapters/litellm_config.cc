#include "adapters/litellm_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "adapters/litellm_parts.h"
#include "core/text.h"

namespace ace {
namespace litellm {
namespace {

using fleet_file::Place;

constexpr std::int64_t kWindowAssumed = 128'000;

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Names that differ by more than case, each with a number if it must.
class Names {
 public:
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(lower(name)).second; ++i) name = fmt::format("{}-{}", wanted, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

/// One line of a map, `{a: 1, b: 2}`. Texts are quoted; empty ones are left out.
class Inline {
 public:
  Inline& text(std::string_view key, std::string_view value) {
    return value.empty() ? *this : raw(key, json_text(value));
  }
  Inline& raw(std::string_view key, std::string_view value) {
    out_ += fmt::format("{}{}: {}", out_.empty() ? "" : ", ", key, value);
    return *this;
  }
  Inline& number(std::string_view key, const std::optional<std::int64_t>& value) {
    return value ? raw(key, std::to_string(*value)) : *this;
  }
  [[nodiscard]] std::string done() const { return "{" + out_ + "}"; }

 private:
  std::string out_;
};

std::string provider_line(const std::string& name, const Account& account) {
  Inline line;
  line.raw("jurisdictions", fmt::format("[{}]", account.jurisdiction.empty() ? "unknown" : account.jurisdiction));
  line.raw("api", name_of(account.api)).text("url", account.url);
  if (account.allow_private) line.raw("allow_private", "true");
  line.text("api_version", account.api_version).text("region", account.region).text("project", account.project);
  line.text("organization", account.organization);
  for (const auto& [key, variable] : {std::pair<std::string_view, const std::string*>{"key", &account.key},
                                      {"key_id", &account.key_id},
                                      {"session_token", &account.session_token}})
    if (!variable->empty()) line.raw(key, fmt::format("{{env: {}}}", *variable));
  return fmt::format("  {}: {}\n", json_text(name), line.done());
}

/// As the configuration says, else as the price map does.
std::optional<std::int64_t> context_of(const Deployment& d, const LitellmOptions& options) {
  if (d.context || options.prices == nullptr) return d.context;
  const auto id = options.prices->find(d.price_key);
  if (!id || !options.prices->rows[id->value].context_max) return std::nullopt;
  return options.prices->rows[id->value].context_max->value;
}

std::optional<std::int64_t> output_of(const Deployment& d, const LitellmOptions& options) {
  if (d.output_max || options.prices == nullptr) return d.output_max;
  const auto id = options.prices->find(d.price_key);
  if (!id || !options.prices->rows[id->value].output_max) return std::nullopt;
  return options.prices->rows[id->value].output_max->value;
}

/// The widest window of a model's deployments; each smaller one is said with its destination.
struct Window {
  std::optional<std::int64_t> context, output;
};
Window window_of(const std::vector<const Deployment*>& pool, const LitellmOptions& options) {
  Window out;
  for (const Deployment* d : pool) {
    out.context = std::max(out.context, context_of(*d, options));  // nothing is less than anything
    out.output = std::max(out.output, output_of(*d, options));
  }
  if (out.context && out.output) out.context = std::max(*out.context, *out.output);
  return out;
}

/// Who is called what in the files.
struct Layout {
  std::map<Account, std::string> providers;
  std::vector<const Account*> accounts;  ///< in the order of the file, as are the models
  std::vector<std::string> models;
  std::map<std::string, std::vector<const Deployment*>> pools;  ///< by model
  std::map<const Deployment*, std::string> destinations;        ///< looked up only
};

Layout layout_of(const std::vector<Deployment>& deployments) {
  Layout out;
  Names providers, destinations;
  for (const Deployment& d : deployments) {
    const auto [at, fresh] = out.providers.try_emplace(d.account);
    if (fresh) {
      at->second = providers.unique(d.account.word);
      out.accounts.push_back(&at->first);
    }
    std::vector<const Deployment*>& pool = out.pools[d.group];
    if (pool.empty()) out.models.push_back(d.group);
    pool.push_back(&d);
    out.destinations[&d] = destinations.unique(at->second + "/" + d.group);
  }
  return out;
}

/// Writes both files, and notes what had to be assumed.
class Writer {
 public:
  Writer(const Layout& layout, const Settings& settings, const LitellmOptions& options, const Place& root,
         Findings& findings)
      : layout_(layout), settings_(settings), options_(options), root_(root), findings_(findings) {}

  std::string fleet(const std::vector<Deployment>& deployments) {
    std::string out = "version: 1\n";
    if (!options_.prices_path.empty())
      out += fmt::format("prices: [{{path: {}, dialect: community}}]\n", json_text(options_.prices_path));
    out += "providers:\n";
    bool unknown = false;
    for (const Account* account : layout_.accounts) {
      out += provider_line(layout_.providers.at(*account), *account);
      unknown |= account->jurisdiction.empty();
    }
    if (unknown)
      note(
          "LiteLLM does not say whose law applies to a provider: write `jurisdictions` for \"unknown\", so that "
          "compliance rules can let requests go there");
    out += "models:\n";
    Names taken;
    for (const std::string& model : layout_.models) taken.unique(model);
    for (const std::string& model : layout_.models) out += model_line(model, taken);
    note(
        "LiteLLM does not say what a model can do: all capabilities were assumed; take out of `capabilities` what a "
        "model has not");
    out += "slo_classes: {chat: {ttft: 2s, target: 0.99}}\ntenants: {default: {slo: chat}}\n";
    note("one SLO class (first token within 2 s) and one tenant were assumed");
    out += "destinations:\n";
    for (const Deployment& d : deployments) out += destination_line(d);
    if (unpriced_)
      note(
          "destinations with a price_key have no price yet: import again with --prices, or name a price map under "
          "`prices` of the fleet file");
    if (settings_.attempts_max || settings_.response_cache) {
      Inline policies;
      policies.number("attempts_max", settings_.attempts_max);
      if (settings_.response_cache) policies.raw("response_cache", "true");
      out += "policies: " + policies.done() + "\n";
    }
    return out;
  }

  /// It only observes: each model goes where their `order` says, else to its first deployment.
  std::string gateway() {
    std::string out =
        "version: 1\nlisten: {address: 127.0.0.1, port: 4000}\nfleet: fleet.yaml\nspine: {dir: spine}\n"
        "mode: observe\ntenant: default\nroutes:\n";
    for (const std::string& model : layout_.models) {
      const std::vector<const Deployment*>& pool = layout_.pools.at(model);
      const auto* first = *std::min_element(pool.begin(), pool.end(), [](const Deployment* a, const Deployment* b) {
        return a->order.value_or(INT64_MAX) < b->order.value_or(INT64_MAX);
      });
      const std::string& to = layout_.destinations.at(first);
      out += fmt::format("  {}: {}\n", json_text(model), json_text(to));
      if (pool.size() > 1)
        note(
            fmt::format("in mode observe all requests for {} go to {}, the first of {}; above it the merit order "
                        "decides",
                        model, to, pool.size()));
    }
    if (!settings_.total.empty()) out += fmt::format("timeouts: {{total: {}}}\n", settings_.total);
    return out;
  }

 private:
  void note(std::string what) { findings_.changed(root_, std::move(what)); }

  std::string model_line(const std::string& model, Names& taken) {
    const std::vector<const Deployment*>& pool = layout_.pools.at(model);
    const Window window = window_of(pool, options_);
    if (!window.context)
      note(fmt::format("models.{}: a context window of {} tokens was assumed", model, kWindowAssumed));
    Inline line;
    line.number("context", window.context.value_or(std::max(kWindowAssumed, window.output.value_or(0))));
    line.number("output_max", window.output);
    line.raw("capabilities", "[image, audio, tools, json_schema, reasoning]");
    std::string aliases;
    for (const auto& [alias, group] : settings_.aliases) {
      if (lower(group) != lower(model)) continue;
      if (taken.unique(alias) == alias)
        aliases += (aliases.empty() ? "" : ", ") + json_text(alias);
      else
        note(fmt::format("the alias \"{}\" is a model or an alias already", alias));
    }
    if (!aliases.empty()) line.raw("aliases", "[" + aliases + "]");
    for (const Deployment* d : pool) {
      if (options_.prices == nullptr || options_.today.empty() || !options_.prices->find(d->price_key)) continue;
      Inline baseline;
      baseline.text("destination", layout_.destinations.at(d)).text("price_key", d->price_key);
      line.raw("baseline", baseline.raw("as_of", options_.today).raw("contracted", "false").done());
      break;
    }
    return fmt::format("  {}: {}\n", json_text(model), line.done());
  }

  std::string destination_line(const Deployment& d) {
    Inline model;
    model.text("model", d.group);
    if (d.name != d.group) model.text("name", d.name);
    const std::optional<std::int64_t> context = context_of(d, options_);
    if (context < window_of(layout_.pools.at(d.group), options_).context) model.number("context", context);
    Inline line;
    line.text("id", layout_.destinations.at(&d)).raw("tier", "payg").text("provider", layout_.providers.at(d.account));
    line.raw("models", "[" + model.done() + "]").number("rpm", d.rpm).number("tpm", d.tpm);
    if (!d.rpm && !d.tpm) line.raw("unlimited", "true");
    if (d.input_price.empty() || d.output_price.empty()) {
      line.text("price_key", d.price_key);
      if (options_.prices == nullptr)
        unpriced_ = true;
      else if (!options_.prices->find(d.price_key))
        findings_.changed(d, fmt::format("no row \"{}\" in the price map: it has no price, so only the route of mode "
                                         "observe leads there",
                                         d.price_key));
    } else {
      Inline price;
      price.text("input", d.input_price).text("cached_input", d.cached_price).text("output", d.output_price);
      line.raw("price", price.done());
    }
    if (prefix_of(d.account.word)->key_env.empty())
      findings_.changed(d,
                        "an engine of your own: declare its destination as tier owned, with its accelerator and cost, "
                        "so that idle capacity is used first");
    return fmt::format("  - {}\n", line.done());
  }

  const Layout& layout_;
  const Settings& settings_;
  const LitellmOptions& options_;
  const Place& root_;
  Findings& findings_;
  bool unpriced_ = false;
};

}  // namespace
}  // namespace litellm

LitellmImport import_litellm(std::string_view yaml, const std::string& file, const LitellmOptions& options) {
  using fleet_file::Place;
  LitellmImport out;
  ace::yaml::Document document;
  ace::yaml::read(yaml, {}, document);
  fleet_file::Findings mistakes(file, document);
  for (const ace::yaml::Fault& fault : document.faults)
    mistakes.mistake(fault.line, fault.column, fault.path, fault.what, fault.mend);
  const Place root{&document.root, nullptr, ""};
  if (document.faults.empty() && !root.is_map()) mistakes.mistake(root, "expected the map of a LiteLLM configuration");
  const Place list = litellm::member(root, "model_list");
  if (document.faults.empty() && root.is_map() && !list.is_list())
    mistakes.mistake(root, "expected model_list, a list of deployments", "name the file that `litellm --config` reads");
  out.mistakes = mistakes.take_mistakes();
  if (!out.mistakes.empty()) return out;
  litellm::Findings findings;
  std::vector<litellm::Deployment> deployments;
  std::map<std::string, std::string> spelt;  // groups, whatever their case, as first written
  for (std::size_t i = 0; i < list.node->items.size(); ++i) {
    const Place entry{&list.node->items[i], nullptr, fmt::format("model_list[{}]", i)};
    auto deployment = litellm::read_deployment(entry, findings);
    if (!deployment) continue;
    const std::string& group = spelt.try_emplace(litellm::lower(deployment->group), deployment->group).first->second;
    if (group != deployment->group)
      findings.changed(entry, fmt::format("taken for \"{}\", from which it differs by case alone", group));
    deployment->group = group;
    deployments.push_back(std::move(*deployment));
  }
  const litellm::Settings settings = litellm::read_settings(root, findings);
  if (!deployments.empty()) {
    const litellm::Layout layout = litellm::layout_of(deployments);
    litellm::Writer writer(layout, settings, options, root, findings);
    out.fleet = writer.fleet(deployments);
    out.gateway = writer.gateway();
    out.models = layout.models.size();
    out.destinations = deployments.size();
    out.providers = layout.accounts.size();
  }
  out.findings = findings.take();
  return out;
}

}  // namespace ace
