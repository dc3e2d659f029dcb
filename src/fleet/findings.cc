#include "fleet/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "core/text.h"

namespace ace::fleet_file {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view s) {
  std::string out(s);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// Does a value under this key (in small letters) look like something that must not be shown?
bool names_a_secret(std::string_view word) {
  static constexpr std::string_view endings[] = {"key",    "secret",     "token",         "password",
                                                 "passwd", "credential", "authorization", "bearer"};
  return word != "price_key" && std::any_of(std::begin(endings), std::end(endings), [&](std::string_view ending) {
           return word.size() >= ending.size() && word.substr(word.size() - ending.size()) == ending;
         });
}

/// At most 64 characters of what was written, so that an error never echoes a page.
std::string short_text(std::string_view text) {
  if (text.size() <= 64) return std::string(text);
  return std::string(text.substr(0, 61)) + "...";
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, std::min<std::size_t>(3, word.size() / 3)) + 1;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer > 64 || longer - std::min(word.size(), candidate.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (const auto near = nearest(word, known)) return fmt::format("did you mean \"{}\"?", *near);
  if (known.empty()) return "";
  return "known: " + listed(known, 12);
}

std::string without_secrets(std::string_view line) {
  std::string out;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line.substr(i, 3) == "://") {  // user:password@
      const std::size_t end = line.find_first_of("/ \t\"'", i + 3);
      const std::size_t at = line.substr(0, end).rfind('@');
      out += "://";
      i += 3;
      if (at != std::string_view::npos && at > i) {
        out += "***";
        i = at;
      }
      continue;
    }
    if (!is_word(line[i])) {
      out += line[i++];
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string word = lowered(line.substr(i, end - i));
    out += word.substr(0, 3) == "sk-" && word.size() > 8 ? std::string("***") : std::string(line.substr(i, end - i));
    i = end;
    if (!names_a_secret(word)) continue;
    std::size_t value = end;
    while (value < line.size() && (line[value] == '"' || line[value] == '\'' || line[value] == ' ')) ++value;
    if (value >= line.size() || line[value] != ':') continue;
    ++value;
    while (value < line.size() && line[value] == ' ') ++value;
    if (value >= line.size() || line[value] == '{' || line[value] == '$' || line[value] == '#') continue;
    out += line.substr(end, value - end);
    const char quote = line[value] == '"' || line[value] == '\'' ? line[value] : '\0';
    const std::size_t stop = quote != '\0' ? line.find(quote, value + 1) : line.find_first_of(",} \t", value);
    out += "***";
    i = stop == std::string_view::npos ? line.size() : stop + (quote != '\0' ? 1 : 0);
  }
  return out;
}

void Findings::mistake(const Place& at, std::string what, std::string mend) {
  const yaml::Node* node = at.node != nullptr ? at.node : at.parent;
  mistake(node != nullptr ? node->line : 1, node != nullptr ? node->column : 1, at.path, std::move(what),
          std::move(mend));
}

void Findings::mistake(int line, int column, std::string path, std::string what, std::string mend) {
  if (full()) return;
  Mistake made;
  made.file = file_;
  made.line = line;
  made.column = column;
  made.path = std::move(path);
  made.what = without_secrets(what);
  made.mend = without_secrets(mend);
  // A line that nobody could read on a screen is not shown: a thousand copies of it would be memory for nothing.
  if (line >= 1 && static_cast<std::size_t>(line) <= document_.lines.size() &&
      document_.lines[static_cast<std::size_t>(line) - 1].size() <= 4096)
    made.excerpt = without_secrets(document_.lines[static_cast<std::size_t>(line) - 1]);
  mistakes_.push_back(std::move(made));
}

void Findings::mistake_in(std::string file, std::string path, std::string what, std::string mend) {
  if (full()) return;
  mistakes_.push_back({std::move(file), 1, 1, std::move(path), std::move(what), "", std::move(mend)});
}

