#include "fleet/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <sstream>
#include <unordered_map>

namespace ace::yaml {

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "nothing";
}

namespace {

constexpr std::size_t kFaultsMax = 100;  // nobody mends more in one go

/// Thrown by the builder to leave yaml-cpp when reading on would be pointless; caught in read().
struct Stop : std::exception {};

int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }
int column_of(const YAML::Mark& mark) { return std::max(mark.column, 0) + 1; }

class Builder final : public YAML::EventHandler {
 public:
  Builder(const Limits& limits, Document& document) : limits_(limits), document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ < 2) return;
    fault(mark, "a second document in the same file", "keep one document; remove the `---` line and what follows");
    throw Stop();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(node(Node::Kind::null, mark)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fault(mark, "an alias (*name); aliases are switched off", "write the value out");
    add(node(Node::Kind::null, mark));
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fault(mark, fmt::format("an anchor (&{}); anchors and aliases are switched off", name), "write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& text) override {
    refuse_tag(mark, tag);
    Node scalar = node(Node::Kind::scalar, mark);
    scalar.text = text;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(node(Node::Kind::sequence, mark));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(node(Node::Kind::map, mark));
  }
  void OnMapEnd() override { close(); }

  void fault(const YAML::Mark& mark, std::string what, std::string mend) {
    if (document_.faults.size() < kFaultsMax)
      document_.faults.push_back({line_of(mark), column_of(mark), "", std::move(what), std::move(mend)});
  }
  /// Closes what a stop left open, so that the tree can be read as far as it goes.
  void unwind() {
    while (!open_.empty()) close();
  }

 private:
  struct Open {
    Node node;
    std::optional<Node> key;  ///< of a map: read, its value is still to come
  };

  Node node(Node::Kind kind, const YAML::Mark& mark) {
    if (++nodes_ > limits_.nodes) {
      fault(mark, fmt::format("more than {} values in one file", limits_.nodes), "split the fleet or shorten the file");
      throw Stop();
    }
    Node made;
    made.kind = kind;
    made.line = line_of(mark);
    made.column = column_of(mark);
    return made;
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    fault(mark, fmt::format("a tag ({}); tags are not accepted", tag), "remove the tag");
  }
  void open(Node node) {
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      document_.faults.push_back({node.line, node.column, "",
                                  fmt::format("nesting deeper than {} levels", limits_.depth),
                                  "a fleet file needs about six"});
      throw Stop();
    }
    open_.push_back({std::move(node), std::nullopt});
  }
  void close() {
    Node done = std::move(open_.back().node);
    if (open_.back().key) {  // only after a stop
      Node missing;
      missing.line = open_.back().key->line;
      missing.column = open_.back().key->column;
      done.keys.push_back(std::move(*open_.back().key));
      done.items.push_back(std::move(missing));
    }
    open_.pop_back();
    add(std::move(done));
  }
  void add(Node node) {
    if (open_.empty()) {
      document_.root = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = std::move(node);
    } else {
      // The mark of a value that is not there is that of whatever comes next.
      if (node.kind == Node::Kind::null) {
        node.line = parent.key->line;
        node.column = parent.key->column;
      }
      parent.node.keys.push_back(std::move(*parent.key));
      parent.node.items.push_back(std::move(node));
      parent.key.reset();
    }
  }

  const Limits& limits_;
  Document& document_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

/// Length of the UTF-8 sequence at `i`, 0 if there is none (overlong forms, surrogates and beyond U+10FFFF included).
std::size_t utf8_length(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return i + k < s.size() ? static_cast<unsigned char>(s[i + k]) : 0U;
  };
  const auto follows = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    return (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ? 0 : 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    return (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F) ? 0 : 4;
  }
  return 0;
}

std::string normalised(std::string_view bytes) {
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") bytes.remove_prefix(3);
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\r') {
      if (i + 1 < bytes.size() && bytes[i + 1] == '\n') ++i;
      text += '\n';
    } else {
      text += bytes[i];
    }
  }
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The first byte that is not text, as a fault.
std::optional<Fault> not_text(const std::vector<std::string_view>& lines) {
  for (std::size_t line = 0; line < lines.size(); ++line) {
    for (std::size_t i = 0; i < lines[line].size();) {
      const auto byte = static_cast<unsigned char>(lines[line][i]);
      const std::size_t length = utf8_length(lines[line], i);
      const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7F;
      if (control || length == 0)
        return Fault{static_cast<int>(line) + 1, static_cast<int>(i) + 1, "",
                     fmt::format("byte 0x{:02x} is {}", byte, control ? "a control character" : "not UTF-8"),
                     "save the file as plain UTF-8 text"};
      i += length;
    }
  }
  return std::nullopt;
}

