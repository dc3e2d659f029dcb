#pragma once
/// A strict reading of YAML: a tree with marks, without anchors, aliases, tags, second documents or duplicate keys.
/// Scalars stay text; nothing is coerced, so `no`, `1e3` and `017` are what was written until a typed getter asks.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ace::yaml {

struct Node {
  enum class Kind : unsigned char { null, scalar, sequence, map } kind = Kind::null;
  std::string text;          ///< of a scalar
  int line = 1, column = 1;  ///< from 1
  std::vector<Node> items;   ///< of a sequence; of a map the values
  std::vector<Node> keys;    ///< of a map, beside the values
};
std::string_view name_of(Node::Kind kind);

/// What keeps a hostile file from costing time or memory.
struct Limits {
  std::size_t bytes = 1U << 20U;
  std::size_t line_bytes = 1U << 16U;
  std::size_t nodes = 100'000;
  int depth = 64;
};

struct Fault {
  int line = 1, column = 1;
  std::string path, what, mend;
  bool stops = true;  ///< what was read cannot be trusted to be what was meant; a duplicate key can
};

struct Document {
  Node root;
  std::string text;                     ///< normalised: no byte order mark, every line end is \n
  std::vector<std::string_view> lines;  ///< of `text`, at least one
  std::vector<Fault> faults;
  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
};

/// Reads one document. Faults are collected as far as the text can still be followed; the tree holds what was read
/// before the first one that stops (a syntax error, a limit). Never throws.
void read(std::string_view bytes, const Limits& limits, Document& into);

}  // namespace ace::yaml