void Findings::warn(const Place& at, std::string_view what) {
  const yaml::Node* node = at.node != nullptr ? at.node : at.parent;
  warnings_.push_back(fmt::format("{}:{}:{}: {}: {}", file_, node != nullptr ? node->line : 1,
                                  node != nullptr ? node->column : 1, at.path, what));
}

std::vector<Mistake> Findings::take_mistakes() {
  std::stable_sort(mistakes_.begin(), mistakes_.end(), [&](const Mistake& a, const Mistake& b) {
    return std::tuple(a.file != file_, a.line, a.column) < std::tuple(b.file != file_, b.line, b.column);
  });
  return std::move(mistakes_);
}

bool Findings::scalar(const Place& at, std::string_view expected) {
  if (at.is_scalar()) return true;
  if (at) mistake(at, fmt::format("expected {}, got {}", expected, yaml::name_of(at.node->kind)));
  return false;
}

std::optional<std::string> Findings::text(const Place& at) {
  if (!scalar(at, "a text")) return std::nullopt;
  if (at.text().empty()) {
    mistake(at, "expected a text, got an empty one", "write a value or remove the key");
    return std::nullopt;
  }
  return std::string(at.text());
}

std::optional<std::string> Findings::name(const Place& at) {
  const std::optional<std::string> got = text(at);
  if (!got) return std::nullopt;
  const bool plain = got->size() <= 128 && std::all_of(got->begin(), got->end(), [](char c) {
                       return is_word(c) || c == '.' || c == '/' || c == ':' || c == '@' || c == '+';
                     });
  if (plain) return got;
  mistake(at, fmt::format("expected a name of letters, digits and . _ - / : @ + (at most 128), got \"{}\"",
                          short_text(*got)));
  return std::nullopt;
}

std::optional<bool> Findings::boolean(const Place& at) {
  if (!scalar(at, "true or false")) return std::nullopt;
  if (at.text() == "true") return true;
  if (at.text() == "false") return false;
  const std::string word = lowered(at.text());
  const bool yes = word == "yes" || word == "on" || word == "true",
             no = word == "no" || word == "off" || word == "false";
  mistake(at, fmt::format("expected true or false, got \"{}\"", short_text(at.text())),
          yes  ? "write true"
          : no ? "write false"
               : "");
  return std::nullopt;
}

std::optional<std::int64_t> Findings::count(const Place& at, std::int64_t low, std::int64_t high) {
  const auto got = value<std::int64_t>(at, parse_count);
  if (!got) return std::nullopt;
  if (*got >= low && *got <= high) return got;
  mistake(at, fmt::format("expected a whole number from {} to {}, got {}", low, high, *got));
  return std::nullopt;
}

std::optional<double> Findings::ratio(const Place& at, double low, double high) {
  const auto ppm = value<std::int64_t>(at, parse_ratio_ppm);
  if (!ppm) return std::nullopt;
  const double got = static_cast<double>(*ppm) / 1e6;
  if (got >= low && got <= high) return got;
  mistake(at, fmt::format("expected a ratio from {} to {}, got \"{}\"", low, high, short_text(at.text())));
  return std::nullopt;
}

std::optional<std::int64_t> Findings::ratio_ppm(const Place& at, std::int64_t low, std::int64_t high) {
  const auto ppm = value<std::int64_t>(at, parse_ratio_ppm);
  if (!ppm || (*ppm >= low && *ppm <= high)) return ppm;
  mistake(at, fmt::format("expected a ratio from {} to {}, got \"{}\"", static_cast<double>(low) / 1e6,
                          static_cast<double>(high) / 1e6, short_text(at.text())));
  return std::nullopt;
}

std::optional<std::int64_t> Findings::percent_ppm(const Place& at, std::int64_t low, std::int64_t high) {
  const auto ppm = value<std::int64_t>(at, parse_percent_ppm);
  if (!ppm || (*ppm >= low && *ppm <= high)) return ppm;
  mistake(at, fmt::format("expected a percentage from {}% to {}%, got \"{}\"", static_cast<double>(low) / 1e4,
                          static_cast<double>(high) / 1e4, short_text(at.text())));
  return std::nullopt;
}

