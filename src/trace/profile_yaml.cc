/// The file form of a profile.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "core/text.h"
#include "trace/profile.h"

namespace ace {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// "90s", "1.5h", "8d"; units ms, s, m, h, d.
std::optional<Duration> duration_of(std::string_view text) {
  const auto digits = text.find_first_not_of("0123456789.");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto value = number_of(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  const double seconds = unit == "ms"  ? 1e-3
                         : unit == "s" ? 1.0
                         : unit == "m" ? 60.0
                         : unit == "h" ? 3600.0
                         : unit == "d" ? 86400.0
                                       : 0.0;
  if (!value || seconds == 0.0 || *value * seconds > 3e8) return std::nullopt;
  return from_seconds(*value * seconds);
}

/// "2026-01-05" or "2026-01-05T08:00:00Z".
std::optional<Instant> instant_from(std::string_view text) {
  Civil c;
  const auto part = [&](std::size_t at, std::size_t n, auto& into) {
    if (text.size() < at + n) return false;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + n, into);
    return error == std::errc{} && end == text.data() + at + n;
  };
  const bool with_time = text.size() == 20;
  if (text.size() != 10 && !with_time) return std::nullopt;
  if (!part(0, 4, c.year) || text[4] != '-' || !part(5, 2, c.month) || text[7] != '-' || !part(8, 2, c.day))
    return std::nullopt;
  if (with_time && (text[10] != 'T' || !part(11, 2, c.hour) || text[13] != ':' || !part(14, 2, c.minute) ||
                    text[16] != ':' || !part(17, 2, c.second) || text[19] != 'Z'))
    return std::nullopt;
  if (!valid_date(c.year, c.month, c.day) || c.year < 1970 || c.year > 2200 || c.hour > 23 || c.minute > 59 ||
      c.second > 59)
    return std::nullopt;
  return instant_of(c);
}

/// Counts documents.
class Documents final : public YAML::EventHandler {
 public:
  int count = 0;
  void OnDocumentStart(const YAML::Mark&) override { ++count; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// As far as two: yaml-cpp finds documents without end in a text that begins with a comma.
bool is_one_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Documents documents;
  while (documents.count < 2 && parser.HandleNextDocument(documents)) {
  }
  return documents.count == 1;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void fault(const YAML::Node& node, std::string what) {
    const YAML::Mark mark = node.Mark();
    faults_.push_back(fmt::format("{}:{}:{}: {}", file_, mark.line + 1, mark.column + 1, what));
  }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

  /// Calls field(key, value) for each known key of a map; unknown and repeated ones are faults.
  template <class Field>
  void map(const YAML::Node& node, std::initializer_list<std::string_view> known, Field field) {
    if (!node.IsMap()) return fault(node, "expected a map");
    std::vector<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        fault(entry.first, fmt::format("{:?} appears twice", key));
      } else if (std::find(known.begin(), known.end(), key) != known.end()) {
        field(key, entry.second);
      } else {
        const auto near = std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
          return edit_distance(a, key) < edit_distance(b, key);
        });
        fault(entry.first, edit_distance(*near, key) <= 2
                               ? fmt::format("unknown key {:?}; did you mean {:?}?", key, *near)
                               : fmt::format("unknown key {:?}; known here: {}", key, listed(known)));
      }
      seen.push_back(key);
    }
  }
  void text(const YAML::Node& node, std::string& into) {
    node.IsScalar() ? static_cast<void>(into = node.Scalar()) : fault(node, "expected a text");
  }
  void number(const YAML::Node& node, double& into) {
    const auto value = node.IsScalar() ? number_of(node.Scalar()) : std::nullopt;
    value ? static_cast<void>(into = *value) : fault(node, "expected a number");
  }
  void integer(const YAML::Node& node, std::int32_t& into) {
    double value = 0.0;
    number(node, value);
    if (value != std::floor(value) || std::fabs(value) > 2e9) return fault(node, "expected a whole number");
    into = static_cast<std::int32_t>(value);
  }
  void duration(const YAML::Node& node, Duration& into) {
    const auto value = node.IsScalar() ? duration_of(node.Scalar()) : std::nullopt;
    value ? static_cast<void>(into = *value) : fault(node, "expected a duration with its unit, e.g. 90s, 5m, 8d");
  }
  template <std::size_t N>
  void numbers(const YAML::Node& node, std::array<double, N>& into) {
    if (!node.IsSequence() || node.size() != N) return fault(node, fmt::format("expected {} numbers", N));
    for (std::size_t i = 0; i < N; ++i) number(node[i], into[i]);
  }

  void tokens(const YAML::Node& node, TokenSpec& into) {
    into = {};
    map(node, {"mixture", "quantiles"}, [&](const std::string& key, const YAML::Node& value) {
      if (key == "quantiles") {
        if (!value.IsMap()) return fault(value, "expected a map from share to tokens, e.g. {0: 1, 0.5: 900, 1: 8000}");
        for (const auto& entry : value) {
          Knot& knot = into.quantiles.emplace_back();
          number(entry.first, knot.share);
          number(entry.second, knot.tokens);
        }
        return;
      }
      if (!value.IsSequence()) return fault(value, "expected a list of {weight, median, sigma}");
      for (const auto& item : value) {
        LogNormal& part = into.mixture.emplace_back();
        map(item, {"weight", "median", "sigma"}, [&](const std::string& name, const YAML::Node& number_node) {
          number(number_node, name == "weight" ? part.weight : name == "median" ? part.median : part.sigma);
        });
      }
    });
  }

  void tenant(const YAML::Node& node, TenantProfile& into, bool named) {
    map(node,
        {"name", "team", "model", "slo", "share", "hours", "days", "arrivals", "episodes", "prompt", "output",
         "correlation", "max_output", "batch", "prefix"},
        [&](const std::string& key, const YAML::Node& value) {
          if (key == "name")
            return named ? text(value, into.name) : fault(value, "a name belongs to a tenant, not here");
          if (key == "team") return text(value, into.team);
          if (key == "model") return text(value, into.model);
          if (key == "slo") return text(value, into.slo);
          if (key == "share") return number(value, into.share);
          if (key == "hours") return numbers(value, into.hours);
          if (key == "days") return numbers(value, into.days);
          if (key == "arrivals") return arrivals(value, into.gaps);
          if (key == "episodes") return episodes(value, into.episodes);
          if (key == "prompt") return tokens(value, into.prompt);
          if (key == "output") return tokens(value, into.output);
          if (key == "correlation") return number(value, into.correlation);
          if (key == "batch") return number(value, into.batch);
          if (key == "prefix") return prefix(value, into.prefix);
          into.max_output.clear();
          if (!value.IsSequence()) return fault(value, "expected a list of token limits");
          for (const auto& item : value) integer(item, into.max_output.emplace_back());
        });
  }

  void profile(const YAML::Node& root, Profile& into) {
    if (!root.IsMap()) return fault(root, "expected a map with rate, length, tenants");
    TenantProfile defaults;  // read first: a tenant starts from them wherever they stand
    if (root["defaults"]) tenant(root["defaults"], defaults, false);
    map(root, {"profile", "source", "start", "length", "rate", "defaults", "tenants"},
        [&](const std::string& key, const YAML::Node& value) {
          if (key == "profile") return text(value, into.name);
          if (key == "source") return text(value, into.source);
          if (key == "length") return duration(value, into.length);
          if (key == "rate") return number(value, into.rate_per_s);
          if (key == "start") {
            const auto at = value.IsScalar() ? instant_from(value.Scalar()) : std::nullopt;
            if (!at) return fault(value, "expected a UTC time, e.g. 2026-01-05T00:00:00Z");
            into.start = *at;
          }
          if (key != "tenants") return;
          if (!value.IsSequence()) return fault(value, "expected a list of tenants");
          for (const auto& item : value) tenant(item, into.tenants.emplace_back(defaults), true);
        });
  }

 private:
  void arrivals(const YAML::Node& node, GapSpec& into) {
    map(node, {"family", "cv"}, [&](const std::string& key, const YAML::Node& value) {
      if (key == "cv") return number(value, into.cv);
      const std::string family = value.IsScalar() ? value.Scalar() : "";
      if (family != "gamma" && family != "weibull") return fault(value, "expected gamma or weibull");
      into.family = family == "gamma" ? GapFamily::gamma : GapFamily::weibull;
    });
  }
  void episodes(const YAML::Node& node, EpisodeSpec& into) {
    map(node, {"per_day", "length", "factor"}, [&](const std::string& key, const YAML::Node& value) {
      if (key == "length") return duration(value, into.length);
      number(value, key == "factor" ? into.factor : into.per_day);
    });
  }
  void prefix(const YAML::Node& node, PrefixSpec& into) {
    map(node, {"system_blocks", "continued", "think", "sessions"},
        [&](const std::string& key, const YAML::Node& value) {
          if (key == "think") return duration(value, into.think);
          if (key == "continued") return number(value, into.continued);
          integer(value, key == "sessions" ? into.sessions : into.system_blocks);
        });
  }

  std::string file_;
  std::vector<std::string> faults_;
};

