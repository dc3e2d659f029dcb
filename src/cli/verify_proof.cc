#include "cli/verify_proof.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/files.h"
#include "cli/spine.h"
#include "core/ids.h"
#include "verify/verify.h"

namespace ace::cli {
namespace {

/// What the record is, for people: the proof itself does not depend on it.
std::string named(const verify::Proven& proven) {
  if (proven.type == 2) return "a checkpoint";
  const Result<event::Key> key = event::key_from(proven.payload);
  if (!key) return "an event of a kind that is not known here";
  return fmt::format("{} {} of tenant {}{}", event::name_of(key->kind), to_base32(key->id.high, key->id.low),
                     key->tenant, proven.type == 3 ? ", kept apart as a conflict" : "");
}

}  // namespace

Result<void> verify_proof(const std::string& path, const LogArguments& arguments, Context& context) {
  if (arguments.key.empty())
    return Error(Errc::bad_input, "a proof proves nothing without the key that signed its checkpoint: give --key");
  const Result<verify::PublicKey> key = public_key_from(arguments.key);
  if (!key) return Error(key.error());
  if (arguments.checkpoints.size() > 1)
    return Error(Errc::bad_input, "a proof speaks of one older checkpoint: give --checkpoint once");
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return Error(bytes.error()).with("loading the proof");
  std::optional<verify::Held> older;
  for (const std::string& file : arguments.checkpoints) {
    Result<std::string> note = read_file(file);
    if (!note) return std::move(note).error().with("loading a checkpoint");
    older = verify::Held{file, *std::move(note)};
  }
  if (!older && bytes->starts_with("old "))
    return Error(Errc::bad_input, path + " proves that a log continues an older checkpoint: give that as --checkpoint");
  const auto [proven, difference] = verify::check_proof(path, *bytes, *key, older);
  if (difference) return refused(*difference, "", arguments.json, context);
  const bool record = proven.what == verify::Proven::What::record;
  if (arguments.json) {
    nlohmann::ordered_json out = {{"verified", true},
                                  {"log", proven.origin},
                                  {"records", proven.size},
                                  {"root", verify::hex(verify::view(proven.root))}};
    if (record) {
      out["record"] = proven.index;
      out["event_base64"] = verify::base64(proven.payload);
    } else {
      out["records_older"] = proven.index;
    }
    *context.out << out.dump() << "\n";
    return {};
  }
  if (record)
    *context.out << fmt::format("proven: record {} of {} is {}\n", proven.index, proven.origin, named(proven));
  else
    *context.out << fmt::format("proven: {} of {} records begins with the {} records of {}\n", proven.origin,
                                proven.size, proven.index, older->name);
  *context.out << fmt::format("signed at {} records, root {}\n", proven.size, verify::hex(verify::view(proven.root)));
  return {};
}

}  // namespace ace::cli
