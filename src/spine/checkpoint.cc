#include "spine/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "spine/label.h"

namespace ace::spine {
namespace {

constexpr std::string_view kDash = "\xe2\x80\x94 ";
constexpr std::string_view kEd25519("\x01", 1);

/// First 4 bytes of SHA-256(name, line end, algorithm, key), as signed notes name keys.
std::string_view bytes_of(const PublicKey& key) { return {reinterpret_cast<const char*>(key.data()), key.size()}; }

std::string key_id(std::string_view origin, const PublicKey& key) {
  const Digest digest = Sha256()({origin, "\n", kEd25519, bytes_of(key)});
  return std::string(view(digest).substr(0, 4));
}

std::string text_of(const Checkpoint& c) {
  return fmt::format("{}\n{}\n{}\nchain {}\ntime {}\n", c.origin, c.size, to_base64(view(c.root)),
                     to_base64(view(c.chain)), nanos(c.at)) +
         (c.successor ? "successor " + to_base64(bytes_of(*c.successor)) + "\n" : "");
}

std::optional<std::string_view> line_of(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == rest.npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(out) == text;
}

bool digest(std::string_view text, Digest& out) {
  const Result<std::string> bytes = from_base64(text);
  if (!bytes || bytes->size() != out.size()) return false;
  out = digest_from(*bytes);
  return true;
}

/// @param signed_text set to what signatures are over @param signatures set to the lines after it
std::optional<Checkpoint> read(std::string_view note, std::string_view& signed_text, std::string_view& signatures) {
  Checkpoint c;
  std::string_view rest = note;
  const auto origin = line_of(rest), size = line_of(rest), root = line_of(rest), chain = line_of(rest),
             time = line_of(rest);
  if (!time || !event::is_label(*origin) || !chain->starts_with("chain ") || !time->starts_with("time ")) return {};
  c.origin = *origin;
  std::int64_t at = 0;
  if (!number(*size, c.size) || !digest(*root, c.root) || !digest(chain->substr(6), c.chain) ||
      !number(time->substr(5), at))
    return {};
  c.at = instant(at);
  if (rest.starts_with("successor ")) {
    const Result<std::string> key = from_base64(line_of(rest).value_or("successor ").substr(10));
    if (!key || key->size() != c.successor.emplace().size()) return {};
    std::copy(key->begin(), key->end(), c.successor->begin());
  }
  signed_text = note.substr(0, note.size() - rest.size());
  if (!rest.starts_with('\n')) return {};
  signatures = rest.substr(1);
  return c;
}

}  // namespace

namespace {

std::string signature_line(const Checkpoint& checkpoint, const std::string& text, const Signer& signer) {
  return std::string(kDash) + checkpoint.origin + " " +
         to_base64(key_id(checkpoint.origin, signer.public_key()) + signer.sign(text)) + "\n";
}

}  // namespace

std::string to_note(const Checkpoint& checkpoint, const Signer& signer) {
  const std::string text = text_of(checkpoint);
  return text + "\n" + signature_line(checkpoint, text, signer);
}

std::string to_hand_over(Checkpoint checkpoint, const Signer& signer, const Signer& successor) {
  checkpoint.successor = successor.public_key();
  return to_note(checkpoint, signer) + signature_line(checkpoint, text_of(checkpoint), successor);
}

Result<Checkpoint> unverified_checkpoint(std::string_view note) {
  std::string_view text, signatures;
  std::optional<Checkpoint> c = read(note, text, signatures);
  if (!c) return Error(Errc::corrupt, "a checkpoint: these bytes are no signed note of a log");
  return *std::move(c);
}

Result<Checkpoint> checkpoint_from(std::string_view note, const PublicKey& key) {
  std::string_view text, signatures;
  std::optional<Checkpoint> c = read(note, text, signatures);
  if (!c) return Error(Errc::corrupt, "a checkpoint: these bytes are no signed note of a log");
  const std::string start = std::string(kDash) + c->origin + " ";
  while (const auto line = line_of(signatures)) {
    if (!line->starts_with(start)) continue;
    const Result<std::string> bytes = from_base64(line->substr(start.size()));
    if (!bytes || bytes->size() != 68 || std::string_view(*bytes).substr(0, 4) != key_id(c->origin, key)) continue;
    if (verify_signature(key, text, std::string_view(*bytes).substr(4))) return *std::move(c);
  }
  return Error(Errc::check_failed, "the checkpoint of " + c->origin + " is not signed by the key it is checked with");
}

}  // namespace ace::spine