/// A text that every YAML reader takes as this text.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

/// Whole in the largest unit that shows it exactly, e.g. "90s".
std::string text_of(Duration d) {
  const std::int64_t ms = nanos(d) / 1'000'000;
  if (ms % 86'400'000 == 0 && ms > 0) return fmt::format("{}d", ms / 86'400'000);
  if (ms % 3'600'000 == 0 && ms > 0) return fmt::format("{}h", ms / 3'600'000);
  if (ms % 60'000 == 0 && ms > 0) return fmt::format("{}m", ms / 60'000);
  return ms % 1000 == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}ms", ms);
}

std::string text_of(const TokenSpec& spec) {
  std::vector<std::string> parts;
  for (const LogNormal& part : spec.mixture)
    parts.push_back(fmt::format("{{weight: {}, median: {}, sigma: {}}}", part.weight, part.median, part.sigma));
  if (!parts.empty()) return fmt::format("{{mixture: [{}]}}", listed(parts));
  for (const Knot& knot : spec.quantiles) parts.push_back(fmt::format("{}: {}", knot.share, knot.tokens));
  return fmt::format("{{quantiles: {{{}}}}}", listed(parts));
}

}  // namespace

Result<Profile> parse_profile(std::string_view text, const std::string& file) {
  if (text.size() > (std::size_t{1} << 20)) return Error{Errc::bad_input, file + ": a profile is at most 1 MiB long"};
  try {
    const std::string whole(text);
    if (!is_one_document(whole))
      return Error{Errc::bad_input, file + ": expected one YAML document, got none or several"};
    Reader reader(file);
    Profile profile;
    reader.profile(YAML::Load(whole), profile);
    std::vector<std::string> faults = reader.faults();
    if (faults.empty())
      for (const std::string& fault : faults_of(profile)) faults.push_back(file + ": " + fault);
    if (!faults.empty()) {
      std::string lines;
      for (const std::string& fault : faults) lines += (lines.empty() ? "" : "\n") + fault;
      return Error{Errc::bad_input, lines};
    }
    return profile;
  } catch (const YAML::Exception& error) {
    return Error{Errc::bad_input,
                 fmt::format("{}:{}:{}: {}", file, error.mark.line + 1, error.mark.column + 1, error.msg)};
  }
}

