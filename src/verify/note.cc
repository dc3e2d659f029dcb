#include "verify/note.h"

#include "verify/lines.h"

namespace ace::verify {
namespace {

constexpr std::string_view kDash = "\xe2\x80\x94 ";

bool read_after(std::string_view word, std::string_view line, std::string_view& value) {
  if (!line.starts_with(word)) return false;
  value = line.substr(word.size());
  return true;
}

}  // namespace

std::optional<Note> note_from(std::string_view bytes) {
  Note note;
  std::string_view rest = bytes, chain, time;
  const auto origin = line_of(rest), size = line_of(rest), root = line_of(rest), chained = line_of(rest),
             timed = line_of(rest);
  if (!timed || origin->empty() || !read_after("chain ", *chained, chain) || !read_after("time ", *timed, time))
    return std::nullopt;
  const std::optional<std::uint64_t> count = decimal(*size);
  if (!count || !read_hash(*root, note.root) || !read_hash(chain, note.chain)) return std::nullopt;
  if (time.starts_with('-') ? time == "-0" || !decimal(time.substr(1)) : !decimal(time)) return std::nullopt;
  if (rest.starts_with("successor ")) {
    std::string_view key;
    const auto named = line_of(rest);
    if (!named || !read_after("successor ", *named, key) || !read_hash(key, note.successor.emplace()))
      return std::nullopt;
  }
  note.origin = *origin;
  note.size = *count;
  note.text = bytes.substr(0, bytes.size() - rest.size());
  if (line_of(rest) != std::string_view()) return std::nullopt;
  note.signatures = rest;
  if (rest.empty()) return std::nullopt;
  while (!rest.empty())
    if (const auto line = line_of(rest); !line || !line->starts_with(kDash)) return std::nullopt;
  return note;
}

bool signed_by(const PublicKey& key, const Note& note) {
  const std::string_view key_bytes(reinterpret_cast<const char*>(key.data()), key.size());
  const Hash id = Hasher()({note.origin, "\n\1", key_bytes});
  const std::string ours = std::string(kDash) + std::string(note.origin) + " ";
  std::string_view rest = note.signatures;
  while (const auto line = line_of(rest)) {
    if (!line->starts_with(ours)) continue;
    const std::optional<std::string> bytes = from_base64(line->substr(ours.size()));
    if (!bytes || !bytes->starts_with(view(id).substr(0, 4))) continue;
    if (signed_by(key, note.text, std::string_view(*bytes).substr(4))) return true;
  }
  return false;
}

}  // namespace ace::verify