std::optional<Duration> Findings::duration(const Place& at, Duration low, Duration high) {
  const auto got = value<Duration>(at, parse_duration);
  if (!got || (*got >= low && *got <= high)) return got;
  mistake(at, fmt::format("expected a time from {} s to {} s, got \"{}\"", to_seconds(low), to_seconds(high),
                          short_text(at.text())));
  return std::nullopt;
}

std::optional<std::size_t> Findings::word(const Place& at, const std::vector<std::string>& words) {
  if (!scalar(at, fmt::format("one of {}", listed(words)))) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (at.text() == words[i]) return i;
  const auto near = nearest(at.text(), words);
  mistake(at, fmt::format("expected one of {}, got \"{}\"", listed(words), short_text(at.text())),
          near ? fmt::format("did you mean \"{}\"?", *near) : "");
  return std::nullopt;
}

std::vector<Place> Findings::list(const Place& at, std::string_view of_what) {
  std::vector<Place> entries;
  if (!at) return entries;
  if (!at.is_list()) {
    mistake(at, fmt::format("expected a list of {}, got {}", of_what, yaml::name_of(at.node->kind)),
            at.is_scalar() ? fmt::format("write [{}]", short_text(at.text())) : "");
    return entries;
  }
  if (at.node->items.empty()) {
    mistake(at, fmt::format("an empty list of {} means nothing here", of_what), "list at least one or remove the key");
    return entries;
  }
  for (std::size_t i = 0; i < at.node->items.size(); ++i)
    entries.push_back({&at.node->items[i], at.node, fmt::format("{}[{}]", at.path, i)});
  return entries;
}

std::vector<std::string> Findings::names(const Place& at) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const Place& entry : list(at, "names")) {
    const auto got = name(entry);
    if (!got) continue;
    if (!seen.insert(*got).second)
      mistake(entry, fmt::format("\"{}\" is listed twice", *got), "keep one of them");
    else
      found.push_back(*got);
  }
  return found;
}

std::vector<std::pair<std::string, Place>> Findings::named(const Place& at, std::string_view of_what) {
  std::vector<std::pair<std::string, Place>> entries;
  if (!at) return entries;
  if (!at.is_map()) {
    mistake(at, fmt::format("expected a map of {} by name, got {}", of_what, yaml::name_of(at.node->kind)));
    return entries;
  }
  if (at.node->keys.empty())
    mistake(at, fmt::format("an empty map of {} means nothing here", of_what), "name at least one or remove the key");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < at.node->keys.size(); ++i) {
    const yaml::Node& key = at.node->keys[i];
    const auto key_name = name({&key, at.node, at.path});
    if (key_name && seen.insert(*key_name).second)
      entries.push_back({*key_name, {&at.node->items[i], &key, at.path + "." + *key_name}});
  }
  differ_by_more_than_case(entries, of_what);
  return entries;
}

void Findings::differ_by_more_than_case(const std::vector<std::pair<std::string, Place>>& named,
                                        std::string_view of_what, std::size_t from) {
  std::map<std::string, const std::string*> seen;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& [name, place] = named[i];
    const auto [at, fresh] = seen.emplace(lowered(name), &name);
    if (!fresh && *at->second != name && i >= from)
      mistake({place.parent, nullptr, place.path},
              fmt::format("two {} differ by case only: \"{}\" and \"{}\"", of_what, *at->second, name),
              "give them names that can be told apart");
  }
}

Map::Map(Findings& findings, Place at) : findings_(findings), at_(std::move(at)) {
  if (at_ && !at_.is_map())
    findings_.mistake(at_, fmt::format("expected a map, got {}", yaml::name_of(at_.node->kind)));
}