std::string to_yaml(const Profile& profile) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "profile: {}\nsource: {}\nstart: {}\nlength: {}\nrate: {}\ntenants:\n", quoted(profile.name),
                 quoted(profile.source), to_rfc3339(profile.start), text_of(profile.length), profile.rate_per_s);
  const TenantProfile plain;
  for (const TenantProfile& t : profile.tenants) {
    fmt::format_to(to, "  - name: {}\n", quoted(t.name));
    if (!t.team.empty()) fmt::format_to(to, "    team: {}\n", quoted(t.team));
    if (!t.model.empty()) fmt::format_to(to, "    model: {}\n", quoted(t.model));
    if (!t.slo.empty()) fmt::format_to(to, "    slo: {}\n", quoted(t.slo));
    fmt::format_to(to, "    share: {}\n", t.share);
    if (t.hours != plain.hours) fmt::format_to(to, "    hours: [{}]\n", listed(t.hours));
    if (t.days != plain.days) fmt::format_to(to, "    days: [{}]\n", listed(t.days));
    fmt::format_to(to, "    arrivals: {{family: {}, cv: {}}}\n",
                   t.gaps.family == GapFamily::gamma ? "gamma" : "weibull", t.gaps.cv);
    if (t.episodes != plain.episodes)
      fmt::format_to(to, "    episodes: {{per_day: {}, length: {}, factor: {}}}\n", t.episodes.per_day,
                     text_of(t.episodes.length), t.episodes.factor);
    fmt::format_to(to, "    prompt: {}\n    output: {}\n", text_of(t.prompt), text_of(t.output));
    if (t.correlation != 0.0) fmt::format_to(to, "    correlation: {}\n", t.correlation);
    if (!t.max_output.empty()) fmt::format_to(to, "    max_output: [{}]\n", listed(t.max_output));
    if (t.batch != 0.0) fmt::format_to(to, "    batch: {}\n", t.batch);
    if (t.prefix != plain.prefix)
      fmt::format_to(to, "    prefix: {{system_blocks: {}, continued: {}, think: {}, sessions: {}}}\n",
                     t.prefix.system_blocks, t.prefix.continued, text_of(t.prefix.think), t.prefix.sessions);
  }
  return out;
}

}  // namespace ace