/// Where the file has had more values than it may, counted by its punctuation: a colon stands between two, a comma in a
/// list or map in braces between two more, a dash begins one. Never more than there are, but for colons in a text of
/// many lines; a hundred times as fast as building them.
std::optional<Fault> too_many(const std::vector<std::string_view>& lines, std::size_t limit) {
  std::size_t values = 0;
  int depth = 0;  // of brackets and braces
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::string_view text = lines[line];
    char quote = '\0';
    char before = ' ';
    const std::size_t start = text.find_first_not_of(' ');
    if (start != std::string_view::npos && text[start] == '-' && (start + 1 == text.size() || text[start + 1] == ' '))
      ++values;
    for (std::size_t i = 0; i < text.size(); before = text[i], ++i) {
      const char c = text[i];
      if (quote != '\0') {
        if (c == '\\' && quote == '"') ++i;
        if (c == quote) quote = '\0';
        if (i >= text.size()) break;
      } else if (c == '#' && before == ' ') {
        break;
      } else if ((c == '"' || c == '\'') && (before == ' ' || before == '[' || before == '{' || before == ',')) {
        quote = c;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if (c == ']' || c == '}') {
        depth = std::max(depth - 1, 0);
      } else if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) {
        values += 2;
      } else if (c == ',' && depth > 0) {
        ++values;
      }
      if (values > limit)
        return Fault{static_cast<int>(line) + 1, static_cast<int>(i) + 1, "",
                     fmt::format("more than {} values in one file", limit), "split the fleet or shorten the file"};
    }
  }
  return std::nullopt;
}

void find_duplicate_keys(const Node& node, const std::string& path, std::vector<Fault>& faults) {
  if (faults.size() >= kFaultsMax) return;
  if (node.kind == Node::Kind::map) {
    std::unordered_map<std::string_view, const Node*> seen;
    for (std::size_t i = 0; i < node.keys.size() && faults.size() < kFaultsMax; ++i) {
      const Node& key = node.keys[i];
      const std::string here = path.empty() ? key.text : path + "." + key.text;
      if (key.kind != Node::Kind::scalar) {
        faults.push_back({key.line, key.column, path, fmt::format("expected a name as key, got {}", name_of(key.kind)),
                          "write `name: value`"});
      } else if (const auto [at, fresh] = seen.emplace(key.text, &key); !fresh) {
        faults.push_back(
            {key.line, key.column, here,
             fmt::format("the key `{}` appears twice, on lines {} and {}", key.text, at->second->line, key.line),
             "keep one of them", false});
      }
      find_duplicate_keys(node.items[i], here, faults);
    }
  } else if (node.kind == Node::Kind::sequence) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      find_duplicate_keys(node.items[i], fmt::format("{}[{}]", path, i), faults);
  }
}

/// yaml-cpp may point one line past the end.
void clamp_marks(Node& node, int last_line) {
  node.line = std::min(node.line, last_line);
  for (Node& key : node.keys) clamp_marks(key, last_line);
  for (Node& item : node.items) clamp_marks(item, last_line);
}

}  // namespace

void read(std::string_view bytes, const Limits& limits, Document& into) {
  if (bytes.size() > limits.bytes) {
    into.lines = split_lines(into.text);
    into.faults.push_back({1, 1, "", fmt::format("the file has {} bytes, more than {}", bytes.size(), limits.bytes),
                           "keep series and price maps in files of their own"});
    return;
  }
  into.text = normalised(bytes);
  into.lines = split_lines(into.text);
  for (std::size_t i = 0; i < into.lines.size(); ++i)
    if (into.lines[i].size() > limits.line_bytes) {
      into.faults.push_back(
          {static_cast<int>(i) + 1, 1, "",
           fmt::format("the line has {} bytes, more than {}", into.lines[i].size(), limits.line_bytes),
           "break the line; series and price maps go in files of their own"});
      return;
    }
  if (auto fault = not_text(into.lines)) {
    into.faults.push_back(std::move(*fault));
    return;
  }
  if (auto fault = too_many(into.lines, limits.nodes)) {
    into.faults.push_back(std::move(*fault));
    return;
  }
  Builder builder(limits, into);
  try {
    std::istringstream stream(into.text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    builder.fault(error.mark, "not YAML: " + error.msg, "");
  } catch (const std::exception& error) {
    into.faults.push_back({1, 1, "", fmt::format("not YAML: {}", error.what()), ""});
  }
  builder.unwind();
  const auto last_line = static_cast<int>(into.lines.size());
  clamp_marks(into.root, last_line);
  find_duplicate_keys(into.root, "", into.faults);
  for (Fault& fault : into.faults) fault.line = std::min(fault.line, last_line);
}

}  // namespace ace::yaml