Place Map::get(std::string_view key) {
  const bool first = std::find(asked_.begin(), asked_.end(), key) == asked_.end();
  if (first) asked_.emplace_back(key);
  Place found{nullptr, at_.node, at_.path.empty() ? std::string(key) : fmt::format("{}.{}", at_.path, key)};
  if (!readable()) return found;
  for (std::size_t i = 0; i < at_.node->keys.size(); ++i)
    if (at_.node->keys[i].text == key && at_.node->keys[i].kind == yaml::Node::Kind::scalar) {
      found.node = &at_.node->items[i];
      found.parent = &at_.node->keys[i];
      if (found.node->kind == yaml::Node::Kind::null) {
        if (first)
          findings_.mistake({found.node, nullptr, found.path}, "the key has no value",
                            "write a value or remove the key");
        found.node = nullptr;
      }
      break;
    }
  return found;
}

Place Map::need(std::string_view key, std::string_view mend) {
  const bool had = readable() && std::any_of(at_.node->keys.begin(), at_.node->keys.end(),
                                             [&](const yaml::Node& k) { return k.text == key; });
  Place found = get(key);
  if (!had && readable())
    findings_.mistake({at_.node, nullptr, at_.path}, fmt::format("the key `{}` is missing", key), std::string(mend));
  return found;
}

void Map::refuse(std::string_view key, std::string_view what, std::string_view mend) {
  const Place found = get(key);
  if (found) findings_.mistake({found.parent, nullptr, found.path}, std::string(what), std::string(mend));
}

void Map::done() {
  if (!readable()) return;
  for (const yaml::Node& key : at_.node->keys) {
    if (key.kind != yaml::Node::Kind::scalar) continue;  // reported by the reader
    if (std::find(asked_.begin(), asked_.end(), key.text) != asked_.end()) continue;
    const std::string path = at_.path.empty() ? key.text : at_.path + "." + key.text;
    if (names_a_secret(lowered(key.text)) && !nearest(key.text, asked_)) {
      findings_.mistake(key.line, key.column, short_text(path), "a secret does not belong in this file",
                        "name a variable of the environment on the provider: key: {env: NAME}");
      continue;
    }
    findings_.mistake(key.line, key.column, short_text(path), fmt::format("unknown key `{}`", short_text(key.text)),
                      suggestion(key.text, asked_));
  }
}

}  // namespace ace::fleet_file

namespace ace {

std::string describe(const std::vector<Mistake>& mistakes) {
  constexpr std::size_t kTold = 100;
  std::string out;
  for (const Mistake& m : std::span(mistakes).first(std::min(mistakes.size(), kTold))) {
    out += fmt::format("{}:{}:{}: {}{}{}\n", m.file, m.line, m.column, m.path, m.path.empty() ? "" : ": ", m.what);
    // A flow map can make a line of hundreds of characters: show the part around the column.
    constexpr std::size_t kWidth = 96;
    std::string excerpt = m.excerpt;
    if (excerpt.size() > kWidth) {
      const auto column = static_cast<std::size_t>(std::max(m.column, 1)) - 1;
      std::size_t from = column > kWidth / 3 ? column - kWidth / 3 : 0;
      from = std::min(from, excerpt.size() - kWidth);
      while (from > 0 && (static_cast<unsigned char>(excerpt[from]) & 0xC0U) == 0x80U) --from;
      std::size_t to = from + kWidth;
      while (to < excerpt.size() && (static_cast<unsigned char>(excerpt[to]) & 0xC0U) == 0x80U) ++to;
      excerpt = (from > 0 ? "..." : "") + excerpt.substr(from, to - from) + (to < m.excerpt.size() ? "..." : "");
    }
    if (!excerpt.empty() || !m.mend.empty())
      out += fmt::format("{:5} | {}{}{}\n", m.line, excerpt, m.mend.empty() || excerpt.empty() ? "" : "      ", m.mend);
  }
  if (mistakes.size() > kTold) out += fmt::format("and {} more; mend these first\n", mistakes.size() - kTold);
  return out;
}

}  // namespace ace
